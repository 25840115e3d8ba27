// transfer.c - a small weighted instance whose equality is that of the originals, by the theorem of transfer
// (README.md).
//
// The theorem asks for so many points of each axis as the pair can tell apart; bound.c counts them on an instance, and
// which instance it is depends on the points. So we begin with few and give each axis what it needs until all have it.
// An axis that needs more points than it has indices keeps them all, and needs no theorem. Before all that, grids that
// only share independent work are taken away (unsplit.c), so that fewer blocks are evaluated.
//
// Example:     RMSNorm and a linear layer, 2x4096 @ 4096x6144: the contraction needs 3 points (two arguments of a
//              square root and a weight), the columns 2.
#include "shrink.h"

#include "unsplit.h"

#include <math.h>
#include <stdlib.h>

enum { FIRST_POINTS = 2, MAX_ROUNDS = 16 };

static int by_gain(const void *a, const void *b) {
  const Axis *x = *(Axis *const *)a, *y = *(Axis *const *)b;
  return x->digit != y->digit ? (x->digit < y->digit) - (x->digit > y->digit) : (x > y) - (x < y);
}

// The axes that may shrink, the longest digits first, but no more than `most`.
static MirageStatus choose_first(Axes *axes, uint32_t most) {
  Axis **order = malloc((axes->num_dims + 1) * sizeof(Axis *));
  uint32_t count = 0;
  if (!order)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = mirage__axes_next(axes, 0); i < axes->num_dims; i = mirage__axes_next(axes, i + 1))
    order[count++] = &axes->axes[i];
  qsort(order, count, sizeof(Axis *), by_gain);
  for (uint32_t i = 0; i < count && i < most; i++)
    mirage__axes_choose(axes, order[i], FIRST_POINTS, 0);
  free(order);
  return MIRAGE_OK;
}

// Gives each axis the points that it needs. Whether all had them before.
static bool satisfy(Axes *axes, const VerifyWeights *weights, const VerifyBound *bound) {
  bool enough = true;
  for (uint32_t a = 0; a < weights->num_axes; a++) {
    const VerifyAxis *axis = &weights->axes[a];
    for (int sort = 0; sort < 2; sort++)
      if (axis->points[sort] < axis->sizes[sort] && !((double)axis->points[sort] >= bound->points[a])) {
        int64_t digit = axis->sizes[0] + axis->sizes[1];
        double needed = fmin(bound->points[a], (double)digit);
        mirage__axes_choose(axes, &axes->axes[axis->root], isnan(needed) ? digit : (int64_t)needed, 0);
        enough = false;
        break;
      }
  }
  return enough;
}

static void instance_deinit(VerifyTransfer *transfer) {
  mirage_ugraph_destroy(transfer->graphs[0]);
  mirage_ugraph_destroy(transfer->graphs[1]);
  transfer->graphs[0] = transfer->graphs[1] = NULL;
  mirage__verify_weights_deinit(&transfer->weights);
}

void mirage__verify_transfer_deinit(VerifyTransfer *transfer) {
  instance_deinit(transfer);
  mirage__axes_deinit(&transfer->axes);
  for (int g = 0; g < 2; g++)
    mirage_ugraph_destroy(transfer->unsplit[g]);
}

// The axes of both graphs, without the grids that share independent work. maps: NULL, or where their values went.
static MirageStatus begin(VerifyTransfer *transfer, const MirageUGraph *source, const MirageUGraph *target,
                          MirageValue *const maps[2]) {
  const MirageUGraph *graphs[2] = {source, target};
  *transfer = (VerifyTransfer){.work = INFINITY, .bound = {.log2_trial = INFINITY}};
  for (int g = 0; g < 2; g++) {
    transfer->unsplit[g] = mirage__verify_unsplit(graphs[g], maps ? maps[g] : NULL);
    graphs[g] = transfer->unsplit[g] ? transfer->unsplit[g] : graphs[g];
  }
  MirageStatus status = mirage__axes_init(&transfer->axes, graphs[0], graphs[1]);
  if (status != MIRAGE_OK)
    mirage__verify_transfer_deinit(transfer);
  return status;
}

static MirageStatus make_instance(VerifyTransfer *transfer, bool free_exp) {
  instance_deinit(transfer);
  MIRAGE_TRY(mirage__verify_weighted(&transfer->axes, &transfer->weights, transfer->graphs, NULL));
  transfer->instance = (VerifyInstance){transfer->graphs[0], transfer->graphs[1], &transfer->weights};
  if (!transfer->graphs[0])
    return MIRAGE_OK;
  transfer->work = mirage__verify_work(transfer->graphs[0]) + mirage__verify_work(transfer->graphs[1]);
  return mirage__verify_bound(transfer->graphs[0], transfer->graphs[1], &transfer->weights, free_exp, &transfer->bound);
}

MirageStatus mirage__verify_transfer_init(VerifyTransfer *transfer, const MirageUGraph *source,
                                          const MirageUGraph *target, bool free_exp) {
  MIRAGE_TRY(begin(transfer, source, target, NULL));
  MirageStatus status = choose_first(&transfer->axes, VERIFY_MAX_AXES); // as many as bound.c can tell apart
  for (uint32_t round = 0; round < MAX_ROUNDS && status == MIRAGE_OK && !transfer->holds; round++) {
    status = make_instance(transfer, free_exp);
    if (status != MIRAGE_OK || !transfer->graphs[0])
      break;
    transfer->holds = satisfy(&transfer->axes, &transfer->weights, &transfer->bound);
  }
  if (status != MIRAGE_OK)
    mirage__verify_transfer_deinit(transfer);
  return status;
}

MirageStatus mirage__verify_smallest(VerifyTransfer *transfer, const MirageUGraph *source, const MirageUGraph *target,
                                     MirageValue *const maps[2]) {
  MIRAGE_TRY(begin(transfer, source, target, maps));
  const MirageUGraph *graphs[2] = {source, target};
  MirageValue *small[2];
  MirageStatus status = choose_first(&transfer->axes, UINT32_MAX);
  for (int g = 0; g < 2; g++)
    small[g] = calloc((size_t)mirage_ugraph_num_values(transfer->axes.graphs[g]) + 1, sizeof *small[g]);
  if (!small[0] || !small[1])
    status = MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = mirage__verify_weighted(&transfer->axes, &transfer->weights, transfer->graphs, small);
  transfer->instance = (VerifyInstance){transfer->graphs[0], transfer->graphs[1], &transfer->weights};
  for (int g = 0; g < 2; g++) {
    for (uint32_t v = 1; status == MIRAGE_OK && v <= mirage_ugraph_num_values(graphs[g]); v++)
      maps[g][v] = small[g][transfer->unsplit[g] ? maps[g][v].index : v];
    free(small[g]);
  }
  if (status != MIRAGE_OK)
    mirage__verify_transfer_deinit(transfer);
  return status;
}

void mirage__verify_transfer_describe(const VerifyTransfer *transfer, MirageProof *proof) {
  double points = 0;
  for (uint32_t a = 0; a < transfer->weights.num_axes; a++)
    points = fmax(points, transfer->bound.points[a]);
  proof->shrunken = true;
  proof->axes = transfer->weights.num_axes;
  proof->points = (uint32_t)points;
}
