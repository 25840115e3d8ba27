// generate.c - pair number N: a family, a program, and what is done to it.
#include "generate.h"

#include <string.h>

void tell(Pair *pair, const char *what) {
  size_t used = strlen(pair->story);
  snprintf(pair->story + used, sizeof pair->story - used, "%s%s", used ? " " : "", what);
}

// Some rewrites, most of them right; in so many percent of them an operator becomes a kernel.
static bool rewrite_some(Draw *draw, Pair *pair, int most, int kernels) {
  int steps = 1 + draw_below(draw, most);
  static _Thread_local Program next;
  copy_program(&pair->target, &pair->source);
  for (int i = 0; i < steps; i++) {
    bool slip = draw_chance(draw, 36);
    const char *rule = draw_chance(draw, kernels) ? rewrite_as_kernel(draw, &pair->target, slip, &next)
                                                  : rewrite(draw, &pair->target, slip, &next);
    if (!rule || work_of(&next) > 1e7)
      continue;
    copy_program(&pair->target, &next);
    tell(pair, slip ? "slip:" : "rule:");
    tell(pair, rule);
  }
  return pair->story[0] != 0;
}

static bool try_pair(Draw *draw, Pair *pair) {
  int roll = draw_below(draw, 100);
  bool made;
  pair->story[0] = 0;
  if (roll < 42) {
    pair->family = "kernel level";
    made = generate_kernel_level(draw, &pair->source) && rewrite_some(draw, pair, 4, 0);
  } else if (roll < 60) {
    pair->family = "wrapped";
    made = generate_kernel_level(draw, &pair->source) && rewrite_some(draw, pair, 5, 70);
  } else if (roll < 80) {
    pair->family = "scheduled";
    made = generate_scheduled(draw, pair);
  } else {
    pair->family = "softmax";
    made = generate_softmax(draw, pair);
  }
  if (!made)
    return false;
  if (draw_chance(draw, roll < 42 ? 20 : 50)) {
    const char *what = blunder(draw, &pair->target);
    tell(pair, "blunder:");
    tell(pair, what ? what : "none");
  }
  if (draw_chance(draw, roll < 42 ? 50 : 12)) {
    static _Thread_local Program kept;
    copy_program(&kept, &pair->source);
    copy_program(&pair->source, &pair->target);
    copy_program(&pair->target, &kept);
    tell(pair, "exchanged");
  }
  return true;
}

void generate_pair(uint64_t seed, uint64_t number, uint64_t *attempt, Pair *out) {
  for (;;) {
    Draw draw = draw_of(seed, number, (*attempt)++);
    if (try_pair(&draw, out))
      return;
  }
}
