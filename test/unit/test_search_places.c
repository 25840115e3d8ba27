// test_search_places.c - who gives up a place among the candidates when one more comes than are wanted.
#include "block_graphs.h"
#include "search/pieces/search_pieces.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EXTENT = 128, WANTED = 4 };

static MirageValue copy(MirageUGraph *graph, MirageValue x, int64_t grid, bool swap) {
  MirageSchedule schedule = {.swap = swap};
  MirageCustomAttrs attrs = blocks(grid);
  attrs.schedule = swap ? &schedule : NULL;
  MirageType type = tensor_type(MIRAGE_F16, 2, EXTENT, EXTENT);
  MirageAccessAttrs rows = access_of(0, -1);
  MirageNode kernel = mirage_ugraph_open_custom(graph, 1, &x, 1, &type, &attrs);
  MirageValue tile = mirage_ugraph_load(graph, mirage_ugraph_argument(graph, kernel, 0), &rows);
  mirage_ugraph_store(graph, tile, mirage_ugraph_argument(graph, kernel, 1), &rows);
  mirage_ugraph_close(graph, 0, NULL);
  return mirage_ugraph_result(graph, kernel, 0);
}

/// Copies in turn, a kernel each, of these grids (0: no more).
static MirageUGraph *candidate(double us, int64_t first, int64_t second, bool swap) {
  MirageUGraph *graph = mirage_ugraph_create(NULL, "copy", NULL);
  MirageValue y = copy(graph, mirage_ugraph_input(graph, tensor_type(MIRAGE_F16, 2, EXTENT, EXTENT)), first, swap);
  graph = finish_with(graph, second ? copy(graph, y, second, swap) : y);
  assert_non_null(graph);
  mirage_ugraph_meta(graph)->cost = (MirageCost){.present = true, .time_us = us};
  return graph;
}

static void insert(MirageSearchResult *result, double us, int64_t first, int64_t second, bool swap) {
  assert_int_equal(mirage__search_insert(result, WANTED, candidate(us, first, second, swap)), MIRAGE_OK);
}

static void assert_times(MirageSearchResult *result, uint32_t count, const double *times) {
  assert_int_equal(result->num_candidates, count);
  for (uint32_t i = 0; i < count; i++)
    assert_true(mirage_ugraph_get_meta(result->candidates[i])->cost.time_us == times[i]);
  mirage_search_result_deinit(result);
}

static void test_they_stand_in_order(void **state) {
  MirageSearchResult result = {0};
  insert(&result, 12, 64, 0, false);
  insert(&result, 10, 32, 0, false);
  insert(&result, 11, 16, 0, false);
  assert_times(&result, 3, (double[]){10, 11, 12});
}

static void test_what_has_no_plan_gets_none(void **state) {
  MirageSearchResult result = {0};
  insert(&result, INFINITY, 64, 0, false);
  assert_times(&result, 0, NULL);
}

static void test_the_third_of_one_shape_goes_first(void **state) {
  MirageSearchResult result = {0};
  for (int i = 0; i < 3; i++)
    insert(&result, 10 + i / 10., 64, 0, false);
  insert(&result, 10.3, 128, 0, false);
  insert(&result, 10.4, 32, 0, false);
  assert_times(&result, 4, (double[]){10, 10.1, 10.3, 10.4});
}

static void test_then_what_is_behind(void **state) {
  MirageSearchResult result = {0};
  insert(&result, 10, 64, 0, false);
  insert(&result, 10.1, 128, 0, false);
  insert(&result, 11, 16, 8, false);
  insert(&result, 12, 8, 16, false);
  insert(&result, 10.2, 32, 0, false); // of the way that has most
  assert_times(&result, 4, (double[]){10, 10.1, 10.2, 11});
}

static void test_the_last_of_a_way_stays(void **state) {
  static const struct {
    int64_t second;
    bool swap;
  } ways[] = {{16, false}, {0, true}}; // in two kernels; with operands swapped
  for (int i = 0; i < 2; i++) {
    MirageSearchResult result = {0};
    insert(&result, 10, 64, 0, false);
    insert(&result, 10.1, 128, 0, false);
    insert(&result, 10.2, 32, 0, false);
    insert(&result, 20, 16, ways[i].second, ways[i].swap);
    insert(&result, 10.15, 8, 0, false);
    assert_times(&result, 4, (double[]){10, 10.1, 10.15, 20});
  }
}

static void test_else_the_slowest_of_the_way_that_has_most(void **state) {
  MirageSearchResult result = {0};
  insert(&result, 10, 64, 0, false);
  insert(&result, 10.1, 128, 0, false);
  insert(&result, 10.2, 32, 0, false);
  insert(&result, 10.3, 16, 8, false);
  insert(&result, 10.4, 8, 16, false);
  assert_times(&result, 4, (double[]){10, 10.1, 10.3, 10.4});
}

static void test_far_behind_is_nothing(void **state) {
  MirageSearchResult result = {0};
  insert(&result, 10, 64, 0, false);
  insert(&result, 39, 32, 0, false);
  insert(&result, 41, 16, 0, false);
  mirage__search_drop_far_behind(&result);
  assert_times(&result, 2, (double[]){10, 39});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_they_stand_in_order),
      cmocka_unit_test(test_what_has_no_plan_gets_none),
      cmocka_unit_test(test_the_third_of_one_shape_goes_first),
      cmocka_unit_test(test_then_what_is_behind),
      cmocka_unit_test(test_the_last_of_a_way_stays),
      cmocka_unit_test(test_else_the_slowest_of_the_way_that_has_most),
      cmocka_unit_test(test_far_behind_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
