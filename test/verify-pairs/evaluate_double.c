// evaluate_double.c - evaluation in doubles.
#include <stddef.h>

typedef double Num;
#define MATH(name) name
#define EVALUATE evaluate_double

#include "evaluate_real.h" // first: the body computes with it

#include "evaluate_body.h"
