// Products whose rows begin anywhere leave through shared memory, a warp's rows at a time: right on the emulated GPU, in own lowerings
// and as found, with a residual of such rows, a bias, a tail of rows and of columns, in 16 and 32 bits.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no' -o %t.mlir 2>/dev/null
// RUN: rm -f %t.out
// RUN: bash -c 'for p in residual bias wide tall; do mirage-run %t.mlir --program=$p --target=emulator --baseline >> %t.out; done'
// RUN: FileCheck %s < %t.out
// CHECK-COUNT-8: output 0 {{.*}}: ok
// RUN: FileCheck %s --check-prefix=PTX < %t.mlir
// PTX-COUNT-16: bar.warp.sync
mirage_kernel.graph @residual(%x: tensor<300x128xf16>, %w: tensor<128x333xf16>, %r: tensor<300x333xf16>) -> tensor<300x333xf16> {
  %p = matmul %x, %w : tensor<300x128xf16>, tensor<128x333xf16>
  %s = add %p, %r : tensor<300x333xf16>, tensor<300x333xf16>
  %y = gelu_tanh %s : tensor<300x333xf16>
  return %y : tensor<300x333xf16>
}

mirage_kernel.graph @bias(%x: tensor<140x128xbf16>, %w: tensor<128x166xbf16>, %b: tensor<166xbf16>) -> tensor<140x166xbf16> {
  %p = matmul %x, %w : tensor<140x128xbf16>, tensor<128x166xbf16>
  %y = add %p, %b : tensor<140x166xbf16>, tensor<166xbf16>
  return %y : tensor<140x166xbf16>
}

mirage_kernel.graph @wide(%x: tensor<100x128xf16>, %w: tensor<128x77xf16>) -> tensor<100x77xf32> {
  %y = matmul %x, %w : tensor<100x128xf16>, tensor<128x77xf16> -> tensor<100x77xf32>
  return %y : tensor<100x77xf32>
}

// Tiles of warpgroups, more of them than blocks.
mirage_kernel.graph @tall(%x: tensor<1500x192xf16>, %w: tensor<192x1029xf16>, %r: tensor<1500x1029xf16>) -> tensor<1500x1029xf16> {
  %p = matmul %x, %w : tensor<1500x192xf16>, tensor<192x1029xf16>
  %y = add %p, %r : tensor<1500x1029xf16>, tensor<1500x1029xf16>
  return %y : tensor<1500x1029xf16>
}

