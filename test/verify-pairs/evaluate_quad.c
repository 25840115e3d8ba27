// evaluate_quad.c - evaluation in numbers of 113 bits, where compiler and C library have them.
//
// They settle what long doubles cannot: log(x + r) for a rounding error r that is larger than x. Inputs and outputs are
// long doubles; what happens between is not.
#include "evaluate.h"

#include <stdlib.h>

#ifdef PAIRS_HAVE_QUAD

typedef __float128 Num;
#define MATH(name) name##f128
#define EVALUATE evaluate_in_quad
static Outcome evaluate_in_quad(const Program *p, int no_laws, const Num *const *inputs, Num *const *outputs,
                                double *race);
// C23's names; the header shows them to compilers that call the type _Float128.
Num expf128(Num);
Num logf128(Num);
Num sqrtf128(Num);
Num erff128(Num);
Num tanhf128(Num);
Num sinf128(Num);
Num cosf128(Num);
Num atanf128(Num);
Num fabsf128(Num);

#include "evaluate_real.h" // first: the body computes with it

#include "evaluate_body.h"

bool can_evaluate_quad(void) { return true; }

static Num *widen(const long double *from, int64_t n) {
  Num *to = malloc((size_t)n * sizeof *to);
  for (int64_t i = 0; to && from && i < n; i++)
    to[i] = from[i];
  return to;
}

Outcome evaluate_quad(const Program *p, int no_laws, const long double *const *inputs, long double *const *outputs,
                      double *race) {
  Num *in[MAX_INSTRS], *out[MAX_OUTPUTS];
  int count = 0;
  for (int i = 0; i < p->num; i++)
    if (p->instr[i].op == OP_INPUT) {
      in[count] = widen(inputs[count], elements(&p->instr[i].shape));
      count++;
    }
  for (int o = 0; o < p->num_outputs; o++)
    out[o] = widen(NULL, elements(&p->instr[p->outputs[o]].shape));
  Outcome outcome = evaluate_in_quad(p, no_laws, (const Num *const *)in, out, race);
  for (int o = 0; o < p->num_outputs; o++) {
    for (int64_t i = 0, n = elements(&p->instr[p->outputs[o]].shape); has_values(outcome) && i < n; i++)
      outputs[o][i] = (long double)out[o][i];
    free(out[o]);
  }
  for (int i = 0; i < count; i++)
    free(in[i]);
  return outcome;
}

#else

bool can_evaluate_quad(void) { return false; }

Outcome evaluate_quad(const Program *p, int no_laws, const long double *const *inputs, long double *const *outputs,
                      double *race) {
  return evaluate_long(p, no_laws, inputs, outputs, race);
}

#endif
