// Products of a single row, whose operands are swapped: the row is the first of eight, the others are zeros that nobody stores. What is
// made of it - a gate, a residual of one row, a maximum over its columns in a second kernel - is right on the emulated GPU.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 --mirage-verify --mirage-layout=target=h100 -o %t.mlir 2>/dev/null
// RUN: awk '/graph @/ {match($0, /@[a-z]+_[0-9]+/); name = substr($0, RSTART + 1, RLENGTH - 1)} /swap = true/ && name && !seen[substr(name, 1, 5)]++ {print name}' %t.mlir > %t.names
// RUN: FileCheck %s --check-prefix=NAMES < %t.names
// NAMES: gated_
// NAMES: shares_
// RUN: FileCheck %s --check-prefix=SWAP < %t.mlir
// RUN: bash -c 'for n in $(cat %t.names); do mirage-run %t.mlir --program=${n%%%%_*} --graph=$n --compile=h100 --target=emulator; done' | FileCheck %s
// CHECK-COUNT-2: : ok

// SWAP: swap = true
// SWAP: load {{.*}}tiles = [8]} : tensor<1x2048xf16>
mirage_kernel.graph @gated(%x: tensor<1x2048xf16>, %w1: tensor<2048x1024xf16>, %w3: tensor<2048x1024xf16>, %r: tensor<1x1024xf16>) -> tensor<1x1024xf16> {
  %h = matmul %x, %w1 : tensor<1x2048xf16>, tensor<2048x1024xf16>
  %g = matmul %x, %w3 : tensor<1x2048xf16>, tensor<2048x1024xf16>
  %s = silu %h : tensor<1x1024xf16>
  %y = mul %s, %g : tensor<1x1024xf16>, tensor<1x1024xf16>
  %z = add %y, %r : tensor<1x1024xf16>, tensor<1x1024xf16>
  return %z : tensor<1x1024xf16>
}

mirage_kernel.graph @shares(%x: tensor<1x2048xbf16>, %w: tensor<2048x2048xbf16>) -> tensor<1x2048xbf16> {
  %p = matmul %x, %w : tensor<1x2048xbf16>, tensor<2048x2048xbf16>
  %s = softmax %p {dim = 1} : tensor<1x2048xbf16>
  return %s : tensor<1x2048xbf16>
}
