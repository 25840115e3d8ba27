// abstract.h - a bound on every element of a value: the numerator and denominator of an exponential fraction.
#ifndef MIRAGE_VERIFY_ABSTRACT_H
#define MIRAGE_VERIFY_ABSTRACT_H

#include "mirage/ugraph.h"

// Axes as bits: dimension counted from the last (so that broadcasting keeps them), then loops, then grid axes.
enum { AXIS_LOOP = MIRAGE_MAX_RANK, AXIS_GRID = AXIS_LOOP + MIRAGE_MAX_LOOPS, NUM_AXES = AXIS_GRID + 3 };
#define ALL_AXES ((1u << NUM_AXES) - 1)
#define DIM_AXES ((1u << AXIS_LOOP) - 1)
static inline uint32_t dim_axis(const MirageType *type, uint32_t d) { return 1u << (type->rank - 1 - d); }

enum { ABSTRACT_MAX_WEIGHTS = 16 }; // axes whose sums are weighted (shrink.h)

typedef struct Poly { // an exponential polynomial
  double degree;
  double terms;                      // log2 of the number of exponential monomials; 0 without exponentials
  double size;                       // log2 of the sum of absolute coefficients
  double scale;                      // 2^scale times the polynomial has integer coefficients
  float width[ABSTRACT_MAX_WEIGHTS]; // degree in the weights of each axis
} Poly;

typedef struct Ratio { // a quotient of plain polynomials
  Poly num, den;
} Ratio;

typedef struct Abstract {
  Poly num, den;
  Ratio exponent;    // of every exponential monomial in num and den, when `exp`
  double unit;       // log2 of a constant that is a power of two; NAN otherwise
  uint32_t axes;     // the value may vary along these (bits below)
  uint32_t den_axes; // its denominator may vary along these
  uint32_t reads;    // bit d: depends on a carry of the enclosing loop of depth d
  bool exp;          // exponentials occur: the field has no residue mod q
  bool mixed;        // ... but perhaps not in every element
  bool maximum;      // free exponentials: it may be a maximum,
  bool difference;   // or something minus one
  // Predicates that are drawn (README.md, "Predicates"):
  double bits;    // degree of the numerator in them; denominators hold none
  double support; // how many of them matter
  bool known;     // an index or a predicate that is the same at every draw
  bool lacking;   // bottom for some of their values, perhaps
  uint8_t weight; // 1 + the axis whose weights it is, or by which it is multiplied to be summed; 0 = none
} Abstract;

/// log2(2^a + 2^b).
double mirage__verify_log2_sum(double a, double b);
Ratio mirage__verify_ratio_add(Ratio a, Ratio b);

/// A polynomial: log2 of its coefficient sum, and of the power of two that makes the coefficients integers.
Abstract mirage__abstract_polynomial(double degree, double size, double scale);
Abstract mirage__abstract_input(void);
/// A weight of axis `weight`, one of those that add up to `total`.
Abstract mirage__abstract_weight(uint32_t weight, double total);
/// A known index or predicate, of at most `largest` on either side of zero; a predicate that is drawn.
Abstract mirage__abstract_known(double largest);
Abstract mirage__abstract_bit(void);
/// A value of a function that is known by its values only, at arguments that hold a's predicates.
void mirage__abstract_of_support(Abstract *value, const Abstract *a, double n);
/// An exact double; what is not finite counts as zero (bottom).
Abstract mirage__abstract_constant(double value);
Abstract mirage__abstract_mul(Abstract a, Abstract b);
Abstract mirage__abstract_div(Abstract a, Abstract b);
Abstract mirage__abstract_add(Abstract a, Abstract b);
/// A value that is either a or b.
Abstract mirage__abstract_join(Abstract a, Abstract b);
/// The sum of n values that all satisfy `a`, over `axes`: one denominator unless it varies along them.
Abstract mirage__abstract_sum(Abstract a, double n, uint32_t axes);
/// exp of a value without exponentials.
Abstract mirage__abstract_exp(Abstract a);

#endif
