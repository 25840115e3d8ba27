// Keys that blocks share and walk in a loop are dealt out tile by tile where a mask of positions leaves tiles out, so that each block has its
// share of those that are seen: found, proven, and right on the emulated GPU at any length. Four rounds, of 128 keys.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no griddims=2x4 franges=4' -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=SAY --implicit-check-not='refused: at full size' < %t.err
// SAY-DAG: selected @decode_{{[0-9]+}} of {{[0-9]+}} proven
// SAY-DAG: selected @ragged_{{[0-9]+}} of {{[0-9]+}} proven
// SAY-DAG: selected @lengths_{{[0-9]+}} of {{[0-9]+}} proven
// SAY-DAG: selected @window_{{[0-9]+}} of {{[0-9]+}} proven
// SAY-DAG: selected @rows_{{[0-9]+}} of {{[0-9]+}} proven
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// RUN: rm -f %t.out
// RUN: bash -c 'for n in 0 1 128 1000 2049 -7; do %python %S/../run/inputs/make_npy.py %t.npy "<f8" 1x1x1 values=$n; for p in decode ragged; do mirage-run %t.mlir --program=$p --target=emulator --input=3=%t.npy >> %t.out; done; done'
// RUN: FileCheck %s < %t.out
// CHECK-COUNT-12: 256 of 256 elements compared; {{.*}}: ok
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 2x1x1 values=0,700
// RUN: mirage-run %t.mlir --program=lengths --target=emulator --input=3=%t.npy | FileCheck %s --check-prefix=LENGTHS
// LENGTHS: 256 of 256 elements compared; {{.*}}: ok
// RUN: mirage-run %t.mlir --program=window --target=emulator | FileCheck %s --check-prefix=WINDOW
// WINDOW: 256 of 256 elements compared; {{.*}}: ok
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 1x1x1 values=100
// RUN: mirage-run %t.mlir --program=rows --target=emulator --input=3=%t.npy | FileCheck %s --check-prefix=ROWS
// ROWS: 8192 of 8192 elements compared; {{.*}}: ok

// IR-LABEL: graph @decode_{{[0-9]+}}
// IR: loop 4
// IR: iota {dim = 2, grid = [0, 128], loop = [512]}
// IR-COUNT-2: load {{.*}} {grid = [0, 1], loop = [1], cyclic} : tensor<2x2048x128xf16>
mirage_kernel.graph @decode(%q: tensor<2x1x128xf16>, %k: tensor<2x2048x128xf16>, %v: tensor<2x2048x128xf16>, %n: tensor<1x1x1xi32>) -> tensor<2x1x128xf16> {
  %j = iota {dim = 2} : tensor<1x1x2048xi32>
  %in = less %j, %n : tensor<1x1x2048xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.125} : tensor<2x1x128xf16>, tensor<2x2048x128xf16>, tensor<2x2048x128xf16>, tensor<1x1x2048xi1>
  return %y : tensor<2x1x128xf16>
}

// No number of tiles divides the keys: rounds are of whole tiles, and only the end cuts one short.
// IR-LABEL: graph @ragged_{{[0-9]+}}
// IR: constant 1999.0
// IR-COUNT-2: load {{.*}} {grid = [0, 1], loop = [1], tiles = [0, 128], cyclic} : tensor<2x1999x128xf16>
mirage_kernel.graph @ragged(%q: tensor<2x1x128xf16>, %k: tensor<2x1999x128xf16>, %v: tensor<2x1999x128xf16>, %n: tensor<1x1x1xi32>) -> tensor<2x1x128xf16> {
  %j = iota {dim = 2} : tensor<1x1x1999xi32>
  %in = less %j, %n : tensor<1x1x1999xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.125} : tensor<2x1x128xf16>, tensor<2x1999x128xf16>, tensor<2x1999x128xf16>, tensor<1x1x1999xi1>
  return %y : tensor<2x1x128xf16>
}

// IR-LABEL: graph @lengths_{{[0-9]+}}
// IR-COUNT-2: load {{.*}} {grid = [0, 1], loop = [1], cyclic} : tensor<2x2048x128xf16>
mirage_kernel.graph @lengths(%q: tensor<2x1x128xf16>, %k: tensor<2x2048x128xf16>, %v: tensor<2x2048x128xf16>, %n: tensor<2x1x1xi32>) -> tensor<2x1x128xf16> {
  %j = iota {dim = 2} : tensor<1x1x2048xi32>
  %in = less %j, %n : tensor<1x1x2048xi32>, tensor<2x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.125} : tensor<2x1x128xf16>, tensor<2x2048x128xf16>, tensor<2x2048x128xf16>, tensor<2x1x2048xi1>
  return %y : tensor<2x1x128xf16>
}

// Known when it is compiled.
// IR-LABEL: graph @window_{{[0-9]+}}
// IR-COUNT-2: load {{.*}} {grid = [0, 1], loop = [1], cyclic} : tensor<2x2048x128xf16>
mirage_kernel.graph @window(%q: tensor<2x1x128xf16>, %k: tensor<2x2048x128xf16>, %v: tensor<2x2048x128xf16>) -> tensor<2x1x128xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal, offset = 1200, window = 300} : tensor<2x1x128xf16>, tensor<2x2048x128xf16>, tensor<2x2048x128xf16>
  return %y : tensor<2x1x128xf16>
}

// More work than a proof at full size may be: the theorem of masks has the last word there, too.
mirage_kernel.graph @rows(%q: tensor<2x64x64xf16>, %k: tensor<2x1024x64xf16>, %v: tensor<2x1024x64xf16>, %n: tensor<1x1x1xi32>) -> tensor<2x64x64xf16> {
  %j = iota {dim = 2} : tensor<1x1x1024xi32>
  %in = less %j, %n : tensor<1x1x1024xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.125} : tensor<2x64x64xf16>, tensor<2x1024x64xf16>, tensor<2x1024x64xf16>, tensor<1x1x1024xi1>
  return %y : tensor<2x64x64xf16>
}
