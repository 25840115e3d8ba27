// A linear layer of 8-bit weights and activations, with a scale for each row and column: one kernel, which multiplies bytes as
// they are and scales the sums. As many bytes less are read as weights have fewer than 16 bits.
//
// RUN: mirage-mlir-opt %s --mirage-superoptimize=measure=no -o %t.mlir 2>%t.log
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --program=w8a8 %t.mlir | FileCheck %s --check-prefix=RAN
// RUN: mirage-run --target=emulator --program=f8 %t.mlir | FileCheck %s --check-prefix=RAN
//
// LOG: @w8a8: selected {{.*}} proven
// LOG: @f8: selected {{.*}} proven
// LOG: @sums: selected {{.*}} proven
//
// RAN: 1 kernel
// RAN: output 0 {{.*}}: ok

// CHECK-LABEL: graph @w8a8_{{[0-9]+}}({{.*}}selected
// CHECK: custom
// CHECK-NOT: cast {{.*}}xi8
// CHECK: loop {{.*}}xi32
// CHECK: matmul {{.*}}xi8{{[,>].*}}xi8
// CHECK: yield {{.*}}xi32
// CHECK: cast {{.*}}xi32{{.*}} -> {{.*}}xf32
// CHECK: mul
// CHECK-NOT: custom
// CHECK: return
mirage_kernel.graph @w8a8(%x: tensor<48x1024xi8>, %w: tensor<256x1024xi8>, %sx: tensor<48x1xf32>, %sw: tensor<256xf32>) -> tensor<48x256xf32> {
  %p = matmul %x, %w {transpose_b} : tensor<48x1024xi8>, tensor<256x1024xi8>
  %f = cast %p : tensor<48x256xi32> -> tensor<48x256xf32>
  %a = mul %f, %sx : tensor<48x256xf32>, tensor<48x1xf32>
  %y = mul %a, %sw : tensor<48x256xf32>, tensor<256xf32>
  return %y : tensor<48x256xf32>
}

// CHECK-LABEL: graph @f8_{{[0-9]+}}({{.*}}selected
// CHECK: custom
// CHECK-NOT: cast {{.*}}xf8
// CHECK: matmul {{.*}}xf8E4M3FN{{[,>].*}}xf8E4M3FN
// CHECK-NOT: custom
// CHECK: return
mirage_kernel.graph @f8(%x: tensor<48x2048xf8E4M3FN>, %w: tensor<8192x2048xf8E4M3FN>, %sx: tensor<1xf32>, %sw: tensor<1xf32>) -> tensor<48x8192xf16> {
  %p = matmul %x, %w {transpose_b} : tensor<48x2048xf8E4M3FN>, tensor<8192x2048xf8E4M3FN>
  %a = mul %p, %sx : tensor<48x8192xf32>, tensor<1xf32>
  %b = mul %a, %sw : tensor<48x8192xf32>, tensor<1xf32>
  %y = cast %b : tensor<48x8192xf32> -> tensor<48x8192xf16>
  return %y : tensor<48x8192xf16>
}

// The sums themselves, as integers.
// CHECK-LABEL: graph @sums_{{[0-9]+}}({{.*}}selected
// CHECK: store {{.*}}xi32{{.*}}, tensor<16x64xi32>
mirage_kernel.graph @sums(%x: tensor<16x512xi8>, %w: tensor<64x512xi8>) -> tensor<16x64xi32> {
  %y = matmul %x, %w {transpose_b} : tensor<16x512xi8>, tensor<64x512xi8>
  return %y : tensor<16x64xi32>
}
