// cost_memo.c - a table of fixed size, in which a kernel has one place: who comes later takes it.
#include "search/cost/cost_memo.h"
#include <pthread.h>
#include <stdlib.h>

enum { PLACES = 4096 }; // pieces of a program of 64 operators have some hundred kernels

typedef struct Place {
  MirageGraphHash kernel;
  MirageCost cost; // not present: the place is free
} Place;

struct CostMemo {
  pthread_mutex_t lock; // of what follows
  Place places[PLACES];
};

CostMemo *mirage__cost_memo_create(void) {
  CostMemo *memo = calloc(1, sizeof *memo);
  if (memo)
    pthread_mutex_init(&memo->lock, NULL);
  return memo;
}

void mirage__cost_memo_destroy(CostMemo *memo) {
  if (memo)
    pthread_mutex_destroy(&memo->lock);
  free(memo);
}

bool mirage__cost_memo_find(CostMemo *memo, const MirageGraphHash *kernel, MirageCost *out_cost) {
  const Place *place = &memo->places[kernel->low % PLACES];
  pthread_mutex_lock(&memo->lock);
  bool found = place->cost.present && place->kernel.low == kernel->low && place->kernel.high == kernel->high;
  if (found)
    *out_cost = place->cost;
  pthread_mutex_unlock(&memo->lock);
  return found;
}

void mirage__cost_memo_add(CostMemo *memo, const MirageGraphHash *kernel, const MirageCost *cost) {
  pthread_mutex_lock(&memo->lock);
  memo->places[kernel->low % PLACES] = (Place){*kernel, *cost};
  pthread_mutex_unlock(&memo->lock);
}
