// Right in exact arithmetic is not enough: the numeric guard refuses what overflows, cancels or rounds away more than twice
// what the program does. Its figures stand beside the proof.
// RUN: mirage-mlir-opt %s --mirage-verify=explain 2>%t.log | FileCheck %s --check-prefix=IR
// RUN: FileCheck %s --check-prefix=SAY < %t.log
// RUN: mirage-mlir-opt %s --mirage-verify=guard=false 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: mirage-mlir-opt %s --mirage-verify --mirage-select=keep=all 2>&1 | FileCheck %s --check-prefix=SELECT

// OFF-NOT: inaccurate
// OFF-NOT: guard =
// OFF: @softmax: 3 candidates, 3 equivalent
// OFF: @variance: 1 candidate, 1 equivalent
// OFF: @chain: 2 candidates, 2 equivalent
// OFF-NOT: guard =

// SELECT: @no_maximum: refused: it has no proof
// SELECT: @in_f32: refused: it has no proof
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
// The same in f32, in a block: exp(60) is a number there, exp(100) is not, and the program stands.
// SAY: @in_f32: inaccurate: {{.*}} output 0 has inf or NaN where the program has none (inputs: the candidate's exponents at 150)
// IR: graph @in_f32(
// IR-SAME: mirage_kernel.verdict = "inaccurate"
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
// With its maximum it is as good as the program.
// SAY: @with_maximum: equivalent to @softmax; {{.*}}; relative error {{[0-9.]+}}e-04 (at most {{[0-9.e-]+}}), the program's own {{[0-9.]+}}e-04 ({{[0-9.e-]+}}), in full
// IR: graph @with_maximum({{.*}}guard = #mirage_kernel.guard<program_relative = {{[0-9.e-]+}}, candidate_relative = {{[0-9.e-]+}}, program_max = {{[0-9.e-]+}}, candidate_max = {{[0-9.e-]+}}>, proof = #mirage_kernel.proof<
mirage_kernel.graph @with_maximum(%x: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {source = @softmax} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<4x16xf16>) -> tensor<4x16xf16> {
    %xt = load %xk {grid = [0]} : tensor<4x16xf16> -> !mirage_block.tile<1x16xf16>
    %m = reduce_max %xt {dim = 1} : !mirage_block.tile<1x16xf16>
    %d = sub %xt, %m : !mirage_block.tile<1x16xf16>, !mirage_block.tile<1x1xf32>
    %e = exp %d : !mirage_block.tile<1x16xf32>
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
// SAY: @one_pass: inaccurate: {{.*}} relative error of {{[0-9.e+-]+}}, the program's own is {{[0-9.e-]+}}{{.*}} (inputs: near-constant rows)
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

// Sums have the size that they have in the pair itself, on whatever smaller instance they are measured: 65,536 squares in f16.
mirage_kernel.graph @mean_square(%x: tensor<2x65536xf16>) -> tensor<2x1xf16> {
  %q = square %x : tensor<2x65536xf16>
  %y = reduce_mean %q {dim = 1} : tensor<2x65536xf16>
  return %y : tensor<2x1xf16>
}
// SAY: @sum_in_f16: inaccurate: {{.*}} output 0 has inf or NaN where the program has none
mirage_kernel.graph @sum_in_f16(%x: tensor<2x65536xf16>) -> tensor<2x1xf16> attributes {source = @mean_square} {
  %q = square %x : tensor<2x65536xf16>
  %s = reduce_sum %q {dim = 1} : tensor<2x65536xf16>
  %c = constant 0.0000152587890625 : tensor<1x1xf16>
  %y = mul %s, %c : tensor<2x1xf16>, tensor<1x1xf16>
  return %y : tensor<2x1xf16>
}
// SAY: @sum_in_f32: equivalent to @mean_square; {{.*}}, on a sample of the outputs, for inputs that repeat
mirage_kernel.graph @sum_in_f32(%x: tensor<2x65536xf16>) -> tensor<2x1xf16> attributes {source = @mean_square} {
  %f = cast %x : tensor<2x65536xf16> -> tensor<2x65536xf32>
  %q = square %f : tensor<2x65536xf32>
  %s = reduce_sum %q {dim = 1} : tensor<2x65536xf32>
  %c = constant 0.0000152587890625 : tensor<1x1xf32>
  %z = mul %s, %c : tensor<2x1xf32>, tensor<1x1xf32>
  %y = cast %z : tensor<2x1xf32> -> tensor<2x1xf16>
  return %y : tensor<2x1xf16>
}

// A sum whose parts are ragged (4 of 50,001, the last with three less) has its size too: whole parts halve with their tail.
mirage_kernel.graph @long_norm(%x: tensor<1x200001xf16>) -> tensor<1x1xf16> {
  %f = cast %x : tensor<1x200001xf16> -> tensor<1x200001xf32>
  %q = square %f : tensor<1x200001xf32>
  %s = reduce_sum %q {dim = 1} : tensor<1x200001xf32>
  %r = sqrt %s : tensor<1x1xf32>
  %y = cast %r : tensor<1x1xf32> -> tensor<1x1xf16>
  return %y : tensor<1x1xf16>
}
// SAY: @in_ragged_parts: equivalent to @long_norm; {{.*}}, for inputs that repeat
mirage_kernel.graph @in_ragged_parts(%x: tensor<1x200001xf16>) -> tensor<1x1xf16> attributes {source = @long_norm} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<1x200001xf16>) -> tensor<1x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %sum = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x1xf32> {
      %t = load %xk {loop = [1]} : tensor<1x200001xf16> -> !mirage_block.tile<1x50001xf16>
      %q = square %t : !mirage_block.tile<1x50001xf16>
      %s = reduce_sum %q {dim = 1} : !mirage_block.tile<1x50001xf32>
      yield %s : !mirage_block.tile<1x1xf32>
    }
    %r = sqrt %sum : !mirage_block.tile<1x1xf32>
    store %r, %yk : !mirage_block.tile<1x1xf32>, tensor<1x1xf16>
  }
  return %y : tensor<1x1xf16>
}
// SAY: @ragged_parts_in_f16: inaccurate: {{.*}} output 0 has inf or NaN where the program has none
mirage_kernel.graph @ragged_parts_in_f16(%x: tensor<1x200001xf16>) -> tensor<1x1xf16> attributes {source = @long_norm} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<1x200001xf16>) -> tensor<1x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %sum = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x1xf32> {
      %t = load %xk {loop = [1]} : tensor<1x200001xf16> -> !mirage_block.tile<1x50001xf16>
      %q = square %t : !mirage_block.tile<1x50001xf16>
      %s = reduce_sum %q {dim = 1} : !mirage_block.tile<1x50001xf32>
      yield %s : !mirage_block.tile<1x1xf32>
    }
    %h = cast %sum : !mirage_block.tile<1x1xf32> -> !mirage_block.tile<1x1xf16>
    %r = sqrt %h : !mirage_block.tile<1x1xf16>
    store %r, %yk : !mirage_block.tile<1x1xf32>, tensor<1x1xf16>
  }
  return %y : tensor<1x1xf16>
}

mirage_kernel.graph @long_product(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<16x4096xf16> {
  %y = matmul %x, %w : tensor<16x4096xf16>, tensor<4096x4096xf16>
  return %y : tensor<16x4096xf16>
}
// SAY: @times_1024: inaccurate: {{.*}} output 0 has inf or NaN where the program has none
mirage_kernel.graph @times_1024(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<16x4096xf16> attributes {source = @long_product} {
  %a = matmul %x, %w : tensor<16x4096xf16>, tensor<4096x4096xf16>
  %c = constant 1024.0 : tensor<1x1xf16>
  %b = mul %a, %c : tensor<16x4096xf16>, tensor<1x1xf16>
  %y = div %b, %c : tensor<16x4096xf16>, tensor<1x1xf16>
  return %y : tensor<16x4096xf16>
}
// SAY: @in_two_halves: equivalent to @long_product; {{.*}}, on a sample of the outputs{{$}}
mirage_kernel.graph @in_two_halves(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<16x4096xf16> attributes {source = @long_product} {
  %x0 = slice %x {dim = 1, begin = 0, end = 2048} : tensor<16x4096xf16>
  %x1 = slice %x {dim = 1, begin = 2048, end = 4096} : tensor<16x4096xf16>
  %w0 = slice %w {dim = 0, begin = 0, end = 2048} : tensor<4096x4096xf16>
  %w1 = slice %w {dim = 0, begin = 2048, end = 4096} : tensor<4096x4096xf16>
  %a = matmul %x0, %w0 : tensor<16x2048xf16>, tensor<2048x4096xf16>
  %b = matmul %x1, %w1 : tensor<16x2048xf16>, tensor<2048x4096xf16>
  %y = add %a, %b : tensor<16x4096xf16>, tensor<16x4096xf16>
  return %y : tensor<16x4096xf16>
}

// Exponentials that only the candidate has.
mirage_kernel.graph @plain_tanh(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = tanh %x : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
// SAY: @over_exp: inaccurate: {{.*}} output 0 has inf or NaN where the program has none (inputs: the candidate's exponents at 150)
mirage_kernel.graph @over_exp(%x: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {source = @plain_tanh} {
  %t = tanh %x : tensor<8x64xf32>
  %e = exp %x : tensor<8x64xf32>
  %p = mul %t, %e : tensor<8x64xf32>, tensor<8x64xf32>
  %y = div %p, %e : tensor<8x64xf32>, tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// What the program itself does not give cannot be measured, and is said.
mirage_kernel.graph @gap(%x: tensor<2x65536xf16>) -> tensor<2x1xf16> {
  %c = constant 4.0 : tensor<1x1xf16>
  %q = square %x : tensor<2x65536xf16>
  %a = add %q, %c : tensor<2x65536xf16>, tensor<1x1xf16>
  %s = reduce_sum %a {dim = 1} : tensor<2x65536xf16>
  %y = add %s, %s : tensor<2x1xf16>, tensor<2x1xf16>
  return %y : tensor<2x1xf16>
}
// SAY: @same_gap: equivalent to @gap; {{.*}}; accuracy of output 0 not measured: the program itself has inf or NaN there at every scale of inputs
mirage_kernel.graph @same_gap(%x: tensor<2x65536xf16>) -> tensor<2x1xf16> attributes {source = @gap} {
  %c = constant 4.0 : tensor<1x1xf16>
  %q = mul %x, %x : tensor<2x65536xf16>, tensor<2x65536xf16>
  %a = add %c, %q : tensor<1x1xf16>, tensor<2x65536xf16>
  %s = reduce_sum %a {dim = 1} : tensor<2x65536xf16>
  %y = add %s, %s : tensor<2x1xf16>, tensor<2x1xf16>
  return %y : tensor<2x1xf16>
}
// SAY: @softmax: 3 candidates, 1 equivalent ({{.*}}), 0 different, 0 unsupported, 2 inaccurate
