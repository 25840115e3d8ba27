// test_codegen.c - PTX from block graphs: which instructions appear, what ptxas says, and what is refused.
//
// What the kernels compute is tested on a GPU by test/codegen (mirage-kernel-test). ptxas is used when it is on the
// PATH.
#define _POSIX_C_SOURCE 200809L
#include "mirage/canonical.h"
#include "mirage/codegen.h"

#include "block_graphs.h"
#include "capture.h"
#include "codegen/primitives.h"
#include "mirage/layout.h"
#include "llvm-c/Analysis.h"
#include "llvm-c/Target.h"
#include "llvm-c/TargetMachine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const Sizes SMALL = {.m = 2, .k = 512, .n = 384, .grid = 8, .loop = 4};
static const MirageCodegenOptions O3 = {.opt_level = 3};

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

static int count(const char *text, const char *word) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
    n++;
  return n;
}

// Assembles where ptxas is installed; prints registers and spills.
static void assemble(const char *ptx, const char *chip) {
  if (system("command -v ptxas > /dev/null 2>&1") != 0) {
    print_message("ptxas not found: %s not assembled\n", chip);
    return;
  }
  char path[] = "/tmp/mirage-test-XXXXXX", command[256], line[256];
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, ptx, strlen(ptx)), (ssize_t)strlen(ptx));
  close(file);
  snprintf(command, sizeof command, "ptxas -arch=%s -v -o /dev/null %s 2>&1", chip, path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  while (fgets(line, sizeof line, pipe))
    if (strstr(line, "Used") || strstr(line, "spill") || strstr(line, "error"))
      print_message("%s: %s", chip, line);
  int status = pclose(pipe);
  unlink(path);
  assert_int_equal(status, 0);
}

static MirageCode generate(MirageUGraph *graph, const char *target) {
  MirageCode code = {0};
  MirageStatus status = mirage_codegen(graph, mirage_target_find(target), &O3, &DIAG, &code);
  if (status != MIRAGE_OK)
    fail_msg("%s: %s", target, capture.text);
  assert_int_equal(strlen(code.ptx), code.ptx_bytes);
  return code;
}

static void refuses(MirageUGraph *graph, const char *target, MirageStatus expected, const char *sentence) {
  assert_non_null(graph);
  MirageCode code = {0};
  capture = (Capture){0};
  MirageStatus status = mirage_codegen(graph, mirage_target_find(target), &O3, &DIAG, &code);
  if (status != expected || !strstr(capture.text, sentence))
    fail_msg("status %d (expected %d): \"%s\" does not contain \"%s\"", status, expected, capture.text, sentence);
  assert_null(code.ptx);
  mirage_ugraph_destroy(graph);
}

// Every row of primitives.def is something that this LLVM has, with the types that the row says, and ptxas takes it.
static LLVMValueRef any_operand(const MirageGpu *gpu, MiragePrimitive primitive, uint32_t index) {
  LLVMTypeRef type = mirage__gpu_operand_type(gpu, primitive, index);
  if (type == gpu->shared_ptr)
    return mirage__gpu_shared_base(gpu);
  if (type == gpu->cluster_ptr)
    return GPU(gpu, MAP_RANK, mirage__gpu_shared_base(gpu), gpu_i32(gpu, 0));
  if (type == gpu->global_ptr)
    return LLVMGetParam(gpu->function, 0);
  if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
    return mirage__gpu_tensor_map(gpu, 1);
  if (primitive == MIRAGE_PRIM_SET_REGISTERS_MORE || primitive == MIRAGE_PRIM_SET_REGISTERS_FEWER)
    return gpu_i32(gpu, 64);
  bool named = primitive == MIRAGE_PRIM_BARRIER_NAMED || primitive == MIRAGE_PRIM_BARRIER_NAMED_ARRIVE ||
               primitive == MIRAGE_PRIM_BARRIER_ANY;
  return named && index < 2 ? gpu_i32(gpu, index ? 64 : 1) : LLVMConstNull(type);
}

static void emit_wgmma_of_bytes(const MirageGpu *gpu, LLVMValueRef descriptor, const LLVMValueRef *a_regs) {
  static const MirageDType TYPES[][2] = {{MIRAGE_I8, MIRAGE_I8},
                                         {MIRAGE_F8E4M3FN, MIRAGE_F8E4M3FN},
                                         {MIRAGE_F8E4M3FN, MIRAGE_F8E5M2},
                                         {MIRAGE_F8E5M2, MIRAGE_F8E5M2}};
  for (int type = 0; type < 4; type++)
    for (int32_t n = 8; n <= 256; n += n < 64 ? 8 : 32) {
      LLVMValueRef cells[128];
      MirageDType a = TYPES[type][0], b = TYPES[type][1];
      if (n != mirage__gpu_wgmma_columns(a, n))
        continue;
      for (int32_t i = 0; i < n / 2; i++)
        cells[i] = a == MIRAGE_I8 ? gpu_i32(gpu, i) : gpu_f32(gpu, i);
      GPU0(gpu, WGMMA_FENCE);
      mirage__gpu_wgmma(gpu, a, b, n, descriptor, NULL, false, descriptor, false, cells);
      mirage__gpu_wgmma(gpu, a, b, n, NULL, a_regs, false, descriptor, false, cells);
      GPU0(gpu, WGMMA_COMMIT);
      mirage__gpu_wgmma_wait(gpu, 0, (uint32_t)n / 2, cells);
      for (int32_t i = 0; i < n / 2; i++)
        mirage__gpu_store_global(gpu, cells[i], LLVMGetParam(gpu->function, 0));
    }
}

// Shapes of the warpgroup's product, operands of both kinds, and a wait that all accumulators go through.
static void emit_wgmma(const MirageGpu *gpu) {
  LLVMValueRef shared = mirage__gpu_shared_base(gpu), one = gpu_i32(gpu, 1), a_regs[4] = {one, one, one, one};
  LLVMValueRef descriptor = mirage__gpu_matrix_descriptor(gpu, shared, 128, 1024, 3);
  emit_wgmma_of_bytes(gpu, descriptor, a_regs);
  for (int32_t n = 8; n <= 256; n *= 2) {
    LLVMValueRef cells[128];
    for (int32_t i = 0; i < n / 2; i++)
      cells[i] = gpu_f32(gpu, i);
    GPU0(gpu, WGMMA_FENCE);
    mirage__gpu_wgmma(gpu, MIRAGE_F16, MIRAGE_F16, n, descriptor, NULL, false, descriptor, true, cells);
    mirage__gpu_wgmma(gpu, MIRAGE_F16, MIRAGE_F16, n, descriptor, NULL, true, descriptor, false, cells);
    mirage__gpu_wgmma(gpu, MIRAGE_BF16, MIRAGE_BF16, n, NULL, a_regs, false, descriptor, false, cells);
    GPU0(gpu, WGMMA_COMMIT);
    mirage__gpu_wgmma_wait(gpu, 0, (uint32_t)n / 2, cells);
    for (int32_t i = 0; i < n / 2; i++)
      mirage__gpu_store_global(gpu, cells[i], LLVMGetParam(gpu->function, 0));
  }
}

static void begin_kernel(MirageGpu *gpu) {
  LLVMContextRef c = gpu->context;
  LLVMTypeRef params[2] = {gpu->global_ptr, LLVMPointerTypeInContext(c, 0)};
  LLVMTypeRef map = LLVMArrayType2(gpu->i8, MIRAGE_TENSOR_MAP_BYTES);
  gpu->function = LLVMAddFunction(gpu->module, "f", LLVMFunctionType(gpu->void_type, params, 2, 0));
  LLVMSetFunctionCallConv(gpu->function, 71);
  unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5), align = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAddAttributeAtIndex(gpu->function, 2, LLVMCreateTypeAttribute(c, by_value, map));
  LLVMAddAttributeAtIndex(gpu->function, 2, LLVMCreateEnumAttribute(c, align, 64));
  LLVMAddAttributeAtIndex(gpu->function, 2, LLVMCreateStringAttribute(c, "nvvm.grid_constant", 18, "", 0));
  LLVMAddTargetDependentFunctionAttr(gpu->function, "nvvm.maxntid", "128");
  LLVMPositionBuilderAtEnd(gpu->builder, LLVMAppendBasicBlockInContext(c, gpu->function, "entry"));
}

static void assemble_module(LLVMModuleRef module) {
  const MirageTarget *h200 = mirage_target_find("h200");
  LLVMTargetRef target;
  char *error = NULL;
  LLVMMemoryBufferRef text = NULL;
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  assert_int_equal(LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &error), 0);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", h200->chip, h200->ptx_meet, LLVMCodeGenLevelDefault,
                              LLVMRelocDefault, LLVMCodeModelDefault);
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &error, &text))
    fail_msg("%s", error);
  assemble(LLVMGetBufferStart(text), h200->chip);
  assert_int_equal(count(LLVMGetBufferStart(text), ".local"), 0);
  LLVMDisposeMemoryBuffer(text);
  LLVMDisposeTargetMachine(machine);
}

static void test_primitives(void **state) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("primitives", context);
  LLVMSetTarget(module, "nvptx64-nvidia-cuda");
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  MirageGpu gpu;
  mirage__gpu_init(&gpu, context, module, builder);
  begin_kernel(&gpu);
  for (int p = 0; p < MIRAGE_NUM_PRIMITIVES; p++) {
    LLVMValueRef operands[16];
    for (uint32_t i = 0; i < mirage__gpu_num_operands((MiragePrimitive)p); i++)
      operands[i] = any_operand(&gpu, (MiragePrimitive)p, i);
    assert_non_null(mirage__gpu_emit(&gpu, (MiragePrimitive)p, operands));
  }
  emit_wgmma(&gpu);
  LLVMBuildRetVoid(builder);
  char *message = NULL;
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
    fail_msg("%s", message);
  LLVMDisposeMessage(message);
  assemble_module(module);
  LLVMDisposeBuilder(builder);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

static void test_fused_rmsnorm_linear(void **state) {
  static const char *const TARGETS[][2] = {{"h200", "sm_90a"}, {"a100", "sm_80"}};
  for (int t = 0; t < 2; t++) {
    MirageUGraph *graph = rms_fused(SMALL, RMS_RIGHT, &DIAG);
    MirageCode code = generate(graph, TARGETS[t][0]);
    assert_true(count(code.ptx, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") > 0);
    assert_true(count(code.ptx, "ldmatrix.sync") > 0);
    assert_true(count(code.ptx, "cp.async.cg.shared.global") > 0);
    assert_true(count(code.ptx, "cp.async.wait_group") > 0);
    assert_int_equal(count(code.ptx, ".local"), 0);
    assert_int_equal(count(code.ptx, ".visible .entry rmsnorm_linear_0_k0("), 1);
    assemble(code.ptx, TARGETS[t][1]);
    mirage_code_deinit(&code);
    mirage_ugraph_destroy(graph);
  }
}

static void test_launch_is_recorded(void **state) {
  MirageUGraph *graph = rms_fused(SMALL, RMS_RIGHT, &DIAG);
  MirageCode code = generate(graph, "h200");
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  const MirageCustomAttrs *custom = &mirage_ugraph_node(graph, body.nodes[0]).attrs->custom;
  assert_non_null(custom->launch);
  assert_string_equal(custom->launch->kernel, "rmsnorm_linear_0_k0");
  assert_int_equal(custom->launch->threads, custom->schedule->warps * 32);
  assert_int_equal(custom->launch->shared_bytes, mirage_layout_shared_bytes(graph, body.nodes[0]));
  assert_int_equal(custom->launch->workspace_bytes, 0);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
}

static void test_same_input_same_ptx(void **state) {
  MirageUGraph *first = rms_fused(SMALL, RMS_RIGHT, &DIAG), *second = rms_fused(SMALL, RMS_RIGHT, &DIAG);
  MirageCode a = generate(first, "h200"), b = generate(second, "h200"), c = generate(second, "h200");
  assert_string_equal(a.ptx, b.ptx);
  assert_string_equal(b.ptx, c.ptx); // a planned graph compiles to the same code
  mirage_code_deinit(&a);
  mirage_code_deinit(&b);
  mirage_code_deinit(&c);
  mirage_ugraph_destroy(first);
  mirage_ugraph_destroy(second);
}

static void test_unoptimised_code_keeps_registers(void **state) {
  MirageUGraph *graph = rms_fused(SMALL, RMS_RIGHT, &DIAG);
  MirageCode code = {0};
  MirageCodegenOptions options = {.opt_level = 0, .keep_llvm_ir = true};
  assert_int_equal(mirage_codegen(graph, mirage_target_find("h200"), &options, &DIAG, &code), MIRAGE_OK);
  assert_non_null(strstr(code.llvm_ir, "define ptx_kernel void @rmsnorm_linear_0_k0"));
  assert_null(strstr(code.llvm_ir, "alloca"));
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
}

static void test_program_lowers(void **state) {
  MirageUGraph *program = rms_program(SMALL, &DIAG), *lowered = NULL;
  assert_int_equal(mirage_canonicalize(program, mirage_target_find("h200"), &DIAG, &lowered), MIRAGE_OK);
  MirageRegionView body = mirage_ugraph_region(lowered, mirage_ugraph_body(lowered));
  for (uint32_t i = 0; i + 1 < body.num_nodes; i++)
    assert_int_equal(mirage_ugraph_node(lowered, body.nodes[i]).op, MIRAGE_OP_CUSTOM);
  assert_string_equal(mirage_ugraph_get_meta(lowered)->name, "rmsnorm_linear");
  MirageCode code = generate(lowered, "h200");
  assert_int_equal(count(code.ptx, ".visible .entry"), body.num_nodes - 1);
  assert_int_equal(count(code.ptx, ".version"), 1); // each kernel is compiled by itself, and the texts are joined
  assert_int_equal(count(code.ptx, ".address_size"), 1);
  assert_int_equal(count(code.ptx, ".extern .shared"), 1);
  assemble(code.ptx, "sm_90a");
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(lowered);
  mirage_ugraph_destroy(program);
}

static uint64_t code_of(Sizes sizes, const char *name, int32_t opt_level) {
  const MirageCodegenOptions options = {.opt_level = opt_level};
  MirageUGraph *program = rms_program(sizes, &DIAG), *lowered = NULL;
  MirageCode code = {0};
  mirage_ugraph_meta(program)->name = name;
  assert_int_equal(mirage_canonicalize(program, mirage_target_find("h200"), &DIAG, &lowered), MIRAGE_OK);
  assert_int_equal(mirage_codegen(lowered, mirage_target_find("h200"), &options, &DIAG, &code), MIRAGE_OK);
  uint64_t hash = mirage_code_hash(lowered, &code);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(lowered);
  mirage_ugraph_destroy(program);
  return hash;
}

// What a time was measured of: names do not enter, instructions and sizes do.
static void test_code_hash(void **state) {
  Sizes wider = SMALL;
  wider.n *= 2;
  uint64_t hash = code_of(SMALL, "one", 3);
  assert_int_not_equal(hash, 0);
  assert_true(hash == code_of(SMALL, "one", 3));
  assert_true(hash == code_of(SMALL, "a_much_longer_name_k1_k", 3));
  assert_true(hash != code_of(SMALL, "one", 0));
  assert_true(hash != code_of(wider, "one", 3));
}

// Somebody is asked before each kernel is planned and before each is compiled; a yes leaves nothing behind.
static void test_cancelled(void **state) {
  MirageUGraph *program = rms_program(SMALL, &DIAG), *lowered = NULL;
  assert_int_equal(mirage_canonicalize(program, mirage_target_find("h200"), &DIAG, &lowered), MIRAGE_OK);
  uint64_t kernels = mirage_ugraph_region(lowered, mirage_ugraph_body(lowered)).num_nodes - 1, polls = 2 * kernels;
  assert_true(kernels > 1);
  int interrupt = 0;
  const MirageCancel cancel = {.interrupt = &interrupt};
  const MirageCodegenOptions options = {.opt_level = 1, .cancel = &cancel};
  for (uint64_t at = 1; at <= polls + 1; at++) { // at each of the questions, and at none
    MirageCode code = {0};
    mirage_interrupt_after(at);
    MirageStatus status = mirage_codegen(lowered, mirage_target_find("h200"), &options, &DIAG, &code);
    assert_int_equal(status, at <= polls ? MIRAGE_CANCELLED : MIRAGE_OK);
    assert_int_equal(mirage_interrupt_polls(), at <= polls ? at : polls);
    assert_true((code.ptx != NULL) == (status == MIRAGE_OK));
    mirage_code_deinit(&code);
  }
  mirage_interrupt_after(0);
  mirage_ugraph_destroy(lowered);
  mirage_ugraph_destroy(program);
}

// A program of one operator on x [8, 64], or on three of them.
static uint32_t kernels_of(MirageOp op, uint32_t num_operands, MirageAttrs attrs) {
  MirageUGraph *program = mirage_ugraph_create(NULL, "program", &DIAG), *lowered = NULL;
  MirageValue operands[3];
  for (uint32_t i = 0; i < num_operands; i++)
    operands[i] = mirage_ugraph_input(program, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){8, 64}));
  MirageValue y = mirage_ugraph_apply(program, op, num_operands, operands,
                                      mirage_op_info(op)->attrs == MIRAGE_ATTRS_NONE ? NULL : &attrs);
  mirage_ugraph_return(program, 1, &y);
  assert_int_equal(mirage_ugraph_finish(program), MIRAGE_OK);
  assert_int_equal(mirage_canonicalize(program, mirage_target_find("h200"), &DIAG, &lowered), MIRAGE_OK);
  uint32_t kernels = mirage_ugraph_region(lowered, mirage_ugraph_body(lowered)).num_nodes - 1; // and the return
  mirage_ugraph_destroy(lowered);
  mirage_ugraph_destroy(program);
  return kernels;
}

static void test_one_kernel_an_operator(void **state) {
  assert_int_equal(kernels_of(MIRAGE_OP_SILU, 1, (MirageAttrs){0}), 1);
  assert_int_equal(kernels_of(MIRAGE_OP_GELU_TANH, 1, (MirageAttrs){0}), 1);
  assert_int_equal(kernels_of(MIRAGE_OP_MIN, 2, (MirageAttrs){0}), 1);
  assert_int_equal(kernels_of(MIRAGE_OP_REDUCE_MEAN, 1, (MirageAttrs){.reduce = {.dim = 1, .extent = 1}}), 1);
  assert_int_equal(kernels_of(MIRAGE_OP_SOFTMAX, 1, (MirageAttrs){.dim = {0}}), 1);
  assert_int_equal(kernels_of(MIRAGE_OP_RMS_NORM, 1, (MirageAttrs){.eps = {1e-3}}), 1);
  assert_int_equal(kernels_of(MIRAGE_OP_LAYER_NORM, 1, (MirageAttrs){.eps = {1e-3}}), 1);
  assert_int_equal(kernels_of(MIRAGE_OP_SDPA, 3, (MirageAttrs){.sdpa = {.scale = 0.125}}), 3);
}

// Canonicalizing a graph of custom kernels copies it: the code is the same.
static void test_canonicalize_keeps_custom_kernels(void **state) {
  MirageUGraph *graph = rms_fused(SMALL, RMS_RIGHT, &DIAG), *copy = NULL;
  assert_int_equal(mirage_canonicalize(graph, mirage_target_find("h200"), &DIAG, &copy), MIRAGE_OK);
  MirageCode a = generate(graph, "h200"), b = generate(copy, "h200");
  assert_string_equal(a.ptx, b.ptx);
  mirage_code_deinit(&a);
  mirage_code_deinit(&b);
  mirage_ugraph_destroy(graph);
  mirage_ugraph_destroy(copy);
}

// ------------------------------------------------------------------------------------------------------------ refusals

// One kernel on `grid` blocks whose tile goes through a collective over x, inside a loop or not.
static MirageUGraph *collective(MirageOp op, int64_t grid, bool in_loop) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "collective", &DIAG);
  MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){grid * 32}),
             out = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){32});
  MirageValue x = mirage_ugraph_input(g, type);
  MirageCustomAttrs attrs = {.grid = {grid, 1, 1}, .cluster = {op == MIRAGE_OP_CLUSTER_SUM ? grid : 1, 1, 1}};
  MirageNode k = mirage_ugraph_open_custom(g, 1, &x, 1, &out, &attrs);
  MirageAccessAttrs in = access_of(0, -1), whole = access_of(-1, -1);
  MirageLoopAttrs once = {.range = 2};
  if (in_loop)
    mirage_ugraph_open_loop(g, 0, NULL, &once);
  MirageValue tile = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 0), &in);
  MirageValue sum = mirage_ugraph_apply(g, op, 1, &tile, &(MirageAttrs){.axes = {{true, false, false}}});
  mirage_ugraph_store(g, sum, mirage_ugraph_argument(g, k, 1), &whole);
  if (in_loop)
    mirage_ugraph_close(g, 0, NULL);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, k, 0));
}

static void test_collectives(void **state) {
  MirageUGraph *graph = collective(MIRAGE_OP_CLUSTER_SUM, 4, false);
  MirageCode code = generate(graph, "h200");
  assert_true(count(code.ptx, "barrier.cluster.arrive") == 2 && count(code.ptx, "mapa") > 0);
  assert_int_equal(count(code.ptx, ".reqnctapercluster"), 1);
  assemble(code.ptx, "sm_90a");
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
  static const MirageOp SUMS[] = {MIRAGE_OP_GRID_SUM, MIRAGE_OP_CLUSTER_SUM}; // without clusters both meet in memory
  for (int i = 0; i < 2; i++) {
    graph = collective(SUMS[i], 4, false);
    code = generate(graph, "a100");
    assert_true(count(code.ptx, "ld.relaxed.gpu") > 1);
    assert_int_equal(count(code.ptx, "ld.acquire.gpu"), 0);
    assert_int_equal(count(code.ptx, "cluster"), 0);
    assert_true(mirage_ugraph_node(graph, (MirageNode){1}).attrs->custom.launch->workspace_bytes > 0);
    assemble(code.ptx, "sm_80");
    mirage_code_deinit(&code);
    mirage_ugraph_destroy(graph);
  }
}

static void test_refused_collectives(void **state) {
  refuses(collective(MIRAGE_OP_GRID_SUM, 5000, false), "h200", MIRAGE_LIMIT,
          "grid_sum: 5000 blocks wait for each other");
  refuses(collective(MIRAGE_OP_GRID_SUM, 5000, true), "h200", MIRAGE_LIMIT,
          "grid_sum: 5000 blocks wait for each other");
}

// Two carries that take each other's old value.
static MirageUGraph *exchange(void) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "exchange", &DIAG);
  MirageType type = mirage_type_tensor(MIRAGE_F32, 2, (int64_t[]){4, 4});
  MirageValue x = mirage_ugraph_input(g, type);
  MirageCustomAttrs attrs = blocks(1);
  MirageNode k = mirage_ugraph_open_custom(g, 1, &x, 1, &type, &attrs);
  MirageAccessAttrs whole = access_of(-1, -1);
  MirageValue tile = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 0), &whole);
  MirageValue inits[] = {tile, op1(g, MIRAGE_OP_EXP, tile)};
  MirageCarry carries[] = {{.combine = MIRAGE_COMBINE_ASSIGN}, {.combine = MIRAGE_COMBINE_ASSIGN}};
  MirageLoopAttrs loop = {.range = 3, .num_carries = 2, .carries = carries};
  MirageNode l = mirage_ugraph_open_loop(g, 2, inits, &loop);
  mirage_ugraph_close(g, 2, (MirageValue[]){mirage_ugraph_argument(g, l, 1), mirage_ugraph_argument(g, l, 0)});
  mirage_ugraph_store(g, mirage_ugraph_result(g, l, 0), mirage_ugraph_argument(g, k, 1), &whole);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, k, 0));
}

static void test_exchanging_carries(void **state) {
  MirageUGraph *graph = exchange();
  MirageCode code = generate(graph, "a100");
  assert_true(count(code.ptx, "st.shared") > 0);
  assemble(code.ptx, "sm_80");
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
}

static void test_refused_graphs(void **state) {
  refuses(rms_program(SMALL, &DIAG), "h200", MIRAGE_UNSUPPORTED, "stands outside a custom kernel");
  refuses(rms_fused((Sizes){.m = 2, .k = 512, .n = 4096, .grid = 2, .loop = 1}, RMS_RIGHT, &DIAG), "h200", MIRAGE_LIMIT,
          "bytes of shared memory");
}

// The same PTX and the same sentences from one thread and from several; one that fails is a matter of its own.
static void test_compiled_in_parallel(void **state) {
  enum { JOBS = 7, BEYOND = 3 };
  char *first[JOBS] = {NULL};
  for (uint32_t threads = 1; threads <= 3; threads++) {
    MirageCodegenJob jobs[JOBS];
    Capture captures[JOBS] = {{0}};
    MirageDiag diags[JOBS];
    for (int i = 0; i < JOBS; i++) {
      Sizes sizes = {.m = 2 + i, .k = 512, .n = 384, .grid = 8, .loop = 4};
      if (i == BEYOND)
        sizes = (Sizes){.m = 2, .k = 512, .n = 4096, .grid = 2, .loop = 1};
      diags[i] = (MirageDiag){capture_emit, &captures[i]};
      jobs[i] = (MirageCodegenJob){.graph = rms_fused(sizes, RMS_RIGHT, &DIAG), .diag = &diags[i]};
      assert_non_null(jobs[i].graph);
    }
    mirage_codegen_all(JOBS, jobs, mirage_target_find("h200"), &O3, threads);
    for (int i = 0; i < JOBS; i++) {
      assert_int_equal(jobs[i].status, i == BEYOND ? MIRAGE_LIMIT : MIRAGE_OK);
      assert_int_equal(strstr(captures[i].text, "bytes of shared memory") != NULL, i == BEYOND);
      if (i != BEYOND && first[i])
        assert_string_equal(jobs[i].code.ptx, first[i]);
      else if (i != BEYOND)
        first[i] = strdup(jobs[i].code.ptx);
      mirage_code_deinit(&jobs[i].code);
      mirage_ugraph_destroy(jobs[i].graph);
    }
  }
  for (int i = 0; i < JOBS; i++)
    free(first[i]);
  mirage_codegen_all(0, NULL, mirage_target_find("h200"), &O3, 0);
}

static void test_refused_arguments(void **state) {
  MirageUGraph *graph = rms_fused(SMALL, RMS_RIGHT, &DIAG), *out = graph;
  MirageCode code = {0};
  const MirageTarget *h200 = mirage_target_find("h200");
  MirageCodegenOptions high = {.opt_level = 4}, low = {.opt_level = -1};
  assert_int_equal(mirage_codegen(graph, h200, &high, &DIAG, &code), MIRAGE_BAD_ARGUMENT);
  assert_non_null(strstr(capture.text, "must lie in 0 .. 3: 4"));
  assert_int_equal(mirage_codegen(graph, h200, &low, &DIAG, &code), MIRAGE_BAD_ARGUMENT);
  assert_int_equal(mirage_codegen(graph, NULL, &O3, &DIAG, &code), MIRAGE_BAD_ARGUMENT);
  assert_int_equal(mirage_codegen(NULL, h200, &O3, &DIAG, &code), MIRAGE_BAD_ARGUMENT);
  assert_int_equal(mirage_canonicalize(NULL, h200, &DIAG, &out), MIRAGE_BAD_ARGUMENT);
  mirage_ugraph_destroy(graph);
  mirage_code_deinit(&code);
  mirage_code_deinit(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_primitives),
      cmocka_unit_test(test_fused_rmsnorm_linear),
      cmocka_unit_test(test_launch_is_recorded),
      cmocka_unit_test(test_same_input_same_ptx),
      cmocka_unit_test(test_unoptimised_code_keeps_registers),
      cmocka_unit_test(test_program_lowers),
      cmocka_unit_test(test_one_kernel_an_operator),
      cmocka_unit_test(test_canonicalize_keeps_custom_kernels),
      cmocka_unit_test(test_collectives),
      cmocka_unit_test(test_refused_collectives),
      cmocka_unit_test(test_exchanging_carries),
      cmocka_unit_test(test_code_hash),
      cmocka_unit_test(test_cancelled),
      cmocka_unit_test(test_refused_graphs),
      cmocka_unit_test(test_refused_arguments),
      cmocka_unit_test(test_compiled_in_parallel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
