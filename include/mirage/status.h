// status.h - the one table of outcomes that library calls report.
//
// A status says which kind of thing went wrong; the sentence for a person goes to the MirageDiag sink (diag.h).
// Numbers are part of the ABI: never reuse or renumber one.
#ifndef MIRAGE_STATUS_H
#define MIRAGE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

// MIRAGE_STATUS(NAME, number, "meaning")
#define MIRAGE_STATUS_TABLE(MIRAGE_STATUS)                                                                             \
  MIRAGE_STATUS(OK, 0, "success")                                                                                      \
  MIRAGE_STATUS(NO_MEMORY, 1, "an allocation failed")                                                                  \
  MIRAGE_STATUS(BAD_ARGUMENT, 2, "an argument or option is out of range")                                              \
  MIRAGE_STATUS(BAD_SHAPE, 3, "operand shapes do not fit the operator")                                                \
  MIRAGE_STATUS(BAD_TYPE, 4, "an element type or memory level does not fit the operator")                              \
  MIRAGE_STATUS(BAD_GRAPH, 5, "the graph breaks a structural rule")                                                    \
  MIRAGE_STATUS(UNSUPPORTED, 6, "valid, but this stage cannot treat it")                                               \
  MIRAGE_STATUS(LIMIT, 7, "a stated limit (shared memory, states, time) was reached")                                  \
  MIRAGE_STATUS(IO, 8, "a file could not be read or written")                                                          \
  MIRAGE_STATUS(NO_DEVICE, 9, "no usable GPU or driver")                                                               \
  MIRAGE_STATUS(DRIVER, 10, "the CUDA driver reported an error")                                                       \
  MIRAGE_STATUS(CODEGEN, 11, "LLVM refused the generated code")                                                        \
  MIRAGE_STATUS(REDRAW, 12, "a random evaluation divided by zero and has to be drawn again")                           \
  MIRAGE_STATUS(FAULT, 13, "an emulated kernel broke a rule of its machine")                                           \
  MIRAGE_STATUS(CANCELLED, 14, "ended before it was done, as asked for")

typedef enum {
#define MIRAGE_STATUS_ENUM(name, number, meaning) MIRAGE_##name = number,
  MIRAGE_STATUS_TABLE(MIRAGE_STATUS_ENUM)
#undef MIRAGE_STATUS_ENUM
} MirageStatus;

/// The table's meaning of a status; "unknown status" for a number outside the table. Never NULL.
const char *mirage_status_string(MirageStatus status);

#define MIRAGE_TRY(expr)                                                                                               \
  do {                                                                                                                 \
    MirageStatus mirage_try_status = (expr);                                                                           \
    if (mirage_try_status != MIRAGE_OK)                                                                                \
      return mirage_try_status;                                                                                        \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
