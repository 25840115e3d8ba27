// judge.h - one module: the pass on it, and whether its functions compute what they did.
#ifndef FUZZ_LINALG_JUDGE_H
#define FUZZ_LINALG_JUDGE_H

#include "count.h"
#include "text.h"

#include "mlir-c/IR.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum Verdict {
  SAME,        // every function gives the same numbers before and after
  UNDECIDED,   // the difference is one that rounding makes, too: a step, or no value
  NOT_RUN,     // the interpreter does not know an operation
  BAD_INPUT,   // the generator's fault: the module is not valid before the pass
  PASS_FAILED, // the pass gives an error
  BAD_REMARKS, // it does not say what it did
  NOT_VALID,   // the module is not valid after it, or does not survive printing, or a second run
  DIFFERENT,   // other numbers, or other effects, in real arithmetic
  IMPRECISE,   // the same in real arithmetic, and much less exact in the types of the source
  NUM_VERDICTS
} Verdict;

extern const char *const VERDICT_NAMES[NUM_VERDICTS];
static inline bool is_failure(Verdict verdict) { return verdict >= BAD_INPUT; }

// What is broken on purpose after the pass, to see that it is noticed (spoil.c).
typedef enum Spoil {
  SPOIL_NONE,
  SPOIL_SUB,       // operands of a difference or a quotient change places
  SPOIL_START,     // a sum loses a term: what an output held
  SPOIL_TRANSPOSE, // a transposition of equal extents goes
  SPOIL_MATMUL,    // operands of a square product change places, or a square operand is turned
  SPOIL_MAX,       // a maximum becomes a minimum
  SPOIL_SLICE,     // a slice begins one later
  SPOIL_CONSTANT,  // a constant is another
  SPOIL_CALL,      // operands of a call change places
  SPOIL_EFFECT,    // a call with side effects goes
  SPOIL_ROUND,     // a value is rounded to bf16 on its way
  NUM_SPOILS
} Spoil;
extern const char *const SPOIL_NAMES[NUM_SPOILS];
/// Breaks the first place that can be broken so; false where there is none.
bool spoil_module(MlirModule module, Spoil spoil);

typedef struct JudgeOptions {
  uint64_t seed; // of inputs
  bool thorough; // printed and read again, and run through the pass twice
  Spoil spoil;
} JudgeOptions;

typedef struct Judgement {
  Verdict verdict;
  bool spoiled;  // something was there to break
  long compared; // elements
  long skipped;  // elements without a value before
  char reason[320];
} Judgement;

/// A context with the dialects; errors go nowhere.
MlirContext judge_context(void);
/// `counts` may be NULL.
Judgement judge_module(MlirContext context, const char *text, const JudgeOptions *options, Counts *counts);

/// The module with as few operations as can be while the verdict stays.
void shrink_module(MlirContext context, const char *text, const JudgeOptions *options, Verdict verdict, Text *out);

#endif
