// codegen.c - the kernels of a graph: entries, optimisation, PTX. [Mirage 6]
//
// Call order:  plan (whatever the layout pass left open)  ->  for each custom node: entry, block (codegen_block.c)
//              ->  verify  ->  LLVM's pipeline  ->  NVPTX back end  ->  PTX text, or the module itself (host.h).
// For PTX each kernel is an LLVM module of its own, and the texts are joined: LLVM cannot be interrupted, and one kernel
// is what it is asked for at a time. For the host they are one module.
#include "mirage/codegen.h"

#include "emit.h"
#include "host.h"
#include "mirage/layout.h"
#include "llvm-c/Analysis.h"
#include "llvm-c/Error.h"
#include "llvm-c/Target.h"
#include "llvm-c/TargetMachine.h"
#include "llvm-c/Transforms/PassBuilder.h"
#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PTX_KERNEL_CALL = 71 }; // LLVM's calling convention of GPU entry points

void mirage__emit_fail(Emit *e, const void *loc, MirageStatus status, const char *format, ...) {
  if (e->status != MIRAGE_OK)
    return;
  char text[320];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  e->status = mirage_diag_fail(e->diag, loc, status, "%s", text);
}

// --------------------------------------------------------------------------------------------------------- one kernel

static void add_function_attribute(const MirageGpu *gpu, const char *name, const char *value) {
  LLVMAttributeRef attribute =
      LLVMCreateStringAttribute(gpu->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(gpu->function, LLVMAttributeFunctionIndex, attribute);
}

static void add_parameter_attribute(const MirageGpu *gpu, unsigned parameter, const char *name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(gpu->function, parameter + 1, LLVMCreateEnumAttribute(gpu->context, kind, value));
}

// A tensor map comes by value, and is named by its address in the kernel's parameters.
static void add_map_attributes(const MirageGpu *gpu, unsigned parameter) {
  unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5);
  LLVMTypeRef map = LLVMArrayType2(gpu->i8, MIRAGE_TENSOR_MAP_BYTES);
  LLVMAddAttributeAtIndex(gpu->function, parameter + 1, LLVMCreateTypeAttribute(gpu->context, by_value, map));
  add_parameter_attribute(gpu, parameter, "align", 64);
  LLVMAddAttributeAtIndex(gpu->function, parameter + 1,
                          LLVMCreateStringAttribute(gpu->context, "nvvm.grid_constant", 18, "", 0));
}

// Blocks that registers must suffice for on a multiprocessor; 0: as many as ptxas likes. Where there is but one, ptxas would do with
// fewer registers, or spill, for the sake of others that never come.
static int32_t blocks_to_fit(const Emit *e) {
  const ThreadRows *items = &e->block.items;
  if (e->blocks_per_sm)
    return e->blocks_per_sm;
  if (mirage__has_producer(&e->block.team)) // whose actors share what there is
    return mirage__resident_blocks(&e->block, e->target);
  if (items->ahead)
    return mirage__rows_ahead_blocks(items, e->shared_bytes, e->target);
  if (mirage__block_alone(&e->block, e->target))
    return 1;
  int32_t masked = mirage__masked_blocks(&e->block, e->target);
  int32_t beside = mirage__rows_beside(items, e->block_threads, e->target);
  return masked > 1 ? masked : beside > 1 ? beside : 0;
}

// Entry for PTX. Operands, results, workspace: all bare pointers to device memory; then the tensor maps.
static void add_kernel(Emit *e, const char *name, const MirageNodeView *custom, LLVMTypeRef *types, unsigned count) {
  unsigned maps = mirage__block_count_maps(&e->block, e->block.loads + e->block.num_loads);
  for (unsigned i = 0; i < count; i++)
    types[i] = e->gpu.global_ptr;
  for (unsigned i = 0; i < maps; i++)
    types[count + i] = LLVMPointerTypeInContext(e->gpu.context, 0);
  e->gpu.function = LLVMAddFunction(e->gpu.module, name, LLVMFunctionType(e->gpu.void_type, types, count + maps, 0));
  LLVMSetFunctionCallConv(e->gpu.function, PTX_KERNEL_CALL);
  char text[64];
  snprintf(text, sizeof text, "%d", e->block_threads);
  add_function_attribute(&e->gpu, "nvvm.maxntid", text);
  int32_t blocks = blocks_to_fit(e);
  if (blocks) {
    snprintf(text, sizeof text, "%d", blocks);
    add_function_attribute(&e->gpu, "nvvm.minctasm", text);
  }
  const int64_t *cluster = e->block.cluster;
  if (e->target->has_cluster && mirage__block_cluster(&e->block) > 1) {
    snprintf(text, sizeof text, "%lld,%lld,%lld", (long long)cluster[0], (long long)cluster[1], (long long)cluster[2]);
    add_function_attribute(&e->gpu, "nvvm.cluster_dim", text);
  }
  for (unsigned i = 0; i < maps; i++)
    add_map_attributes(&e->gpu, count + i);
  for (unsigned i = 0; i < count; i++) {
    add_parameter_attribute(&e->gpu, i, "align", 16);
    if (mirage__is_awaited(e, i)) // the kernel before may still be writing: loads must stay behind the wait
      continue;
    if (i < custom->num_operands)
      add_parameter_attribute(&e->gpu, i, "readonly", 0);
    if (i < custom->num_operands + custom->num_results)
      add_parameter_attribute(&e->gpu, i, "noalias", 0);
  }
}

// Entry for the host: one array with the same pointers (host.h).
static void add_host_kernel(Emit *e, const char *name) {
  LLVMTypeRef array = LLVMPointerTypeInContext(e->gpu.context, 0);
  e->gpu.function = LLVMAddFunction(e->gpu.module, name, LLVMFunctionType(e->gpu.void_type, &array, 1, 0));
}

static void create_entry(Emit *e, const char *name) {
  MirageNodeView custom = mirage_ugraph_node(e->block.graph, e->block.custom);
  unsigned count = custom.num_operands + custom.num_results + (e->workspace_bytes > 0);
  LLVMTypeRef *types = mirage__emit_array(e, count + MIRAGE_MAX_LOADS, sizeof *types);
  if (!types)
    return;
  if (e->gpu.host)
    add_host_kernel(e, name);
  else
    add_kernel(e, name, &custom, types, count);
  e->entry = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "entry");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "body");
  LLVMPositionBuilderAtEnd(e->gpu.builder, e->entry);
  LLVMBuildBr(e->gpu.builder, body);
  LLVMPositionBuilderAtEnd(e->gpu.builder, body);
  MirageRegionView region = mirage_ugraph_region(e->block.graph, custom.region);
  for (uint32_t i = 0; i < region.num_arguments; i++)
    e->tensors[region.first_argument.index + i] = mirage__gpu_parameter(&e->gpu, i);
  if (e->workspace_bytes > 0)
    e->workspace = mirage__gpu_parameter(&e->gpu, count - 1);
}

static bool has_warpgroups(const Emit *e) {
  bool found = false;
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(e->block.graph); id++)
    found |= e->block.values[id].warpgroup;
  return found && !mirage__has_producer(&e->block.team);
}

static LLVMValueRef bounded(Emit *e, LLVMValueRef value, int64_t bound) {
  return bound == 1 ? gpu_i32(&e->gpu, 0) : value;
}

// Clusters are taken in groups of several rows (axis y) of the grid, column by column inside a group, so that those at
// work at the same time read few different rows and columns of the operands, which then stay in the second cache. Groups
// are of equal size but for the last one, which may be smaller: 11 rows are 6 and 5.
static void group_tiles(Emit *e) {
  enum { MOST_ROWS = 8 };
  const MirageCustomAttrs *custom = mirage__block_custom(&e->block);
  int64_t cols = custom->grid[0] / e->block.cluster[0], rows = custom->grid[1] / e->block.cluster[1];
  int64_t groups = (rows + MOST_ROWS - 1) / MOST_ROWS, size = (rows + groups - 1) / groups;
  int64_t last = rows - (groups - 1) * size;
  if (rows == 1 || cols == 1)
    return;
  LLVMValueRef x = mirage__div(e, e->block_id[0], e->block.cluster[0]);
  LLVMValueRef y = mirage__div(e, e->block_id[1], e->block.cluster[1]);
  LLVMValueRef linear = mirage__add(e, mirage__mul(e, y, cols), x), inside = mirage__mod(e, linear, size * cols);
  LLVMValueRef row = mirage__mod(e, inside, size), col = mirage__div(e, inside, size);
  if (last != size) {
    LLVMValueRef full = mirage__less_than(e, linear, (groups - 1) * size * cols);
    row = LLVMBuildSelect(e->gpu.builder, full, row, mirage__mod(e, inside, last), "");
    col = LLVMBuildSelect(e->gpu.builder, full, col, mirage__div(e, inside, last), "");
  }
  row = mirage__add(e, row, mirage__mul(e, mirage__div(e, linear, size * cols), size));
  for (int a = 0; a < 2; a++) {
    LLVMValueRef cluster = mirage__mul(e, a ? row : col, e->block.cluster[a]);
    e->block_id[a] = mirage__add(e, cluster, mirage__mod(e, e->block_id[a], e->block.cluster[a]));
  }
}

LLVMValueRef mirage__block_number(Emit *e, const LLVMValueRef *id, const int64_t *grid) {
  LLVMValueRef number = mirage__add(e, mirage__mul(e, id[2], grid[1]), id[1]);
  return mirage__add(e, mirage__mul(e, number, grid[0]), id[0]);
}

// Blocks with most iterations first (lib/layout/longest.c): the axis that says how many they run is the last to be counted
// on, and counted down where more come later.
static void order_by_length(Emit *e) {
  const int64_t *grid = mirage__block_custom(&e->block)->grid;
  bool reversed = false;
  int axis = mirage__block_longest_axis(&e->block, &reversed), axes[3], n = 0;
  if (axis < 0 || mirage__block_cluster(&e->block) > 1)
    return;
  axes[n++] = axis;
  for (int a = 2; a >= 0; a--)
    if (a != axis)
      axes[n++] = a;
  LLVMValueRef index[3];
  mirage__delinearize(e, mirage__block_number(e, e->block_id, grid), 3,
                      (int64_t[]){grid[axes[0]], grid[axes[1]], grid[axes[2]]}, index);
  for (int i = 0; i < 3; i++)
    e->block_id[axes[i]] = index[i];
  if (reversed)
    e->block_id[axis] = LLVMBuildNSWSub(e->gpu.builder, gpu_i32(&e->gpu, grid[axis] - 1), index[0], "");
}

void mirage__order_tiles(Emit *e) {
  if (mirage__block_groups_tiles(&e->block))
    group_tiles(e);
  else if (mirage__block_longest_first(&e->block))
    order_by_length(e);
}

static void prologue(Emit *e) {
  int64_t grid[3];
  mirage_custom_launch_grid(mirage__block_custom(&e->block), grid);
  e->thread = GPU0(&e->gpu, THREAD_ID);
  e->lane = mirage__mod(e, e->thread, 32);
  e->warp = mirage__div(e, e->thread, 32);
  if (has_warpgroups(e))
    e->warp = mirage__uniform(e, e->warp);
  e->block_id[0] = bounded(e, grid[0] > 1 ? GPU0(&e->gpu, BLOCK_ID_X) : NULL, grid[0]);
  if (e->side_blocks) {
    e->side_id = GPU0(&e->gpu, BLOCK_ID_X);
    e->block_id[0] = mirage__add(e, e->side_id, gpu_i32(&e->gpu, -(int64_t)e->side_blocks));
  }
  e->block_id[1] = bounded(e, grid[1] > 1 ? GPU0(&e->gpu, BLOCK_ID_Y) : NULL, grid[1]);
  e->block_id[2] = bounded(e, grid[2] > 1 ? GPU0(&e->gpu, BLOCK_ID_Z) : NULL, grid[2]);
  memcpy(e->launched, e->block_id, sizeof e->launched);
  if (!e->block.persistent)
    mirage__order_tiles(e);
  e->shared = mirage__gpu_shared_base(&e->gpu);
  mirage__start_early(e);
  mirage__enter_meetings(e);
}

static MirageStatus check_limits(const Emit *e, const int64_t *grid, const void *loc) {
  if (e->shared_bytes > e->target->shared_bytes_per_block)
    return mirage_diag_fail(e->diag, loc, MIRAGE_LIMIT, "custom: %lld bytes of shared memory, %s has %d for a block",
                            (long long)e->shared_bytes, e->target->name, e->target->shared_bytes_per_block);
  if (grid[0] > INT32_MAX || grid[1] > 65535 || grid[2] > 65535)
    return mirage_diag_fail(e->diag, loc, MIRAGE_LIMIT,
                            "custom: grid %lld x %lld x %lld exceeds 2147483647 x 65535 x 65535", (long long)grid[0],
                            (long long)grid[1], (long long)grid[2]);
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(e->block.graph); id++) {
    const MirageType *type = mirage_ugraph_type(e->block.graph, (MirageValue){id});
    for (uint32_t d = 0; e->block.values[id].inside && d < type->rank; d++)
      if (type->shape[d] > INT32_MAX / 2)
        return mirage_diag_fail(e->diag, loc, MIRAGE_LIMIT, "custom: an extent of %lld is beyond 32-bit indices",
                                (long long)type->shape[d]);
  }
  return MIRAGE_OK;
}

static MirageStatus emit_kernel(MirageUGraph *graph, MirageNode custom, const char *name, const EmitStart *start,
                                const MirageGpu *gpu, const MirageTarget *target, MirageArena *arena,
                                const MirageDiag *diag) {
  Emit *e = mirage_arena_alloc(arena, sizeof *e);
  MirageNodeView view = mirage_ugraph_node(graph, custom);
  if (!e)
    return mirage_diag_fail(diag, view.loc, MIRAGE_NO_MEMORY, "custom: out of memory");
  e->gpu = *gpu;
  e->target = target;
  e->diag = diag;
  e->start = *start;
  MIRAGE_TRY(mirage__plan_block(graph, custom, target, arena, diag, &e->block));
  e->threads = e->block_threads = mirage__team_warps(&e->block.team) * 32;
  const Actor *side = mirage__team_first(&e->block.team, ACTOR_SIDE);
  e->side_blocks = side ? side->blocks : 0;
  e->shared_bytes = mirage__block_shared_bytes(&e->block);
  if (e->shared_bytes >= 16 && mirage__gpu_fault(gpu, MIRAGE_FAULT_SHRINK_SHARED))
    e->shared_bytes -= 16;
  MIRAGE_TRY(check_limits(e, view.attrs->custom.grid, view.loc));
  mirage__prepare_meetings(e);
  mirage__prepare_side(e);
  MIRAGE_TRY(e->status);
  uint32_t values = mirage_ugraph_num_values(graph);
  e->tensors = mirage__emit_array(e, values, sizeof *e->tensors);
  e->loops = mirage__emit_array(e, (size_t)e->block.num_loops, sizeof *e->loops);
  e->registers = mirage__emit_array(e, values, sizeof *e->registers);
  MIRAGE_TRY(e->status);
  create_entry(e, name);
  if (e->status != MIRAGE_OK)
    return e->status;
  prologue(e);
  mirage__emit_block(e);
  LLVMBuildRetVoid(gpu->builder);
  MirageTensorMap maps[MIRAGE_MAX_LOADS];
  MirageLaunch launch = {.kernel = mirage_ugraph_intern_string(graph, name),
                         .threads = e->block_threads,
                         .shared_bytes = (int32_t)e->shared_bytes,
                         .workspace_bytes = e->workspace_bytes,
                         .starts_early = start->kernel.early,
                         .num_maps = mirage__block_count_maps(&e->block, e->block.loads + e->block.num_loads),
                         .maps = maps};
  if (start->kernel.early && !gpu->host)
    launch.shared_bytes = (int32_t)mirage__spread_bytes(&e->block, start->kernel.settled == 0, target);
  launch.in_pairs = start->kernel.early && mirage__stands_in_pairs(graph, custom, target);
  mirage__tensor_maps(e, maps);
  if (e->status == MIRAGE_OK)
    mirage_ugraph_set_launch(graph, custom, &launch);
  return e->status;
}

// ------------------------------------------------------------------------------------------------------- whole module

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

typedef struct Backend {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTargetMachineRef machine;
  char *error; // LLVM's last error, malloc
} Backend;

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  Backend *backend = user;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || backend->error)
    return;
  char *text = LLVMGetDiagInfoDescription(info);
  backend->error = copy_text(text);
  LLVMDisposeMessage(text);
}

static void backend_deinit(Backend *backend) {
  if (backend->builder)
    LLVMDisposeBuilder(backend->builder);
  if (backend->module)
    LLVMDisposeModule(backend->module);
  if (backend->machine)
    LLVMDisposeTargetMachine(backend->machine);
  if (backend->context)
    LLVMContextDispose(backend->context);
  free(backend->error);
}

// What the module is for, in LLVM's words.
typedef struct Machine {
  const char *triple, *cpu, *features;
} Machine;

static MirageStatus backend_init(Backend *backend, const char *name, Machine machine, int32_t opt_level,
                                 const MirageDiag *diag) {
  *backend = (Backend){.context = LLVMContextCreate()};
  LLVMContextSetDiagnosticHandler(backend->context, on_diagnostic, backend);
  LLVMTargetRef llvm_target;
  char *error = NULL;
  if (LLVMGetTargetFromTriple(machine.triple, &llvm_target, &error)) {
    MirageStatus status = mirage_diag_fail(diag, NULL, MIRAGE_CODEGEN, "codegen: %s", error);
    LLVMDisposeMessage(error);
    return status;
  }
  backend->machine = LLVMCreateTargetMachine(llvm_target, machine.triple, machine.cpu, machine.features,
                                             (LLVMCodeGenOptLevel)opt_level, LLVMRelocDefault, LLVMCodeModelDefault);
  if (!backend->machine)
    return mirage_diag_fail(diag, NULL, MIRAGE_CODEGEN, "codegen: LLVM has no machine for %s", machine.cpu);
  backend->module = LLVMModuleCreateWithNameInContext(name, backend->context);
  LLVMSetTarget(backend->module, machine.triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(backend->machine);
  LLVMSetModuleDataLayout(backend->module, layout);
  LLVMDisposeTargetData(layout);
  backend->builder = LLVMCreateBuilderInContext(backend->context);
  return MIRAGE_OK;
}

static MirageStatus optimize(Backend *backend, int32_t opt_level, const MirageDiag *diag) {
  char *message = NULL;
  if (LLVMVerifyModule(backend->module, LLVMReturnStatusAction, &message)) {
    MirageStatus status = mirage_diag_fail(diag, NULL, MIRAGE_CODEGEN, "codegen: %s", message);
    LLVMDisposeMessage(message);
    return status;
  }
  LLVMDisposeMessage(message);
  char pipeline[32]; // accumulators are variables until sroa has run
  snprintf(pipeline, sizeof pipeline, opt_level ? "default<O%d>" : "function(sroa),default<O%d>", opt_level);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failure = LLVMRunPasses(backend->module, pipeline, backend->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failure)
    return MIRAGE_OK;
  char *text = LLVMGetErrorMessage(failure);
  MirageStatus status = mirage_diag_fail(diag, NULL, MIRAGE_CODEGEN, "codegen: %s", text);
  LLVMDisposeErrorMessage(text);
  return status;
}

// PTX, or LLVM's text, of one kernel after the other.
typedef struct Text {
  char *text;
  size_t used, size;
} Text;

static bool append(Text *text, const char *part, size_t bytes) {
  if (text->used + bytes + 1 > text->size) {
    size_t size = 2 * text->size + bytes + 1;
    char *grown = realloc(text->text, size);
    if (!grown)
      return false;
    text->text = grown;
    text->size = size;
  }
  memcpy(text->text + text->used, part, bytes);
  text->used += bytes;
  text->text[text->used] = 0;
  return true;
}

static const char *skip_blank_lines(const char *text) { return text + strspn(text, "\n"); }

// What a kernel adds to those before it: neither the head (version, target, size of addresses) nor the declaration of the
// shared memory, which is the same in all and may stand once.
static bool append_ptx(Text *ptx, const char *part, bool *declared) {
  static const char HEAD_END[] = "\n.address_size 64\n", SHARED[] = "\n.extern .shared ";
  const char *head = ptx->used ? strstr(part, HEAD_END) : NULL;
  if (head)
    part = skip_blank_lines(head + sizeof HEAD_END - 1);
  const char *shared = strstr(part, SHARED), *end = shared ? strchr(shared + 1, '\n') : NULL;
  if (end && *declared) {
    if (!append(ptx, part, (size_t)(shared + 1 - part)))
      return false;
    part = skip_blank_lines(end);
  }
  *declared |= end != NULL;
  return append(ptx, part, strlen(part));
}

typedef struct Texts {
  Text ptx, ir;
  bool declared; // the shared memory
} Texts;

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "codegen: out of memory");
}

static MirageStatus write_ir(const Backend *backend, Text *out_ir, const MirageDiag *diag) {
  char *text = LLVMPrintModuleToString(backend->module);
  bool ok = append(out_ir, text, strlen(text));
  LLVMDisposeMessage(text);
  return ok ? MIRAGE_OK : no_memory(diag);
}

static MirageStatus write_ptx(Backend *backend, Texts *texts, const MirageDiag *diag) {
  char *error = NULL;
  LLVMMemoryBufferRef buffer = NULL;
  bool failed =
      LLVMTargetMachineEmitToMemoryBuffer(backend->machine, backend->module, LLVMAssemblyFile, &error, &buffer);
  MirageStatus status = MIRAGE_OK;
  if (failed || backend->error) {
    status = mirage_diag_fail(diag, NULL, MIRAGE_CODEGEN, "codegen: %s", failed ? error : backend->error);
    LLVMDisposeMessage(error);
  } else if (!append_ptx(&texts->ptx, LLVMGetBufferStart(buffer), &texts->declared)) {
    status = no_memory(diag);
  }
  if (buffer)
    LLVMDisposeMemoryBuffer(buffer);
  return status;
}

// PTX identifiers: letters, digits, _ and $.
static void kernel_name(const char *graph, uint32_t index, char *out, size_t size) {
  size_t n = 0;
  for (; graph && graph[n] && n + 16 < size; n++)
    out[n] = isalnum((unsigned char)graph[n]) || graph[n] == '_' || graph[n] == '$' ? graph[n] : '_';
  if (n == 0 || isdigit((unsigned char)out[0])) {
    out[0] = 'g';
    n = n ? n : 1;
  }
  snprintf(out + n, size - n, "_k%u", index);
}

// The custom nodes of a graph, in order.
typedef struct Kernels {
  MirageUGraph *graph;
  const MirageTarget *target;
  const MirageDiag *diag;
  MirageArena arena;
  MirageNode *nodes;
  uint32_t count;
  KernelStart *starts;
  MirageValue *map; // as mirage_ugraph_extract_custom wants it; NULL where there is one kernel
} Kernels;

static MirageStatus find_starts(Kernels *kernels) {
  kernels->starts = mirage_arena_alloc_array(&kernels->arena, (size_t)kernels->count + 1, sizeof *kernels->starts);
  if (!kernels->starts)
    return no_memory(kernels->diag);
  for (uint32_t k = 0; k < kernels->count; k++)
    kernels->starts[k].early = mirage__starts_early(kernels->graph, kernels->nodes[k], k == 0, kernels->target);
  mirage__kernel_starts(kernels->graph, kernels->nodes, kernels->count, kernels->target->compute_major >= 9,
                        kernels->starts);
  return MIRAGE_OK;
}

static MirageStatus kernels_init(Kernels *kernels, MirageUGraph *graph, const MirageTarget *target,
                                 const MirageDiag *diag) {
  *kernels = (Kernels){.graph = graph, .target = target, .diag = diag};
  mirage_arena_init(&kernels->arena, NULL);
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  kernels->nodes = mirage_arena_alloc_array(&kernels->arena, (size_t)body.num_nodes + 1, sizeof *kernels->nodes);
  if (!kernels->nodes)
    return no_memory(diag);
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView view = mirage_ugraph_node(graph, body.nodes[i]);
    if (view.op == MIRAGE_OP_RETURN || view.op == MIRAGE_OP_RESHAPE)
      continue;
    if (view.op != MIRAGE_OP_CUSTOM)
      return mirage_diag_fail(diag, view.loc, MIRAGE_UNSUPPORTED,
                              "%s: stands outside a custom kernel; canonicalize the graph first",
                              mirage_op_info(view.op)->mnemonic);
    kernels->nodes[kernels->count++] = body.nodes[i];
  }
  MIRAGE_TRY(find_starts(kernels));
  if (kernels->count < 2)
    return MIRAGE_OK;
  size_t values = (size_t)mirage_ugraph_num_values(graph) + 1;
  kernels->map = mirage_arena_alloc_array(&kernels->arena, values, sizeof *kernels->map);
  return kernels->map ? MIRAGE_OK : no_memory(diag);
}

static void kernels_deinit(Kernels *kernels) { mirage_arena_deinit(&kernels->arena); }

static MirageStatus start_of(const Kernels *kernels, uint32_t index, MirageArena *arena, EmitStart *out_start) {
  uint32_t operands = mirage_ugraph_node(kernels->graph, kernels->nodes[index]).num_operands;
  bool *pending = mirage_arena_alloc_array(arena, (size_t)operands + 1, sizeof *pending);
  if (!pending)
    return no_memory(kernels->diag);
  for (uint32_t i = 0; i < operands; i++)
    pending[i] = mirage__is_pending(kernels->graph, kernels->nodes, kernels->starts, index, i);
  *out_start = (EmitStart){kernels->starts[index], pending};
  return MIRAGE_OK;
}

// Emits kernel `index` into the module of `gpu`, and notes its launch. Of several kernels each is emitted from a graph of
// its own, since that takes time and memory for each value of the graph.
static MirageStatus emit_one(Kernels *kernels, uint32_t index, const MirageGpu *gpu) {
  MirageUGraph *graph = kernels->graph, *alone = NULL;
  MirageNode node = kernels->nodes[index], copy;
  char name[128];
  kernel_name(mirage_ugraph_get_meta(graph)->name, index, name, sizeof name);
  if (kernels->map)
    MIRAGE_TRY(mirage_ugraph_extract_custom(graph, node, kernels->map, kernels->diag, &alone, &copy));
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  EmitStart start;
  MirageStatus status = start_of(kernels, index, &arena, &start);
  if (status == MIRAGE_OK)
    status = emit_kernel(alone ? alone : graph, alone ? copy : node, name, &start, gpu, kernels->target, &arena,
                         kernels->diag);
  mirage_arena_deinit(&arena);
  if (status == MIRAGE_OK && alone)
    mirage_ugraph_set_launch(graph, node, mirage_ugraph_node(alone, copy).attrs->custom.launch);
  mirage_ugraph_destroy(alone);
  return status == MIRAGE_OK ? mirage_ugraph_status(graph) : status;
}

// The module of the kernels [first, end), optimised. `host` and `fault` as in MirageGpu.
static MirageStatus compile(Kernels *kernels, uint32_t first, uint32_t end, Machine machine, int32_t opt_level,
                            bool host, MirageFault *fault, Backend *backend) {
  const char *name = mirage_ugraph_get_meta(kernels->graph)->name;
  MIRAGE_TRY(backend_init(backend, name ? name : "graph", machine, opt_level, kernels->diag));
  MirageGpu gpu;
  mirage__gpu_init(&gpu, backend->context, backend->module, backend->builder);
  gpu.host = host;
  gpu.fault = fault;
  for (uint32_t i = first; i < end; i++)
    MIRAGE_TRY(emit_one(kernels, i, &gpu));
  return optimize(backend, opt_level, kernels->diag);
}

static MirageStatus check_arguments(const MirageUGraph *graph, const MirageTarget *target, int32_t opt_level,
                                    const MirageDiag *diag) {
  if (!graph || !target)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "codegen: graph, target, options and result are all needed");
  if (opt_level < 0 || opt_level > 3)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "codegen: optimisation level must lie in 0 .. 3: %d",
                            opt_level);
  return MIRAGE_OK;
}

// LLVM's tables of targets may be written by one thread only.
static pthread_once_t nvptx_once = PTHREAD_ONCE_INIT;
static void start_nvptx(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

static const char *ptx_of_node(const Kernels *kernels, const MirageNodeView *view) {
  const MirageTarget *target = kernels->target;
  bool multiplies = view->op != MIRAGE_OP_NONE && mirage_op_info(view->op)->kind == MIRAGE_KIND_MATMUL;
  if (multiplies && mirage_dtype_is_f8(mirage_ugraph_type(kernels->graph, view->operands[0])->dtype))
    return target->ptx_f8;
  return view->op == MIRAGE_OP_CLUSTER_SUM || view->op == MIRAGE_OP_CLUSTER_MAX ? target->ptx_meet : NULL;
}

// One version for all kernels of a graph, whose text begins with it once: the newest that one of its operators needs.
static const char *ptx_of(const Kernels *kernels) {
  const char *newest = kernels->target->ptx;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(kernels->graph); n++) {
    MirageNodeView view = mirage_ugraph_node(kernels->graph, (MirageNode){n});
    const char *needed = ptx_of_node(kernels, &view);
    newest = needed && strcmp(needed, newest) > 0 ? needed : newest;
  }
  return newest;
}

static MirageStatus compile_text(Kernels *kernels, uint32_t first, uint32_t end, const MirageCodegenOptions *options,
                                 Texts *texts) {
  Machine machine = {"nvptx64-nvidia-cuda", kernels->target->chip, ptx_of(kernels)};
  Backend backend = {0};
  MirageStatus status = compile(kernels, first, end, machine, options->opt_level, false, NULL, &backend);
  if (status == MIRAGE_OK && options->keep_llvm_ir)
    status = write_ir(&backend, &texts->ir, kernels->diag);
  if (status == MIRAGE_OK)
    status = write_ptx(&backend, texts, kernels->diag);
  backend_deinit(&backend);
  return status;
}

MirageStatus mirage_codegen(MirageUGraph *graph, const MirageTarget *target, const MirageCodegenOptions *options,
                            const MirageDiag *diag, MirageCode *out_code) {
  if (!options || !out_code)
    return check_arguments(NULL, target, 0, diag);
  *out_code = (MirageCode){0};
  MIRAGE_TRY(check_arguments(graph, target, options->opt_level, diag));
  pthread_once(&nvptx_once, start_nvptx);
  MIRAGE_TRY(mirage_layout_plan_until(graph, target, options->cancel, diag));
  Kernels kernels;
  Texts texts = {0};
  MirageStatus status = kernels_init(&kernels, graph, target, diag);
  uint32_t done = 0;
  do { // a graph without kernels is a module, too
    if (status == MIRAGE_OK && mirage_cancelled(options->cancel))
      status = MIRAGE_CANCELLED;
    if (status == MIRAGE_OK)
      status = compile_text(&kernels, done, kernels.count ? done + 1 : 0, options, &texts);
  } while (status == MIRAGE_OK && ++done < kernels.count);
  kernels_deinit(&kernels);
  if (status == MIRAGE_OK) {
    *out_code = (MirageCode){texts.ptx.text, texts.ptx.used, texts.ir.text};
    return MIRAGE_OK;
  }
  free(texts.ptx.text);
  free(texts.ir.text);
  return status;
}

MirageStatus mirage__codegen_host(MirageUGraph *graph, const MirageTarget *target, int32_t opt_level,
                                  MirageFault *fault, const MirageDiag *diag, MirageHostModule *out_module) {
  *out_module = (MirageHostModule){0};
  MIRAGE_TRY(check_arguments(graph, target, opt_level, diag));
  MIRAGE_TRY(mirage_layout_plan(graph, target, diag)); // completes what the layout pass or a person left open
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
  Backend backend = {0};
  Kernels kernels;
  MirageStatus status = kernels_init(&kernels, graph, target, diag);
  if (status == MIRAGE_OK)
    status = compile(&kernels, 0, kernels.count, (Machine){triple, cpu, features}, opt_level, true, fault, &backend);
  kernels_deinit(&kernels);
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  if (status == MIRAGE_OK) {
    LLVMContextSetDiagnosticHandler(backend.context, NULL, NULL);
    *out_module = (MirageHostModule){backend.context, backend.module, backend.machine};
    backend.context = NULL, backend.module = NULL, backend.machine = NULL;
  }
  backend_deinit(&backend);
  return status;
}

void mirage_code_deinit(MirageCode *code) {
  if (!code)
    return;
  free(code->ptx);
  free(code->llvm_ir);
  *code = (MirageCode){0};
}
