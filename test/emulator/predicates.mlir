// Predicates, indices and masks by the program's own lowering, on the emulated GPU against float64: odd sizes, i1 inputs and outputs,
// rows that see no key (which give 0, where a quotient by nothing would give NaN).
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 -o %t.h200.mlir 2>/dev/null
// RUN: mirage-mlir-opt %s --mirage-lower=target=a100 -o %t.a100.mlir 2>/dev/null
// RUN: rm -f %t.out
// RUN: mirage-run %t.h200.mlir --program=comparisons --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=compared --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=logic --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=choice --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=indices --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=compared_indices --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=causal --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=empty --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=window --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=capped --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=bias --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=boolean --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=comparisons --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=compared --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=logic --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=choice --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=indices --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=compared_indices --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=causal --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=empty --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=window --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=capped --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=bias --target=emulator >> %t.out
// RUN: mirage-run %t.a100.mlir --program=boolean --target=emulator >> %t.out
// RUN: FileCheck %s < %t.out
// CHECK-COUNT-24: : ok

mirage_kernel.graph @comparisons(%x: tensor<5x13xf16>, %y: tensor<13xf16>) -> tensor<5x13xf16> {
  %a = less %x, %y : tensor<5x13xf16>, tensor<13xf16>
  %b = greater_equal %y, %x : tensor<13xf16>, tensor<5x13xf16>
  %c = not_equal %x, %x : tensor<5x13xf16>, tensor<5x13xf16>
  %d = or %a, %c : tensor<5x13xi1>, tensor<5x13xi1>
  %e = and %d, %b : tensor<5x13xi1>, tensor<5x13xi1>
  %r = select %e, %x, %y : tensor<5x13xi1>, tensor<5x13xf16>, tensor<13xf16>
  return %r : tensor<5x13xf16>
}

// A predicate is a byte; rows of 13 of them share words.
mirage_kernel.graph @compared(%x: tensor<37x13xf32>, %y: tensor<37x1xf32>) -> tensor<37x13xi1> {
  %r = greater %x, %y : tensor<37x13xf32>, tensor<37x1xf32>
  return %r : tensor<37x13xi1>
}

mirage_kernel.graph @logic(%p: tensor<7x40xi1>, %q: tensor<40xi1>) -> tensor<7x1xi1> {
  %a = not %q : tensor<40xi1>
  %b = and %p, %a : tensor<7x40xi1>, tensor<40xi1>
  %r = reduce_max %b {dim = 1} : tensor<7x40xi1>
  return %r : tensor<7x1xi1>
}

mirage_kernel.graph @choice(%p: tensor<6x1xi1>, %x: tensor<6x48xbf16>, %y: tensor<6x48xbf16>) -> tensor<6x48xbf16> {
  %r = select %p, %x, %y : tensor<6x1xi1>, tensor<6x48xbf16>, tensor<6x48xbf16>
  return %r : tensor<6x48xbf16>
}

mirage_kernel.graph @indices(%x: tensor<9x70xf32>) -> tensor<9x70xf32> {
  %i = iota {dim = 0, start = -4} : tensor<9x1xi32>
  %j = iota {dim = 1} : tensor<1x70xi32>
  %k = constant 33.0 : tensor<i32>
  %a = less %j, %k : tensor<1x70xi32>, tensor<i32>
  %b = equal %i, %j : tensor<9x1xi32>, tensor<1x70xi32>
  %c = or %a, %b : tensor<1x70xi1>, tensor<9x70xi1>
  %n = cast %i : tensor<9x1xi32> -> tensor<9x1xf32>
  %y = mul %x, %n : tensor<9x70xf32>, tensor<9x1xf32>
  %r = select %c, %x, %y : tensor<9x70xi1>, tensor<9x70xf32>, tensor<9x70xf32>
  return %r : tensor<9x70xf32>
}

// Every comparison of two indices, along rows and columns, from below 0, of an index with itself, and with the largest that there is.
mirage_kernel.graph @compared_indices(%x: tensor<9x70xf32>) -> tensor<9x70xf32> {
  %i = iota {dim = 0, start = -4} : tensor<9x1xi32>
  %j = iota {dim = 1, start = -2} : tensor<1x70xi32>
  %k = constant 33.0 : tensor<i32>
  %large = constant 16777216.0 : tensor<i32>
  %a = less %j, %i : tensor<1x70xi32>, tensor<9x1xi32>
  %b = less_equal %i, %j : tensor<9x1xi32>, tensor<1x70xi32>
  %c = greater %j, %k : tensor<1x70xi32>, tensor<i32>
  %d = greater_equal %k, %j : tensor<i32>, tensor<1x70xi32>
  %e = less %j, %j : tensor<1x70xi32>, tensor<1x70xi32>
  %f = greater_equal %i, %i : tensor<9x1xi32>, tensor<9x1xi32>
  %g = less %j, %large : tensor<1x70xi32>, tensor<i32>
  %two = constant 2.0 : tensor<f32>
  %four = constant 4.0 : tensor<f32>
  %eight = constant 8.0 : tensor<f32>
  %zero = constant 0.0 : tensor<f32>
  %one = constant 1.0 : tensor<f32>
  %ra = select %a, %one, %zero : tensor<9x70xi1>, tensor<f32>, tensor<f32>
  %rb = select %b, %two, %zero : tensor<9x70xi1>, tensor<f32>, tensor<f32>
  %rc = select %c, %four, %zero : tensor<1x70xi1>, tensor<f32>, tensor<f32>
  %rd = select %d, %eight, %zero : tensor<1x70xi1>, tensor<f32>, tensor<f32>
  %ab = add %ra, %rb : tensor<9x70xf32>, tensor<9x70xf32>
  %cd = add %rc, %rd : tensor<1x70xf32>, tensor<1x70xf32>
  %sum = add %ab, %cd : tensor<9x70xf32>, tensor<1x70xf32>
  %gf = and %g, %f : tensor<1x70xi1>, tensor<9x1xi1>
  %shown = select %gf, %sum, %x : tensor<9x70xi1>, tensor<9x70xf32>, tensor<9x70xf32>
  %r = select %e, %x, %shown : tensor<1x70xi1>, tensor<9x70xf32>, tensor<9x70xf32>
  return %r : tensor<9x70xf32>
}

mirage_kernel.graph @causal(%q: tensor<2x17x16xf16>, %k: tensor<2x17x16xf16>, %v: tensor<2x17x16xf16>) -> tensor<2x17x16xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25, causal} : tensor<2x17x16xf16>, tensor<2x17x16xf16>, tensor<2x17x16xf16>
  return %y : tensor<2x17x16xf16>
}

// The first three queries see nothing.
mirage_kernel.graph @empty(%q: tensor<8x16xf16>, %k: tensor<12x16xf16>, %v: tensor<12x16xf16>) -> tensor<8x16xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25, causal, offset = -3} : tensor<8x16xf16>, tensor<12x16xf16>, tensor<12x16xf16>
  return %y : tensor<8x16xf16>
}

mirage_kernel.graph @window(%q: tensor<3x10x16xbf16>, %k: tensor<3x21x16xbf16>, %v: tensor<3x21x16xbf16>) -> tensor<3x10x16xbf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25, causal, offset = 11, window = 5} : tensor<3x10x16xbf16>, tensor<3x21x16xbf16>, tensor<3x21x16xbf16>
  return %y : tensor<3x10x16xbf16>
}

mirage_kernel.graph @capped(%q: tensor<10x16xf16>, %k: tensor<21x16xf16>, %v: tensor<21x16xf16>) -> tensor<10x16xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25, cap = 1.5} : tensor<10x16xf16>, tensor<21x16xf16>, tensor<21x16xf16>
  return %y : tensor<10x16xf16>
}

mirage_kernel.graph @bias(%q: tensor<2x10x16xf16>, %k: tensor<2x21x16xf16>, %v: tensor<2x21x16xf16>, %b: tensor<10x21xf16>) -> tensor<2x10x16xf16> {
  %y = scaled_dot_product_attention %q, %k, %v, %b {scale = 0.25} : tensor<2x10x16xf16>, tensor<2x21x16xf16>, tensor<2x21x16xf16>, tensor<10x21xf16>
  return %y : tensor<2x10x16xf16>
}

// Three keys: of the 20 rows some see none.
mirage_kernel.graph @boolean(%q: tensor<2x10x16xf16>, %k: tensor<2x3x16xf16>, %v: tensor<2x3x16xf16>, %m: tensor<2x10x3xi1>) -> tensor<2x10x16xf16> {
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.25} : tensor<2x10x16xf16>, tensor<2x3x16xf16>, tensor<2x3x16xf16>, tensor<2x10x3xi1>
  return %y : tensor<2x10x16xf16>
}
