// verify_internal.h - what the files of lib/verify share. verify.c tells the story, README.md proves the theorem.
#ifndef MIRAGE_VERIFY_INTERNAL_H
#define MIRAGE_VERIFY_INTERNAL_H

#include "mirage/verify.h"

enum {
  VERIFY_ATTEMPTS = 8,     // draws of one trial before division by zero is given up on
  VERIFY_MAX_TRIALS = 64,  // more would cost more than shrinking
  VERIFY_LOG2_BOUND = -60, // unless the options say otherwise
};

/// What the bound of one trial is made of. All probabilities as log2.
typedef struct VerifyBound {
  bool free_exp;        // by the theorem of free exponentials
  bool has_exp;         // some exponential reaches an output or a random function's argument
  double degree;        // of the numerator of source - target
  double log2_terms;    // its number k of exponential monomials
  double calls;         // of random functions that an output element depends on
  double log2_trial;    // a wrong pair passes one trial with at most this probability; >= -1 means nothing is shown
  MirageOp unsupported; // an operator without a rule, or MIRAGE_OP_NONE
  const void *loc;      // of that operator
} VerifyBound;

/// Bounds one trial on a pair of graphs without sugar at the kernel level, by abstract interpretation of both: by the
/// theorem of exponentials, or by that of free ones.
MirageStatus mirage__verify_bound(const MirageUGraph *source, const MirageUGraph *target, bool free_exp,
                                  VerifyBound *out_bound);
/// The same for fields of another size: statistics in fields so small that false accepts can be counted.
typedef struct VerifyFields {
  double log2_p_min, log2_q_min; // least p, least q
  double log2_num_q, log2_num_p; // how many q there are, and for each q at least how many p; as log2
} VerifyFields;
MirageStatus mirage__verify_bound_in(const VerifyFields *fields, const MirageUGraph *source, const MirageUGraph *target,
                                     bool free_exp, VerifyBound *out_bound);
/// Decides a pair of this size by the first theorem that gives a useful bound; the verdict stays UNSUPPORTED where none
/// shows equivalence and nothing shows a difference. verify.c
MirageStatus mirage__verify_whole(const MirageUGraph *source, const MirageUGraph *target,
                                  const MirageVerifyOptions *options, MirageVerdict *verdict);
/// The same piece by piece: EQUIVALENT or unchanged. Costs about as much as proving the whole. pieces.c
MirageStatus mirage__verify_pieces(const MirageUGraph *source, const MirageUGraph *target,
                                   const MirageVerifyOptions *options, MirageVerdict *verdict);
/// Dense arrays of residues for all inputs or outputs; NULL without memory. verify.c
MirageResidue **mirage__verify_alloc_inputs(const MirageUGraph *graph);
MirageResidue **mirage__verify_alloc_outputs(const MirageUGraph *graph);
void mirage__verify_free_arrays(MirageResidue **arrays, uint32_t count);
/// Multiplications (and other scalar operations) of one evaluation. work.c
double mirage__verify_work(const MirageUGraph *graph);

/// What the innermost factor of an axis shrinks to.
typedef enum {
  SHRINK_SMALLEST, // 2, 3, 5, 7
  SHRINK_OTHER,    // a second instance, to confirm the first
  SHRINK_TILES,    // 16 and more, for tests of generated code: what the matrix instruction takes
} ShrinkSizes;

/// Copies both graphs with the innermost factors of their axes shrunk. MIRAGE_OK with both NULL when nothing can be
/// shrunk; `reason` (160 bytes) then says why. `follow`: in, whether constants that stem from extents shrink with them;
/// out, whether there were any.
MirageStatus mirage__verify_shrink(const MirageUGraph *source, const MirageUGraph *target, ShrinkSizes sizes,
                                   bool *follow, MirageUGraph **out_source, MirageUGraph **out_target, char *reason);

#endif
