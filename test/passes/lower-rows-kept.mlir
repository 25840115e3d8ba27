// What special functions gave is not computed again for each reduction and store, as far as registers hold it (lib/layout/rows_ahead.c): of
// 13 pieces of 8 exponentials eight pieces. 104 + 40 of them, not 208.
//
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 2>/dev/null | sed 's/\\0A/\n/g' | FileCheck %s
// CHECK: entry kept_0_k0(
// CHECK-COUNT-144: ex2.approx
// CHECK-NOT: ex2.approx
// CHECK: ret;
// A maximum with zero is computed again: registers are for what is dear.
// CHECK: entry cheap_0_k0(
// CHECK-COUNT-208: max{{.*}}f32
// CHECK-NOT: max{{.*}}f32
// CHECK: ret;
//
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 -o %t.mlir 2>/dev/null
// RUN: mirage-run %t.mlir --target=emulator --program=kept --graph=kept_0 --compile=h200 | FileCheck %s --check-prefix=RAN
// RAN: output 0 {{.*}} 150000 of 150000 elements compared; {{.*}}: ok
mirage_kernel.graph @kept(%x: tensor<3x50000xf16>) -> tensor<3x50000xf16> {
  %y = softmax %x {dim = 1} : tensor<3x50000xf16>
  return %y : tensor<3x50000xf16>
}
mirage_kernel.graph @kept_0(%x: tensor<3x50000xf16>) -> tensor<3x50000xf16> attributes {source = @kept, selected} {
  %y = custom (%a = %x) outs(%b) grid [1] : (tensor<3x50000xf16>) -> tensor<3x50000xf16> {
    %t = load %a : tensor<3x50000xf16> -> !mirage_block.tile<3x50000xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<3x50000xf16> -> !mirage_block.tile<3x1xf32>
    %d = sub %t, %m : !mirage_block.tile<3x50000xf16>, !mirage_block.tile<3x1xf32>
    %e = exp %d : !mirage_block.tile<3x50000xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<3x50000xf32> -> !mirage_block.tile<3x1xf32>
    %p = div %e, %s : !mirage_block.tile<3x50000xf32>, !mirage_block.tile<3x1xf32>
    store %p, %b : !mirage_block.tile<3x50000xf32>, tensor<3x50000xf16>
  }
  return %y : tensor<3x50000xf16>
}
mirage_kernel.graph @cheap(%x: tensor<3x50000xf16>) -> tensor<3x50000xf16> {
  %r = relu %x : tensor<3x50000xf16>
  %s = reduce_sum %r {dim = 1} : tensor<3x50000xf16>
  %y = sub %r, %s : tensor<3x50000xf16>, tensor<3x1xf16>
  return %y : tensor<3x50000xf16>
}
mirage_kernel.graph @cheap_0(%x: tensor<3x50000xf16>) -> tensor<3x50000xf16> attributes {source = @cheap, selected} {
  %y = custom (%a = %x) outs(%b) grid [1] : (tensor<3x50000xf16>) -> tensor<3x50000xf16> {
    %t = load %a : tensor<3x50000xf16> -> !mirage_block.tile<3x50000xf16>
    %r = relu %t : !mirage_block.tile<3x50000xf16> -> !mirage_block.tile<3x50000xf32>
    %s = reduce_sum %r {dim = 1} : !mirage_block.tile<3x50000xf32> -> !mirage_block.tile<3x1xf32>
    %d = sub %r, %s : !mirage_block.tile<3x50000xf32>, !mirage_block.tile<3x1xf32>
    store %d, %b : !mirage_block.tile<3x50000xf32>, tensor<3x50000xf16>
  }
  return %y : tensor<3x50000xf16>
}
