//===- MirageKernel.td - the mirage_kernel dialect --------------*- tablegen -*-===//
//
// Programs and candidates: graphs over tensors in device memory.
//
//===----------------------------------------------------------------------------===//

include "MirageOperators.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"

def MirageKernel_Dialect : Mirage_Dialect<"kernel"> {
  let summary = "graphs over tensors in device memory: programs, and candidates that replace them";
  let description = [{
    A `mirage_kernel.graph` is a program or, with a `source`, a candidate for one. Its values are ranked, static tensors of
    f16, bf16 or f32, of predicates (i1) or of indices (i32). Each operator is one kernel launch; a `custom` operator is a kernel that we generate, and holds a block
    graph of the `mirage_block` dialect. Sugar (softmax, norms, attention) is expanded before the search.

    Values are tensors of at most 6 dimensions; the operands and the result of an operator have one element type, but for `cast`, and
    sums are taken in f32. An attribute that is not the operation's own must have the prefix of its dialect.

    Example:

    ```mlir
    mirage_kernel.graph @linear(%x: tensor<2x64xf16>, %w: tensor<64x32xf16>) -> tensor<2x32xf16> {
      %n = rms_norm %x {eps = 0.0} : tensor<2x64xf16>
      %y = matmul %n, %w : tensor<2x64xf16>, tensor<64x32xf16>
      return %y : tensor<2x32xf16>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mirage::block::MirageBlockDialect"]; // what a custom operator holds
}

//===----------------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------------===//

class Kernel_Attr<string name, string itsMnemonic> : AttrDef<MirageKernel_Dialect, name> { let mnemonic = itsMnemonic; }

// Floating-point members: exact, compared by bits.
class Double<string text> : APFloatParameter<text> {
  let parser = "::mirage::parseDouble($_parser)";
  let printer = "::mirage::printDouble($_printer, $_self)";
}
// `[a, b, ...]` of attributes, each in its short form.
class ListOf<string attribute, string text> : OptionalArrayRefParameter<attribute, text> {
  let parser = "::mirage::parseList<" # attribute # ">($_parser)";
  let printer = "::mirage::printList($_printer, $_self)";
}
class I32Member<int absent, string text> : DefaultValuedParameter<"int32_t", "" # absent, text>;
class Flag<string text> : DefaultValuedParameter<"bool", "false", text>;

def Kernel_ScheduleAttr : Kernel_Attr<"Schedule", "schedule"> {
  let summary = "who does what in a custom kernel; removing it never changes a result";
  let description = [{
    Every key may be left out, which leaves the choice to the planner. [The keys](schedule.md) are the rows of
    include/mirage/schedule.def. `loads` has one entry per `load` of the block graph, in textual order.

    Example:

    ```mlir
    #mirage_kernel.schedule<warps = 16, split = reduction, roles = [producer(1, 40), consumer(4, 232)], loads = [tensor(stages = 4), register]>
    ```
  }];
  let parameters = (ins AttrParameter<"::MirageSchedule", "the keys of schedule.def", "const ::MirageSchedule &">:$value);
  let hasCustomAssemblyFormat = 1;
}

def Kernel_PlanAttr : Kernel_Attr<"Plan", "plan"> {
  let summary = "that a custom kernel is planned: its schedule and the places of its tiles are the planner's";
  let description = [{
    Without a plan, schedule and places are asks: what a person wants, which a plan must honour. With one, they are what was
    worked out for `target`, and planning again changes nothing; `asked` is the schedule that had been written, and a layout's
    `asked` says how much of it had been. `partition`, `in_threads`, `paired`, `loops` and `places` are decisions that nothing
    else shows (lib/layout/stored.c). `of` is a hash of all that: where the kernel was edited since, what stands there counts as
    asked for. For another target it is planned anew, from what had been asked.

    Example: a kernel whose loop streams its weights; a person had asked for 16 warps.

    ```mlir
    #mirage_kernel.plan<target = "h200", of = 3591695810629732450, loops = "1", places = "00000100", asked = <warps = 16>>
    ```
  }];
  let parameters = (ins StringRefParameter<"name of the GPU">:$target, "uint64_t":$of,
                        OptionalArrayRefParameter<"int64_t", "warps by rows, warps by columns, batch, rows of resident tiles">:$partition,
                        Flag<"tiles stay in the threads that load them">:$in_threads,
                        Flag<"the clusters are the planner's: blocks in twos that share copies">:$paired,
                        StringRefParameter<"a digit for each loop", [{""}]>:$loops,
                        StringRefParameter<"a digit for each value of the block graph", [{""}]>:$places,
                        OptionalParameter<"::mirage::kernel::ScheduleAttr", "the schedule as it was written">:$asked);
  let assemblyFormat = "`<` struct($target, $of, custom<Integers>($partition), $in_threads, $paired, $loops, $places, $asked) `>`";
  let genVerifyDecl = 1;
}

def Kernel_TensorMapAttr : Kernel_Attr<"TensorMap", "tensor_map"> {
  let summary = "what one tensor copy of a kernel takes: a box of a tensor, dimensions innermost first";
  let description = [{
    The kernel takes it by value behind its pointers; `pointer` says of which of them. Extents, strides in bytes (but for the innermost) and box as the
    CUDA driver's tensor maps have them.

    Example:

    ```mlir
    #mirage_kernel.tensor_map<pointer = 0, type = f16, extents = [4096, 64], strides = [2, 8192], box = [64, 64], swizzle = 3>
    ```
  }];
  let parameters = (ins "uint32_t":$pointer, "::mlir::Type":$type,
                        "::mlir::DenseI64ArrayAttr":$extents,
                        "::mlir::DenseI64ArrayAttr":$strides,
                        "::mlir::DenseI64ArrayAttr":$box,
                        DefaultValuedParameter<"uint32_t", "0", "of the shared rows, as of a tile's layout">:$swizzle);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_LaunchAttr : Kernel_Attr<"Launch", "launch"> {
  let summary = "how to launch the kernel that a custom operator was lowered to";
  let description = [{
    `mirage-lower` leaves it beside the `gpu.binary` that holds the kernel. The grid is that of the operator.

    Example:

    ```mlir
    #mirage_kernel.launch<kernel = "p_k0", threads = 256, shared_bytes = 1024, workspace_bytes = 16>
    ```
  }];
  let parameters = (ins StringRefParameter<"entry name in the PTX">:$kernel, "int32_t":$threads,
                        I32Member<0, "dynamic shared memory">:$shared_bytes,
                        DefaultValuedParameter<"int64_t", "0", "device memory of its own, zero before the first launch">:$workspace_bytes,
                        DefaultValuedParameter<"bool", "false", "it may start before the kernel before it has ended, and waits for that by itself">:$starts_early,
                        DefaultValuedParameter<"bool", "false", "it is faster in clusters of two blocks along x, and right without">:$in_pairs,
                        ListOf<"::mirage::kernel::TensorMapAttr", "one per tensor copy, parameters behind the pointers">:$maps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_ProofAttr : Kernel_Attr<"Proof", "proof"> {
  let summary = "how sure we are that a candidate equals its source";
  let description = [{
    `log2_bound` bounds the probability that a wrong candidate passes: see lib/verify/README.md. `shrunken`, `axes` and
    `points` tell of a proof by transfer. `q` is 0 when neither graph has an exponential, or `free_exp` says that only
    functions were needed; `degree`, `calls` and `log2_terms` are what the bound is computed from. Of a proof by `pieces`
    they are the worst. `pair` is a hash of both graphs: mirage-select refuses a proof that was made for others.

    Example:

    ```mlir
    #mirage_kernel.proof<trials = 3, p_bits = 62, seed = 1, log2_bound = -61.2, shrunken = true, axes = 2, points = 3, pair = 17>
    ```
  }];
  let parameters = (ins "uint32_t":$trials, DefaultValuedParameter<"uint64_t", "0", "prime of exponents">:$q,
                        "uint32_t":$p_bits, "uint64_t":$seed, Double<"log2 of the error probability">:$log2_bound,
                        Flag<"proven on a smaller instance, by the theorem of transfer">:$shrunken,
                        DefaultValuedParameter<"uint32_t", "0", "that are smaller in this instance">:$axes,
                        DefaultValuedParameter<"uint32_t", "0", "of an axis that the theorem of transfer asks for, at most">:$points,
                        Flag<"exp is any function, but for exp(x - m) = exp(x) / exp(m) with a maximum m">:$free_exp,
                        DefaultValuedParameter<"uint32_t", "0", "proven one after the other; 0 = as a whole">:$pieces,
                        DefaultValuedParameter<"uint64_t", "0", "hash of source and candidate">:$pair,
                        DefaultValuedParameter<"uint64_t", "0", "of the polynomials">:$degree,
                        DefaultValuedParameter<"uint64_t", "0", "of random functions">:$calls,
                        DefaultValuedParameter<"uint32_t", "0", "of the number of exponential monomials">:$log2_terms);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_GuardAttr : Kernel_Attr<"Guard", "guard"> {
  let summary = "rounding errors of a candidate beside those of its program";
  let description = [{
    Both in their own types against float64, at the scale of inputs that is worst for the candidate: Frobenius-relative, and
    the largest absolute error. mirage-verify refuses a candidate that loses more than a factor of 2.

    Example:

    ```mlir
    #mirage_kernel.guard<program_relative = 3.0e-04, candidate_relative = 2.0e-04, program_max = 0.01, candidate_max = 0.01>
    ```
  }];
  let parameters = (ins Double<"Frobenius-relative error of the program">:$program_relative,
                        Double<"Frobenius-relative error of the candidate">:$candidate_relative,
                        Double<"largest absolute error of the program">:$program_max,
                        Double<"largest absolute error of the candidate">:$candidate_max,
                        Flag<"measured on a smaller instance">:$shrunken);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_CostAttr : Kernel_Attr<"Cost", "cost"> {
  let summary = "predicted cost on a target, and the measured time where there is one";
  let description = [{
    Times are in microseconds, traffic in bytes. `target` names the GPU; the measured members are there where somebody measured.

    Example:

    ```mlir
    #mirage_kernel.cost<time_us = 12.5, bytes = 1048576.0, flops = 2.0, kernels = 1, target = "h200", measured_us = 12.1 : f64, measured_spread = 0.01 : f64>
    ```
  }];
  let parameters = (ins Double<"predicted time">:$time_us, Double<"device memory traffic">:$bytes,
                        Double<"floating-point operations">:$flops, "uint32_t":$kernels,
                        OptionalParameter<"::mlir::StringAttr", "what it is predicted for">:$target,
                        OptionalParameter<"::mlir::FloatAttr", "measured time, cold">:$measured_us,
                        OptionalParameter<"::mlir::FloatAttr", "(p90 - p10) / median of it">:$measured_spread);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------------===//

def KernelLevel : Mirage_Level<MirageKernel_Dialect, AnyRankedTensor, "tensor<", HasParent<"GraphOp">>;

defm Kernel : Mirage_CommonOperators<KernelLevel>;
defm Kernel : Mirage_TensorOperators<KernelLevel>;

foreach row = [
  Row<"Abs", "abs", "the size of x, |x|">,
  Row<"Sign", "sign", "1 above 0, -1 below, 0 for 0">,
  Row<"Log1p", "log1p", "log(1 + x), which is how it is computed: near 0 in absolute terms alone">,
  Row<"Softplus", "softplus", "log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which never overflows">,
  Row<"HardSigmoid", "hard_sigmoid", "x / 6 + 1/2, from 0 to 1">,
  Row<"HardSwish", "hard_swish", "the product x * hard_sigmoid(x)">,
] in
  def Kernel_ # row.name # Op : Mirage_InferredOperator<KernelLevel, row.mnemonic, row.text> {
    let detail = "Element by element, of f16, bf16 or f32. Expanded before the search.";
    let example = "%y = " # row.mnemonic # " %x : tensor<8x16xf16>";
    let arguments = (ins AnyRankedTensor:$input);
  }
def Kernel_LeakyReluOp : Mirage_InferredOperator<KernelLevel, "leaky_relu", "x above 0, slope * x below"> {
  let detail = "Element by element, of f16, bf16 or f32. Expanded before the search: `max(x, slope * x)`; with a slope above 1, `min`.";
  let example = "%y = leaky_relu %x {slope = 1.0e-02} : tensor<8x16xf16>";
  let arguments = (ins AnyRankedTensor:$input, F64Attr:$slope);
}
def Kernel_PowOp : Mirage_InferredOperator<KernelLevel, "pow", "x to the power of a constant"> {
  let detail = "Element by element, of f16, bf16 or f32. Expanded before the search. A whole exponent, up to 64, gives products, and half "
               "a one, up to 8.5, the square root too; others give exp(exponent * log(x)), which is no number for x below 0. A negative one is "
               "1 over the positive one's. The exponent 0 is refused: `constant` gives ones.";
  let example = "%y = pow %x {exponent = 3.0} : tensor<8x16xf16>\n"
                "%z = pow %x {exponent = -0.75} : tensor<8x16xf16>";
  let arguments = (ins AnyRankedTensor:$input, F64Attr:$exponent);
}
def Kernel_ClampOp : Mirage_InferredOperator<KernelLevel, "clamp", "x, from low to high"> {
  let detail = "Element by element, of f16, bf16 or f32. Expanded before the search: `min(max(x, low), high)`. A bound on one side is `max` or `min`.";
  let example = "%y = clamp %x {low = -1.0, high = 1.0} : tensor<8x16xf16>";
  let arguments = (ins AnyRankedTensor:$input, F64Attr:$low, F64Attr:$high);
}
def Kernel_SoftmaxOp : Mirage_InferredOperator<KernelLevel, "softmax", "the share of exp(x - max) in its sum along `dim`"> {
  let detail = "Expanded before the search: `e / reduce_sum(e)` with `e = exp(x - reduce_max(x))`.";
  let example = "%y = softmax %x {dim = 1} : tensor<8x16xf16>";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim);
}
def Kernel_RmsNormOp : Mirage_InferredOperator<KernelLevel, "rms_norm",
    "the quotient x / sqrt(mean(x^2) + eps) over the last dimension, times the gain"> {
  let detail = "The gain may be left out; it has the extent of the last dimension.";
  let example = "%y = rms_norm %x, %gain {eps = 1.0e-05} : tensor<8x16xf16>, tensor<16xf16>\n"
                "%z = rms_norm %x {eps = 0.0} : tensor<8x16xf16>";
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$gain, F64Attr:$eps);
}
def Kernel_LayerNormOp : Mirage_InferredOperator<KernelLevel, "layer_norm",
    "(x - mean) / sqrt(variance + eps) over the last dimension, times the gain, plus the bias"> {
  let detail = "Gain and bias may be left out, the bias alone as well.";
  let example = "%y = layer_norm %x, %gain, %bias {eps = 1.0e-05} : tensor<8x16xf16>, tensor<16xf16>, tensor<16xf16>\n"
                "%z = layer_norm %x {eps = 1.0e-05} : tensor<8x16xf16>";
  let arguments = (ins AnyRankedTensor:$input, Variadic<AnyRankedTensor>:$gain_and_bias, F64Attr:$eps);
}
def Kernel_SelectOp : Mirage_InferredOperator<KernelLevel, "select", "x where the predicate holds, y elsewhere"> {
  let detail = "Expanded before the search: `max(mask(c, x), mask(not c, y))`, of which one is bottom. All three broadcast.";
  let example = "%y = select %c, %a, %b : tensor<8x16xi1>, tensor<8x16xf16>, tensor<16xf16>";
  let arguments = (ins AnyRankedTensor:$predicate, AnyRankedTensor:$yes, AnyRankedTensor:$no);
}
def Kernel_SdpaOp : Mirage_InferredOperator<KernelLevel, "scaled_dot_product_attention",
    "attention: softmax(scale * q @ transpose(k)) @ v"> {
  let detail = "Leading dimensions are batch and heads. Query [.., m, d], key [.., n, d], value [.., n, e] give [.., m, e]. "
               "With `cap`, scores become cap * tanh(score / cap). A mask broadcasts to the scores [.., m, n]: where an i1 one "
               "does not hold, the query does not see the key; one of numbers is added. With `causal`, query i sees the keys up "
               "to i + `offset`, and with a `window` only the last that many of these. A query that sees no key gives 0.";
  let example = "%y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : "
                "tensor<4x16x64xf16>, tensor<4x32x64xf16>, tensor<4x32x64xf16>\n"
                "%z = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.125, cap = 50.0, causal, offset = 16, window = 8} : "
                "tensor<4x16x64xf16>, tensor<4x32x64xf16>, tensor<4x32x64xf16>, tensor<16x32xi1>";
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value, Optional<AnyRankedTensor>:$mask,
                       F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$cap, UnitAttr:$causal,
                       DefaultValuedAttr<I64Attr, "0">:$offset, DefaultValuedAttr<I64Attr, "0">:$window);
}

def Kernel_GraphOp : Mirage_RegionOp<MirageKernel_Dialect, "graph", "kernel",
    [IsolatedFromAbove, FunctionOpInterface, SingleBlock, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a program, or a candidate for one";
  let description = [{
    ```
    mirage_kernel.graph @name(%a: T, ...) -> (T, ...)
        attributes {source = @program, proof = #mirage_kernel.proof<...>, guard = #mirage_kernel.guard<...>, cost = #mirage_kernel.cost<...>, selected} { ... }
    ```
    A graph with a `source` is a candidate: it promises to compute what that graph computes. `proof` says how that was shown,
    `guard` what it loses to rounding, `cost` what it is predicted to take, `selected` that it was chosen.

    Example:

    ```mlir
    mirage_kernel.graph @program(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
      %y = exp %x : tensor<8x16xf16>
      return %y : tensor<8x16xf16>
    }
    mirage_kernel.graph @candidate(%x: tensor<8x16xf16>) -> tensor<8x16xf16> attributes {source = @program} {
      %y = custom (%a = %x) outs(%b) grid [8] : (tensor<8x16xf16>) -> tensor<8x16xf16> {
        %t = load %a {grid = [0]} : tensor<8x16xf16> -> !mirage_block.tile<1x16xf16>
        %e = exp %t : !mirage_block.tile<1x16xf16>
        store %e, %b {grid = [0]} : !mirage_block.tile<1x16xf32>, tensor<8x16xf16>
      }
      return %y : tensor<8x16xf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<FlatSymbolRefAttr>:$source,
                       OptionalAttr<Kernel_ProofAttr>:$proof, OptionalAttr<Kernel_GuardAttr>:$guard,
                       OptionalAttr<Kernel_CostAttr>:$cost, UnitAttr:$selected);
  let regions = (region AnyRegion:$body);
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Kernel_CallOp : Op<MirageKernel_Dialect, "call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
        "bufferizesToAllocation", "getAliasingValues", "bufferize"]>]> {
  let summary = "computes a graph, from a function";
  let description = [{
    ```
    %y = mirage_kernel.call @program(%x, %w) : (tensor<2x64xf16>, tensor<64x32xf16>) -> tensor<2x32xf16>
    mirage_kernel.call @program(%a, %b, %c) : (memref<2x64xf16>, memref<64x32xf16>, memref<2x32xf16>) -> ()
    ```
    What `convert-linalg-to-mirage` leaves in place of the operations that it made a program of. It stands outside graphs. On
    tensors it has no effect but its results. On memrefs, the outputs are operands behind the inputs, and there are no results;
    an output must not overlap another operand. One-shot
    bufferization makes the second of the first. `convert-mirage-to-gpu` makes launches of both.

    Example:

    ```mlir
    mirage_kernel.graph @program(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
      %y = exp %x : tensor<8x16xf16>
      return %y : tensor<8x16xf16>
    }
    func.func @caller(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
      %y = mirage_kernel.call @program(%x) : (tensor<8x16xf16>) -> tensor<8x16xf16>
      return %y : tensor<8x16xf16>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}
def Kernel_ReturnOp : Mirage_Op<MirageKernel_Dialect, "return", [Pure, Terminator, HasParent<"GraphOp">]> {
  let summary = "ends a graph with its outputs";
  let description = [{
    One value per result of the graph, of its type.

    Example:

    ```mlir
    mirage_kernel.graph @program(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
      %y = exp %x : tensor<8x16xf16>
      return %y : tensor<8x16xf16>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Kernel_CustomOp : Mirage_RegionOp<MirageKernel_Dialect, "custom", "block",
    [Pure, IsolatedFromAbove, SingleBlock, NoTerminator, HasParent<"GraphOp">]> {
  let summary = "a kernel of our own: a block graph that every block of a grid runs";
  let description = [{
    ```
    %r = custom (%arg = %operand, ...) outs(%out, ...) grid [gx, gy, gz] cluster [cx, cy, cz] schedule <...> plan <...>
        launch <...> : (T, ...) -> (T, ...) { ... }
    ```
    The region's arguments are the operands' tensors, to load from, then one tensor per result, to store to.

    What the region computes must fill every element of every result. `schedule` and `launch` say how; without them the planner chooses.

    Example:

    ```mlir
    mirage_kernel.graph @twice(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
      %y = custom (%a = %x) outs(%b) grid [4, 2] : (tensor<64x64xf16>) -> tensor<64x64xf16> {
        %t = load %a {grid = [0, 1]} : tensor<64x64xf16> -> !mirage_block.tile<16x32xf16>
        %s = add %t, %t : !mirage_block.tile<16x32xf16>, !mirage_block.tile<16x32xf16>
        store %s, %b {grid = [0, 1]} : !mirage_block.tile<16x32xf32>, tensor<64x64xf16>
      }
      return %y : tensor<64x64xf16>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, DenseI64ArrayAttr:$grid, OptionalAttr<DenseI64ArrayAttr>:$cluster,
                       OptionalAttr<Kernel_ScheduleAttr>:$schedule, OptionalAttr<Kernel_PlanAttr>:$plan,
                       OptionalAttr<Kernel_LaunchAttr>:$launch);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
}
