// search_orders.c - sums and products of many values: one order stands for all that cost the same.
//
// a + b + c can be added in three ways, and nine values in two million. Where the inner sum has the tile of the outer
// one and nobody else takes it, any way takes the same operators on the same tiles. Of (a + b) + c, (a + c) + b and
// (b + c) + a, as far as all of them were derived, a walk takes only the one whose inner sum has the most terms, and
// among equals, whose outer value comes last. Every order turns into such a one by steps each of which makes inner sums
// larger, or else brings a later value out: none is lost without another that stands for it. Products likewise.
//
// Example: ((a + b) + c) + d is walked; (a + b) + (c + d), ((b + c) + a) + d ... are not.
#include "search/walk/search_walk.h"
#include <string.h>

static uint32_t size_of(const PathTensor *tensor, uint8_t op) {
  return op == MIRAGE_OP_ADD ? tensor->monomials : tensor->atoms;
}

static bool has_same_tile(const Paths *paths, uint32_t a, uint32_t b) {
  const SearchTensor *x = &paths->space->tensors[paths->tensors[a].tensor];
  const SearchTensor *y = &paths->space->tensors[paths->tensors[b].tensor];
  return x->stage == y->stage && x->rank == y->rank && memcmp(x->dims, y->dims, sizeof x->dims) == 0;
}

static const PathStep *steps_of(const Paths *paths, uint32_t place) {
  return &paths->steps[paths->tensors[place].first_step];
}

static bool is_of(const PathStep *step, uint8_t op, uint32_t a, uint32_t b) {
  return step->op == op && ((step->a == a && step->b == b) || (step->a == b && step->b == a));
}

static bool may_be(const Paths *paths, uint32_t place, uint8_t op, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < paths->tensors[place].num_steps; i++)
    if (is_of(&steps_of(paths, place)[i], op, a, b))
      return true;
  return false;
}

static bool is_ever(const Paths *paths, uint32_t place, uint8_t op) {
  for (uint32_t i = 0; i < paths->tensors[place].num_steps; i++)
    if (steps_of(paths, place)[i].op == op)
      return true;
  return false;
}

// Whether (a op c) op b stands for (a op b) op c, whose inner one is at `place`.
static bool stands_for_it(const Walk *walk, uint32_t place, uint32_t above, uint32_t a, uint32_t b, uint32_t c) {
  const Paths *paths = walk->paths;
  uint8_t op = mirage__walk_step(walk, place)->op;
  for (uint32_t i = 0; i < paths->tensors[above].num_steps; i++) {
    const PathStep *step = &steps_of(paths, above)[i];
    uint32_t inner = step->a == b ? step->b : step->a;
    if (step->op != op || (step->a != b && step->b != b) || inner == place || walk->chosen[inner] ||
        !has_same_tile(paths, inner, place) || !may_be(paths, inner, op, a, c))
      continue;
    uint32_t size = size_of(&paths->tensors[inner], op), own = size_of(&paths->tensors[place], op);
    if (size > own || (size == own && b > c && !is_ever(paths, b, op) && !is_ever(paths, c, op)))
      return true;
  }
  return false;
}

static bool is_goal(const Paths *paths, uint32_t place) {
  for (uint32_t i = 0; i < paths->space->num_goals; i++)
    if (paths->goals[i] == place)
      return true;
  return false;
}

bool mirage__walk_is_regrouped(const Walk *walk, uint32_t place) {
  const PathStep *step = mirage__walk_step(walk, place);
  if ((step->op != MIRAGE_OP_ADD && step->op != MIRAGE_OP_MUL) || walk->users[place] != 1 ||
      walk->paths->tensors[place].taken_later || is_goal(walk->paths, place))
    return false;
  uint32_t above = walk->user[place];
  const PathStep *outer = mirage__walk_step(walk, above);
  if (outer->op != step->op || !has_same_tile(walk->paths, place, above))
    return false;
  uint32_t other = outer->a == place ? outer->b : outer->a;
  return stands_for_it(walk, place, above, step->a, step->b, other) ||
         stands_for_it(walk, place, above, step->b, step->a, other);
}
