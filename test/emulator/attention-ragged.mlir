// Attention over numbers of queries, of keys, of both and of neither that tiles divide, as it is found, on the emulated GPU against float64.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no' -o %t.mlir 2>/dev/null
// RUN: rm -f %t.out
// RUN: mirage-run %t.mlir --program=both --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=keys --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=queries --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=long --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=narrow --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=wide --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=brain --target=emulator >> %t.out
// RUN: FileCheck %s < %t.out
// CHECK-COUNT-7: : ok

mirage_kernel.graph @both(%q: tensor<2x65x64xf16>, %k: tensor<2x65x64xf16>, %v: tensor<2x65x64xf16>) -> tensor<2x65x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<2x65x64xf16>, tensor<2x65x64xf16>, tensor<2x65x64xf16>
  return %y : tensor<2x65x64xf16>
}

mirage_kernel.graph @keys(%q: tensor<2x128x64xf16>, %k: tensor<2x100x64xf16>, %v: tensor<2x100x64xf16>) -> tensor<2x128x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<2x128x64xf16>, tensor<2x100x64xf16>, tensor<2x100x64xf16>
  return %y : tensor<2x128x64xf16>
}

mirage_kernel.graph @queries(%q: tensor<2x100x64xf16>, %k: tensor<2x128x64xf16>, %v: tensor<2x128x64xf16>) -> tensor<2x100x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<2x100x64xf16>, tensor<2x128x64xf16>, tensor<2x128x64xf16>
  return %y : tensor<2x100x64xf16>
}

mirage_kernel.graph @long(%q: tensor<1x100x64xf16>, %k: tensor<1x1000x64xf16>, %v: tensor<1x1000x64xf16>) -> tensor<1x100x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<1x100x64xf16>, tensor<1x1000x64xf16>, tensor<1x1000x64xf16>
  return %y : tensor<1x100x64xf16>
}

mirage_kernel.graph @narrow(%q: tensor<2x65x80xf16>, %k: tensor<2x100x80xf16>, %v: tensor<2x100x80xf16>) -> tensor<2x65x80xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<2x65x80xf16>, tensor<2x100x80xf16>, tensor<2x100x80xf16>
  return %y : tensor<2x65x80xf16>
}

mirage_kernel.graph @wide(%q: tensor<1x65x256xf16>, %k: tensor<1x100x256xf16>, %v: tensor<1x100x256xf16>) -> tensor<1x65x256xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<1x65x256xf16>, tensor<1x100x256xf16>, tensor<1x100x256xf16>
  return %y : tensor<1x65x256xf16>
}

mirage_kernel.graph @brain(%q: tensor<1x1000x128xbf16>, %k: tensor<1x65x128xbf16>, %v: tensor<1x65x128xbf16>) -> tensor<1x1000x128xbf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<1x1000x128xbf16>, tensor<1x65x128xbf16>, tensor<1x65x128xbf16>
  return %y : tensor<1x1000x128xbf16>
}
