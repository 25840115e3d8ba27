// field.c - one random evaluation point: two primes, a root of unity, and where random residues come from.
//
// A value is a pair (x mod p, x mod q) with primes q | p - 1. Exponents live in Z_q and everything else in Z_p, joined
// by exp(x) = omega^(x mod q), omega of order q in Z_p: exp(x + y) = exp(x) exp(y) holds exactly. [Mirage 5]
//
// Each trial draws its own q, p and omega, so that no program can be wrong in a way that one fixed field hides. p is
// uniform among the primes = 1 mod q in [2^61, 2^62), q among the primes in [2^30, 2^31), omega among the q - 1
// elements of order q; lib/verify/README.md needs exactly that.
//
// Streams of the seed: (trial, 0) draws the field, (trial, 1 + input) an input tensor. Tensors are long, so their
// entries come from xoshiro256** (Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2021) keyed by
// Philox.
#include "field_internal.h"

#include "mirage/random.h"
#include <math.h>
#include <stdlib.h>

// -------------------------------------------------------------------------------------------------------------- primes

static uint64_t mul_mod(uint64_t a, uint64_t b, uint64_t modulus) { return (uint64_t)((FieldU128)a * b % modulus); }

uint64_t mirage__field_power(uint64_t base, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1 % modulus;
  for (base %= modulus; exponent; exponent >>= 1, base = mul_mod(base, base, modulus))
    if (exponent & 1)
      result = mul_mod(result, base, modulus);
  return result;
}

static bool is_witness(uint64_t a, uint64_t n) {
  int twos = __builtin_ctzll(n - 1);
  uint64_t x = mirage__field_power(a, (n - 1) >> twos, n);
  if (x == 1 || x == n - 1 || x == 0)
    return false;
  for (int i = 1; i < twos; i++)
    if ((x = mul_mod(x, x, n)) == n - 1)
      return false;
  return true;
}

// Miller-Rabin; these twelve bases decide every n below 3.3e24 (Sorenson, Webster, 2017).
bool mirage__field_is_prime(uint64_t n) {
  static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  if (n < 2)
    return false;
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
    if (n % bases[i] == 0)
      return n == bases[i];
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
    if (is_witness(bases[i], n))
      return false;
  return true;
}

// Extended Euclid; |s| stays below the prime.
uint64_t mirage__field_inverse(uint64_t a, uint64_t prime) {
  uint64_t r0 = prime, r1 = a % prime;
  int64_t s0 = 0, s1 = 1;
  while (r1 > 1) {
    uint64_t quotient = r0 / r1, rest = r0 % r1;
    int64_t s = s0 - (int64_t)quotient * s1;
    r0 = r1, r1 = rest;
    s0 = s1, s1 = s;
  }
  return s1 < 0 ? (uint64_t)(s1 + (int64_t)prime) : (uint64_t)s1;
}

static uint64_t draw_q(MirageRandom *random, uint32_t bits) {
  for (;;) {
    uint64_t q = (UINT64_C(1) << (bits - 1)) + mirage_random_below(random, UINT64_C(1) << (bits - 1));
    if (mirage__field_is_prime(q))
      return q;
  }
}

// Uniform among the multipliers t with t * q + 1 in [2^(bits-1), 2^bits), until that number is prime. 0 when that takes
// longer than it can: a tiny range may hold no prime.
static uint64_t draw_p(MirageRandom *random, uint64_t q, uint32_t bits) {
  uint64_t low = ((UINT64_C(1) << (bits - 1)) + q - 2) / q, high = ((UINT64_C(1) << bits) - 2) / q;
  for (int tries = 0; tries < 1 << 16 && low <= high; tries++) {
    uint64_t p = (low + mirage_random_below(random, high - low + 1)) * q + 1;
    if (mirage__field_is_prime(p))
      return p;
  }
  return 0;
}

// A random element's ((p - 1) / q)-th power has order q unless it is 1, and is uniform among those.
static uint64_t draw_omega(MirageRandom *random, uint64_t p, uint64_t q) {
  for (;;) {
    uint64_t omega = mirage__field_power(1 + mirage_random_below(random, p - 1), (p - 1) / q, p);
    if (omega != 1)
      return omega;
  }
}

// --------------------------------------------------------------------------------------------------------------- field

static void fill_powers(MirageField *field) {
  uint64_t step = field->omega; // omega^(2^(11 t))
  uint64_t one = (uint64_t)(((FieldU128)1 << 64) % field->p);
  for (uint32_t t = 0; t < FIELD_POWER_TABLES; t++) {
    uint64_t power = one;
    uint64_t used = ((field->q - 1) >> t * FIELD_POWER_BITS) + 1; // exponents are below q
    for (uint32_t i = 0; i < 1u << FIELD_POWER_BITS && i < used; i++, power = field_mul(field, power, step))
      field->power[t][i] = power;
    step = mirage__field_power(step, UINT64_C(1) << FIELD_POWER_BITS, field->p);
  }
}

static LimbModulus limbs_of(uint64_t prime, uint64_t scale) {
  const uint64_t limb = (UINT64_C(1) << 31) - 1;
  uint64_t inverse = prime, power = mirage__field_power(2, scale, prime);
  for (int i = 0; i < 5; i++) // as below
    inverse *= 2 - prime * inverse;
  return (LimbModulus){prime, prime & limb, prime >> 31, -inverse & limb, power & limb, power >> 31};
}

MirageField *mirage_field_create(uint64_t seed, uint32_t trial) {
  return mirage__field_create_sized(seed, trial, FIELD_Q_BITS, FIELD_P_BITS);
}

MirageField *mirage_field_create_with(uint64_t seed, uint32_t trial, MirageFieldModes modes) {
  MirageField *field = mirage_field_create(seed, trial);
  if (field)
    field->modes = modes;
  return field;
}

MirageField *mirage__field_create_sized(uint64_t seed, uint32_t trial, uint32_t q_bits, uint32_t p_bits) {
  MirageField *field = calloc(1, sizeof *field);
  uint64_t (*power)[1 << FIELD_POWER_BITS] = calloc(FIELD_POWER_TABLES, sizeof *power);
  if (!field || !power) {
    free(power);
    free(field);
    return NULL;
  }
  field->power = power;
  MirageRandom random;
  mirage_random_init(&random, seed, (uint64_t)trial << 32);
  field->seed = seed;
  field->trial = trial;
  field->maxima.most_members = (size_t)1 << 26; // 512 MB
  field->q = draw_q(&random, q_bits);
  field->p = draw_p(&random, field->q, p_bits);
  if (!field->p) {
    free(power);
    free(field);
    return NULL;
  }
  field->omega = draw_omega(&random, field->p, field->q);
  for (uint32_t i = 0; i < 4; i++)
    field->key[i] = mirage_random_next(&random);
  uint64_t inverse = field->p; // Newton: right to 3 bits, then 6, 12, 24, 48, 96
  for (int i = 0; i < 5; i++)
    inverse *= 2 - field->p * inverse;
  field->p_negated_inverse = -inverse;
  uint64_t r = (uint64_t)(((FieldU128)1 << 64) % field->p);
  field->p_r2 = mul_mod(r, r, field->p);
  field->limbs.p = limbs_of(field->p, 155);
  field->limbs.q = limbs_of(field->q, 93);
  field->product_variant = mirage__field_product_variants() - 1;
  field->q_ceiling = (UINT64_C(1) << 63) / field->q * field->q;
  fill_powers(field);
  mirage__field_domain_init(&field->domain);
  return field;
}

void mirage_field_destroy(MirageField *field) {
  if (!field)
    return;
  mirage__field_max_deinit(&field->maxima);
  mirage__field_shift_deinit(&field->shifts);
  mirage__field_max_building_deinit(&field->building);
  free(field->product);
  free(field->power);
  free(field);
}

const MirageDomain *mirage_field_domain(const MirageField *field) { return &field->domain; }
uint64_t mirage_field_exponent_prime(const MirageField *field) { return field->q; }

// ----------------------------------------------------------------------------------------------------- random residues

typedef struct Xoshiro {
  uint64_t s[4];
} Xoshiro;

static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

static uint64_t xoshiro_next(Xoshiro *x) {
  uint64_t result = rotate(x->s[1] * 5, 7) * 9, t = x->s[1] << 17;
  x->s[2] ^= x->s[0];
  x->s[3] ^= x->s[1];
  x->s[1] ^= x->s[2];
  x->s[0] ^= x->s[3];
  x->s[2] ^= t;
  x->s[3] = rotate(x->s[3], 45);
  return result;
}

// 128 random bits scaled to [0, p): no residue is likelier than another by more than 2^-66 of itself.
static uint64_t scale_to(uint64_t p, uint64_t high, uint64_t low) {
  return (uint64_t)(((FieldU128)high * p + (((FieldU128)low * p) >> 64)) >> 64);
}

// A residue mod p, and 64 random bits scaled to one mod q where there are such.
static MirageResidue with_exponent(const MirageField *field, uint64_t p, uint64_t random) {
  if (field->modes.free_exp)
    return (MirageResidue){.p = p, .after_exp = 1};
  return (MirageResidue){.p = p, .q = (uint32_t)(((FieldU128)random * field->q) >> 64)};
}

MirageStatus mirage_field_draw_until(const MirageField *field, uint32_t input, size_t n, const MirageCancel *cancel,
                                     MirageResidue *out) {
  enum { AT_ONCE = 1 << 16 }; // elements, a millisecond
  MirageRandom random;
  Xoshiro x;
  mirage_random_init(&random, field->seed, (uint64_t)field->trial << 32 | (1 + (uint64_t)input));
  for (uint32_t i = 0; i < 4; i++)
    x.s[i] = mirage_random_next(&random);
  x.s[0] |= 1; // the one forbidden state is all zero
  for (size_t i = 0; i < n; i++) {
    if (i % AT_ONCE == 0 && mirage_cancelled(cancel))
      return MIRAGE_CANCELLED;
    uint64_t high = xoshiro_next(&x), low = xoshiro_next(&x), exponent = xoshiro_next(&x);
    out[i] = with_exponent(field, scale_to(field->p, high, low), exponent);
  }
  return MIRAGE_OK;
}

void mirage_field_draw(const MirageField *field, uint32_t input, size_t n, MirageResidue *out) {
  (void)mirage_field_draw_until(field, input, n, NULL, out);
}

MirageStatus mirage_field_draw_input(const MirageField *field, uint32_t input, const MirageType *type,
                                     const MirageCancel *cancel, MirageResidue *out) {
  size_t n = (size_t)mirage_type_elements(type);
  MIRAGE_TRY(mirage_field_draw_until(field, input, n, cancel, out));
  for (size_t i = 0; mirage_dtype_family(type->dtype) == MIRAGE_FAMILY_PREDICATE && i < n; i++)
    out[i] = mirage__field_truth(field, out[i].p > field->p / 2);
  return MIRAGE_OK;
}

MirageResidue mirage__field_truth(const MirageField *field, bool holds) {
  return (MirageResidue){
      .p = holds, .q = holds && !field->modes.free_exp, .after_exp = field->modes.free_exp, .role = ROLE_TRUTH};
}

// Multiply, fold, add a key: three rounds leave no structure of x that arithmetic in the field could see.
static uint64_t mix(uint64_t x, uint64_t key) {
  FieldU128 product = (FieldU128)(x ^ key) * UINT64_C(0x9e3779b97f4a7c15);
  uint64_t folded = (uint64_t)product ^ (uint64_t)(product >> 64);
  folded = (folded ^ folded >> 32) * UINT64_C(0xd6e8feb86659fd93);
  return folded ^ folded >> 29 ^ rotate(key, 23);
}

// Two rounds that both words share, and one of its own for each.
void mirage__field_hash(const MirageField *field, uint64_t tag, uint64_t x, uint64_t out[2]) {
  uint64_t state = mix(mix(x, field->key[0] + tag), field->key[1] ^ tag);
  out[0] = mix(state, field->key[2]);
  out[1] = mix(state, field->key[3]);
}

MirageResidue mirage__field_random_function(const MirageField *field, uint64_t tag, uint64_t x) {
  uint64_t hash[2];
  mirage__field_hash(field, tag, x, hash);
  uint64_t a = hash[0], b = hash[1], p = scale_to(field->p, a, b);
  if (field->modes.free_exp)
    return (MirageResidue){.p = p, .after_exp = 1};
  return with_exponent(field, p, mix(mix(a ^ rotate(b, 17), field->key[3]), field->key[2] + tag));
}

// 2^exponent; negative exponents by the inverse of 2, which is (modulus + 1) / 2.
static uint64_t power_of_two(int exponent, uint64_t modulus) {
  return exponent >= 0 ? mirage__field_power(2, (uint64_t)exponent, modulus)
                       : mirage__field_power((modulus + 1) / 2, (uint64_t)-exponent, modulus);
}

MirageResidue mirage__field_constant(const MirageField *field, double value) {
  int exponent;
  double fraction = frexp(fabs(value), &exponent);
  uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
  uint64_t p = mul_mod(mantissa % field->p, power_of_two(exponent - 53, field->p), field->p);
  uint64_t q = mul_mod(mantissa % field->q, power_of_two(exponent - 53, field->q), field->q);
  if (value < 0) {
    p = p ? field->p - p : 0;
    q = q ? field->q - q : 0;
  }
  return field->modes.free_exp ? (MirageResidue){.p = p, .after_exp = 1} : (MirageResidue){.p = p, .q = (uint32_t)q};
}
