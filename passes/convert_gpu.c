// convert_gpu.c - convert-mirage-to-gpu: launches of kernels where functions call compiled programs.
//
// requires: programs that are lowered (mirage-superoptimize); provides: in place of each mirage_kernel.call operations of
// the gpu, memref, arith and llvm dialects that stock passes finish (gpu_launch.c), and a module without operations of
// ours; breaks: nothing. On an error the module is as it was.
//
// Two steps: all programs that are called are planned and checked, with their binaries and the calls' operands; then
// binaries are annotated, calls replaced, and graphs removed.
#include "gpu_binary.h"
#include "gpu_launch.h"

#include <stdlib.h>
#include <string.h>

/// A graph that is called, or the candidate selected for it.
typedef struct Callee {
  MirageModuleGraph *called, *compiled;
  MirageLaunchPlan plan;
  MlirOperation binary;
  char *binary_name;
  struct Callee *next;
} Callee;

typedef struct Conversion {
  MirageModuleGraphs *graphs;
  const MirageConvertGpuOptions *options;
  const MirageDiag *diag;
  uint32_t num_sites, capacity;
  MirageCallSite *sites; // in the order of the module
  Callee *callees;
  bool out_of_memory;
} Conversion;

static MirageStatus no_memory(const Conversion *conversion) {
  return mirage_diag_fail(conversion->diag, NULL, MIRAGE_NO_MEMORY, "convert-mirage-to-gpu: out of memory");
}

// --------------------------------------------------------------------------------------------------------------- calls

static MlirWalkResult collect_call(MlirOperation op, void *user) {
  Conversion *conversion = user;
  if (!mirage__ir_is(op, "mirage_kernel.call"))
    return mirage__ir_is(op, "mirage_kernel.graph") ? MlirWalkResultSkip : MlirWalkResultAdvance;
  if (conversion->num_sites == conversion->capacity) {
    uint32_t capacity = 2 * conversion->capacity + 16;
    MirageCallSite *sites = realloc(conversion->sites, capacity * sizeof *sites);
    conversion->out_of_memory = !sites;
    if (!sites)
      return MlirWalkResultInterrupt;
    conversion->sites = sites;
    conversion->capacity = capacity;
  }
  conversion->sites[conversion->num_sites++] = (MirageCallSite){.call = op};
  return MlirWalkResultAdvance;
}

static MirageStatus find_compiled(const Conversion *conversion, MirageModuleGraph *called, const void *loc,
                                  MirageModuleGraph **out_compiled) {
  MirageModuleGraphs *graphs = conversion->graphs;
  *out_compiled = called->source ? called : NULL;
  for (uint32_t i = 0; !called->source && i < graphs->num_graphs; i++) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    if (mirage__graphs_is_candidate(entry, called) &&
        !mlirAttributeIsNull(mlirOperationGetAttributeByName(entry->op, mirage__ir_text("selected"))))
      *out_compiled = entry;
  }
  if (*out_compiled)
    return MIRAGE_OK;
  return mirage_diag_fail(conversion->diag, loc, MIRAGE_BAD_GRAPH,
                          "convert-mirage-to-gpu: no graph is selected for @%s: run mirage-superoptimize first",
                          called->name);
}

static MirageStatus fill_callee(const Conversion *conversion, const void *loc, Callee *callee) {
  MIRAGE_TRY(find_compiled(conversion, callee->called, loc, &callee->compiled));
  MIRAGE_TRY(mirage__graphs_import(conversion->graphs, callee->compiled));
  MIRAGE_TRY(mirage_launch_plan_init(&callee->plan, callee->compiled->graph, conversion->diag));
  MIRAGE_TRY(mirage__binary_find(conversion->graphs, callee->compiled->name, &callee->plan, loc, &callee->binary));
  size_t length = strlen(callee->compiled->name);
  callee->binary_name = calloc(1, length + sizeof "_bin");
  if (!callee->binary_name)
    return no_memory(conversion);
  memcpy(callee->binary_name, callee->compiled->name, length);
  memcpy(callee->binary_name + length, "_bin", sizeof "_bin");
  return MIRAGE_OK;
}

static MirageStatus find_callee(Conversion *conversion, MlirOperation call, Callee **out_callee) {
  const void *loc = mlirOperationGetLocation(call).ptr;
  MlirAttribute symbol = mlirOperationGetAttributeByName(call, mirage__ir_text("callee"));
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(symbol);
  MirageModuleGraph *called = NULL;
  for (uint32_t i = 0; i < conversion->graphs->num_graphs; i++)
    if (mlirStringRefEqual(mirage__ir_text(conversion->graphs->graphs[i].name), name))
      called = &conversion->graphs->graphs[i];
  if (!called)
    return mirage_diag_fail(conversion->diag, loc, MIRAGE_BAD_GRAPH,
                            "convert-mirage-to-gpu: @%.*s stands in another module than this one", (int)name.length,
                            name.data);
  for (Callee *callee = conversion->callees; callee; callee = callee->next)
    if (callee->called == called) {
      *out_callee = callee;
      return MIRAGE_OK;
    }
  Callee *callee = calloc(1, sizeof *callee);
  if (!callee)
    return no_memory(conversion);
  *callee = (Callee){.called = called, .next = conversion->callees};
  *out_callee = conversion->callees = callee;
  return fill_callee(conversion, loc, callee);
}

static MirageStatus check_sites(Conversion *conversion) {
  for (uint32_t i = 0; i < conversion->num_sites; i++) {
    MirageCallSite *site = &conversion->sites[i];
    Callee *callee;
    MIRAGE_TRY(find_callee(conversion, site->call, &callee));
    site->plan = &callee->plan;
    site->binary = callee->binary_name;
    site->copies = strcmp(conversion->options->memory, "host") == 0;
    MIRAGE_TRY(mirage__launch_check(site, conversion->diag));
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------ the module

/// Finds what the module has of that name: our function, declared before; or something else, which is an error.
static MirageStatus declare_encode(const Conversion *conversion) {
  MlirBlock body = conversion->graphs->body;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = mlirOperationGetAttributeByName(op, mirage__ir_text("sym_name"));
    if (mlirAttributeIsNull(symbol) || !mlirAttributeIsAString(symbol) ||
        !mlirStringRefEqual(mlirStringAttrGetValue(symbol), mirage__ir_text(MIRAGE_ENCODE_TENSOR_MAP)))
      continue;
    if (mirage__ir_is(op, "llvm.func"))
      return MIRAGE_OK;
    return mirage_diag_fail(conversion->diag, mlirOperationGetLocation(op).ptr, MIRAGE_BAD_GRAPH,
                            "convert-mirage-to-gpu: @" MIRAGE_ENCODE_TENSOR_MAP
                            " is the name of a function of the runtime library: rename this");
  }
  mirage__launch_declare_encode(mlirOperationGetContext(conversion->graphs->module), body,
                                mlirOperationGetLocation(conversion->graphs->module));
  return MIRAGE_OK;
}

static MirageStatus annotate_binaries(const Conversion *conversion) {
  bool maps = false;
  for (Callee *callee = conversion->callees; callee; callee = callee->next)
    maps = maps || callee->plan.num_maps > 0;
  if (maps)
    MIRAGE_TRY(declare_encode(conversion));
  for (Callee *callee = conversion->callees; callee; callee = callee->next)
    MIRAGE_TRY(mirage__binary_annotate(callee->compiled->graph, &callee->plan, callee->binary,
                                       conversion->options->emulation, conversion->diag));
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- streams

/// Operations that touch no memory of a call that may still run: they give no reason to wait for it.
static bool is_quiet(MlirOperation op) {
  static const char *const names[] = {"arith.constant",        "tensor.empty",      "tensor.expand_shape",
                                      "tensor.collapse_shape", "memref.get_global", "memref.alloc"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (mirage__ir_is(op, names[i]))
      return true;
  return false;
}

/// Whether nothing but quiet operations stands between a call and the next one.
static bool goes_on(MlirOperation call, MlirOperation next) {
  MlirOperation op = mlirOperationGetNextInBlock(call);
  while (!mlirOperationIsNull(op) && is_quiet(op))
    op = mlirOperationGetNextInBlock(op);
  return mlirOperationEqual(op, next);
}

static void replace_calls(const Conversion *conversion) {
  MirageIr ir = {.context = mlirOperationGetContext(conversion->graphs->module)};
  for (uint32_t i = 0; i < conversion->num_sites; i++) {
    MlirOperation call = conversion->sites[i].call;
    bool last =
        !conversion->options->async || i + 1 == conversion->num_sites || !goes_on(call, conversion->sites[i + 1].call);
    ir.before = call;
    ir.loc = mlirOperationGetLocation(call);
    mirage__launch_write(&conversion->sites[i], &ir);
    if (ir.token.ptr && last)
      mirage__ir_end_stream(&ir);
  }
  for (uint32_t i = 0; i < conversion->num_sites; i++)
    mlirOperationDestroy(conversion->sites[i].call);
}

static void finish_module(const Conversion *conversion) {
  MirageModuleGraphs *graphs = conversion->graphs;
  mlirOperationSetAttributeByName(graphs->module, mirage__ir_text("gpu.container_module"),
                                  mlirUnitAttrGet(mlirOperationGetContext(graphs->module)));
  for (uint32_t i = 0; !conversion->options->keep && i < graphs->num_graphs; i++)
    mirage__graphs_erase(graphs, &graphs->graphs[i]);
}

static MirageStatus convert(Conversion *conversion) {
  mlirOperationWalk(conversion->graphs->module, collect_call, conversion, MlirWalkPreOrder);
  if (conversion->out_of_memory)
    return no_memory(conversion);
  if (conversion->num_sites == 0) {
    mirage_diag_emit(conversion->diag, MIRAGE_SEVERITY_WARNING, NULL,
                     "convert-mirage-to-gpu: no function calls a program: there is nothing to launch");
    return MIRAGE_OK;
  }
  MIRAGE_TRY(check_sites(conversion));
  MIRAGE_TRY(annotate_binaries(conversion));
  replace_calls(conversion);
  finish_module(conversion);
  return MIRAGE_OK;
}

MirageStatus mirage_pass_convert_gpu(MlirOperation module, const void *options, const MirageDiag *diag) {
  MirageModuleGraphs graphs;
  Conversion conversion = {.graphs = &graphs, .options = options, .diag = diag};
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = convert(&conversion);
  for (Callee *callee = conversion.callees, *next; callee; callee = next) {
    next = callee->next;
    mirage_launch_plan_deinit(&callee->plan);
    free(callee->binary_name);
    free(callee);
  }
  free(conversion.sites);
  mirage__graphs_deinit(&graphs);
  return status;
}
