// evaluate_long.c - evaluation in long doubles.
#include <stddef.h>

typedef long double Num;
#define MATH(name) name##l
#define EVALUATE evaluate_long

#include "evaluate_real.h" // first: the body computes with it

#include "evaluate_body.h"
