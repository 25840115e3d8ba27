// Rules of graphs, proofs and costs, each with a text that breaks it.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

// no body
// expected-error @+1 {{graph: has no body}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16>

// -----

// no outputs
// expected-error @+1 {{graph: has no outputs}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) {
  return
}

// -----

// dynamic dimension
// expected-error @+1 {{tensor<?x4xf16>: dimension 0 is dynamic; give it an extent}}
mirage_kernel.graph @g(%a: tensor<?x4xf16>) -> tensor<?x4xf16> {
  return %a : tensor<?x4xf16>
}

// -----

// zero extent
// expected-error @+1 {{tensor<0x4xf16>: dimension 0 has extent 0, at least 1 is needed}}
mirage_kernel.graph @g(%a: tensor<0x4xf16>) -> tensor<0x4xf16> {
  return %a : tensor<0x4xf16>
}

// -----

// element type
// expected-error @+1 {{tensor<2x4xi64>: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2; convert them outside}}
mirage_kernel.graph @g(%a: tensor<2x4xi64>) -> tensor<2x4xi64> {
  return %a : tensor<2x4xi64>
}

// -----

// unranked
// expected-error @+1 {{graph: input 0 is tensor<*xf16>, a ranked tensor is needed}}
mirage_kernel.graph @g(%a: tensor<*xf16>) -> tensor<2x4xf16> {
  %0 = constant 1.0 : tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}

// -----

// rank 7
// expected-error @+1 {{tensor<1x1x1x1x1x1x1xf16>: rank is 7, at most 6 is supported; merge dimensions}}
mirage_kernel.graph @g(%a: tensor<1x1x1x1x1x1x1xf16>) -> tensor<1x1x1x1x1x1x1xf16> {
  return %a : tensor<1x1x1x1x1x1x1xf16>
}

// -----

// rank 0
// expected-error @+1 {{graph: input 0 has rank 0, which only constants may have}}
mirage_kernel.graph @g(%a: tensor<f16>) -> tensor<f16> {
  return %a : tensor<f16>
}

// -----

// encoding
// expected-error @+1 {{tensor<2x4xf16, "column-major">: tensors are row-major; remove the encoding}}
mirage_kernel.graph @g(%a: tensor<2x4xf16, "column-major">) -> tensor<2x4xf16, "column-major"> {
  return %a : tensor<2x4xf16, "column-major">
}

// -----

// not a tensor
// expected-error @+1 {{graph: input 0 is i32, a ranked tensor is needed}}
mirage_kernel.graph @g(%a: i32) -> tensor<2x4xf16> {
  %0 = constant 1.0 : tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}

// -----

// output type
// expected-error @+1 {{graph: output 0 is memref<2x4xf16>, a ranked tensor is needed}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> memref<2x4xf16> {
  return %a : tensor<2x4xf16>
}

// -----

// number of returned values
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{return: returns 2 values, the graph declares 1}}
  return %a, %a : tensor<2x4xf16>, tensor<2x4xf16>
}

// -----

// type of returned value
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<4x2xf16> {
  // expected-error @+1 {{return: value 0 is tensor<2x4xf16>, the graph declares tensor<4x2xf16>}}
  return %a : tensor<2x4xf16>
}

// -----

// no terminator
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{block with no terminator, has %0 = "mirage_kernel.exp"(%arg0) : (tensor<2x4xf16>) -> tensor<2x4xf16>}}
  %0 = exp %a : tensor<2x4xf16>
}

// -----

// foreign operation
// expected-error @+1 {{graph: holds math.exp, which is not an operator of the kernel level}}
mirage_kernel.graph @g(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = math.exp %a : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// source that does not exist
// expected-error @+1 {{graph: source @p is not a graph beside it}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {source = @p} {
  return %a : tensor<2x4xf16>
}

// -----

// sources in a circle: no program among them
// expected-error @+1 {{graph: source @h has a source itself; a candidate names a program}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {source = @h} {
  return %a : tensor<2x4xf16>
}
mirage_kernel.graph @h(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {source = @g} {
  return %a : tensor<2x4xf16>
}

// -----

// expected-error @+1 {{graph: its name is empty}}
mirage_kernel.graph @""(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  return %a : tensor<2x4xf16>
}

// -----

// source that is no graph
func.func private @p()
// expected-error @+1 {{graph: source @p is not a graph beside it}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {source = @p} {
  return %a : tensor<2x4xf16>
}

// -----

// source that is itself
// expected-error @+1 {{graph: names itself as its source}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {source = @g} {
  return %a : tensor<2x4xf16>
}

// -----

// source of another signature
mirage_kernel.graph @p(%a: tensor<4x2xf16>) -> tensor<4x2xf16> {
  return %a : tensor<4x2xf16>
}
// expected-error @+1 {{graph: signature differs from its source's: (tensor<2x4xf16>) -> tensor<2x4xf16> vs (tensor<4x2xf16>) -> tensor<4x2xf16>}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {source = @p} {
  return %a : tensor<2x4xf16>
}

// -----

// two graphs of one name
// expected-note @+1 {{see existing symbol definition here}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  return %a : tensor<2x4xf16>
}
// expected-error @+1 {{redefinition of symbol named 'g'}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  return %a : tensor<2x4xf16>
}

// -----

// block operator in a kernel graph
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{'mirage_block.constant' op expects parent op to be one of 'mirage_kernel.custom, mirage_block.loop'}}
  %0 = mirage_block.constant 0.0 : !mirage_block.tile<2x4xf16>
  return %a : tensor<2x4xf16>
}

// -----

// kernel operator outside a graph
func.func @f(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{'mirage_kernel.exp' op expects parent op 'mirage_kernel.graph'}}
  %0 = mirage_kernel.exp %a : tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}

// -----

// proof without trials
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {
    // expected-error @+1 {{proof: has 0 trials, at least 1 is needed}}
    proof = #mirage_kernel.proof<trials = 0, p_bits = 62, seed = 1, log2_bound = -60.0>} {
  return %a : tensor<2x4xf16>
}

// -----

// proof with a probability above 1
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {
    // expected-error @+1 {{proof: log2_bound is 5.000000e-01, a finite number of at most 0 is needed}}
    proof = #mirage_kernel.proof<trials = 1, p_bits = 62, seed = 1, log2_bound = 0.5>} {
  return %a : tensor<2x4xf16>
}

// -----

// guard with an error below 0
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {
    // expected-error @+1 {{guard: program_relative is -1.000000e+00, a finite number of at least 0 is needed}}
    guard = #mirage_kernel.guard<program_relative = -1.0, candidate_relative = 0.0, program_max = 0.0, candidate_max = 0.0>} {
  %b = exp %a : tensor<2x4xf16>
  return %b : tensor<2x4xf16>
}

// -----

// proof without a bound
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {
    // expected-error @+1 {{struct is missing required parameter: log2_bound}}
    proof = #mirage_kernel.proof<trials = 1, p_bits = 62, seed = 1>} {
  return %a : tensor<2x4xf16>
}

// -----

// cost that is no number
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {
    // expected-error @+1 {{cost: time_us is -1.000000e+00, a finite number of at least 0 is needed}}
    cost = #mirage_kernel.cost<time_us = -1.0, bytes = 0.0, flops = 0.0, kernels = 1>} {
  return %a : tensor<2x4xf16>
}

// -----

// attribute of another kind
// expected-error @+1 {{custom op 'mirage_kernel.graph' attribute 'proof' failed to satisfy constraint: how sure we are that a candidate equals its source}}
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {proof = "sure"} {
  return %a : tensor<2x4xf16>
}

// -----

// misspelt key of a graph
// expected-error @+1 {{graph: has no attribute 'sorce'; one of another dialect needs its prefix}}
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> attributes {sorce = @q} {
  return %a : tensor<2x4xf16>
}

// -----

// key of a custom kernel given twice
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' 'grid' is given twice}}
  %0 = custom (%x = %a) outs(%y) grid [2] attributes {grid = array<i64: 4>} : (tensor<2x4xf16>) -> tensor<2x4xf16> {
  }
  return %0 : tensor<2x4xf16>
}

// -----

// schedule of another kind
mirage_kernel.graph @p(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' attribute 'schedule' failed to satisfy constraint: who does what in a custom kernel; removing it never changes a resu}}
  %0 = custom (%x = %a) outs(%y) grid [2] attributes {schedule = "fast"} : (tensor<2x4xf16>) -> tensor<2x4xf16> {
  }
  return %0 : tensor<2x4xf16>
}
