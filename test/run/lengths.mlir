// A length that no file gives is all that the program counts: what is timed, and chosen by its time, is the whole cache.
// RUN: mirage-mlir-opt --mirage-lower %s -o %t.mlir
// RUN: mirage-run --target=emulator %t.mlir | FileCheck %s
// RUN: %python %S/inputs/make_npy.py %t.npy '<f8' 2x1 values=3,0
// RUN: mirage-run --target=emulator --input=1=%t.npy %t.mlir | FileCheck %s --check-prefix=GIVEN
// CHECK: input 0       tensor<2x40xf32>: normal(0, 1)
// CHECK: input 1       tensor<2x1xi32>: all 45 that the program counts
// CHECK: output 0 {{.*}}: ok
// GIVEN: input 1       tensor<2x1xi32>: {{.*}}.npy
// GIVEN: output 0 {{.*}}: ok
mirage_kernel.graph @p(%x: tensor<2x40xf32>, %n: tensor<2x1xi32>) -> tensor<2x40xf32> {
  %j = iota {dim = 1, start = 5} : tensor<1x40xi32>
  %in = less %j, %n : tensor<1x40xi32>, tensor<2x1xi32>
  %z = constant 0.0 : tensor<1x1xf32>
  %y = select %in, %x, %z : tensor<2x40xi1>, tensor<2x40xf32>, tensor<1x1xf32>
  return %y : tensor<2x40xf32>
}
