// RMSNorm and a linear layer in one kernel: weights stream from global memory straight to registers, 16 warps split the
// reduction, each with its own partial sums, and the norm costs one sum of squares beside the product. The weight is the
// first operand of the matrix instruction (swap), and its fragments take k in whatever order the 16-byte loads give.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/constant 256.0/constant 255.0/' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: the mean over one element less.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"

mirage_kernel.graph @program(%x: tensor<2x256xf16>, %g: tensor<256xf16>, %w: tensor<256x192xf16>) -> tensor<2x192xf16> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<2x256xf16>, tensor<256xf16>
  %y = matmul %n, %w : tensor<2x256xf16>, tensor<256x192xf16>
  return %y : tensor<2x192xf16>
}

// CHECK-LABEL: @candidate
// CHECK: custom {{.*}} grid [4] schedule <warps = 16, split = reduction, swap = true, loads = [auto, auto, register(cache = no_allocate)]>
// CHECK: loop 4
// CHECK-COUNT-3: load
// CHECK: store
mirage_kernel.graph @candidate(%x: tensor<2x256xf16>, %g: tensor<256xf16>, %w: tensor<256x192xf16>) -> tensor<2x192xf16>
    attributes {source = @program} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [4]
      schedule <warps = 16, split = reduction, swap = true,
                loads = [auto, auto, register(cache = no_allocate)]>
      : (tensor<2x256xf16>, tensor<256xf16>, tensor<256x192xf16>) -> tensor<2x192xf16> {
    %acc0 = constant 0.0 : !mirage_block.tile<2x48xf32, register>
    %squares0 = constant 0.0 : !mirage_block.tile<2x1xf32, register>
    %acc, %squares = loop 4 (%a = %acc0 sum, %s = %squares0 sum)
        : !mirage_block.tile<2x48xf32, register>, !mirage_block.tile<2x1xf32, register> {
      %xt = load %xk {loop = [1]} : tensor<2x256xf16> -> !mirage_block.tile<2x64xf16, register>
      %gt = load %gk {loop = [0]} : tensor<256xf16> -> !mirage_block.tile<64xf16, register>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<256x192xf16> -> !mirage_block.tile<64x48xf16, register>
      %xg = mul %xt, %gt : !mirage_block.tile<2x64xf16, register>, !mirage_block.tile<64xf16, register>
      %xh = cast %xg : !mirage_block.tile<2x64xf32> -> !mirage_block.tile<2x64xf16, register>
      %p = matmul %xh, %wt : !mirage_block.tile<2x64xf16, register>, !mirage_block.tile<64x48xf16, register>
      %sq = square %xt : !mirage_block.tile<2x64xf16, register>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x64xf32>
      yield %p, %ss : !mirage_block.tile<2x48xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 256.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32, register>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x48xf32, register>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x48xf32>, tensor<2x192xf16>
  }
  return %y : tensor<2x192xf16>
}
