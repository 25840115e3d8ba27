// check_graph.h - one graph on the emulator against its own evaluation: what the text-driven test and the fuzzer share.
#ifndef MIRAGE_TEST_CHECK_GRAPH_H
#define MIRAGE_TEST_CHECK_GRAPH_H

#include "mirage/status.h"
#include "mirage/target.h"
#include "mirage/ugraph.h"

typedef enum {
  CHECK_OK,
  CHECK_WRONG,     // a result is not what the graph means, or a rule of the machine was broken
  CHECK_REFUSED,   // planning or code generation said no
  CHECK_TOO_LARGE, // more work than allowed
} CheckVerdict;

typedef struct CheckReport {
  CheckVerdict verdict;
  MirageStatus status;      // REFUSED: why
  double relative, allowed; // Frobenius-relative error of the worst output, and what it may be
  double work;              // elements, as mirage_emulation_work counts
  char reason[512];         // WRONG, REFUSED: a sentence
} CheckReport;

/// Compiles `graph` for `target`, runs it with copies as late and as early as allowed on seeded normal inputs, and
/// compares every output with the float64 evaluation of the same graph.
///
/// Allowed: four times the error that evaluation in the graph's own types makes (lib/eval, mirage_domain_real; the
/// worst
///          of three, with inputs moved by a rounding), plus two roundings of the output's type (sixteen of f32); for
///          single elements eight times, so that one wrong element in a large result shows. Outputs that overflow in
///          the graph's own types are compared where they are finite.
/// Inputs:  weights (operands after the first with two dimensions or more) are scaled so that sums stay near 1.
void check_graph(const MirageUGraph *graph, const MirageTarget *target, uint64_t seed, double max_work,
                 CheckReport *out_report);

/// Only canonicalizes, plans and compiles to PTX, at the size given: OK or REFUSED.
void check_compiles(const MirageUGraph *graph, const MirageTarget *target, CheckReport *out_report);

#endif
