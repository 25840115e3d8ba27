// cost_plan.h - a planned kernel, summed up.
#ifndef MIRAGE_LIB_SEARCH_COST_PLAN_H
#define MIRAGE_LIB_SEARCH_COST_PLAN_H

#include "layout/block.h"
#include "search/cost/cost_kernel.h"

/// What a kernel with this plan moves and computes, and how.
CostKernel mirage__cost_plan(const Block *block, const MirageTarget *target);

#endif
