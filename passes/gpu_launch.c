// gpu_launch.c - a call of a compiled program as operations of the gpu dialect (gpu_launch.h).
//
// Example: y = k0(x, w), with a workspace, called on tensors:
//
//   %x0 = bufferization.to_buffer %x read_only : tensor<..> to memref<..>      what the caller has
//   %y0 = memref.alloc() : memref<..>
//   %t0 = gpu.wait async                                                       a stream
//   %ws, %t1 = gpu.alloc async [%t0] () : memref<32768xi8>                     the kernels' memory, its counters zero
//   %t2 = gpu.memset async [%t1] %counters, %zero
//   %p = llvm.inttoptr (memref.extract_aligned_pointer_as_index %x0)           bare pointers
//   %t3 = gpu.launch_func async [%t2] @g_bin::@g_k0 blocks in .. threads in .. args(%p, ..)
//   %t4 = gpu.dealloc async [%t3] %ws
//   gpu.wait [%t4]
//   %y = bufferization.to_tensor %y0 restrict writable
//
// Pointers are taken out of memrefs here, so that it does not matter how gpu-to-llvm passes memrefs. Tensor maps are
// values of 128 bytes, which a function of the runtime library fills in for the addresses at hand.
#include "gpu_launch.h"

#include "mlir-c/Dialect/LLVM.h"

enum { MAP_WORDS = MIRAGE_TENSOR_MAP_BYTES / 8 };
enum { MOST_TENSORS = 512, MOST_PARAMETERS = 512 }; // 4096 bytes of parameters

/// The tensors of one call while its launches are written: inputs, then outputs.
typedef struct Tensors {
  uint32_t count;
  MlirValue caller[MOST_TENSORS];    // the caller's memref
  MlirValue device[MOST_TENSORS];    // that the kernels see: the same, or a copy
  MlirValue addresses[MOST_TENSORS]; // of `device`
  MlirValue plain[MOST_TENSORS];     // with copies: row-major host memory, the caller's or a temporary one
} Tensors;

static bool is_on_memrefs(const MirageCallSite *site) {
  return mlirOperationGetNumResults(site->call) == 0 && mlirOperationGetNumOperands(site->call) > 0;
}

// ------------------------------------------------------------------------------------------------------------ checking

static bool is_contiguous(MlirType type, int64_t *out_offset) {
  int64_t strides[MIRAGE_MAX_RANK], wanted = 1;
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, out_offset)))
    return false;
  for (intptr_t i = mlirShapedTypeGetRank(type); i-- > 0;) {
    int64_t extent = mlirShapedTypeGetDimSize(type, i);
    if (extent != 1 && strides[i] != wanted)
      return false;
    wanted *= extent;
  }
  return true;
}

typedef struct Text {
  char buffer[160];
  size_t used;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  for (size_t i = 0; i < part.length && text->used + 1 < sizeof text->buffer; i++)
    text->buffer[text->used++] = part.data[i];
}

static MirageStatus check_memref(const MirageCallSite *site, intptr_t index, const MirageDiag *diag) {
  enum { ALIGNMENT = 16 };
  MlirType type = mlirValueGetType(mlirOperationGetOperand(site->call, index));
  int64_t offset = 0, bytes = mlirTypeIsAF32(mlirShapedTypeGetElementType(type)) ? 4 : 2;
  Text text = {0};
  mlirTypePrint(type, append, &text);
  const void *loc = mlirOperationGetLocation(site->call).ptr;
  if (site->copies)
    return MIRAGE_OK; // memref.copy takes any layout
  if (!is_contiguous(type, &offset))
    return mirage_diag_fail(
        diag, loc, MIRAGE_UNSUPPORTED,
        "convert-mirage-to-gpu: operand %d is %s: kernels take rows one behind the other: copy it to "
        "a memref without a layout first",
        (int)index, text.buffer);
  if (offset != 0 && site->plan->num_copies > 0)
    return mirage_diag_fail(diag, loc, MIRAGE_UNSUPPORTED,
                            "convert-mirage-to-gpu: operand %d is %s, and the program returns an input, or one value "
                            "twice, which is copied: copy it to a memref without a layout first",
                            (int)index, text.buffer);
  if (!mlirShapedTypeIsDynamicStrideOrOffset(offset) && offset * bytes % ALIGNMENT)
    return mirage_diag_fail(diag, loc, MIRAGE_UNSUPPORTED,
                            "convert-mirage-to-gpu: operand %d is %s, which begins at byte %lld: kernels take tensors "
                            "that begin at a multiple of %d: copy it to a memref without a layout first",
                            (int)index, text.buffer, (long long)(offset * bytes), ALIGNMENT);
  return MIRAGE_OK;
}

MirageStatus mirage__launch_check(const MirageCallSite *site, const MirageDiag *diag) {
  const void *loc = mlirOperationGetLocation(site->call).ptr;
  if (site->plan->num_inputs + site->plan->num_outputs > MOST_TENSORS)
    return mirage_diag_fail(diag, loc, MIRAGE_LIMIT,
                            "convert-mirage-to-gpu: %u inputs and %u outputs, at most %d together",
                            site->plan->num_inputs, site->plan->num_outputs, MOST_TENSORS);
  for (uint32_t i = 0; i < site->plan->num_kernels; i++) {
    const MiragePlannedKernel *kernel = &site->plan->kernels[i];
    uint64_t words = kernel->num_pointers + (uint64_t)MAP_WORDS * kernel->num_maps;
    if (words > MOST_PARAMETERS)
      return mirage_diag_fail(diag, kernel->loc, MIRAGE_LIMIT,
                              "convert-mirage-to-gpu: %s takes %llu bytes of parameters, at most %d are possible",
                              kernel->name, (unsigned long long)(8 * words), 8 * MOST_PARAMETERS);
  }
  for (intptr_t i = 0; is_on_memrefs(site) && i < mlirOperationGetNumOperands(site->call); i++)
    MIRAGE_TRY(check_memref(site, i, diag));
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- tensors

static MlirValue to_buffer(const MirageIr *ir, MlirValue tensor) {
  MlirType type = mirage__ir_buffer_type(mlirValueGetType(tensor));
  MlirNamedAttribute read_only = mirage__ir_flag(ir, "read_only");
  MirageIrOp op = {.name = "bufferization.to_buffer",
                   .num_operands = 1,
                   .operands = &tensor,
                   .num_results = 1,
                   .results = &type,
                   .num_attributes = 1,
                   .attributes = &read_only};
  return mlirOperationGetResult(mirage__ir_add(ir, &op), 0);
}

// The caller's memory for all tensors: new for the results of a call on tensors.
static void find_tensors(const MirageCallSite *site, const MirageIr *ir, Tensors *tensors) {
  uint32_t inputs = site->plan->num_inputs;
  bool memrefs = is_on_memrefs(site);
  tensors->count = inputs + site->plan->num_outputs;
  for (uint32_t i = 0; i < tensors->count; i++) {
    if (memrefs)
      tensors->caller[i] = mlirOperationGetOperand(site->call, i);
    else if (i < inputs)
      tensors->caller[i] = to_buffer(ir, mlirOperationGetOperand(site->call, i));
    else
      tensors->caller[i] = mirage__ir_alloc_host(
          ir, mirage__ir_buffer_type(mlirValueGetType(mlirOperationGetResult(site->call, i - inputs))));
  }
}

static void copy_on_host(const MirageIr *ir, MlirValue to, MlirValue from) {
  mirage__ir_add(ir, &(MirageIrOp){.name = "memref.copy", .num_operands = 2, .operands = (MlirValue[]){from, to}});
}

// gpu.memcpy takes rows that begin at the buffer's start; another layout goes through a memref that has them.
static bool is_plain(MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  return mlirTypeEqual(type, mirage__ir_buffer_type(type));
}

static MlirValue plain_of(const MirageIr *ir, MlirValue caller) {
  return is_plain(caller) ? caller : mirage__ir_alloc_host(ir, mirage__ir_buffer_type(mlirValueGetType(caller)));
}

static void copy_in(const MirageCallSite *site, MirageIr *ir, Tensors *tensors, uint32_t i) {
  tensors->device[i] = mirage__ir_alloc(ir, mirage__ir_buffer_type(mlirValueGetType(tensors->caller[i])));
  tensors->plain[i] = plain_of(ir, tensors->caller[i]);
  if (i >= site->plan->num_inputs)
    return;
  if (tensors->plain[i].ptr != tensors->caller[i].ptr)
    copy_on_host(ir, tensors->plain[i], tensors->caller[i]);
  mirage__ir_copy(ir, tensors->device[i], tensors->plain[i]);
}

// Gives the kernels the caller's memory, or a copy of it on the device.
static void enter_device(const MirageCallSite *site, MirageIr *ir, Tensors *tensors) {
  for (uint32_t i = 0; i < tensors->count; i++) {
    tensors->device[i] = tensors->caller[i];
    if (site->copies)
      copy_in(site, ir, tensors, i);
    tensors->addresses[i] = mirage__ir_address(ir, tensors->device[i]);
  }
}

// What the host has is complete when the stream has ended.
static void leave_device(const MirageCallSite *site, MirageIr *ir, const Tensors *tensors) {
  uint32_t inputs = site->plan->num_inputs;
  if (!site->copies)
    return;
  for (uint32_t i = inputs; i < tensors->count; i++)
    mirage__ir_copy(ir, tensors->plain[i], tensors->device[i]);
  for (uint32_t i = 0; i < tensors->count; i++)
    mirage__ir_free(ir, tensors->device[i]);
  mirage__ir_end_stream(ir);
  for (uint32_t i = 0; i < tensors->count; i++) {
    if (tensors->plain[i].ptr == tensors->caller[i].ptr)
      continue;
    if (i >= inputs)
      copy_on_host(ir, tensors->caller[i], tensors->plain[i]);
    mirage__ir_add(ir, &(MirageIrOp){.name = "memref.dealloc", .num_operands = 1, .operands = &tensors->plain[i]});
  }
}

static void give_results(const MirageCallSite *site, const MirageIr *ir, const Tensors *tensors) {
  MlirNamedAttribute flags[] = {mirage__ir_flag(ir, "restrict"), mirage__ir_flag(ir, "writable")};
  for (intptr_t i = 0; i < mlirOperationGetNumResults(site->call); i++) {
    MlirValue result = mlirOperationGetResult(site->call, i);
    MlirType type = mlirValueGetType(result);
    MirageIrOp op = {.name = "bufferization.to_tensor",
                     .num_operands = 1,
                     .operands = &tensors->caller[site->plan->num_inputs + i],
                     .num_results = 1,
                     .results = &type,
                     .num_attributes = 2,
                     .attributes = flags};
    mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(mirage__ir_add(ir, &op), 0));
  }
}

// ------------------------------------------------------------------------------------------------------------ workspace

static int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Intermediates, then the kernels' own workspaces, which begin as zero. Without either, no value.
static MlirValue make_workspace(const MirageCallSite *site, MirageIr *ir) {
  int64_t bytes = (int64_t)site->plan->workspace_bytes, zeroed = (int64_t)site->plan->zeroed_bytes;
  if (bytes == 0)
    return (MlirValue){NULL};
  MlirValue workspace = mirage__ir_alloc(ir, mirage__ir_bytes_type(ir, round_up(bytes, 4), 8));
  if (zeroed == 0)
    return workspace;
  MlirType type = mirage__ir_bytes_type(ir, round_up(zeroed, 4) / 4, 32);
  MlirValue operands[] = {workspace, mirage__ir_index(ir, bytes - zeroed)};
  MirageIrOp view = {
      .name = "memref.view", .num_operands = 2, .operands = operands, .num_results = 1, .results = &type};
  mirage__ir_fill_zero(ir, mlirOperationGetResult(mirage__ir_add(ir, &view), 0));
  return workspace;
}

static MlirValue address_of(const MirageCallSite *site, const MirageIr *ir, const Tensors *tensors, MlirValue workspace,
                            const MirageSource *source) {
  if (source->kind == MIRAGE_FROM_INPUT)
    return tensors->addresses[source->index];
  if (source->kind == MIRAGE_FROM_OUTPUT)
    return tensors->addresses[site->plan->num_inputs + source->index];
  return mirage__ir_binary(ir, "arith.addi", mirage__ir_address(ir, workspace), mirage__ir_index(ir, source->offset));
}

// --------------------------------------------------------------------------------------------------------- tensor maps

static MlirType map_type(const MirageIr *ir) {
  return mlirLLVMArrayTypeGet(mirage__ir_integer_type(ir, 64), MAP_WORDS);
}

// Where the map goes, the tensor's address; element type, rank, swizzle; extents, strides, box.
enum { ENCODE_POINTERS = 2, ENCODE_WORDS = 3, ENCODE_OPERANDS = ENCODE_POINTERS + ENCODE_WORDS + 3 * MIRAGE_MAP_RANK };

MlirOperation mirage__launch_declare_encode(MlirContext context, MlirBlock module_body, MlirLocation loc) {
  MirageIr ir = {.context = context, .loc = loc, .before = mlirBlockGetFirstOperation(module_body)};
  MlirType types[ENCODE_OPERANDS];
  for (int i = 0; i < ENCODE_OPERANDS; i++)
    types[i] = i < ENCODE_POINTERS ? mirage__ir_pointer_type(&ir) : mirage__ir_integer_type(&ir, 64);
  MlirType type = mlirLLVMFunctionTypeGet(mlirLLVMVoidTypeGet(context), ENCODE_OPERANDS, types, false);
  MlirNamedAttribute attributes[] = {
      mirage__ir_attribute(&ir, "sym_name", mlirStringAttrGet(context, mirage__ir_text(MIRAGE_ENCODE_TENSOR_MAP))),
      mirage__ir_attribute(&ir, "function_type", mlirTypeAttrGet(type)),
      mirage__ir_attribute(&ir, "linkage", mlirAttributeParseGet(context, mirage__ir_text("#llvm.linkage<external>"))),
  };
  MlirOperationState state = mlirOperationStateGet(mirage__ir_text("llvm.func"), loc);
  MlirRegion region = mlirRegionCreate();
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof *attributes, attributes);
  MlirOperation function = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperation(module_body, 0, function);
  return function;
}

static void call_encode(const MirageIr *ir, const MirageTensorMap *map, MlirValue to, MlirValue tensor) {
  MlirValue operands[ENCODE_OPERANDS] = {to, tensor};
  int64_t words[ENCODE_OPERANDS - ENCODE_POINTERS] = {map->dtype, map->rank, map->swizzle};
  for (int i = 0; i < MIRAGE_MAP_RANK; i++) {
    words[ENCODE_WORDS + i] = map->extents[i];
    words[ENCODE_WORDS + MIRAGE_MAP_RANK + i] = map->strides[i];
    words[ENCODE_WORDS + 2 * MIRAGE_MAP_RANK + i] = map->box[i];
  }
  for (int i = ENCODE_POINTERS; i < ENCODE_OPERANDS; i++)
    operands[i] = mirage__ir_integer(ir, 64, words[i - ENCODE_POINTERS]);
  const int32_t segments[] = {ENCODE_OPERANDS, 0};
  MlirNamedAttribute attributes[] = {
      mirage__ir_attribute(ir, "callee",
                           mlirFlatSymbolRefAttrGet(ir->context, mirage__ir_text(MIRAGE_ENCODE_TENSOR_MAP))),
      mirage__ir_attribute(ir, "operandSegmentSizes", mlirDenseI32ArrayGet(ir->context, 2, segments)),
      mirage__ir_attribute(ir, "op_bundle_sizes", mlirDenseI32ArrayGet(ir->context, 0, NULL)),
  };
  mirage__ir_add(ir, &(MirageIrOp){.name = "llvm.call",
                                   .num_operands = ENCODE_OPERANDS,
                                   .operands = operands,
                                   .num_attributes = 3,
                                   .attributes = attributes});
}

static MlirValue encode(const MirageIr *ir, const MirageTensorMap *map, MlirValue tensor) {
  MlirValue one = mirage__ir_integer(ir, 64, 1);
  MlirType pointer = mirage__ir_pointer_type(ir), type = map_type(ir);
  MlirNamedAttribute attributes[] = {
      mirage__ir_attribute(ir, "elem_type", mlirTypeAttrGet(type)),
      mirage__ir_attribute(ir, "alignment", mlirIntegerAttrGet(mirage__ir_integer_type(ir, 64), 64)),
  };
  MirageIrOp alloca = {.name = "llvm.alloca",
                       .num_operands = 1,
                       .operands = &one,
                       .num_results = 1,
                       .results = &pointer,
                       .num_attributes = 2,
                       .attributes = attributes};
  MlirValue place = mlirOperationGetResult(mirage__ir_add(ir, &alloca), 0);
  call_encode(ir, map, place, tensor);
  MirageIrOp load = {.name = "llvm.load", .num_operands = 1, .operands = &place, .num_results = 1, .results = &type};
  return mlirOperationGetResult(mirage__ir_add(ir, &load), 0);
}

// ------------------------------------------------------------------------------------------------------------ launches

static MlirAttribute kernel_symbol(const MirageCallSite *site, const MirageIr *ir, const MiragePlannedKernel *kernel) {
  MlirAttribute nested = mlirFlatSymbolRefAttrGet(ir->context, mirage__ir_text(kernel->name));
  return mlirSymbolRefAttrGet(ir->context, mirage__ir_text(site->binary), 1, &nested);
}

static bool has_cluster(const MiragePlannedKernel *kernel) {
  return kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2] > 1;
}

// Operands of gpu.launch_func: token, grid, block, cluster, dynamic shared memory, parameters.
static uint32_t add_shape(const MirageIr *ir, const MiragePlannedKernel *kernel, MlirValue *operands) {
  uint32_t count = 0;
  operands[count++] = ir->token;
  for (int i = 0; i < 3; i++)
    operands[count++] = mirage__ir_index(ir, kernel->grid[i]);
  operands[count++] = mirage__ir_index(ir, kernel->threads);
  operands[count++] = mirage__ir_index(ir, 1);
  operands[count++] = mirage__ir_index(ir, 1);
  for (int i = 0; has_cluster(kernel) && i < 3; i++)
    operands[count++] = mirage__ir_index(ir, kernel->cluster[i]);
  operands[count++] = mirage__ir_integer(ir, 32, kernel->shared_bytes);
  return count;
}

static void launch(const MirageCallSite *site, MirageIr *ir, const MiragePlannedKernel *kernel,
                   const MlirValue *parameters) {
  enum { SEGMENTS = 13, MOST_SHAPE = 11 };
  MlirValue operands[MOST_SHAPE + MOST_PARAMETERS];
  uint32_t shape = add_shape(ir, kernel, operands), count = kernel->num_pointers + kernel->num_maps;
  for (uint32_t i = 0; i < count; i++)
    operands[shape + i] = parameters[i];
  int32_t cluster = has_cluster(kernel);
  const int32_t segments[SEGMENTS] = {1, 1, 1, 1, 1, 1, 1, cluster, cluster, cluster, 1, (int32_t)count, 0};
  MlirType token = mlirValueGetType(ir->token);
  MlirNamedAttribute attributes[] = {
      mirage__ir_attribute(ir, "kernel", kernel_symbol(site, ir, kernel)),
      mirage__ir_attribute(ir, "operandSegmentSizes", mlirDenseI32ArrayGet(ir->context, SEGMENTS, segments)),
  };
  MirageIrOp op = {.name = "gpu.launch_func",
                   .num_operands = shape + count,
                   .operands = operands,
                   .num_results = 1,
                   .results = &token,
                   .num_attributes = 2,
                   .attributes = attributes};
  ir->token = mlirOperationGetResult(mirage__ir_add(ir, &op), 0);
}

static void write_kernel(const MirageCallSite *site, MirageIr *ir, const Tensors *tensors, MlirValue workspace,
                         const MiragePlannedKernel *kernel) {
  MlirValue parameters[MOST_PARAMETERS];
  for (uint32_t i = 0; i < kernel->num_pointers; i++) {
    const MirageSource *source = &site->plan->sources[kernel->first_source + i];
    parameters[i] = mirage__ir_pointer(ir, address_of(site, ir, tensors, workspace, source));
  }
  for (uint32_t i = 0; i < kernel->num_maps; i++) {
    const MirageTensorMap *map = &site->plan->maps[kernel->first_map + i];
    parameters[kernel->num_pointers + i] = encode(ir, map, parameters[map->pointer]);
  }
  launch(site, ir, kernel, parameters);
}

// The place of the stack before tensor maps and parameters went onto it: a call in a loop must not grow it.
static MlirValue save_stack(const MirageIr *ir) {
  MlirType pointer = mirage__ir_pointer_type(ir);
  MirageIrOp op = {.name = "llvm.intr.stacksave", .num_results = 1, .results = &pointer};
  return mlirOperationGetResult(mirage__ir_add(ir, &op), 0);
}

static void restore_stack(const MirageIr *ir, MlirValue place) {
  mirage__ir_add(ir, &(MirageIrOp){.name = "llvm.intr.stackrestore", .num_operands = 1, .operands = &place});
}

static void write_output_copies(const MirageCallSite *site, MirageIr *ir, const Tensors *tensors) {
  uint32_t inputs = site->plan->num_inputs;
  for (uint32_t i = 0; i < site->plan->num_copies; i++) {
    const MirageOutputCopy *copy = &site->plan->copies[i];
    uint32_t from = copy->from.index + (copy->from.kind == MIRAGE_FROM_INPUT ? 0 : inputs);
    mirage__ir_copy(ir, mirage__ir_flat(ir, tensors->device[inputs + copy->output]),
                    mirage__ir_flat(ir, tensors->device[from]));
  }
}

void mirage__launch_write(const MirageCallSite *site, MirageIr *ir) {
  Tensors tensors;
  find_tensors(site, ir, &tensors);
  MlirValue stack = save_stack(ir);
  if (!ir->token.ptr)
    mirage__ir_begin_stream(ir);
  enter_device(site, ir, &tensors);
  MlirValue workspace = make_workspace(site, ir);
  for (uint32_t i = 0; i < site->plan->num_kernels; i++)
    write_kernel(site, ir, &tensors, workspace, &site->plan->kernels[i]);
  write_output_copies(site, ir, &tensors);
  if (workspace.ptr)
    mirage__ir_free(ir, workspace);
  leave_device(site, ir, &tensors);
  restore_stack(ir, stack);
  give_results(site, ir, &tensors);
}
