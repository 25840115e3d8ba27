// Rules that the pretty form cannot break: what the generic form, or another tool, may bring.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

// result type of an inferred operator
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{exp: result type is 4x2xf16, should be 2x4xf16}}
  %0 = "mirage_kernel.exp"(%a) : (tensor<2x4xf16>) -> tensor<4x2xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// operands of an inferred operator: one sentence, not two
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{matmul: inner dimensions differ: 4 vs 2}}
  %0 = "mirage_kernel.matmul"(%a, %a) : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x2xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// required attribute
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{'mirage_kernel.reduce_sum' op requires attribute 'dim'}}
  %0 = "mirage_kernel.reduce_sum"(%a) : (tensor<2x4xf16>) -> tensor<2x1xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// attribute of another kind
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{invalid properties {dim = "one"} for op mirage_kernel.reduce_sum: Invalid attribute `dim` in property conversion: "one"}}
  %0 = "mirage_kernel.reduce_sum"(%a) <{dim = "one"}> : (tensor<2x4xf16>) -> tensor<2x1xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// number of operands
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{'mirage_kernel.exp' op requires a single operand}}
  %0 = "mirage_kernel.exp"(%a, %a) : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// dynamic operand
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{tensor<?x4xf16>: dimension 0 is dynamic; give it an extent}}
  %0 = "mirage_kernel.broadcast"(%a) : (tensor<2x4xf16>) -> tensor<?x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// arguments of a graph
// expected-error @+1 {{'mirage_kernel.graph' op entry block must have 1 arguments to match function signature}}
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>, %b: tensor<2x4xf16>):
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// two blocks
// expected-error @+1 {{'mirage_kernel.graph' op expects region #0 to have 0 or 1 blocks}}
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
^bb1:
  "mirage_kernel.return"() : () -> ()
}) : () -> ()

// -----

// terminator of a graph
// expected-error @+1 {{graph: holds llvm.unreachable, which is not an operator of the kernel level}}
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  "llvm.unreachable"() : () -> ()
}) : () -> ()

// -----

// arguments of a custom kernel
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{custom: its region has 1 arguments, 2 are needed}}
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>):
    %t = "mirage_block.load"(%x) : (tensor<2x4xf16>) -> !mirage_block.tile<2x4xf16>
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// custom kernel without a grid
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  // expected-error @+1 {{'mirage_kernel.custom' op requires attribute 'grid'}}
  %0 = "mirage_kernel.custom"(%a) ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// carries against initial values
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    %t = "mirage_block.load"(%x) : (tensor<2x4xf16>) -> !mirage_block.tile<2x4xf16>
    // expected-error @+1 {{loop: numbers of carries and initial values differ: 0 vs 1}}
    %r = "mirage_block.loop"(%t) <{range = 2 : i64, carries = []}> ({
    ^bb2(%c: !mirage_block.tile<2x4xf16>):
      "mirage_block.yield"(%c) : (!mirage_block.tile<2x4xf16>) -> ()
    }) : (!mirage_block.tile<2x4xf16>) -> !mirage_block.tile<2x4xf16>
    "mirage_block.store"(%r, %y) : (!mirage_block.tile<2x4xf16>, tensor<2x4xf16>) -> ()
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// arguments of a loop
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    // expected-error @+1 {{loop: its region has 1 arguments, 0 are needed}}
    "mirage_block.loop"() <{range = 2 : i64, carries = []}> ({
    ^bb2(%c: !mirage_block.tile<2x4xf16>):
      "mirage_block.yield"() : () -> ()
    }) : () -> ()
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// carries of another kind
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    // expected-error @+1 {{'mirage_block.loop' op attribute 'carries' failed to satisfy constraint: carries}}
    "mirage_block.loop"() <{range = 2 : i64, carries = ["sum"]}> ({
      "mirage_block.yield"() : () -> ()
    }) : () -> ()
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// arguments of a thread graph
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    // expected-error @+1 {{thread: its region has 1 arguments, 0 are needed}}
    "mirage_block.thread"() ({
    ^bb2(%c: !mirage_thread.fragment<2x4xf16>):
      "mirage_thread.yield"() : () -> ()
    }) : () -> ()
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// a thread graph is isolated
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    %t = "mirage_block.constant"() <{value = 1.0 : f64}> : () -> !mirage_block.tile<2x4xf16>
    "mirage_block.thread"() ({
      // expected-error @+1 {{'mirage_thread.exp' op operand #0 must be a tile in registers: `!mirage_thread.fragment<2x48xf32>`, but got '!mirage_block.tile<2x4xf16>'}}
      %u = "mirage_thread.exp"(%t) : (!mirage_block.tile<2x4xf16>) -> !mirage_thread.fragment<2x4xf32>
      "mirage_thread.yield"() : () -> ()
    }) : () -> ()
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// terminator of a loop
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    "mirage_block.loop"() <{range = 2 : i64, carries = []}> ({
      // expected-error @+1 {{'mirage_thread.yield' op expects parent op 'mirage_block.thread'}}
      "mirage_thread.yield"() : () -> ()
    }) : () -> ()
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// fill of a store
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    %t = "mirage_block.load"(%x) : (tensor<2x4xf16>) -> !mirage_block.tile<2x4xf16>
    // expected-error @+1 {{store: has no attribute 'fill'; one of another dialect needs its prefix}}
    "mirage_block.store"(%t, %y) {fill = #mirage_block.fill<one>} : (!mirage_block.tile<2x4xf16>, tensor<2x4xf16>) -> ()
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()

// -----

// result of a load must be a tile
"mirage_kernel.graph"() <{function_type = (tensor<2x4xf16>) -> tensor<2x4xf16>, sym_name = "g"}> ({
^bb0(%a: tensor<2x4xf16>):
  %0 = "mirage_kernel.custom"(%a) <{grid = array<i64: 1>}> ({
  ^bb1(%x: tensor<2x4xf16>, %y: tensor<2x4xf16>):
    // expected-error @+1 {{'mirage_block.load' op result #0 must be a tile that the threads of a block hold together, but got 'tensor<2x4xf16>'}}
    %t = "mirage_block.load"(%x) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  }) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  "mirage_kernel.return"(%a) : (tensor<2x4xf16>) -> ()
}) : () -> ()
