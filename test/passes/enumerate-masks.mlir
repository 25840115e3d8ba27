// Masks by position are found, proven at full size and compiled: scores are masked where they are, tile by tile, by indices that
// know where block and iteration are. No mask is stored.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=4 target=h200' --mirage-verify --mirage-select=target=h200 --mirage-lower=target=h200 -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=FUNNEL < %t.err
// RUN: FileCheck %s < %t.mlir
// RUN: rm -f %t.out
// RUN: mirage-run %t.mlir --program=causal --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=window --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=capped --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=empty --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=given --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=computed --target=emulator >> %t.out
// RUN: FileCheck %s --check-prefix=RAN < %t.out
// RAN-COUNT-6: : ok

// FUNNEL-DAG: @causal: 4 candidates, 4 equivalent
// FUNNEL-DAG: @window: 4 candidates, {{[1-4]}} equivalent
// FUNNEL-DAG: @capped: 4 candidates, {{[1-4]}} equivalent
// Rows that see nothing, by position or by a mask that somebody gives: 1 is added to their sum, 0.
// FUNNEL-DAG: @empty: 4 candidates, 4 equivalent
// FUNNEL-DAG: @given: 4 candidates, 4 equivalent
// What is masked by what is computed is not searched, and says so.
// FUNNEL-DAG: search: less: only masks of indices and of i1 inputs are searched, no predicate of what is computed

// CHECK-LABEL: graph @causal_{{[0-9]}}({{.*}}selected
// CHECK: custom ({{%[a-z0-9]+ = %[a-z0-9]+, %[a-z0-9]+ = %[a-z0-9]+, %[a-z0-9]+ = %[a-z0-9]+}}) outs
// CHECK: iota {dim = 1, loop = [{{[0-9]+}}]}
// CHECK: iota {dim = 0, grid = [{{[0-9, ]+}}]}
// CHECK: less_equal
// CHECK: mask
// CHECK: yield
// CHECK: return
mirage_kernel.graph @causal(%q: tensor<2x64x32xf16>, %k: tensor<2x64x32xf16>, %v: tensor<2x64x32xf16>) -> tensor<2x64x32xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.1767578125, causal} : tensor<2x64x32xf16>, tensor<2x64x32xf16>, tensor<2x64x32xf16>
  return %y : tensor<2x64x32xf16>
}

// CHECK-LABEL: graph @window_{{[0-9]}}({{.*}}selected
// CHECK: iota {dim = 0, start = {{-?[0-9]+}}, grid
// CHECK: and
// CHECK: mask
mirage_kernel.graph @window(%q: tensor<2x40x32xf16>, %k: tensor<2x72x32xf16>, %v: tensor<2x72x32xf16>) -> tensor<2x40x32xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.1767578125, causal, offset = 32, window = 20} : tensor<2x40x32xf16>, tensor<2x72x32xf16>, tensor<2x72x32xf16>
  return %y : tensor<2x40x32xf16>
}

// CHECK-LABEL: graph @capped_{{[0-9]}}({{.*}}selected
// CHECK: tanh
mirage_kernel.graph @capped(%q: tensor<2x32x32xf16>, %k: tensor<2x64x32xf16>, %v: tensor<2x64x32xf16>) -> tensor<2x32x32xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.1767578125, cap = 4.0, causal, offset = 32} : tensor<2x32x32xf16>, tensor<2x64x32xf16>, tensor<2x64x32xf16>
  return %y : tensor<2x32x32xf16>
}

// The first three queries see nothing, and give 0.
mirage_kernel.graph @empty(%q: tensor<2x32x32xf16>, %k: tensor<2x32x32xf16>, %v: tensor<2x32x32xf16>) -> tensor<2x32x32xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.1767578125, causal, offset = -3} : tensor<2x32x32xf16>, tensor<2x32x32xf16>, tensor<2x32x32xf16>
  return %y : tensor<2x32x32xf16>
}

mirage_kernel.graph @given(%q: tensor<2x32x32xf16>, %k: tensor<2x32x32xf16>, %v: tensor<2x32x32xf16>, %m: tensor<32x32xi1>) -> tensor<2x32x32xf16> {
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.1767578125} : tensor<2x32x32xf16>, tensor<2x32x32xf16>, tensor<2x32x32xf16>, tensor<32x32xi1>
  return %y : tensor<2x32x32xf16>
}

mirage_kernel.graph @computed(%x: tensor<8x32xf16>, %w: tensor<32x32xf16>) -> tensor<8x32xf16> {
  %y = matmul %x, %w : tensor<8x32xf16>, tensor<32x32xf16>
  %zero = constant 0.0 : tensor<f16>
  %c = less %y, %zero : tensor<8x32xf16>, tensor<f16>
  %r = select %c, %zero, %y : tensor<8x32xi1>, tensor<f16>, tensor<8x32xf16>
  return %r : tensor<8x32xf16>
}
