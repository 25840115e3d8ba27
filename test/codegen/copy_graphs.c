// copy_graphs.c - one linear layer in all the ways that its tiles can get to shared memory and be multiplied there.
//
// p: m, k, n, blocks over m, blocks over n, iterations over k, stages, form (bits of COPY_*). Blocks over n are grid
// axis x, blocks over m axis y.
#include "graph_words.h"
#include "kernel_graphs.h"

static MirageSchedule schedule_of(int64_t form, int32_t stages) {
  MirageSchedule schedule = {.warps = form & COPY_EIGHT_WARPS ? 8 : 4, .num_loads = 2};
  for (int i = 0; i < 2; i++)
    schedule.loads[i] = (MirageLoadSchedule){.landing = form & COPY_ASYNC  ? MIRAGE_LANDING_ASYNC
                                                        : form & COPY_BULK ? MIRAGE_LANDING_BULK
                                                                           : MIRAGE_LANDING_TENSOR,
                                             .stages = stages,
                                             .multicast = form & COPY_MULTICAST};
  if (form & COPY_SECOND_ASYNC)
    schedule.loads[1].landing = MIRAGE_LANDING_ASYNC;
  if (form & COPY_ROWS)
    schedule.split = MIRAGE_SPLIT_ROWS;
  if (form & COPY_GROUPED)
    schedule.tile_order = MIRAGE_ORDER_GROUPED;
  if (form & COPY_ROLES) {
    schedule.roles[0] = (MirageRole){MIRAGE_ROLE_PRODUCER, form & COPY_SMALL_PRODUCER ? 1 : 4, 40};
    schedule.roles[1] = (MirageRole){MIRAGE_ROLE_CONSUMER, schedule.warps, 232};
    schedule.num_roles = 2;
    schedule.warps += schedule.roles[0].warps;
  }
  return schedule;
}

static MirageAccessAttrs access_of(int x, int y, int l0, int l1) {
  return (MirageAccessAttrs){.grid = {(int8_t)x, (int8_t)y, -1}, .loop = {(int8_t)l0, (int8_t)l1, -1, -1}};
}

// Loads may stand outside the loop over k where that has one iteration and the form says so.
void copied_linear(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2], rows = c->p[3], cols = c->p[4], form = c->p[7];
  bool ta = form & COPY_TRANSPOSE_A, tb = form & COPY_TRANSPOSE_B, persistent = form & COPY_PERSISTENT;
  V in[] = {mirage_ugraph_input(g, mirage_type_tensor(c->dtype, 2, (int64_t[]){ta ? k : m, ta ? m : k})),
            mirage_ugraph_input(g, mirage_type_tensor(c->dtype, 2, (int64_t[]){tb ? n : k, tb ? k : n}))};
  MirageSchedule schedule = schedule_of(form, (int32_t)c->p[6]);
  MirageCustomAttrs attrs = {.grid = {cols, persistent ? 1 : rows, 1}, .cluster = {1, 1, 1}, .schedule = &schedule};
  if (form & COPY_MULTICAST)
    attrs.cluster[0] = 2;
  if (form & COPY_MULTICAST && !persistent && rows % 2 == 0)
    attrs.cluster[1] = 2;
  if (form & COPY_CLUSTER_SUM)
    attrs.grid[2] = attrs.cluster[2] = 2;
  MirageType result = mirage_type_tensor(c->dtype, 2, (int64_t[]){m, n});
  MirageNode kernel = mirage_ugraph_open_custom(g, 2, in, 1, &result, &attrs);
  MirageLoopAttrs tiles = {.range = rows};
  if (persistent)
    mirage_ugraph_open_loop(g, 0, NULL, &tiles);
  int row_loop = persistent ? 0 : -1, row_grid = persistent ? -1 : 0, am = ta ? 1 : 0, ak = ta ? 0 : 1;
  int bk = tb ? 1 : 0, bn = tb ? 0 : 1;
  MirageCarry sum = {.combine = MIRAGE_COMBINE_SUM};
  MirageLoopAttrs steps = {.range = c->p[5], .num_carries = 1, .carries = &sum};
  MirageAccessAttrs a = access_of(-1, row_grid < 0 ? -1 : am, persistent ? am : ak, persistent ? ak : -1);
  MirageAccessAttrs b = access_of(bn, -1, persistent ? -1 : bk, persistent ? bk : -1);
  MirageAccessAttrs y = access_of(1, row_grid, row_loop, -1);
  if (form & COPY_CLUSTER_SUM) {
    a.grid[2] = (int8_t)ak;
    b.grid[2] = (int8_t)bk;
  }
  MirageAttrs transposed = {.matmul = {.transpose_a = ta, .transpose_b = tb}},
              halves = {.axes = {{false, false, true}}};
  V product;
  if (form & COPY_OUTSIDE) {
    a.loop[0] = b.loop[0] = -1;
    V tiles_in[] = {mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &a),
                    mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &b)};
    product = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, tiles_in, &transposed);
  } else {
    V zero =
        mirage_ugraph_constant(g, mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){parts(m, rows), parts(n, cols)}), 0.0);
    MirageNode l = mirage_ugraph_open_loop(g, 1, &zero, &steps);
    V tiles_in[] = {mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &a),
                    mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &b)};
    V part = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, tiles_in, &transposed);
    mirage_ugraph_close(g, 1, &part);
    product = mirage_ugraph_result(g, l, 0);
  }
  if (form & COPY_CLUSTER_SUM)
    product = mirage_ugraph_apply(g, MIRAGE_OP_CLUSTER_SUM, 1, &product, &halves);
  product = mirage_ugraph_apply(g, MIRAGE_OP_RELU, 1, &product, NULL);
  mirage_ugraph_store(g, product, mirage_ugraph_argument(g, kernel, 2), &y);
  if (persistent)
    mirage_ugraph_close(g, 0, NULL);
  mirage_ugraph_close(g, 0, NULL);
  V out = mirage_ugraph_result(g, kernel, 0);
  mirage_ugraph_return(g, 1, &out);
}
