// generate.h - random programs, rewrites of them that are right or nearly right, and schedules as kernels.
//
// Nobody here decides what is right: that is the judge's (judge.h).
#ifndef PAIRS_GENERATE_H
#define PAIRS_GENERATE_H

#include "draw.h"
#include "program.h"

enum { MAX_TENSOR = 600000 }; // elements of a value, over all blocks

typedef struct Pair {
  Program source, target;
  const char *family; // "kernel level", "wrapped", "scheduled", "softmax"
  char story[200];    // what was done to the target, in order
} Pair;

void tell(Pair *pair, const char *what);

/// A random extent of 1 to 5000, near a number that it is easily taken for with `beside` (0: none).
int64_t draw_extent(Draw *draw, int64_t beside, int64_t most);

/// A program of kernel-level operators only.
bool generate_kernel_level(Draw *draw, Program *out);
/// Applies one rewrite somewhere. With `slip`, one that is nearly right, where the rule has such a form. The rule's
/// name comes back, NULL when none was found.
const char *rewrite(Draw *draw, const Program *from, bool slip, Program *out);
/// Appends kernel-level operator `at` of `from` to `to` as a custom kernel; `map` gives its operands. Its result, or
/// -1.
int wrap(Draw *draw, const Program *from, int at, const int *map, bool slip, Program *to);
/// The rule "as a kernel", which is `wrap`, somewhere in a program.
const char *rewrite_as_kernel(Draw *draw, const Program *from, bool slip, Program *out);
/// Changes one number, name or operand somewhere; NULL when it found nothing to change.
const char *blunder(Draw *draw, Program *p);

/// A program over rows and a reduced axis, and kernels that compute it.
bool generate_scheduled(Draw *draw, Pair *pair);
/// Softmax-like programs, split over blocks, clusters, loops or kernels, with parts that may be empty.
bool generate_softmax(Draw *draw, Pair *pair);

/// The pair with this number. Always succeeds: it tries again with other draws. Who has no use for a pair (its source
/// is undefined, say) calls again for the next one; *attempt starts at 0.
void generate_pair(uint64_t seed, uint64_t number, uint64_t *attempt, Pair *out);

#endif
