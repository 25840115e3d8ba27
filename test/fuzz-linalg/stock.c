// stock.c - the interpreter against MLIR's own lowering to LLVM, compiled and run.
//
// Modules of f32 and f64 alone, without functions from elsewhere. Each function gets an entry that takes memrefs: results first,
// then arguments. What comes out has to be the interpreter's, as far as rounding goes: by noisy runs, as in judge.c.
// The roundings to f16 and bf16, which no CPU of ours computes in, are compared with those of lib/eval.
#include "stock.h"

#include "generate.h"
#include "run.h"

#include "mirage/eval.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/ExecutionEngine.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOISY_RUNS = 4 };

// Branches become scf first: in a function of several blocks, one-shot-bufferize (22.1) writes over tensors that are still read.
static const char PIPELINE[] =
    "builtin.module(lift-cf-to-scf,func.func(convert-elementwise-to-linalg),"
    "one-shot-bufferize{allow-return-allocs-from-loops bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-math-to-funcs{min-width-of-fpowi-exponent=8},convert-math-to-llvm,convert-math-to-libm,"
    "expand-strided-metadata,lower-affine,arith-expand,finalize-memref-to-llvm,convert-arith-to-llvm,convert-func-to-"
    "llvm,"
    "convert-cf-to-llvm,convert-index-to-llvm,reconcile-unrealized-casts)";

// ---------------------------------------------------------------------------------------------------------------- entries

static void add_type(Text *text, MlirType type) { mlirTypePrint(type, text_print, text); }

/// The type as a memref; a scalar's without dimensions.
static void add_memref(Text *text, MlirType type) {
  if (mlirTypeIsAShaped(type)) {
    Text tensor = {0};
    add_type(&tensor, type);
    text_add(text, "memref%s", tensor.data + strlen("tensor"));
    text_free(&tensor);
    return;
  }
  text_add(text, "memref<");
  add_type(text, type);
  text_add(text, ">");
}

static void add_types(Text *text, MlirType function, bool results) {
  intptr_t count = results ? mlirFunctionTypeGetNumResults(function) : mlirFunctionTypeGetNumInputs(function);
  text_add(text, "(");
  for (intptr_t i = 0; i < count; i++) {
    text_add(text, "%s", i ? ", " : "");
    add_type(text, results ? mlirFunctionTypeGetResult(function, i) : mlirFunctionTypeGetInput(function, i));
  }
  text_add(text, ")");
}

static void add_argument(Text *text, MlirType type, intptr_t i) {
  bool tensor = mlirTypeIsAShaped(type);
  text_add(text,
           tensor ? "%%x%ld = bufferization.to_tensor %%i%ld restrict : " : "%%x%ld = memref.load %%i%ld[] : ", (long)i,
           (long)i);
  add_memref(text, type);
  if (tensor) {
    text_add(text, " to ");
    add_type(text, type);
  }
  text_add(text, "\n");
}

static void add_result(Text *text, MlirType type, intptr_t i, bool alone) {
  char name[24];
  bool tensor = mlirTypeIsAShaped(type);
  snprintf(name, sizeof name, alone ? "%%r" : "%%r#%ld", (long)i);
  text_add(text,
           tensor ? "bufferization.materialize_in_destination %s in restrict writable %%o%ld : ("
                  : "memref.store %s, %%o%ld[] : ",
           name, (long)i);
  if (tensor) {
    add_type(text, type);
    text_add(text, ", ");
  }
  add_memref(text, type);
  text_add(text, tensor ? ") -> ()\n" : "\n");
}

/// func.func @entry_N(results, arguments), which calls the function.
static void add_entry(Text *text, MlirOperation function, int number) {
  MlirType type = mlirTypeAttrGetValue(attribute_of(function, "function_type"));
  MlirStringRef name = mlirStringAttrGetValue(attribute_of(function, "sym_name"));
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
  text_add(text, "func.func @entry_%d(", number);
  for (intptr_t i = 0; i < results; i++) {
    text_add(text, "%s%%o%ld: ", i ? ", " : "", (long)i);
    add_memref(text, mlirFunctionTypeGetResult(type, i));
  }
  for (intptr_t i = 0; i < inputs; i++) {
    text_add(text, "%s%%i%ld: ", i || results ? ", " : "", (long)i);
    add_memref(text, mlirFunctionTypeGetInput(type, i));
  }
  text_add(text, ") attributes {llvm.emit_c_interface} {\n");
  for (intptr_t i = 0; i < inputs; i++)
    add_argument(text, mlirFunctionTypeGetInput(type, i), i);
  if (results)
    text_add(text, results > 1 ? "%%r:%ld = " : "%%r = ", (long)results);
  text_add(text, "func.call @%.*s(", (int)name.length, name.data);
  for (intptr_t i = 0; i < inputs; i++)
    text_add(text, "%s%%x%ld", i ? ", " : "", (long)i);
  text_add(text, ") : ");
  add_types(text, type, false);
  text_add(text, " -> ");
  add_types(text, type, true);
  text_add(text, "\n");
  for (intptr_t i = 0; i < results; i++)
    add_result(text, mlirFunctionTypeGetResult(type, i), i, results == 1);
  text_add(text, "return\n}\n");
}

// ---------------------------------------------------------------------------------------------------------------- memrefs

static size_t element_bytes(Elem elem) { return elem == F32 || elem == I32 ? 4 : elem == I1 || elem == I8 ? 1 : 8; }

static void put_element(Elem elem, void *data, int64_t i, Scalar x) {
  if (elem == F32)
    ((float *)data)[i] = (float)x.f;
  else if (elem == F64)
    ((double *)data)[i] = x.f;
  else if (elem == I32)
    ((int32_t *)data)[i] = (int32_t)x.i;
  else if (elem == I1 || elem == I8)
    ((int8_t *)data)[i] = (int8_t)(elem == I1 ? x.i & 1 : x.i);
  else
    ((int64_t *)data)[i] = x.i;
}

static Scalar get_element(Elem elem, const void *data, int64_t i) {
  if (is_float(elem))
    return (Scalar){.f = elem == F32 ? (double)((const float *)data)[i] : ((const double *)data)[i]};
  if (elem == I1)
    return (Scalar){.i = -(((const int8_t *)data)[i] & 1)};
  return (Scalar){.i = elem == I8    ? ((const int8_t *)data)[i]
                       : elem == I32 ? ((const int32_t *)data)[i]
                                     : ((const int64_t *)data)[i]};
}

// As MLIR's calling convention has it: two pointers, an offset, sizes, strides.
typedef struct Descriptor {
  void *allocated, *aligned;
  int64_t offset, sizes_and_strides[2 * TENSOR_RANK];
} Descriptor;

static Descriptor *describe(MirageArena *arena, const Tensor *tensor, bool copies) {
  Descriptor *memref = mirage_arena_alloc(arena, sizeof *memref);
  void *data = mirage_arena_alloc(arena, 64 + 8 * (size_t)tensor->count);
  if (!memref || !data)
    abort();
  memset(data, 0, 64 + element_bytes(tensor->elem) * (size_t)tensor->count);
  *memref = (Descriptor){.allocated = data, .aligned = data};
  int64_t stride = 1;
  for (int d = tensor->rank; d-- > 0; stride *= tensor->shape[d]) {
    memref->sizes_and_strides[d] = tensor->shape[d];
    memref->sizes_and_strides[tensor->rank + d] = stride;
  }
  for (int64_t i = 0; copies && i < tensor->count; i++)
    put_element(tensor->elem, data, i, tensor->data[i]);
  return memref;
}

// ------------------------------------------------------------------------------------------------------------------- runs

typedef struct Tally {
  long functions, differ, not_lowered, elements, undecided;
} Tally;

static void compare(MirageArena *arena, MlirOperation function, Tensor *const *inputs, const Run *run,
                    Descriptor *const *results, Tally *tally, const char *label) {
  enum { TIMES = 64 };
  static Run noisy[NOISY_RUNS];
  bool differs = false, steps = false;
  for (int k = 0; k < NOISY_RUNS; k++)
    run_function(arena, function, inputs, (Arithmetic){true, 1}, 11u + (unsigned)k, &noisy[k]);
  for (uint32_t t = 0; t < run->num_results; t++)
    for (int64_t i = 0; i < run->tensors[t]->count; i++) {
      const Tensor *mine = run->tensors[t];
      Scalar x = mine->data[i], y = get_element(mine->elem, results[t]->aligned, i);
      double noise = 0;
      for (int k = 0; k < NOISY_RUNS; k++) {
        bool same = noisy[k].ok && same_shape(noisy[k].tensors[t], mine) &&
                    (is_float(mine->elem) || noisy[k].tensors[t]->data[i].i == x.i);
        noise = !same                  ? INFINITY
                : is_float(mine->elem) ? fmax(noise, fabs(noisy[k].tensors[t]->data[i].f - x.f))
                                       : noise;
      }
      tally->elements++;
      if (is_float(mine->elem) ? (isnan(x.f) || x.f == y.f || fabs(x.f - y.f) <= TIMES * noise + 1e-6 * fabs(x.f))
                               : x.i == y.i)
        continue;
      steps |= isinf(noise);
      if (!isinf(noise) && !differs)
        printf("%s: tensor %u, element %ld: interpreted %.9g, run %.9g\n", label, t, (long)i,
               is_float(mine->elem) ? x.f : (double)x.i, is_float(mine->elem) ? y.f : (double)y.i);
      differs |= !isinf(noise);
    }
  tally->functions++;
  tally->undecided += steps && !differs;
  tally->differ += differs;
}

static void run_entry(MlirExecutionEngine engine, MlirOperation function, int number, uint64_t seed, const char *label,
                      Tally *tally) {
  MirageArena arena;
  Tensor *inputs[MOST_TENSORS];
  Descriptor *memrefs[2 * MOST_TENSORS];
  void *arguments[2 * MOST_TENSORS];
  char name[48];
  Run run;
  mirage_arena_init(&arena, NULL);
  if (draw_inputs(&arena, function, seed, inputs)) {
    intptr_t count = mlirBlockGetNumArguments(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
    run_function(&arena, function, inputs, (Arithmetic){true, 0}, 1, &run);
    uint32_t used = 0;
    for (uint32_t i = 0; run.ok && i < run.num_results; i++)
      memrefs[used++] = describe(&arena, run.tensors[i], false);
    for (intptr_t i = 0; run.ok && i < count; i++)
      memrefs[used++] = describe(&arena, inputs[i], true);
    for (uint32_t i = 0; i < used; i++)
      arguments[i] = &memrefs[i];
    snprintf(name, sizeof name, "entry_%d", number);
    tally->undecided += run.ok && run.poison;
    if (run.ok && !run.poison &&
        mlirLogicalResultIsSuccess(
            mlirExecutionEngineInvokePacked(engine, mlirStringRefCreateFromCString(name), arguments)))
      compare(&arena, function, inputs, &run, memrefs, tally, label);
  }
  mirage_arena_deinit(&arena);
}

static bool lower(MlirContext context, MlirModule module) {
  MlirPassManager passes = mlirPassManagerCreate(context);
  MlirOpPassManager top = mlirPassManagerGetAsOpPassManager(passes);
  bool ok = mlirLogicalResultIsSuccess(
                mlirParsePassPipeline(top, mlirStringRefCreateFromCString(PIPELINE), text_print, &(Text){0})) &&
            mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(passes);
  return ok;
}

/// The compiled code asks for memory that it does not give back: it lives until the module is done.
static MirageArena *code_memory;
static void *code_malloc(size_t size) { return mirage_arena_alloc(code_memory, size); }
static void code_free(void *memory) {}

static void run_compiled(MlirModule module, const Functions *functions, uint64_t seed, const char *label,
                         Tally *tally) {
  const MlirStringRef libraries[] = {mlirStringRefCreateFromCString(MIRAGE_RUNNER_UTILS)};
  MirageArena memory;
  MlirExecutionEngine engine = mlirExecutionEngineCreate(module, 0, 1, libraries, false, false);
  if (mlirExecutionEngineIsNull(engine)) {
    tally->not_lowered++;
    return;
  }
  mirage_arena_init(&memory, NULL);
  code_memory = &memory;
  mlirExecutionEngineRegisterSymbol(engine, mlirStringRefCreateFromCString("malloc"), (void *)(uintptr_t)code_malloc);
  mlirExecutionEngineRegisterSymbol(engine, mlirStringRefCreateFromCString("free"), (void *)(uintptr_t)code_free);
  mlirExecutionEngineInitialize(engine);
  for (int i = 0; i < functions->count; i++)
    run_entry(engine, functions->ops[i], i, seed + (uint64_t)i, label, tally);
  mlirExecutionEngineDestroy(engine);
  mirage_arena_deinit(&memory);
}

static void run_module(MlirContext context, uint64_t seed, long number, Tally *tally) {
  const GenerateOptions options = {.stock = true};
  Text text = {0};
  char label[64];
  Functions functions = {0};
  snprintf(label, sizeof label, "module %ld of seed %lu", number, (unsigned long)seed);
  generate_module(seed, (uint64_t)number, &options, &text);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.used));
  text_clear(&text);
  if (!mlirModuleIsNull(module)) {
    list_functions(module, &functions);
    mlirOperationPrint(mlirModuleGetOperation(module), text_print, &text);
    text.used = (size_t)(strrchr(text.data, '}') - text.data); // the module is closed behind the entries
    for (int i = 0; i < functions.count; i++)
      add_entry(&text, functions.ops[i], i);
    text_add(&text, "}\n");
    MlirModule entries = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.used));
    if (!mlirModuleIsNull(entries) && lower(context, entries))
      run_compiled(entries, &functions, seed * 31u + (uint64_t)number, label, tally);
    else
      tally->not_lowered++;
    if (!mlirModuleIsNull(entries))
      mlirModuleDestroy(entries);
    mlirModuleDestroy(module);
  }
  text_free(&text);
}

// -------------------------------------------------------------------------------------------------------------- roundings

static int compare_roundings(uint64_t seed) {
  Draw draw = draw_of(seed, 0, 9);
  for (int i = 0; i < 200000; i++) {
    double x = ldexp(draw_unit(&draw) - 0.5, draw_below(&draw, 300) - 160);
    if (i % 3 == 0) // ties
      x = ldexp((double)(draw_below(&draw, 1 << 14) - (1 << 13)), draw_below(&draw, 60) - 40);
    if (round_to(F16, x) != mirage_round_to(MIRAGE_F16, x) || round_to(BF16, x) != mirage_round_to(MIRAGE_BF16, x)) {
      printf("roundings of %a differ\n", x);
      return 1;
    }
  }
  return 0;
}

static MlirLogicalResult swallow(MlirDiagnostic diagnostic, void *user) {
  if (getenv("FUZZ_LINALG_ERRORS")) {
    mlirDiagnosticPrint(diagnostic, text_print, user);
    text_add(user, "\n");
  }
  return mlirLogicalResultSuccess();
}

int stock_modules(uint64_t seed, long first, long count) {
  enum { MODULES_OF_A_CONTEXT = 50 };
  Tally tally = {0};
  MlirContext context = {NULL};
  Text errors = {0};
  mlirRegisterAllPasses();
  for (long n = 0; n < count; n++) {
    if (n % MODULES_OF_A_CONTEXT == 0) {
      if (context.ptr)
        mlirContextDestroy(context);
      context = mlirContextCreateWithThreading(false);
      MlirDialectRegistry registry = mlirDialectRegistryCreate();
      mlirRegisterAllDialects(registry);
      mlirContextAppendDialectRegistry(context, registry);
      mlirDialectRegistryDestroy(registry);
      mlirContextLoadAllAvailableDialects(context);
      mlirRegisterAllLLVMTranslations(context);
      mlirContextAttachDiagnosticHandler(context, swallow, &errors, NULL);
    }
    run_module(context, seed, first + n, &tally);
  }
  if (context.ptr)
    mlirContextDestroy(context);
  if (errors.data)
    fputs(errors.data, stderr);
  text_free(&errors);
  int roundings = compare_roundings(seed);
  printf("%ld functions run, %ld elements: %ld differ, %ld behind a step or poison; %ld modules that MLIR does not "
         "lower\n",
         tally.functions, tally.elements, tally.differ, tally.undecided, tally.not_lowered);
  return tally.differ > 0 || roundings || tally.functions * 2 < count;
}
