// test_views.c - what loads and stores see of a tensor: slices, transpositions and reshapes composed, against numbers
// of elements that are moved by hand; and what no view can say.
#include "search/views/search_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 4096 };

// The elements of a tensor, numbered, as steps move them.
typedef struct Moved {
  MirageType type;
  int elements[MOST];
} Moved;

static Moved numbered(uint32_t rank, const int64_t *shape) {
  Moved moved = {.type = mirage_type_tensor(MIRAGE_F16, rank, shape)};
  for (int64_t i = 0; i < mirage_type_elements(&moved.type); i++)
    moved.elements[i] = (int)i;
  return moved;
}

static int64_t number_of(const MirageType *type, const int64_t *index) {
  int64_t number = 0;
  for (uint32_t d = 0; d < type->rank; d++)
    number = number * type->shape[d] + index[d];
  return number;
}

static bool step(const MirageType *type, int64_t *index) {
  for (uint32_t d = type->rank; d-- > 0; index[d] = 0)
    if (++index[d] < type->shape[d])
      return true;
  return false;
}

static void slice(Moved *moved, View *view, uint32_t dim, int64_t begin, int64_t end) {
  Moved old = *moved;
  moved->type.shape[dim] = end - begin;
  int64_t index[MIRAGE_MAX_RANK] = {0}, count = 0;
  do {
    index[dim] += begin;
    moved->elements[count++] = old.elements[number_of(&old.type, index)];
    index[dim] -= begin;
  } while (step(&moved->type, index));
  mirage__view_slice(view, dim, begin, end);
}

static void transpose(Moved *moved, View *view, const int32_t *perm) {
  Moved old = *moved;
  for (uint32_t d = 0; d < old.type.rank; d++)
    moved->type.shape[d] = old.type.shape[perm[d]];
  int64_t index[MIRAGE_MAX_RANK] = {0}, count = 0;
  do {
    int64_t from[MIRAGE_MAX_RANK];
    for (uint32_t d = 0; d < old.type.rank; d++)
      from[perm[d]] = index[d];
    moved->elements[count++] = old.elements[number_of(&old.type, from)];
  } while (step(&moved->type, index));
  mirage__view_transpose(view, perm);
}

static void reshape(Moved *moved, View *view, uint32_t rank, const int64_t *shape) {
  moved->type = mirage_type_tensor(MIRAGE_F16, rank, shape);
  assert_true(mirage__view_reshape(view, rank, shape));
}

// The view must show the same elements: reshaped, in its order, through its windows.
static void check(const Moved *moved, const View *view) {
  MirageType seen = mirage__view_type(view, MIRAGE_F16), tensor = mirage__view_tensor(view, MIRAGE_F16);
  assert_true(mirage_type_same_shape(&seen, &moved->type));
  int64_t index[MIRAGE_MAX_RANK] = {0}, count = 0;
  do {
    int64_t from[MIRAGE_MAX_RANK];
    for (uint32_t d = 0; d < view->rank; d++)
      from[view->place[d]] = view->begin[d] + index[d];
    assert_int_equal(number_of(&tensor, from), moved->elements[count++]);
  } while (step(&seen, index));
}

static void test_heads_of_a_projection(void **state) {
  (void)state;
  Moved moved = numbered(2, (int64_t[]){5, 24});
  View view = mirage__view_whole(&moved.type);
  slice(&moved, &view, 1, 8, 16);
  reshape(&moved, &view, 3, (int64_t[]){5, 2, 4});
  transpose(&moved, &view, (int32_t[]){1, 0, 2});
  check(&moved, &view);
  assert_true(mirage__view_has_rows(&view));
  assert_false(mirage__view_is_dense(&view));
  assert_int_equal(mirage__view_tensor(&view, MIRAGE_F16).shape[1], 6);
  slice(&moved, &view, 1, 1, 4); // and some of its rows
  reshape(&moved, &view, 4, (int64_t[]){2, 1, 3, 4});
  check(&moved, &view);
}

static void test_there_and_back(void **state) {
  (void)state;
  Moved moved = numbered(3, (int64_t[]){3, 4, 6});
  View view = mirage__view_whole(&moved.type);
  transpose(&moved, &view, (int32_t[]){1, 2, 0});
  check(&moved, &view);
  bool swapped;
  assert_false(mirage__view_has_rows(&view));
  assert_true(mirage__view_is_loadable(&view, &swapped) && swapped);
  transpose(&moved, &view, (int32_t[]){2, 0, 1});
  reshape(&moved, &view, 2, (int64_t[]){12, 6});
  reshape(&moved, &view, 4, (int64_t[]){2, 6, 3, 2});
  reshape(&moved, &view, 1, (int64_t[]){72});
  check(&moved, &view);
  assert_true(mirage__view_is_dense(&view));
}

static void test_extents_of_one(void **state) {
  (void)state;
  Moved moved = numbered(3, (int64_t[]){4, 1, 6});
  View view = mirage__view_whole(&moved.type);
  reshape(&moved, &view, 2, (int64_t[]){4, 6});
  transpose(&moved, &view, (int32_t[]){1, 0});
  reshape(&moved, &view, 5, (int64_t[]){1, 6, 1, 4, 1});
  check(&moved, &view);
  reshape(&moved, &view, 2, (int64_t[]){6, 4});
  transpose(&moved, &view, (int32_t[]){1, 0});
  reshape(&moved, &view, 1, (int64_t[]){24});
  check(&moved, &view);
  reshape(&moved, &view, 2, (int64_t[]){1, 24});
  reshape(&moved, &view, 2, (int64_t[]){24, 1});
  check(&moved, &view);
  assert_true(mirage__view_has_rows(&view));
}

static void test_what_no_view_shows(void **state) {
  (void)state;
  Moved moved = numbered(3, (int64_t[]){3, 4, 6});
  View view = mirage__view_whole(&moved.type), before;
  transpose(&moved, &view, (int32_t[]){1, 0, 2});
  before = view;
  assert_false(mirage__view_reshape(&view, 2, (int64_t[]){12, 6})); // not side by side
  assert_memory_equal(&view, &before, sizeof view);
  slice(&moved, &view, 0, 1, 4);
  assert_false(mirage__view_reshape(&view, 4, (int64_t[]){3, 3, 2, 4})); // 6 are no rows of 2 4s
  view = before;
  moved = numbered(2, (int64_t[]){4, 12});
  view = mirage__view_whole(&moved.type);
  slice(&moved, &view, 1, 2, 8);
  assert_false(mirage__view_reshape(&view, 1, (int64_t[]){24}));      // rows with gaps
  assert_false(mirage__view_reshape(&view, 3, (int64_t[]){4, 2, 3})); // begins inside a part
  slice(&moved, &view, 1, 0, 1);
  assert_false(mirage__view_reshape(&view, 1, (int64_t[]){4})); // one column of several
  check(&moved, &view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads_of_a_projection),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_extents_of_one),
      cmocka_unit_test(test_what_no_view_shows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
