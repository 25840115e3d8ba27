// primitive_kernels.c - one kernel for each row of primitives.def: operands from memory, the instruction, results to
// memory.
//
// Lane t has SLOTS words of input. Operand i comes from word i: random, with the special values of f32 in the first
// lanes. An address in shared memory is that of the lane's 16 bytes, written from words 8 .. 11 before; one in device
// memory is that of words 8 .. 11 themselves. Both back ends get the same LLVM IR but for the instructions.
#include "primitive_kernels.h"

#include "codegen/host.h"
#include "emulator/machine.h"
#include "mirage/eval.h"
#include "mirage/random.h"
#include "llvm-c/Target.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, SLOTS = 16, RESULTS = 8, SHARED = 16 * WARP, PTX_KERNEL_CALL = 71 };
enum { WORDS_IN = WARP * SLOTS, WORDS_OUT = WARP * RESULTS };

typedef enum { RANDOM_BITS, RANDOM_FLOATS, RANDOM_F16, RANDOM_BF16 } Draw;

typedef struct Case {
  MiragePrimitive primitive;
  const char *name;
  Draw draw;
  double relative; // allowed difference between the two; 0 = the same bits
  double absolute;
  int32_t fixed[4]; // operands of i32 that are constants, in their order; INT32_MIN = from memory
} Case;

#define FREE INT32_MIN
#define ROW(name, draw, relative, absolute, ...)                                                                       \
  {                                                                                                                    \
    MIRAGE_PRIM_##name, #name, draw, relative, absolute, { __VA_ARGS__ }                                               \
  }
// Tolerances: what PTX documents for the approximate functions; sums of the matrix instruction in any order.
static const Case CASES[] = {
    ROW(THREAD_ID, RANDOM_BITS, 0, 0, FREE),
    ROW(BLOCK_ID_X, RANDOM_BITS, 0, 0, FREE),
    ROW(CP_ASYNC_16, RANDOM_BITS, 0, 0, FREE),
    ROW(CP_ASYNC_8, RANDOM_BITS, 0, 0, FREE),
    ROW(CP_ASYNC_4, RANDOM_BITS, 0, 0, FREE),
    ROW(CP_ASYNC_16_FILL, RANDOM_BITS, 0, 0, 8),
    ROW(CP_ASYNC_8_FILL, RANDOM_BITS, 0, 0, 2),
    ROW(CP_ASYNC_4_FILL, RANDOM_BITS, 0, 0, 0),
    ROW(LDMATRIX_X1, RANDOM_BITS, 0, 0, FREE),
    ROW(LDMATRIX_X2, RANDOM_BITS, 0, 0, FREE),
    ROW(LDMATRIX_X4, RANDOM_BITS, 0, 0, FREE),
    ROW(LDMATRIX_X1_TRANS, RANDOM_BITS, 0, 0, FREE),
    ROW(LDMATRIX_X2_TRANS, RANDOM_BITS, 0, 0, FREE),
    ROW(LDMATRIX_X4_TRANS, RANDOM_BITS, 0, 0, FREE),
    ROW(MMA_F16, RANDOM_F16, 1e-5, 1e-5, FREE),
    ROW(MMA_BF16, RANDOM_BF16, 1e-5, 1e-5, FREE, FREE, FREE, FREE),
    ROW(SHUFFLE_XOR, RANDOM_FLOATS, 0, 0, -1, 5, 31),
    ROW(BYTE_PERMUTE, RANDOM_BITS, 0, 0, FREE, FREE, FREE),
    ROW(EX2, RANDOM_FLOATS, 0x1p-21, 0, FREE),
    ROW(LG2, RANDOM_FLOATS, 0x1p-21, 0x1p-21, FREE),
    ROW(RCP, RANDOM_FLOATS, 0x1p-22, 0, FREE),
    ROW(RSQRT, RANDOM_FLOATS, 0x1p-21, 0, FREE),
    ROW(SQRT, RANDOM_FLOATS, 0, 0, FREE),
    ROW(DIV, RANDOM_FLOATS, 0x1p-21, 0, FREE),
    ROW(TANH_FAST, RANDOM_FLOATS, 0x1p-10, 0, FREE),
    ROW(FMA, RANDOM_FLOATS, 0, 0, FREE),
    ROW(MAX, RANDOM_FLOATS, 0, 0, FREE),
    ROW(MIN, RANDOM_FLOATS, 0, 0, FREE),
    ROW(LD_GLOBAL_16_STREAM, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_GLOBAL_8_STREAM, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_ACQUIRE, RANDOM_BITS, 0, 0, FREE),
};
enum { NUM_CASES = sizeof CASES / sizeof *CASES };

// ------------------------------------------------------------------------------------------------------------ emitting

typedef struct Kernel {
  MirageGpu gpu;
  const Case *c;
  LLVMValueRef thread, in, out, shared;
} Kernel;

static LLVMValueRef at(Kernel *k, LLVMValueRef base, int32_t pitch, int32_t byte) {
  LLVMValueRef offset = LLVMBuildMul(k->gpu.builder, k->thread, gpu_i32(&k->gpu, pitch), "");
  offset = LLVMBuildAdd(k->gpu.builder, offset, gpu_i32(&k->gpu, byte), "");
  return LLVMBuildGEP2(k->gpu.builder, k->gpu.i8, base, &offset, 1, "");
}

static LLVMValueRef input(Kernel *k, LLVMTypeRef type, int32_t slot) {
  return mirage__gpu_load_global(&k->gpu, type, at(k, k->in, SLOTS * 4, slot * 4), MIRAGE_GLOBAL_PLAIN);
}

static LLVMValueRef own_shared(Kernel *k, int32_t byte) { return at(k, k->shared, 16, byte); }

static void output(Kernel *k, LLVMValueRef value, int32_t index) {
  mirage__gpu_store_global(&k->gpu, value, at(k, k->out, RESULTS * 4, index * 4));
}

static LLVMValueRef operand(Kernel *k, uint32_t index, int *integers) {
  LLVMTypeRef type = mirage__gpu_operand_type(&k->gpu, k->c->primitive, index);
  if (type == k->gpu.shared_ptr)
    return own_shared(k, 0);
  if (type == k->gpu.global_ptr)
    return at(k, k->in, SLOTS * 4, 8 * 4);
  if (type == k->gpu.i32) {
    int which = (*integers)++;
    if (which < 4 && k->c->fixed[which] != FREE && k->c->fixed[0] != FREE)
      return gpu_i32(&k->gpu, k->c->fixed[which]);
  }
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    return LLVMBuildBitCast(k->gpu.builder, input(k, k->gpu.i32, (int32_t)index), type, "");
  return input(k, type, (int32_t)index);
}

static bool is_copy(const Case *c) { return strncmp(c->name, "CP_ASYNC", 8) == 0; }
static int copied_bytes(const Case *c) { return atoi(c->name + sizeof "CP_ASYNC_" - 1); }

static void emit_body(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  if (!is_copy(k->c))
    for (int32_t i = 0; i < 4; ++i)
      mirage__gpu_store_shared(gpu, input(k, gpu->i32, 8 + i), own_shared(k, 4 * i));
  GPU(gpu, BARRIER, gpu_i32(gpu, 0));
  LLVMValueRef operands[16];
  int integers = 0;
  for (uint32_t i = 0; i < mirage__gpu_num_operands(k->c->primitive); ++i)
    operands[i] = operand(k, i, &integers);
  LLVMValueRef result = mirage__gpu_emit(gpu, k->c->primitive, operands);
  if (is_copy(k->c)) {
    GPU0(gpu, CP_ASYNC_COMMIT);
    GPU(gpu, CP_ASYNC_WAIT, gpu_i32(gpu, 0));
    for (int32_t i = 0; i < copied_bytes(k->c) / 4; ++i)
      output(k, mirage__gpu_load_shared(gpu, gpu->i32, own_shared(k, 4 * i)), i);
  } else if (LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMStructTypeKind) {
    for (unsigned i = 0; i < LLVMCountStructElementTypes(LLVMTypeOf(result)); ++i)
      output(k, LLVMBuildExtractValue(gpu->builder, result, i, ""), (int32_t)i);
  } else {
    output(k, result, 0);
  }
  LLVMBuildRetVoid(gpu->builder);
}

static void emit_kernel(LLVMContextRef context, LLVMModuleRef module, const Case *c, bool host) {
  Kernel k = {.c = c};
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  mirage__gpu_init(&k.gpu, context, module, builder);
  k.gpu.host = host;
  LLVMTypeRef array = LLVMPointerTypeInContext(context, 0), pointers[2] = {k.gpu.global_ptr, k.gpu.global_ptr};
  LLVMTypeRef type =
      host ? LLVMFunctionType(k.gpu.void_type, &array, 1, 0) : LLVMFunctionType(k.gpu.void_type, pointers, 2, 0);
  k.gpu.function = LLVMAddFunction(module, c->name, type);
  if (!host)
    LLVMSetFunctionCallConv(k.gpu.function, PTX_KERNEL_CALL);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, k.gpu.function, "entry"));
  k.in = mirage__gpu_parameter(&k.gpu, 0);
  k.out = mirage__gpu_parameter(&k.gpu, 1);
  k.shared = mirage__gpu_shared_base(&k.gpu);
  k.thread = GPU0(&k.gpu, THREAD_ID);
  emit_body(&k);
  LLVMDisposeBuilder(builder);
}

static MirageHostModule emit_module(const char *triple, const char *cpu, const char *features, bool host) {
  MirageHostModule m = {.context = LLVMContextCreate()};
  LLVMTargetRef target = NULL;
  char *error = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &error))
    LLVMDisposeMessage(error);
  else
    m.machine = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelLess, LLVMRelocDefault,
                                        LLVMCodeModelDefault);
  m.module = LLVMModuleCreateWithNameInContext("primitives", m.context);
  LLVMSetTarget(m.module, triple);
  if (!m.machine)
    return m;
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m.machine);
  LLVMSetModuleDataLayout(m.module, layout);
  LLVMDisposeTargetData(layout);
  for (unsigned i = 0; i < NUM_CASES; ++i)
    emit_kernel(m.context, m.module, &CASES[i], host);
  return m;
}

// ------------------------------------------------------------------------------------------------------------- running

static uint32_t special(int lane) {
  static const float VALUES[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 1e-30f, 1e30f, 0x1p-126f};
  uint32_t bits;
  memcpy(&bits, &VALUES[lane], sizeof bits);
  return bits;
}
enum { NUM_SPECIAL = 10 };

static void draw(const Case *c, uint32_t *words) {
  MirageRandom random;
  mirage_random_init(&random, 7, (uint64_t)c->primitive);
  for (int i = 0; i < WORDS_IN; ++i) {
    double a = mirage_random_normal(&random), b = mirage_random_normal(&random);
    float value = (float)(4 * a);
    memcpy(&words[i], &value, sizeof value);
    if (c->draw == RANDOM_BITS)
      words[i] = words[i] * 2654435761u ^ words[i] >> 7;
    else if (c->draw == RANDOM_FLOATS && i / SLOTS < NUM_SPECIAL)
      words[i] = i % SLOTS == 0 ? special(i / SLOTS) : words[i];
    else if (c->draw >= RANDOM_F16 && i % SLOTS < 6) // a and b of the matrix instruction; c is f32
      words[i] = c->draw == RANDOM_F16 ? mirage_f16_from_double(a) | (uint32_t)mirage_f16_from_double(b) << 16
                                       : mirage_bf16_from_double(a) | (uint32_t)mirage_bf16_from_double(b) << 16;
  }
}

static MirageStatus run_emulated(Jit *jit, const Case *c, uint32_t *in, uint32_t *out, const MirageDiag *diag) {
  MirageUGraph *graph = mirage_ugraph_create(NULL, "none", NULL); // asked for names of operators only
  Buffer buffers[2] = {{.data = (uint8_t *)in, .bytes = WORDS_IN * 4, .kind = "operand"},
                       {.data = (uint8_t *)out, .bytes = WORDS_OUT * 4, .kind = "result", .writable = true}};
  Launch launch = {.graph = graph,
                   .name = c->name,
                   .num_buffers = 2,
                   .buffers = buffers,
                   .grid = {1, 1, 1},
                   .cluster = {1, 1, 1},
                   .threads = WARP,
                   .shared_bytes = SHARED,
                   .diag = diag};
  MirageStatus status = graph ? mirage__jit_find(jit, c->name, diag, &launch.entry) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = mirage__machine_run(&launch);
  mirage_ugraph_destroy(graph);
  return status;
}

static MirageStatus run_on_gpu(MirageDevice *device, MirageModule *module, const Case *c, const uint32_t *in,
                               uint32_t *out, const MirageDiag *diag) {
  uint64_t pointers[2] = {0, 0};
  MirageLaunchConfig config = {
      .kernel = c->name, .grid = {1, 1, 1}, .cluster = {1, 1, 1}, .threads = WARP, .shared_bytes = SHARED};
  MirageStatus status = mirage_device_alloc(device, WORDS_IN * 4, diag, &pointers[0]);
  if (status == MIRAGE_OK)
    status = mirage_device_alloc(device, WORDS_OUT * 4, diag, &pointers[1]);
  if (status == MIRAGE_OK)
    status = mirage_device_upload(device, pointers[0], in, WORDS_IN * 4, diag);
  if (status == MIRAGE_OK)
    status = mirage_device_upload(device, pointers[1], out, WORDS_OUT * 4, diag);
  if (status == MIRAGE_OK)
    status = mirage_module_launch(module, &config, 2, pointers, NULL, diag);
  if (status == MIRAGE_OK)
    status = mirage_device_synchronize(device, diag);
  if (status == MIRAGE_OK)
    status = mirage_device_download(device, out, pointers[1], WORDS_OUT * 4, diag);
  mirage_device_free(device, pointers[0]);
  mirage_device_free(device, pointers[1]);
  return status;
}

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool equal(const Case *c, uint32_t a, uint32_t b) {
  if (a == b)
    return true;
  if (c->draw == RANDOM_BITS)
    return false;
  double x = (double)as_float(a), y = (double)as_float(b);
  if (isnan(x) || isnan(y))
    return isnan(x) && isnan(y);
  return fabs(x - y) <= c->relative * fabs(y) + c->absolute;
}

static bool compare(const Case *c, Jit *jit, MirageDevice *device, MirageModule *module, const MirageDiag *diag) {
  uint32_t in[WORDS_IN], emulated[WORDS_OUT], real[WORDS_OUT];
  draw(c, in);
  for (int i = 0; i < WORDS_OUT; ++i)
    emulated[i] = real[i] = 0xffffffff;
  bool ok = run_emulated(jit, c, in, emulated, diag) == MIRAGE_OK &&
            (!device || run_on_gpu(device, module, c, in, real, diag) == MIRAGE_OK);
  int different = 0;
  for (int i = 0; ok && device && i < WORDS_OUT; ++i) {
    if (equal(c, emulated[i], real[i]))
      continue;
    if (different++ == 0)
      printf("  lane %d, word %d of %s(0x%08x = %g, 0x%08x = %g, ...): emulator 0x%08x = %g, GPU 0x%08x = %g\n",
             i / RESULTS, i % RESULTS, c->name, in[i / RESULTS * SLOTS], (double)as_float(in[i / RESULTS * SLOTS]),
             in[i / RESULTS * SLOTS + 1], (double)as_float(in[i / RESULTS * SLOTS + 1]), emulated[i],
             (double)as_float(emulated[i]), real[i], (double)as_float(real[i]));
  }
  ok = ok && different == 0;
  printf("%-5s %-22s %s\n", ok ? "ok" : "WRONG", c->name, device ? "emulator and GPU" : "emulator");
  return ok;
}

static MirageModule *load_ptx(MirageDevice *device, const MirageTarget *target, const MirageDiag *diag) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  MirageHostModule m = emit_module("nvptx64-nvidia-cuda", target->chip, target->ptx, false);
  LLVMMemoryBufferRef buffer = NULL;
  char *error = NULL, *ptx = NULL;
  MirageModule *module = NULL;
  if (m.machine && !LLVMTargetMachineEmitToMemoryBuffer(m.machine, m.module, LLVMAssemblyFile, &error, &buffer)) {
    size_t bytes = LLVMGetBufferSize(buffer);
    ptx = calloc(bytes + 1, 1);
    if (ptx)
      memcpy(ptx, LLVMGetBufferStart(buffer), bytes);
    LLVMDisposeMemoryBuffer(buffer);
  }
  if (ptx && device)
    mirage_module_load(device, ptx, diag, &module);
  free(ptx);
  LLVMDisposeModule(m.module);
  if (m.machine)
    LLVMDisposeTargetMachine(m.machine);
  LLVMContextDispose(m.context);
  return module;
}

unsigned primitives_compare(MirageDevice *device, const MirageTarget *target, const char *filter,
                            const MirageDiag *diag) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  char *triple = LLVMGetDefaultTargetTriple();
  MirageHostModule host = emit_module(triple, "", "", true);
  LLVMDisposeMessage(triple);
  Jit *jit = NULL;
  if (!host.machine || mirage__jit_compile(&host, diag, &jit) != MIRAGE_OK)
    return NUM_CASES;
  MirageModule *module = load_ptx(device, target, diag);
  unsigned wrong = device && !module ? NUM_CASES : 0;
  for (unsigned i = 0; wrong < NUM_CASES && i < NUM_CASES; ++i)
    if (!filter || strstr(CASES[i].name, filter))
      wrong += !compare(&CASES[i], jit, device, module, diag);
  mirage_module_unload(module);
  mirage__jit_destroy(jit);
  return wrong;
}
