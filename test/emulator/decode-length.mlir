// Decoding against a key cache of which a number of keys is valid that is known when the program runs: found, proven, and right on the
// emulated GPU whatever that number is: none, one, in between, all, more than there are, less than none.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no' -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=SAY < %t.err
// SAY-DAG: @decode: {{[0-9]+}} candidates, {{[1-9][0-9]*}} equivalent {{.*}}, 0 different, 0 unsupported
// SAY-DAG: selected @decode_{{[0-9]+}} of {{[0-9]+}} proven
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// IR: graph @decode_{{[0-9]+}}
// One kernel, which asks whether there is a key at all itself.
// IR: custom {{.*}} tensor<1x1x1xi32>) -> tensor<1x4x16xf16>
// IR: less
// IR: less
// IR: not
// IR-NOT: custom
// IR: return
// RUN: rm -f %t.out
// RUN: bash -c 'for n in 0 1 100 255 256 257 2147483647 -1; do %python %S/../run/inputs/make_npy.py %t.npy "<f8" 1x1x1 values=$n; mirage-run %t.mlir --program=decode --target=emulator --input=3=%t.npy >> %t.out; done'
// RUN: FileCheck %s < %t.out
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 3x1x1x1 values=0,50,200
// RUN: mirage-run %t.mlir --program=batch --target=emulator --input=3=%t.npy | FileCheck %s --check-prefix=BATCH
// BATCH: 384 of 384 elements compared; {{.*}}: ok
// RUN: mirage-run %t.mlir --program=given --target=emulator | FileCheck %s --check-prefix=GIVEN
// GIVEN: 256 of 256 elements compared; {{.*}}: ok

// Blocks whose own parts go beyond them: no candidate counts a key twice. Each is proven, by position, and the best runs right.
// SAY-DAG: @ends: {{[0-9]+}} candidates, {{[1-9][0-9]*}} equivalent {{.*}} 0 different, 0 unsupported
// RUN: mirage-run %t.mlir --program=ends --target=emulator | FileCheck %s --check-prefix=ENDS
// ENDS: 960 of 960 elements compared; {{.*}}: ok
// CHECK-COUNT-8: 64 of 64 elements compared; {{.*}}: ok
mirage_kernel.graph @decode(%q: tensor<4x1x16xf16>, %k: tensor<4x256x16xf16>, %v: tensor<4x256x16xf16>, %n: tensor<1x1x1xi32>) -> tensor<4x1x16xf16> {
  %j = iota {dim = 2} : tensor<1x1x256xi32>
  %in = less %j, %n : tensor<1x1x256xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.25} : tensor<4x1x16xf16>, tensor<4x256x16xf16>, tensor<4x256x16xf16>, tensor<1x1x256xi1>
  return %y : tensor<4x1x16xf16>
}

// Heads in groups that share keys, a length for each request.
// IR-LABEL: graph @batch_{{[0-9]+}}
// IR: custom {{.*}} tensor<3x1x1x1xi32>) -> tensor<3x2x4x16xf16>
// IR-NOT: custom
// IR: return
mirage_kernel.graph @batch(%q: tensor<3x2x4x16xf16>, %k: tensor<3x2x96x16xf16>, %v: tensor<3x2x96x16xf16>, %n: tensor<3x1x1x1xi32>) -> tensor<3x2x4x16xf16> {
  %j = iota {dim = 3} : tensor<1x1x1x96xi32>
  %in = less %j, %n : tensor<1x1x1x96xi32>, tensor<3x1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.25} : tensor<3x2x4x16xf16>, tensor<3x2x96x16xf16>, tensor<3x2x96x16xf16>, tensor<3x1x1x96xi1>
  return %y : tensor<3x2x4x16xf16>
}

// A mask that somebody gives, for all heads and queries.
// IR-LABEL: graph @given_{{[0-9]+}}
// IR: custom {{.*}} : (tensor<1x1x256xi1>) -> tensor<1x1x1xf16>
// IR: custom {{.*}} tensor<1x1x256xi1>, tensor<1x1x1xf16>) -> tensor<4x4x16xf16>
mirage_kernel.graph @given(%q: tensor<4x4x16xf16>, %k: tensor<4x256x16xf16>, %v: tensor<4x256x16xf16>, %m: tensor<1x1x256xi1>) -> tensor<4x4x16xf16> {
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.25} : tensor<4x4x16xf16>, tensor<4x256x16xf16>, tensor<4x256x16xf16>, tensor<1x1x256xi1>
  return %y : tensor<4x4x16xf16>
}

mirage_kernel.graph @ends(%q: tensor<2x5x4x24xf16>, %k: tensor<2x5x130x24xf16>, %v: tensor<2x5x130x24xf16>) -> tensor<2x5x4x24xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.3, causal, offset = 126, window = 93} : tensor<2x5x4x24xf16>, tensor<2x5x130x24xf16>, tensor<2x5x130x24xf16>
  return %y : tensor<2x5x4x24xf16>
}
