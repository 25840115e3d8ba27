// diag.h - where sentences for a person go. Library code neither prints nor exits.
#ifndef MIRAGE_DIAG_H
#define MIRAGE_DIAG_H

#include "mirage/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  MIRAGE_SEVERITY_NOTE,
  MIRAGE_SEVERITY_REMARK,
  MIRAGE_SEVERITY_WARNING,
  MIRAGE_SEVERITY_ERROR
} MirageSeverity;

/// A sink for messages. `loc` is the cookie that the builder of the graph attached to the node in question (an
/// MlirLocation's pointer when the graph came through the bridge), or NULL. `message` lives only during the call.
/// A NULL MirageDiag, or one with a NULL emit, drops messages.
typedef struct MirageDiag {
  void (*emit)(void *user, MirageSeverity severity, const void *loc, const char *message);
  void *user;
} MirageDiag;

/// Formats a message and hands it to the sink. Style: lower case, operator first, both values, no full stop:
/// "matmul: inner dimensions differ: 64 vs 63".
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void mirage_diag_emit(const MirageDiag *diag, MirageSeverity severity, const void *loc, const char *format, ...);

/// Emits an error and returns `status`, so that a check is one line:
///   return mirage_diag_fail(diag, loc, MIRAGE_BAD_SHAPE, "matmul: ...");
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
MirageStatus mirage_diag_fail(const MirageDiag *diag, const void *loc, MirageStatus status, const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif
