// funnel.c - what a search did and why, as a remark at the program, as numbers a line, or as JSON.
//
//   @p: 16 candidates kept, the best predicted to take 14.36 us on h200, its own lowering 17.62 us; the space was
//   exhausted up to 11 block operators
//     states  1782
//     cut     102339 by expression, 2448 by axis, 851 by order, 208 by merging, 0 by memory
//     graphs  76 compute the program, 82464 schedules of them tried
//     hint    ...                                     (where nothing better was found, or something stopped the search)
//
// A program that came before is not searched again: "@q: the same program as @p: 16 candidates kept, ...".
//
// The remark does not say how long it took, so that it is the same each time; the other two do.
#include "funnel.h"
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MAX_BLOCK_OPS = 24, MAX_TEXT = 400 };

static double best_us(const MirageSearchResult *result) {
  return result->num_candidates ? mirage_ugraph_get_meta(result->candidates[0])->cost.time_us : INFINITY;
}

// ---------------------------------------------------------------------------------------------------------------
// people

/// How far the search came.
static void extent_text(const MirageSearchReport *report, char text[MAX_TEXT]) {
  const MirageFunnel *funnel = &report->result->funnel;
  uint32_t limit = report->options->max_block_ops;
  if (funnel->exhausted)
    snprintf(text, MAX_TEXT, "the space was exhausted up to %u block operators", limit);
  else if (funnel->stop == MIRAGE_STOP_NONE)
    snprintf(text, MAX_TEXT, "only pieces of it were searched (%s)", report->result->reason);
  else if (funnel->whole_exhausted)
    snprintf(text, MAX_TEXT,
             "the space of the whole was exhausted up to %u block operators, the search for pieces stopped by %s",
             limit, mirage_stop_name(funnel->stop));
  else
    snprintf(text, MAX_TEXT, "the space was not exhausted: stopped by %s", mirage_stop_name(funnel->stop));
}

/// Whether a block graph may lack room for the program as it is written: inputs and operators, an upper bound of what
/// counts. If not, room for more operators finds nothing better.
static bool may_lack_operators(const MirageSearchReport *report) {
  MirageUGraph *plain = NULL;
  if (mirage_ugraph_expand(report->program, NULL, &plain) != MIRAGE_OK)
    return true;
  uint32_t count = mirage_ugraph_num_inputs(plain);
  for (uint32_t i = 1; i <= mirage_ugraph_num_nodes(plain); i++) {
    MirageOp op = mirage_ugraph_node(plain, (MirageNode){i}).op;
    count += op != MIRAGE_OP_CONSTANT && op != MIRAGE_OP_RETURN;
  }
  mirage_ugraph_destroy(plain);
  return count > report->options->max_block_ops;
}

/// What a user can do about it; empty where there is nothing.
static void hint_text(const MirageSearchReport *report, char text[MAX_TEXT]) {
  const MirageSearchResult *result = report->result;
  uint32_t limit = report->options->max_block_ops;
  double left = best_us(result);
  bool better = left < report->own_us;
  uint64_t states =
      report->options->max_states ? report->options->max_states : mirage_search_states(limit, report->options->optimal);
  text[0] = '\0';
  switch (result->funnel.stop) {
  case MIRAGE_STOP_MAX_STATES:
    snprintf(text, MAX_TEXT, "max-states=%" PRIu64 " searches more%s", 10 * states,
             report->checkpoint ? ", from the beginning: with another checkpoint" : "");
    return;
  case MIRAGE_STOP_MEMORY:
    snprintf(text, MAX_TEXT, "a smaller max-block-ops, or the program in parts, needs less memory");
    return;
  case MIRAGE_STOP_TIME_BUDGET:
  case MIRAGE_STOP_INTERRUPT:
    if (report->checkpoint)
      snprintf(text, MAX_TEXT, "run again, the same checkpoint goes on from here");
    else
      snprintf(text, MAX_TEXT, "%swith checkpoint=FILE, another run goes on from there",
               result->funnel.stop == MIRAGE_STOP_TIME_BUDGET ? "a larger time-budget searches more; " : "");
    return;
  case MIRAGE_STOP_NONE:
    break;
  }
  if (!better && result->funnel.exhausted && limit < MAX_BLOCK_OPS && may_lack_operators(report))
    snprintf(text, MAX_TEXT, "max-block-ops=%u searches more", limit + 1);
}

static void found_text(const MirageSearchReport *report, char text[MAX_TEXT]) {
  const MirageSearchResult *result = report->result;
  double best = best_us(result), own = report->own_us;
  const char *plural = result->num_candidates == 1 ? "" : "s";
  char lowering[80] = "";
  if (isfinite(own))
    snprintf(lowering, sizeof lowering, ", its own lowering %.2f us", own);
  if (result->num_candidates == 0)
    snprintf(text, MAX_TEXT, "no candidate found%s%s", result->reason[0] ? ": " : "", result->reason);
  else if (best >= own)
    snprintf(text, MAX_TEXT,
             "%u candidate%s kept, none cheaper than its own lowering: %.2f us predicted on %s, own %.2f us",
             result->num_candidates, plural, best, report->options->target->name, own);
  else
    snprintf(text, MAX_TEXT, "%u candidate%s kept, the best predicted to take %.2f us on %s%s", result->num_candidates,
             plural, best, report->options->target->name, lowering);
}

void mirage__report_search(const MirageSearchReport *report, const void *loc, const MirageDiag *diag) {
  const MirageFunnel *funnel = &report->result->funnel;
  char found[MAX_TEXT], extent[MAX_TEXT], hint[MAX_TEXT];
  found_text(report, found);
  extent_text(report, extent);
  if (report->same_as) {
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc, "@%s: the same program as @%s: %s; %s", report->name,
                     report->same_as, found, extent);
    return;
  }
  hint_text(report, hint);
  mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                   "@%s: %s; %s\n"
                   "  states  %" PRIu64 "\n"
                   "  cut     %" PRIu64 " by expression, %" PRIu64 " by axis, %" PRIu64 " by order, %" PRIu64
                   " by merging, %" PRIu64 " by memory\n"
                   "  graphs  %" PRIu64 " compute it or a piece of it, %" PRIu64 " schedules tried%s%s",
                   report->name, found, extent, funnel->states, funnel->cut_expr, funnel->cut_axis, funnel->cut_order,
                   funnel->cut_merge, funnel->cut_memory, funnel->structures, funnel->scheduled,
                   hint[0] ? "\n  hint    " : "", hint);
}

// -------------------------------------------------------------------------------------------------------------
// machines

void mirage__print_stats(const MirageSearchReport *report) {
  const MirageFunnel *funnel = &report->result->funnel;
  const struct {
    const char *label;
    uint64_t value;
  } rows[] = {
      {"states", funnel->states},         {"cut-expr", funnel->cut_expr},   {"cut-axis", funnel->cut_axis},
      {"cut-order", funnel->cut_order},   {"cut-merge", funnel->cut_merge}, {"cut-memory", funnel->cut_memory},
      {"structures", funnel->structures}, {"schedules", funnel->scheduled}, {"candidates", funnel->candidates},
      {"exhausted", funnel->exhausted},
  };
  if (report->same_as) {
    fprintf(stderr, "enumerate @%s same-as @%s\n", report->name, report->same_as);
    return;
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    fprintf(stderr, "enumerate @%s %s %" PRIu64 "\n", report->name, rows[i].label, rows[i].value);
  if (funnel->stop != MIRAGE_STOP_NONE)
    fprintf(stderr, "enumerate @%s stopped %s\n", report->name, mirage_stop_name(funnel->stop));
  fprintf(stderr, "enumerate @%s seconds %.3f\n", report->name, funnel->seconds);
  for (uint32_t i = 0; i < MIRAGE_NUM_AXIOMS; i++)
    fprintf(stderr, "enumerate @%s axiom-%s %" PRIu64 "\n", report->name, mirage_axiom_name((MirageAxiom)i),
            funnel->axioms[i]);
}

void mirage__print_json(const MirageSearchReport *report) {
  const MirageFunnel *funnel = &report->result->funnel;
  MirageEvent event;
  FILE *file = mirage__event_begin(&event, mirage__listener());
  fputs("{\"event\":\"search\",\"program\":", file);
  mirage__json_string(file, report->name);
  if (report->same_as) {
    fputs(",\"same_as\":", file);
    mirage__json_string(file, report->same_as);
  }
  fputc(',', file);
  mirage__json_funnel(file, funnel);
  fprintf(file, ",\"schedules\":%" PRIu64 ",\"candidates\":%" PRIu64 ",\"best_us\":", funnel->scheduled,
          funnel->candidates);
  mirage__json_number(file, best_us(report->result));
  fputs(",\"own_us\":", file);
  mirage__json_number(file, report->own_us);
  fprintf(file, ",\"max_block_ops\":%u,\"exhausted\":%s,\"optimal\":%s,\"stopped\":", report->options->max_block_ops,
          funnel->exhausted ? "true" : "false", funnel->exhausted && report->options->optimal ? "true" : "false");
  if (funnel->stop == MIRAGE_STOP_NONE)
    fputs("null", file);
  else
    mirage__json_string(file, mirage_stop_name(funnel->stop));
  fputs(",\"reason\":", file);
  mirage__json_string(file, report->result->reason);
  fputc('}', file);
  mirage__event_end(&event);
}
