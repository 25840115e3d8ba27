// primitive_kernels.c - one kernel for each row of primitives.def that means something alone: operands from memory, the
// instruction, results to memory. (async_kernels.c has those of several instructions.)
//
// Lane t has SLOTS words of input. Operand i comes from word i: random, with the special values of f32 in the first
// lanes. An address in shared memory is that of the lane's 16 bytes, written from words 8 .. 11 before; one in device
// memory is that of words 8 .. 11 themselves. Both back ends get the same LLVM IR but for the instructions.
#include "primitive_kernels.h"

#include "codegen/host.h"
#include "emulator/machine.h"
#include "mirage/eval.h"
#include "mirage/random.h"
#include "primitive_cases.h"
#include "llvm-c/Target.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, PTX_KERNEL_CALL = 71 };

#define ROW(name, draw, relative, absolute, ...)                                                                       \
  {MIRAGE_PRIM_##name, #name, draw, relative, absolute, {__VA_ARGS__}, .warps = 1, .blocks = 1}
// Tolerances: what PTX documents for the approximate functions; sums of the matrix instruction in any order, which of f8
// keep fewer bits than an f32 has.
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
    ROW(STMATRIX_X1, RANDOM_BITS, 0, 0, FREE),
    ROW(STMATRIX_X2, RANDOM_BITS, 0, 0, FREE),
    ROW(STMATRIX_X4, RANDOM_BITS, 0, 0, FREE),
    ROW(STMATRIX_X1_TRANS, RANDOM_BITS, 0, 0, FREE),
    ROW(STMATRIX_X2_TRANS, RANDOM_BITS, 0, 0, FREE),
    ROW(STMATRIX_X4_TRANS, RANDOM_BITS, 0, 0, FREE),
    ROW(MMA_F16, RANDOM_F16, 1e-5, 1e-5, FREE),
    ROW(MMA_BF16, RANDOM_BF16, 1e-5, 1e-5, FREE, FREE, FREE, FREE),
    ROW(MMA_S8, RANDOM_BITS, 0, 0, FREE),
    ROW(MMA_E4M3, RANDOM_F8, 1e-3, 2e-2, FREE),
    ROW(MMA_E4M3_E5M2, RANDOM_F8, 1e-3, 2e-2, FREE),
    ROW(MMA_E5M2_E4M3, RANDOM_F8, 1e-3, 2e-2, FREE),
    ROW(MMA_E5M2, RANDOM_F8, 1e-3, 2e-2, FREE),
    ROW(SHUFFLE_XOR, RANDOM_FLOATS, 0, 0, -1, 5, 31),
    ROW(SHUFFLE_IDX, RANDOM_BITS, 0, 0, -1, FREE, 7, 31),
    ROW(VOTE_ANY, RANDOM_BITS, 0, 0, -1),
    ROW(VOTE_ALL, RANDOM_BITS, 0, 0, -1),
    ROW(BYTE_PERMUTE, RANDOM_BITS, 0, 0, FREE, FREE, FREE),
    ROW(AND_XOR, RANDOM_BITS, 0, 0, FREE, FREE, FREE),
    ROW(F16_OF_E4M3, RANDOM_BITS, 0, 0, FREE),
    ROW(F16_OF_E4M3_UPPER, RANDOM_BITS, 0, 0, FREE),
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
    ROW(LD_GLOBAL_16_ORDERED, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_GLOBAL_8_ORDERED, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_GLOBAL_4_ORDERED, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_GLOBAL_16_ORDERED_CACHED, RANDOM_BITS, 0, 0, FREE),
    ROW(RED_RELEASE, RANDOM_BITS, 0, 0, FREE),
    ROW(RED_INC, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_ACQUIRE, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_EPOCH, RANDOM_BITS, 0, 0, FREE),
    ROW(ST_WORDS_4, RANDOM_BITS, 0, 0, FREE),
    ROW(ST_WORDS_8, RANDOM_BITS, 0, 0, FREE),
    ROW(ST_WORDS_16, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_WORDS_4, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_WORDS_8, RANDOM_BITS, 0, 0, FREE),
    ROW(LD_WORDS_16, RANDOM_BITS, 0, 0, FREE),
};

static bool has(const MirageTarget *target, const Case *c) {
  bool sm_90 = strncmp(c->name, "STMATRIX", 8) == 0 || strncmp(c->name, "F16_OF_E4M3", 11) == 0;
  bool f8 = strncmp(c->name, "MMA_E", 5) == 0;
  return (!sm_90 || target->compute_major >= 9) && (!f8 || target->ptx_f8);
}

unsigned case_all(const MirageTarget *target, const Case **out) {
  unsigned count = 0, num_async;
  const Case *async = case_async(&num_async);
  for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++)
    if (has(target, &CASES[i]))
      out[count++] = &CASES[i];
  for (unsigned i = 0; target->compute_major >= 9 && i < num_async; i++)
    out[count++] = &async[i];
  return count;
}

// ------------------------------------------------------------------------------------------------------------ emitting

LLVMValueRef case_at(Kernel *k, LLVMValueRef base, int32_t pitch, int32_t byte) {
  LLVMValueRef offset = LLVMBuildMul(k->gpu.builder, k->thread, gpu_i32(&k->gpu, pitch), "");
  offset = LLVMBuildAdd(k->gpu.builder, offset, gpu_i32(&k->gpu, byte), "");
  return LLVMBuildGEP2(k->gpu.builder, k->gpu.i8, base, &offset, 1, "");
}

LLVMValueRef case_input(Kernel *k, LLVMTypeRef type, int32_t slot) {
  return mirage__gpu_load_global(&k->gpu, type, case_at(k, k->in, SLOTS * 4, slot * 4), MIRAGE_GLOBAL_PLAIN);
}

LLVMValueRef case_own_shared(Kernel *k, int32_t byte) { return case_at(k, k->shared, 16, byte); }

// Threads of all blocks follow each other.
void case_output(Kernel *k, LLVMValueRef value, int32_t index) {
  MirageGpu *gpu = &k->gpu;
  if (LLVMTypeOf(value) == gpu->i1)
    value = LLVMBuildZExt(gpu->builder, value, gpu->i32, "");
  LLVMValueRef block = LLVMBuildMul(gpu->builder, GPU0(gpu, BLOCK_ID_X), gpu_i32(gpu, WARP * k->c->warps), "");
  LLVMValueRef self = k->thread;
  k->thread = LLVMBuildAdd(gpu->builder, self, block, "");
  mirage__gpu_store_global(gpu, value, case_at(k, k->out, RESULTS * 4, index * 4));
  k->thread = self;
}

// What it changes in device memory is what is looked at.
static bool changes_output(const Case *c) {
  return c->primitive == MIRAGE_PRIM_RED_RELEASE || c->primitive == MIRAGE_PRIM_RED_INC ||
         strncmp(c->name, "ST_WORDS", 8) == 0;
}

static LLVMValueRef operand(Kernel *k, uint32_t index, int *integers) {
  LLVMTypeRef type = mirage__gpu_operand_type(&k->gpu, k->c->primitive, index);
  if (type == k->gpu.shared_ptr)
    return case_own_shared(k, 0);
  if (type == k->gpu.global_ptr)
    return changes_output(k->c) ? case_at(k, k->out, RESULTS * 4, 16) : case_at(k, k->in, SLOTS * 4, 8 * 4);
  if (type == k->gpu.i32) {
    int which = (*integers)++;
    if (which < 4 && k->c->fixed[which] != FREE && k->c->fixed[0] != FREE)
      return gpu_i32(&k->gpu, k->c->fixed[which]);
  }
  if (type == k->gpu.i1)
    return LLVMBuildTrunc(k->gpu.builder, case_input(k, k->gpu.i32, (int32_t)index), type, "");
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    return LLVMBuildBitCast(k->gpu.builder, case_input(k, k->gpu.i32, (int32_t)index), type, "");
  return case_input(k, type, (int32_t)index);
}

static bool is_copy(const Case *c) { return strncmp(c->name, "CP_ASYNC", 8) == 0; }
static int copied_bytes(const Case *c) { return atoi(c->name + sizeof "CP_ASYNC_" - 1); }

// The registers that the instruction returns, or the shared memory that it writes.
static void show(Kernel *k, LLVMValueRef result) {
  MirageGpu *gpu = &k->gpu;
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(result));
  if (is_copy(k->c)) {
    GPU0(gpu, CP_ASYNC_COMMIT);
    GPU(gpu, CP_ASYNC_WAIT, gpu_i32(gpu, 0));
    for (int32_t i = 0; i < copied_bytes(k->c) / 4; i++)
      case_output(k, mirage__gpu_load_shared(gpu, gpu->i32, case_own_shared(k, 4 * i)), i);
  } else if (kind == LLVMVoidTypeKind && !changes_output(k->c)) {
    GPU(gpu, BARRIER, gpu_i32(gpu, 0));
    for (int32_t i = 0; i < 4; i++)
      case_output(k, mirage__gpu_load_shared(gpu, gpu->i32, case_own_shared(k, 4 * i)), i);
  } else if (kind == LLVMStructTypeKind) {
    for (unsigned i = 0; i < LLVMCountStructElementTypes(LLVMTypeOf(result)); i++)
      case_output(k, LLVMBuildExtractValue(gpu->builder, result, i, ""), (int32_t)i);
  } else if (kind != LLVMVoidTypeKind) {
    case_output(k, result, 0);
  }
}

static void emit_instruction(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  if (!is_copy(k->c))
    for (int32_t i = 0; i < 4; i++)
      mirage__gpu_store_shared(gpu, case_input(k, gpu->i32, 8 + i), case_own_shared(k, 4 * i));
  GPU(gpu, BARRIER, gpu_i32(gpu, 0));
  LLVMValueRef operands[16];
  int integers = 0;
  for (uint32_t i = 0; i < mirage__gpu_num_operands(k->c->primitive); i++)
    operands[i] = operand(k, i, &integers);
  show(k, mirage__gpu_emit(gpu, k->c->primitive, operands));
}

// Pointers of input and output, and the tensor map where there is one.
static void create_function(Kernel *k, bool host) {
  MirageGpu *gpu = &k->gpu;
  LLVMContextRef c = gpu->context;
  LLVMTypeRef generic = LLVMPointerTypeInContext(c, 0), params[3] = {gpu->global_ptr, gpu->global_ptr, generic};
  bool has_map = k->c->map.rank > 0;
  LLVMTypeRef type = host ? LLVMFunctionType(gpu->void_type, &generic, 1, 0)
                          : LLVMFunctionType(gpu->void_type, params, has_map ? 3 : 2, 0);
  gpu->function = LLVMAddFunction(gpu->module, k->c->name, type);
  if (host)
    return;
  char threads[16];
  snprintf(threads, sizeof threads, "%d", WARP * k->c->warps);
  LLVMSetFunctionCallConv(gpu->function, PTX_KERNEL_CALL);
  LLVMAddTargetDependentFunctionAttr(gpu->function, "nvvm.maxntid", threads);
  LLVMAddTargetDependentFunctionAttr(gpu->function, "nvvm.minctasm", "1");
  if (!has_map)
    return;
  LLVMTypeRef map = LLVMArrayType2(gpu->i8, MIRAGE_TENSOR_MAP_BYTES);
  unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5), align = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAddAttributeAtIndex(gpu->function, 3, LLVMCreateTypeAttribute(c, by_value, map));
  LLVMAddAttributeAtIndex(gpu->function, 3, LLVMCreateEnumAttribute(c, align, 64));
  LLVMAddAttributeAtIndex(gpu->function, 3, LLVMCreateStringAttribute(c, "nvvm.grid_constant", 18, "", 0));
}

static void emit_kernel(LLVMContextRef context, LLVMModuleRef module, const Case *c, bool host, MirageFault *fault) {
  Kernel k = {.c = c};
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  mirage__gpu_init(&k.gpu, context, module, builder);
  k.gpu.host = host;
  k.gpu.fault = fault;
  create_function(&k, host);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, k.gpu.function, "entry"));
  k.in = mirage__gpu_parameter(&k.gpu, 0);
  k.out = mirage__gpu_parameter(&k.gpu, 1);
  k.shared = mirage__gpu_shared_base(&k.gpu);
  k.thread = GPU0(&k.gpu, THREAD_ID);
  if (c->emit)
    c->emit(&k);
  else
    emit_instruction(&k);
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
}

static MirageHostModule emit_module(const char *triple, const char *cpu, const char *features, bool host,
                                    unsigned num_cases, const Case *const *cases, MirageFault *fault) {
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
  for (unsigned i = 0; i < num_cases; i++)
    emit_kernel(m.context, m.module, cases[i], host, fault);
  return m;
}

static void dispose_module(MirageHostModule *m) {
  LLVMDisposeModule(m->module);
  if (m->machine)
    LLVMDisposeTargetMachine(m->machine);
  LLVMContextDispose(m->context);
}

MirageStatus case_compile(unsigned num_cases, const Case *const *cases, MirageFault *fault, const MirageDiag *diag,
                          Jit **out_jit) {
  *out_jit = NULL;
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  char *triple = LLVMGetDefaultTargetTriple();
  MirageHostModule host = emit_module(triple, "", "", true, num_cases, cases, fault);
  LLVMDisposeMessage(triple);
  bool has_place = !fault || fault->seen > fault->index;
  if (host.machine && has_place)
    return mirage__jit_compile(&host, diag, out_jit);
  dispose_module(&host);
  return has_place ? MIRAGE_CODEGEN : MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- running

static uint32_t special(int lane) {
  static const float VALUES[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 1e-30f, 1e30f, 0x1p-126f};
  uint32_t bits;
  memcpy(&bits, &VALUES[lane], sizeof bits);
  return bits;
}
enum { NUM_SPECIAL = 10 };

void case_draw(const Case *c, uint32_t *words) {
  MirageRandom random;
  mirage_random_init(&random, 7, (uint64_t)c->primitive);
  bool pairs = c->draw == RANDOM_F16_PAIRS || c->draw == RANDOM_BF16_PAIRS;
  bool f16 = c->draw == RANDOM_F16 || c->draw == RANDOM_F16_PAIRS;
  for (int i = 0; i < WORDS_IN; i++) {
    double a = mirage_random_normal(&random), b = mirage_random_normal(&random);
    float value = (float)(4 * a);
    memcpy(&words[i], &value, sizeof value);
    if (c->draw == RANDOM_BITS)
      words[i] = words[i] * 2654435761u ^ words[i] >> 7;
    else if (c->draw == RANDOM_FLOATS && i / SLOTS < NUM_SPECIAL)
      words[i] = i % SLOTS == 0 ? special(i / SLOTS) : words[i];
    else if (c->draw == RANDOM_F8_PAIRS || (c->draw == RANDOM_F8 && i % SLOTS < 6)) // below 2: no NaN of either kind
      words[i] = (words[i] * 2654435761u ^ words[i] >> 7) & 0xbfbfbfbf;
    else if (pairs || (c->draw >= RANDOM_F16 && c->draw < RANDOM_F8 &&
                       i % SLOTS < 6)) // a and b of the matrix instruction; c is f32
      words[i] = f16 ? mirage_f16_from_double(a) | (uint32_t)mirage_f16_from_double(b) << 16
                     : mirage_bf16_from_double(a) | (uint32_t)mirage_bf16_from_double(b) << 16;
  }
}

static int32_t shared_bytes(const Case *c) { return c->shared_bytes ? c->shared_bytes : 16 * WARP; }

MirageStatus case_emulate(Jit *jit, const Case *c, bool early, uint32_t *in, uint32_t *out, const MirageDiag *diag) {
  Buffer buffers[2] = {{.data = (uint8_t *)in, .bytes = WORDS_IN * 4, .kind = "operand"},
                       {.data = (uint8_t *)out, .bytes = WORDS_OUT * 4, .kind = "result", .writable = true}};
  Launch launch = {.name = c->name,
                   .num_buffers = 2,
                   .buffers = buffers,
                   .grid = {c->blocks, 1, 1},
                   .cluster = {c->blocks, 1, 1},
                   .threads = (uint32_t)(WARP * c->warps),
                   .shared_bytes = (uint32_t)shared_bytes(c),
                   .num_maps = c->map.rank > 0,
                   .maps = &c->map,
                   .copies = early ? MIRAGE_COPIES_EARLY : MIRAGE_COPIES_LATE,
                   .diag = diag};
  MirageStatus status = mirage__jit_find(jit, c->name, diag, &launch.entry);
  return status == MIRAGE_OK ? mirage__machine_run(&launch) : status;
}

static MirageStatus run_on_gpu(MirageDevice *device, MirageModule *module, const Case *c, const uint32_t *in,
                               uint32_t *out, const MirageDiag *diag) {
  uint64_t pointers[2] = {0, 0};
  MirageLaunchConfig config = {.kernel = c->name,
                               .grid = {c->blocks, 1, 1},
                               .cluster = {c->blocks, 1, 1},
                               .threads = WARP * c->warps,
                               .shared_bytes = shared_bytes(c),
                               .num_maps = c->map.rank > 0,
                               .maps = &c->map};
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

static void say_difference(const Case *c, int word, const uint32_t *in, uint32_t emulated, uint32_t real) {
  int pitch = c->group.n ? 128 : RESULTS, thread = word / pitch;
  const uint32_t *own = &in[thread * SLOTS % WORDS_IN];
  printf("  thread %d, word %d of %s(0x%08x = %g, 0x%08x = %g, ...): emulator 0x%08x = %g, GPU 0x%08x = %g\n", thread,
         word % pitch, c->name, own[0], (double)as_float(own[0]), own[1], (double)as_float(own[1]), emulated,
         (double)as_float(emulated), real, (double)as_float(real));
}

// On the emulator with early and late copies, which must agree, and on the GPU.
static bool compare(const Case *c, Jit *jit, MirageDevice *device, MirageModule *module, const MirageDiag *diag) {
  static uint32_t in[WORDS_IN], emulated[WORDS_OUT], early[WORDS_OUT], real[WORDS_OUT];
  case_draw(c, in);
  for (int i = 0; i < WORDS_OUT; i++)
    emulated[i] = early[i] = real[i] = 0xffffffff;
  bool ok = case_emulate(jit, c, false, in, emulated, diag) == MIRAGE_OK &&
            case_emulate(jit, c, true, in, early, diag) == MIRAGE_OK && memcmp(emulated, early, sizeof early) == 0 &&
            (!device || run_on_gpu(device, module, c, in, real, diag) == MIRAGE_OK);
  int different = 0;
  for (int i = 0; ok && device && i < WORDS_OUT; i++)
    if (!equal(c, emulated[i], real[i]) && different++ == 0)
      say_difference(c, i, in, emulated[i], real[i]);
  ok = ok && different == 0;
  printf("%-5s %-24s %s", ok ? "ok" : "WRONG", c->name, device ? "emulator and GPU" : "emulator");
  printf(different ? ": %d words differ\n" : "\n", different);
  return ok;
}

static void keep_ptx(const char *folder, const MirageTarget *target, const char *ptx) {
  char path[512];
  snprintf(path, sizeof path, "%s/primitives.%s.ptx", folder, target->chip);
  FILE *file = fopen(path, "w");
  if (file)
    fputs(ptx, file);
  if (!file || fclose(file))
    fprintf(stderr, "cannot write %s\n", path);
}

// PTX of all cases; the caller frees it. NULL after a failure.
static char *make_ptx(const MirageTarget *target, unsigned num_cases, const Case *const *cases) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const char *ptx = target->ptx_meet ? target->ptx_meet : target->ptx_f8 ? target->ptx_f8 : target->ptx;
  MirageHostModule m = emit_module("nvptx64-nvidia-cuda", target->chip, ptx, false, num_cases, cases, NULL);
  LLVMMemoryBufferRef buffer = NULL;
  char *error = NULL, *text = NULL;
  if (m.machine && !LLVMTargetMachineEmitToMemoryBuffer(m.machine, m.module, LLVMAssemblyFile, &error, &buffer)) {
    size_t bytes = LLVMGetBufferSize(buffer);
    text = calloc(bytes + 1, 1);
    if (text)
      memcpy(text, LLVMGetBufferStart(buffer), bytes);
    LLVMDisposeMemoryBuffer(buffer);
  }
  dispose_module(&m);
  return text;
}

unsigned primitives_compare(MirageDevice *device, const MirageTarget *target, const char *filter,
                            const char *ptx_folder, const MirageDiag *diag) {
  const Case *cases[MOST_CASES];
  unsigned num_cases = case_all(target, cases);
  Jit *jit = NULL;
  if (case_compile(num_cases, cases, NULL, diag, &jit) != MIRAGE_OK)
    return num_cases;
  char *ptx = make_ptx(target, num_cases, cases);
  MirageModule *module = NULL;
  if (ptx && ptx_folder)
    keep_ptx(ptx_folder, target, ptx);
  if (ptx && device)
    mirage_module_load(device, ptx, diag, &module);
  unsigned wrong = !ptx || (device && !module) ? num_cases : 0;
  free(ptx);
  for (unsigned i = 0; wrong < num_cases && i < num_cases; i++)
    if (!filter || strstr(cases[i]->name, filter))
      wrong += !compare(cases[i], jit, device, module, diag);
  mirage_module_unload(module);
  mirage__jit_destroy(jit);
  return wrong;
}
