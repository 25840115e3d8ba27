// text.h - text that grows.
#ifndef FUZZ_LINALG_TEXT_H
#define FUZZ_LINALG_TEXT_H

#include "mlir-c/Support.h"

#include <stddef.h>

typedef struct Text {
  char *data; // null while nothing was added
  size_t used, room;
} Text;

__attribute__((format(printf, 2, 3))) void text_add(Text *text, const char *format, ...);
void text_append(Text *text, const char *data, size_t size);
/// As a callback of MLIR's printers; `user` is the text.
void text_print(MlirStringRef part, void *user);
void text_clear(Text *text);
void text_free(Text *text);

#endif
