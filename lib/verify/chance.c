// chance.c - how likely a wrong pair passes one trial, from what bound.c knows of both graphs: the theorems of README.md.
//
//   log2_vanish     a difference that is not zero formally is so at a random point: the first theorem
//   log2_meetings   a value of a random function stands in for another's
//   log2_attempts   undefined points are drawn again
//   need_points     the widths that the theorem of transfer asks for
#include "bound.h"

#include <math.h>

// The constants of the theorem (README.md, "The draw").
const VerifyFields MIRAGE_VERIFY_FULL_SIZE = {
    .log2_p_min = 61.0,
    .log2_q_min = 30.0,
    .log2_num_q = 25.59, // primes in [2^30, 2^31): 50,697,537
    .log2_num_p = 23.5,  // primes = 1 mod q in [2^61, 2^62): about 2^24.6; half of that is assumed
};

// log2 of the probability that one draw makes the difference a - b vanish although it does not formally.
static double log2_vanish(const VerifyFields *fields, Abstract a, Abstract b, VerifyBound *report) {
  Abstract difference = mirage__abstract_add(a, b);
  double coefficient_bits = difference.num.size + difference.num.scale;
  double schwartz_zippel = log2(difference.num.degree) - fields->log2_p_min;
  double total = fmax(schwartz_zippel, -1000);
  report->has_exp = report->has_exp || difference.exp;
  report->degree = fmax(report->degree, difference.num.degree);
  report->log2_terms = fmax(report->log2_terms, difference.num.terms);
  if (difference.exp) {
    Ratio gap = mirage__verify_ratio_add(difference.exponent, difference.exponent);
    double terms = difference.num.terms, gap_primes = floor(fmax(gap.num.size + gap.num.scale, 0) / fields->log2_q_min);
    if (!(terms < fields->log2_q_min)) // the theorem needs k < q
      return INFINITY;
    total = mirage__verify_log2_sum(total, terms + log2(fmax(gap.num.degree, 0.5)) - fields->log2_q_min);
    total = mirage__verify_log2_sum(total, gap_primes > 0 ? terms + log2(gap_primes) - fields->log2_num_q : -1000);
    total = mirage__verify_log2_sum(total, log2(fmax(coefficient_bits, 1) / fields->log2_p_min) - fields->log2_num_p);
  } else {
    double primes = floor(fmax(coefficient_bits, 0) / fields->log2_p_min);
    total =
        mirage__verify_log2_sum(total, primes > 0 ? log2(primes) + 1 - fields->log2_num_q - fields->log2_num_p : -1000);
  }
  return total;
}

// How many points of each axis tell a from b, when each holds `free` indices of it that are not summed.
static void need_points(const VerifyWeights *weights, Abstract a, Abstract b, uint32_t free, VerifyBound *bound) {
  Abstract difference = mirage__abstract_add(a, b);
  for (uint32_t c = 0; weights && c < weights->num_axes; c++) {
    double points = difference.num.width[c] + free * weights->axes[c].labels;
    if (difference.exp) { // the exponents of two terms are compared
      Ratio gap = mirage__verify_ratio_add(difference.exponent, difference.exponent);
      points = 2 * points + gap.num.width[c];
    }
    bound->points[c] = isnan(points) ? INFINITY : fmax(bound->points[c], points);
  }
}

// Axes that would each have to be transferred before the other cannot be.
static void refuse_circles(const VerifyWeights *weights, const BoundWalk walks[2], VerifyBound *bound) {
  uint32_t before[ABSTRACT_MAX_WEIGHTS];
  for (uint32_t c = 0; c < ABSTRACT_MAX_WEIGHTS; c++)
    before[c] = walks[0].before[c] | walks[1].before[c];
  for (uint32_t via = 0; via < ABSTRACT_MAX_WEIGHTS; via++)
    for (uint32_t c = 0; c < ABSTRACT_MAX_WEIGHTS; c++)
      before[c] |= before[c] >> via & 1 ? before[via] : 0;
  for (uint32_t c = 0; c < weights->num_axes; c++)
    if (before[c] >> c & 1)
      bound->points[c] = INFINITY;
}

// log2 of the probability that among these calls of source and target some value stands in for another: two arguments
// of one function meet, or one meets 0 or 1; or a member, or a maximum, has the residue of one of `maxima` that it is
// not. The source is evaluated first, and meets its own maxima only.
static double log2_meetings(const VerifyFields *fields, const Calls calls[2], const double maxima[2],
                            double log2_argument) {
  double pairs = 0, known = 0;
  for (int c = 0; c <= CALL_MEMBER; c++) {
    double n = calls[0].of[c] + calls[1].of[c];
    pairs += n * (n + 3) / 2;
  }
  for (int g = 0; g < 2; g++)
    known += (calls[g].of[CALL_MEMBER] + calls[g].of[CALL_MAXIMUM]) * (g ? maxima[0] + maxima[1] : maxima[0]);
  double meet = pairs > 0 ? log2(pairs) + mirage__verify_log2_sum(log2_argument, -fields->log2_p_min) : -1000;
  return known > 0 ? mirage__verify_log2_sum(meet, log2(known) - fields->log2_p_min) : meet;
}

// log2 of the probability that a draw is undefined though the outputs have formal values: some divisor vanishes, or some
// two arguments meet.
static double log2_undefined(const VerifyFields *fields, const BoundWalk walks[2], const Calls all[2],
                             double log2_any_meeting) {
  double divisions = all[0].of[CALL_DIVISION] + all[1].of[CALL_DIVISION];
  double log2_u = mirage__verify_log2_sum(log2_any_meeting, log2(fmax(all[0].of[CALL_EXP] + all[1].of[CALL_EXP], 1)) -
                                                                fields->log2_p_min); // F(m)
  for (int g = 0; g < 2; g++) {
    if (!walks[g].has_divisor)
      continue;
    VerifyBound ignored = {.has_exp = false};
    Abstract d = walks[g].divisor;
    double zero = log2_vanish(fields, d, mirage__abstract_constant(0), &ignored);
    if (!walks[g].free_exp) { // mod q, where it has a residue
      double primes = floor(fmax(d.num.size + d.num.scale, 0) / fields->log2_q_min);
      zero = mirage__verify_log2_sum(zero, log2(fmax(d.num.degree, 0.5)) - fields->log2_q_min);
      zero = mirage__verify_log2_sum(zero, primes > 0 ? log2(primes) - fields->log2_num_q : -1000);
    }
    log2_u = mirage__verify_log2_sum(log2_u, log2(fmax(divisions, 1)) + zero);
  }
  return log2_u;
}

// log2 of what attempts cost: a draw that is undefined is drawn again, so a trial costs 1 / (1 - u) draws.
static double log2_attempts(double log2_u) { return log2_u < -1 ? -log2(1 - exp2(log2_u)) : log2(VERIFY_ATTEMPTS); }

// With predicates that are drawn, `bits` of which have to come out in one way for a difference to be there at all, a
// trial finds it with probability 2^-bits (1 - p), p that of all else that may hide it.
static double log2_with_bits(double bits, double log2_hidden) {
  return log1p(-exp2(-bits) * fmax(0, 1 - exp2(log2_hidden))) / log(2);
}

static bool divides_by_bits(const BoundWalk walks[2]) {
  return (walks[0].has_divisor && walks[0].divisor.support > 0) ||
         (walks[1].has_divisor && walks[1].divisor.support > 0);
}

// The worst difference of the arguments of two calls.
static double log2_argument(const VerifyFields *fields, const VerifyWeights *weights, const BoundWalk walks[2],
                            VerifyBound *bound) {
  if (!walks[0].has_argument && !walks[1].has_argument)
    return -1000;
  Abstract any = walks[0].has_argument ? walks[0].argument : walks[1].argument;
  if (walks[0].has_argument && walks[1].has_argument)
    any = mirage__abstract_join(walks[0].argument, walks[1].argument);
  need_points(weights, any, any, 2, bound);
  return log2_vanish(fields, any, any, bound);
}

MirageStatus mirage__verify_chance(const VerifyFields *fields, const VerifyWeights *weights, const BoundWalk walks[2],
                                   VerifyBound *bound) {
  double worst = -1000, bits = 0, arguments = log2_argument(fields, weights, walks, bound), maxima[2];
  Calls all[2], calls[2];
  for (int g = 0; g < 2; g++) {
    MIRAGE_TRY(mirage__verify_all_calls(walks[g].graph, walks[g].sites, &all[g]));
    maxima[g] = all[g].of[CALL_MAXIMUM];
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(walks[0].graph); i++) {
    Abstract a = walks[0].values[mirage_ugraph_get_output(walks[0].graph, i).index];
    Abstract b = walks[1].values[mirage_ugraph_get_output(walks[1].graph, i).index];
    double count = 0;
    for (int g = 0; g < 2; g++) {
      MIRAGE_TRY(mirage__verify_cone(walks[g].graph, walks[g].sites, i, &calls[g]));
      for (int c = 0; c <= CALL_MEMBER; c++)
        count += calls[g].of[c];
    }
    double chance =
        mirage__verify_log2_sum(log2_vanish(fields, a, b, bound), log2_meetings(fields, calls, maxima, arguments));
    bound->calls = fmax(bound->calls, count);
    need_points(weights, a, b, 1, bound);
    bits = fmax(bits, fmax(a.lacking ? a.support : a.bits, b.lacking ? b.support : b.bits));
    worst = isnan(chance) ? INFINITY : fmax(worst, chance);
  }
  for (uint32_t c = 0; weights && c < weights->num_axes; c++)
    if (walks[0].has_maximum || walks[1].has_maximum) // sets of three are permuted by nothing that keeps each member
      bound->points[c] = fmax(bound->points[c], 3);
  if (weights)
    refuse_circles(weights, walks, bound);
  double log2_u = log2_undefined(fields, walks, all, log2_meetings(fields, all, maxima, arguments));
  bound->log2_draw = worst;
  bound->log2_trial = worst + log2_attempts(log2_u);
  bound->bits = bits;
  for (uint32_t c = 0; weights && bits > 0 && c < weights->num_axes; c++)
    bound->points[c] = INFINITY; // nothing is known of labels of predicates
  if (bits > 0)
    bound->log2_trial =
        log2_with_bits(divides_by_bits(walks) ? INFINITY : bits, mirage__verify_log2_sum(worst, log2_u));
  return MIRAGE_OK;
}
