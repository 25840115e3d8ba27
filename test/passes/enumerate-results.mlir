// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=2' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// Several results come out of one kernel, which reads what they share once.

// PROVEN-NOT: not searched
// PROVEN: @added: {{[12]}} candidate{{s?}}, {{[12]}} equivalent
// PROVEN: @projected: 2 candidates, 2 equivalent

// CHECK: graph @added_0({{.*}} -> (tensor<64x256xf16>, tensor<64x256xf16>)
// CHECK: %[[Y:.*]]:2 = custom
// CHECK: load
// CHECK: load
// CHECK-NOT: load
// CHECK: add
// CHECK-COUNT-2: store
// CHECK: return %[[Y]]#0, %[[Y]]#1
mirage_kernel.graph @added(%x: tensor<64x256xf16>, %r: tensor<64x256xf16>) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %s = add %x, %r : tensor<64x256xf16>, tensor<64x256xf16>
  %n = rms_norm %s {eps = 1.0e-06} : tensor<64x256xf16>
  return %s, %n : tensor<64x256xf16>, tensor<64x256xf16>
}

// Columns of queries and of keys, of which there are fewer, belong to the same blocks.
// CHECK: graph @projected_0
// CHECK: custom
// CHECK: loop
// CHECK-COUNT-2: matmul
// CHECK: yield
// CHECK: store {{.*}} {grid = [[GRID:\[[-0-9, ]*1[-0-9, ]*\]]]}
// CHECK-NEXT: store {{.*}} {grid = [[GRID]]}
mirage_kernel.graph @projected(%x: tensor<8x1024xf16>, %q: tensor<1024x1024xf16>, %k: tensor<1024x256xf16>) -> (tensor<8x1024xf16>, tensor<8x256xf16>) {
  %a = matmul %x, %q : tensor<8x1024xf16>, tensor<1024x1024xf16>
  %b = matmul %x, %k : tensor<8x1024xf16>, tensor<1024x256xf16>
  return %a, %b : tensor<8x1024xf16>, tensor<8x256xf16>
}
