// Decoding against a key cache of which a number of keys is valid that is known when the program runs: found, proven, and right on the
// emulated GPU whatever that number is: none, one, in between, all, more than there are, less than none.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no' -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=SAY < %t.err
// SAY: @decode: {{[0-9]+}} candidates, {{[1-9][0-9]*}} equivalent {{.*}}, 0 different, 0 unsupported
// SAY: selected @decode_{{[0-9]+}} of {{[0-9]+}} proven
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// IR: graph @decode_{{[0-9]+}}
// One kernel for whether there is a key at all, one for the rest.
// IR: custom {{.*}} : (tensor<1x1x1xi32>) -> tensor<1x1x1xf16>
// IR: custom {{.*}} -> tensor<1x4x16xf16>
// IR-NOT: custom
// IR: return
// RUN: rm -f %t.out
// RUN: bash -c 'for n in 0 1 100 255 256 257 2147483647 -1; do %python %S/../run/inputs/make_npy.py %t.npy "<f8" 1x1x1 values=$n; mirage-run %t.mlir --target=emulator --input=3=%t.npy >> %t.out; done'
// RUN: FileCheck %s < %t.out
// CHECK-COUNT-8: 64 of 64 elements compared; {{.*}}: ok
mirage_kernel.graph @decode(%q: tensor<4x1x16xf16>, %k: tensor<4x256x16xf16>, %v: tensor<4x256x16xf16>, %n: tensor<1x1x1xi32>) -> tensor<4x1x16xf16> {
  %j = iota {dim = 2} : tensor<1x1x256xi32>
  %in = less %j, %n : tensor<1x1x256xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.25} : tensor<4x1x16xf16>, tensor<4x256x16xf16>, tensor<4x256x16xf16>, tensor<1x1x256xi1>
  return %y : tensor<4x1x16xf16>
}
