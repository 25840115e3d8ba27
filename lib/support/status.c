// status.c - the sentence behind each status number.
#include "mirage/status.h"

const char *mirage_status_string(MirageStatus status) {
  switch (status) {
#define STATUS_CASE(name, number, meaning)                                                                             \
  case MIRAGE_##name:                                                                                                  \
    return meaning;
    MIRAGE_STATUS_TABLE(STATUS_CASE)
#undef STATUS_CASE
  }
  return "unknown status";
}
