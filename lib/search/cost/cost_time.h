// cost_time.h - what the files of the formula share: cost.c (tiles in shared memory, and which part of the formula a kernel
// takes), cost_stream.c (streamed weights), cost_rows.c (rows). Private to them.
#ifndef MIRAGE_LIB_SEARCH_COST_TIME_H
#define MIRAGE_LIB_SEARCH_COST_TIME_H

#include "search/cost/cost_kernel.h"

enum { LINE_BYTES = 128, INSTRUCTION_M = 16 };

// Like all constants of these files fitted to measured candidates of many programs on an H200 (test/bench), starting from
// what each stands for.
static const double saturating_share = 0.45; // of the multiprocessors, busy, saturate device memory
static const double latency_us = 1.7;        // of a load under load: bytes in flight = rate * latency
static const double block_us =
    0.5; // prologue and epilogue that nothing hides, of each wave beyond the first (launch_us)
static const double outside_us = 0.25;   // a product or reduction outside loops: it waits for all warps
static const double overlap_loss = 0.1;  // share of the units that are not the bottleneck
static const double usual_threads = 256; // of a block

/// How the blocks share the multiprocessors.
typedef struct CostOccupancy {
  double resident, slots, waves; // blocks on a multiprocessor, on all of them; rounds of so many
  double busy;                   // multiprocessors
  double full, spread;           // share of slots, and of multiprocessors, that work, over all waves
} CostOccupancy;

CostOccupancy mirage__cost_occupy(const CostKernel *kernel, const MirageTarget *target);
/// Units that work beside each other: the longest is seen, and a share `loss` of the others.
double mirage__cost_overlapped(const double *units, size_t num, double loss);

/// Microseconds of a kernel that streams weights, of one with rows in registers, of one whose rows wait in shared memory; `meeting_us`:
/// where blocks meet, `narrow_us`: of elements that are loaded one by one.
double mirage__cost_stream_us(const CostKernel *kernel, const MirageTarget *target);
double mirage__cost_thread_us(const CostKernel *kernel, double narrow_us, double meeting_us,
                              const MirageTarget *target);
double mirage__cost_rows_ahead_us(const CostKernel *kernel, double meeting_us, const MirageTarget *target);

#endif
