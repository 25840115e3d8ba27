// version.c - the one thing that only the shared library knows.
#include "mirage-c/Compile.h"

const char *mirageGetVersion(void) { return MIRAGE_VERSION; }
