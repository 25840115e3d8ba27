// primitive_defects.c - defects put into the kernels of the instructions, on the emulator: each kind must be caught.
//
// A defect is one instruction left out, one wait taken for done, one swizzle skewed, or the shared memory cut short, at
// every place where it can be. What is left out may have been of no use there (the fence of an mbarrier that no copy
// uses); then nothing changes. What must not happen is another result that nobody objects to, except where the wrong
// bytes are there to be read: a skewed swizzle shows in the result.
#include "primitive_kernels.h"

#include "codegen/host.h"
#include "emulator/machine.h"
#include "primitive_cases.h"
#include <stdio.h>
#include <string.h>

typedef struct Kind {
  const char *name;
  MirageFaultKind kind;
  MiragePrimitive primitive; // DROP_PRIMITIVE
  const char *sentence;      // in some of what is said
  int least_caught;
  bool may_change; // the result, unsaid
} Kind;

#define DROP(row, sentence, least) {#row, MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_##row, sentence, least, false}
static const Kind KINDS[] = {
    DROP(SYNC_WARP, "of shared memory, wh", 1),
    DROP(BARRIER, "with no barrier in between", 10),
    DROP(BARRIER_NAMED, "of shared memory, which", 2),
    DROP(BARRIER_NAMED_ARRIVE, "deadlock: 64 threads wait at a", 1),
    DROP(FENCE_CLUSTER_SHARED, "with no barrier in between", 1),
    DROP(AWAIT_VALUE, "before what it reads of a peer has come", 1),
    DROP(CLUSTER_ARRIVE_RELAXED, "waits at a cluster barrier without having arrived", 1),
    DROP(CLUSTER_ARRIVE, "waits at a cluster barrier without having arrived", 4),
    DROP(MBARRIER_INIT, "as an mbarrier, which nobody initialised", 10),
    DROP(MBARRIER_EXPECT, "wait at an mbarrier", 10),
    DROP(MBARRIER_ARRIVE, "wait at an mbarrier", 2),
    DROP(MBARRIER_ARRIVE_CLUSTER, "wait at an mbarrier", 1),
    DROP(CP_ASYNC_ARRIVE, "wait at an mbarrier", 1),
    DROP(CP_ASYNC_WAIT, "under way and not waited for", 4),
    DROP(CP_ASYNC_COMMIT, "under way and not waited for", 4),
    DROP(FENCE_MBARRIER_INIT, "with no fence after its initialisation", 10),
    DROP(FENCE_ASYNC_SHARED, "with no proxy fence in between", 4),
    DROP(BULK_COPY, "wait at an mbarrier", 2),
    DROP(TENSOR_COPY_2D, "wait at an mbarrier", 4),
    DROP(TENSOR_COPY_2D_MULTICAST, "wait at an mbarrier", 1),
    DROP(SET_REGISTERS_FEWER, "wait at setmaxnreg", 1),
    DROP(WGMMA_FENCE, "with no wgmma.fence before it", 3),
    DROP(WGMMA_COMMIT, "before waiting for it", 3),
    DROP(WGMMA_WAIT, "before waiting for it", 3),
    {"wait for an mbarrier", MIRAGE_FAULT_SKIP_WAIT, MIRAGE_NUM_PRIMITIVES, "of shared memory, wh", 10, false},
    {"swizzle of a descriptor", MIRAGE_FAULT_SKEW_SWIZZLE, MIRAGE_NUM_PRIMITIVES, "", 0, true},
};

typedef struct Tally {
  int tried, caught, changed, unnoticed;
  bool said; // the kind's sentence
  const Kind *kind;
} Tally;

static void listen(void *user, MirageSeverity severity, const void *loc, const char *text) {
  Tally *tally = user;
  tally->said |= strstr(text, tally->kind->sentence) != NULL;
}

typedef struct Right { // what a case leaves in memory as it is
  bool known;
  uint32_t words[WORDS_OUT];
} Right;

static bool run_right(const Case *c, uint32_t *in, Right *right) {
  MirageDiag diag = {0};
  Jit *jit = NULL;
  memset(right->words, 0xff, sizeof right->words);
  right->known = case_compile(1, &c, NULL, &diag, &jit) == MIRAGE_OK &&
                 case_emulate(jit, c, false, in, right->words, &diag) == MIRAGE_OK;
  mirage__jit_destroy(jit);
  if (!right->known)
    printf("  %s does not run as it is\n", c->name);
  return right->known;
}

// Runs with copies late and early; false when the defect found no place.
static bool try_place(const Case *c, int32_t index, Right *right, Tally *tally) {
  static uint32_t in[WORDS_IN], out[WORDS_OUT];
  MirageFault fault = {tally->kind->kind, tally->kind->primitive, index, 0};
  MirageDiag diag = {listen, tally};
  Jit *jit = NULL;
  case_draw(c, in);
  if (case_compile(1, &c, &fault, &diag, &jit) != MIRAGE_OK || !jit || (!right->known && !run_right(c, in, right))) {
    mirage__jit_destroy(jit);
    return false;
  }
  bool caught = false, changed = false;
  for (int early = 0; early < 2; early++) {
    memset(out, 0xff, sizeof out);
    MirageStatus status = case_emulate(jit, c, early, in, out, &diag);
    caught |= status == MIRAGE_FAULT;
    changed |= status == MIRAGE_OK && memcmp(out, right->words, sizeof out) != 0;
  }
  tally->tried++;
  tally->caught += caught;
  tally->changed += changed && !caught;
  tally->unnoticed += !changed && !caught;
  mirage__jit_destroy(jit);
  return true;
}

static bool try_kind(const Kind *kind, unsigned num_cases, const Case *const *cases, Right *right) {
  Tally tally = {.kind = kind};
  for (unsigned i = 0; i < num_cases; i++)
    for (int32_t index = 0; try_place(cases[i], index, &right[i], &tally); index++)
      ;
  bool ok = kind->may_change ? tally.changed + tally.caught > 0 && tally.unnoticed == 0
                             : tally.changed == 0 && tally.caught >= kind->least_caught && tally.said;
  printf("%-5s %-26s %3d places, %3d caught, %3d change the result, %3d of no use there\n", ok ? "ok" : "WRONG",
         kind->name, tally.tried, tally.caught, tally.changed, tally.unnoticed);
  return ok;
}

unsigned primitives_defects(const MirageTarget *target) {
  const Case *cases[MOST_CASES];
  static Right right[MOST_CASES];
  unsigned num_cases = case_all(target, cases), wrong = 0;
  unsigned used = 0;
  for (unsigned i = 0; i < num_cases; i++) // wide products are the same code, many times
    if (cases[i]->group.n <= 24)
      cases[used++] = cases[i];
  for (unsigned i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
    wrong += !try_kind(&KINDS[i], used, cases, right);
  return wrong;
}
