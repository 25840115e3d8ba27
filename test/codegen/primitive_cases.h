// primitive_cases.h - what a kernel around one instruction is made of: shared by primitive_kernels.c and
// async_kernels.c.
#ifndef MIRAGE_TEST_PRIMITIVE_CASES_H
#define MIRAGE_TEST_PRIMITIVE_CASES_H

#include "codegen/primitives.h"
#include "mirage/target.h"

enum { SLOTS = 16, RESULTS = 16 }; // words of input and output that a thread has, unless said otherwise
enum { WORDS_IN = 4096, WORDS_OUT = 1 << 14 };

typedef enum {
  RANDOM_BITS,
  RANDOM_FLOATS,
  RANDOM_F16,
  RANDOM_BF16,
  RANDOM_F16_PAIRS,
  RANDOM_BF16_PAIRS,
  RANDOM_F8,
  RANDOM_F8_PAIRS
} Draw;

typedef struct Kernel Kernel;

/// A product of a warpgroup; swizzles as MirageTensorMap's.
typedef struct GroupShape {
  MirageDType dtype, b_dtype;
  int32_t n, a_swizzle, b_swizzle;
  bool a_in_registers, a_mn_major, b_mn_major;
} GroupShape;

typedef struct Case {
  MiragePrimitive primitive;
  const char *name;
  Draw draw;
  double relative; // allowed difference between the two; 0 = the same bits
  double absolute;
  int32_t fixed[4]; // operands of i32 that are constants, in their order; FREE = from memory
  // Of cases that are more than one instruction:
  void (*emit)(Kernel *k);
  int32_t warps, blocks; // 0 = 1; the blocks are a cluster
  int32_t shared_bytes;  // 0 = 16 a thread
  GroupShape group;
  MirageTensorMap map; // of the input, of rank 0 = none
  int32_t corner[MIRAGE_MAP_RANK];
} Case;
#define FREE INT32_MIN

struct Kernel {
  MirageGpu gpu;
  const Case *c;
  LLVMValueRef thread, in, out, shared;
};

/// base + thread * pitch + byte
LLVMValueRef case_at(Kernel *k, LLVMValueRef base, int32_t pitch, int32_t byte);
/// Word `slot` of the thread's input.
LLVMValueRef case_input(Kernel *k, LLVMTypeRef type, int32_t slot);
LLVMValueRef case_own_shared(Kernel *k, int32_t byte); // in the thread's 16 bytes
void case_output(Kernel *k, LLVMValueRef value, int32_t index);

/// All cases that the target has, and how a case runs on the emulator: from `jit`, with `in` drawn for it. No Jit comes
/// of a defect that finds no place.
struct Jit;
struct MirageFault;
enum { MOST_CASES = 128 };
unsigned case_all(const MirageTarget *target, const Case **out);
MirageStatus case_compile(unsigned num_cases, const Case *const *cases, struct MirageFault *fault,
                          const MirageDiag *diag, struct Jit **out_jit);
void case_draw(const Case *c, uint32_t *in);
MirageStatus case_emulate(struct Jit *jit, const Case *c, bool early, uint32_t *in, uint32_t *out,
                          const MirageDiag *diag);

/// Cases of async_kernels.c: what takes several instructions to try.
const Case *case_async(unsigned *out_count);

#endif
