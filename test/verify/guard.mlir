// Right in exact arithmetic is not enough: the numeric guard refuses what overflows, cancels or rounds away more than twice
// what the program does. Its figures stand beside the proof.
// RUN: mirage-mlir-opt %s --mirage-verify=explain 2>%t.log | FileCheck %s --check-prefix=IR
// RUN: FileCheck %s --check-prefix=SAY < %t.log
// RUN: mirage-mlir-opt %s --mirage-verify=guard=false 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: mirage-mlir-opt %s --mirage-verify --mirage-select=keep=all 2>&1 | FileCheck %s --check-prefix=SELECT

// OFF-NOT: inaccurate
// OFF-NOT: guard =
// OFF: @softmax: 2 candidates, 2 equivalent
// OFF: @variance: 1 candidate, 1 equivalent
// OFF: @chain: 2 candidates, 2 equivalent
// OFF-NOT: guard =

// SELECT: @no_maximum: refused: it has no proof
// SELECT: @one_pass: refused: it has no proof
// SELECT: @through_bf16: refused: it has no proof

mirage_kernel.graph @softmax(%x: tensor<4x16xf16>) -> tensor<4x16xf16> {
  %y = softmax %x {dim = 1} : tensor<4x16xf16>
  return %y : tensor<4x16xf16>
}
// SAY: @no_maximum: inaccurate: equivalent to @softmax in exact arithmetic, but output 0 has inf or NaN where the program has none (inputs: logits); mirage-verify=guard=false lets it pass
// IR: graph @no_maximum(
// IR-SAME: mirage_kernel.verdict = "inaccurate"
// IR-NOT: proof
mirage_kernel.graph @no_maximum(%x: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {source = @softmax} {
  %e = exp %x : tensor<4x16xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x16xf16>
  %y = div %e, %s : tensor<4x16xf16>, tensor<4x1xf16>
  return %y : tensor<4x16xf16>
}
// The same in f32, in a block: exp(60) is a number there.
// SAY: @in_f32: equivalent to @softmax; {{.*}}; relative error {{[0-9.]+}}e-04 (at most {{[0-9.e-]+}}), the program's own {{[0-9.]+}}e-04 ({{[0-9.e-]+}})
// IR: graph @in_f32({{.*}}guard = #mirage_kernel.guard<program_relative = {{[0-9.e-]+}}, candidate_relative = {{[0-9.e-]+}}, program_max = {{[0-9.e-]+}}, candidate_max = {{[0-9.e-]+}}>, proof = #mirage_kernel.proof<
mirage_kernel.graph @in_f32(%x: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {source = @softmax} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<4x16xf16>) -> tensor<4x16xf16> {
    %xt = load %xk {grid = [0]} : tensor<4x16xf16> -> !mirage_block.tile<1x16xf16>
    %e = exp %xt : !mirage_block.tile<1x16xf16>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<1x16xf32>
    %r = div %e, %s : !mirage_block.tile<1x16xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x16xf32>, tensor<4x16xf16>
  }
  return %y : tensor<4x16xf16>
}

// The program overflows at large logits itself: those lie outside its range, and a graph that divides last is not held to the
// rows that happen to stay inside.
mirage_kernel.graph @unsafe(%x: tensor<512x2xf16>, %v: tensor<2x16xf16>) -> tensor<512x16xf16> {
  %e = exp %x : tensor<512x2xf16>
  %s = reduce_sum %e {dim = 1} : tensor<512x2xf16>
  %p = div %e, %s : tensor<512x2xf16>, tensor<512x1xf16>
  %y = matmul %p, %v : tensor<512x2xf16>, tensor<2x16xf16>
  return %y : tensor<512x16xf16>
}
// SAY: @divided_last: equivalent to @unsafe
mirage_kernel.graph @divided_last(%x: tensor<512x2xf16>, %v: tensor<2x16xf16>) -> tensor<512x16xf16> attributes {source = @unsafe} {
  %e = exp %x : tensor<512x2xf16>
  %n = matmul %e, %v : tensor<512x2xf16>, tensor<2x16xf16>
  %s = reduce_sum %e {dim = 1} : tensor<512x2xf16>
  %y = div %n, %s : tensor<512x16xf16>, tensor<512x1xf16>
  return %y : tensor<512x16xf16>
}

mirage_kernel.graph @variance(%x: tensor<4x16xf32>) -> tensor<4x1xf32> {
  %m = reduce_mean %x {dim = 1} : tensor<4x16xf32>
  %c = sub %x, %m : tensor<4x16xf32>, tensor<4x1xf32>
  %q = square %c : tensor<4x16xf32>
  %v = reduce_mean %q {dim = 1} : tensor<4x16xf32>
  return %v : tensor<4x1xf32>
}
// E[x^2] - E[x]^2 cancels where rows are nearly constant.
// SAY: @one_pass: inaccurate: {{.*}} relative error of {{[0-9.e+-]+}}, the program's own is {{[0-9.e-]+}} (inputs: near-constant rows)
mirage_kernel.graph @one_pass(%x: tensor<4x16xf32>) -> tensor<4x1xf32> attributes {source = @variance} {
  %m = reduce_mean %x {dim = 1} : tensor<4x16xf32>
  %s = square %x : tensor<4x16xf32>
  %q = reduce_mean %s {dim = 1} : tensor<4x16xf32>
  %n = square %m : tensor<4x1xf32>
  %v = sub %q, %n : tensor<4x1xf32>, tensor<4x1xf32>
  return %v : tensor<4x1xf32>
}

mirage_kernel.graph @chain(%x: tensor<4x16xf16>, %w: tensor<16x8xf16>, %v: tensor<8x4xf16>) -> tensor<4x4xf16> {
  %a = matmul %x, %w : tensor<4x16xf16>, tensor<16x8xf16>
  %y = matmul %a, %v : tensor<4x8xf16>, tensor<8x4xf16>
  return %y : tensor<4x4xf16>
}
// SAY: @through_bf16: inaccurate: {{.*}} relative error of {{[0-9.]+}}e-03
mirage_kernel.graph @through_bf16(%x: tensor<4x16xf16>, %w: tensor<16x8xf16>, %v: tensor<8x4xf16>) -> tensor<4x4xf16> attributes {source = @chain} {
  %a = matmul %x, %w : tensor<4x16xf16>, tensor<16x8xf16>
  %b = cast %a : tensor<4x8xf16> -> tensor<4x8xbf16>
  %c = cast %v : tensor<8x4xf16> -> tensor<8x4xbf16>
  %z = matmul %b, %c : tensor<4x8xbf16>, tensor<8x4xbf16>
  %y = cast %z : tensor<4x4xbf16> -> tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}
// What stays in f32 between the products is better than the program.
// SAY: @through_f32: equivalent to @chain
mirage_kernel.graph @through_f32(%x: tensor<4x16xf16>, %w: tensor<16x8xf16>, %v: tensor<8x4xf16>) -> tensor<4x4xf16> attributes {source = @chain} {
  %xf = cast %x : tensor<4x16xf16> -> tensor<4x16xf32>
  %wf = cast %w : tensor<16x8xf16> -> tensor<16x8xf32>
  %vf = cast %v : tensor<8x4xf16> -> tensor<8x4xf32>
  %a = matmul %xf, %wf : tensor<4x16xf32>, tensor<16x8xf32>
  %z = matmul %a, %vf : tensor<4x8xf32>, tensor<8x4xf32>
  %y = cast %z : tensor<4x4xf32> -> tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}
// SAY: @softmax: 2 candidates, 1 equivalent ({{.*}}), 0 different, 0 unsupported, 1 inaccurate
