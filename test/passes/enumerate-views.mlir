// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=2' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// Slices of inputs and concatenated outputs are windows of the tensors that kernels load and store.

// PROVEN: @swiglu: 2 candidates, 2 equivalent
// PROVEN: @rope: {{[12]}} candidate{{s?}}, {{[12]}} equivalent

// One weight with two halves: the columns of both belong to the same blocks, and nothing is copied.
// CHECK: graph @swiglu_0
// CHECK-NEXT: custom ({{.*}} = %arg{{[0-9]}}, {{.*}} = %arg{{[0-9]}}, {{.*}} = %arg{{[0-9]}})
// CHECK-DAG: begin = [0, 0], end = [0, 1024]
// CHECK-DAG: begin = [0, 1024], end = [0, 2048]
// CHECK: store {{.*}}tensor<8x1024xf16>{{$}}
// CHECK-NEXT: }
// CHECK-NEXT: return
mirage_kernel.graph @swiglu(%x: tensor<8x512xf16>, %w: tensor<512x2048xf16>) -> tensor<8x1024xf16> {
  %p = matmul %x, %w : tensor<8x512xf16>, tensor<512x2048xf16>
  %a = slice %p {dim = 1, begin = 0, end = 1024} : tensor<8x2048xf16>
  %b = slice %p {dim = 1, begin = 1024, end = 2048} : tensor<8x2048xf16>
  %s = silu %a : tensor<8x1024xf16>
  %y = mul %s, %b : tensor<8x1024xf16>, tensor<8x1024xf16>
  return %y : tensor<8x1024xf16>
}

// Both halves of the result are stored by the kernel that computes them.
// CHECK: graph @rope_0
// CHECK-NEXT: custom
// CHECK-DAG: begin = [0, 0], end = [0, 64]{{.*}}-> !mirage_block.tile
// CHECK-DAG: begin = [0, 64], end = [0, 128]{{.*}}-> !mirage_block.tile
// CHECK: store {{.*}}end = [0,{{.*}}, tensor<32x128xf16>{{$}}
// CHECK: store {{.*}}end = [0,{{.*}}, tensor<32x128xf16>{{$}}
// CHECK-NEXT: }
// CHECK-NEXT: return
mirage_kernel.graph @rope(%x: tensor<32x128xf16>, %c: tensor<32x64xf16>, %s: tensor<32x64xf16>) -> tensor<32x128xf16> {
  %a = slice %x {dim = 1, begin = 0, end = 64} : tensor<32x128xf16>
  %b = slice %x {dim = 1, begin = 64, end = 128} : tensor<32x128xf16>
  %ac = mul %a, %c : tensor<32x64xf16>, tensor<32x64xf16>
  %bs = mul %b, %s : tensor<32x64xf16>, tensor<32x64xf16>
  %u = sub %ac, %bs : tensor<32x64xf16>, tensor<32x64xf16>
  %bc = mul %b, %c : tensor<32x64xf16>, tensor<32x64xf16>
  %as = mul %a, %s : tensor<32x64xf16>, tensor<32x64xf16>
  %v = add %bc, %as : tensor<32x64xf16>, tensor<32x64xf16>
  %y = concat %u, %v {dim = 1} : tensor<32x64xf16>, tensor<32x64xf16>
  return %y : tensor<32x128xf16>
}

// The product is read whole as well: slicing it again would compute it twice.
// CHECK: graph @read_whole(
// CHECK-NOT: begin = [0, 0]
mirage_kernel.graph @read_whole(%x: tensor<8x512xf16>, %w: tensor<512x2048xf16>) -> (tensor<8x1024xf16>, tensor<8x2048xf16>) {
  %p = matmul %x, %w : tensor<8x512xf16>, tensor<512x2048xf16>
  %a = slice %p {dim = 1, begin = 0, end = 1024} : tensor<8x2048xf16>
  return %a, %p : tensor<8x1024xf16>, tensor<8x2048xf16>
}
