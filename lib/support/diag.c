// diag.c - formats messages and hands them to the caller's sink.
//
// Messages are built in a buffer on the stack, so that a failure can be reported when memory is out. A longer message
// is cut and ends in "...".
#include "mirage/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024 };

#if defined(__GNUC__)
__attribute__((format(printf, 4, 0)))
#endif
static void emit(const MirageDiag *diag, MirageSeverity severity, const void *loc, const char *format, va_list args) {
  if (!diag || !diag->emit)
    return;
  char message[MESSAGE_BYTES];
  int length = vsnprintf(message, sizeof message, format, args);
  if (length < 0)
    snprintf(message, sizeof message, "%s", format); // an unformattable message is still better than none
  else if ((size_t)length >= sizeof message)
    memcpy(message + sizeof message - 4, "...", 4);
  diag->emit(diag->user, severity, loc, message);
}

void mirage_diag_emit(const MirageDiag *diag, MirageSeverity severity, const void *loc, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit(diag, severity, loc, format, args);
  va_end(args);
}

MirageStatus mirage_diag_fail(const MirageDiag *diag, const void *loc, MirageStatus status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit(diag, MIRAGE_SEVERITY_ERROR, loc, format, args);
  va_end(args);
  return status;
}
