// Element-wise functions by the program's own lowering, on the emulated GPU against float64: odd sizes, both signs, angles of
// some thousand turns.
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 -o %t.h200.mlir 2>/dev/null
// RUN: rm -f %t.out
// RUN: mirage-run %t.h200.mlir --program=abs_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=abs_f32 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=sign_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=sign_f32 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=log1p_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=log1p_f32 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=softplus_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=softplus_f32 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=hard_sigmoid_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=hard_sigmoid_f32 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=hard_swish_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=hard_swish_f32 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=leaky_relu_0 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=leaky_relu_1 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=clamp_2 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=pow_3 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=pow_4 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=pow_of_size_0 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=pow_of_size_1 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=pow_of_size_2 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=pow_of_size_3 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=sin_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=sin_far --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=cos_f16 --target=emulator >> %t.out
// RUN: mirage-run %t.h200.mlir --program=cos_far --target=emulator >> %t.out
// RUN: FileCheck %s < %t.out
// CHECK-COUNT-25: : ok

mirage_kernel.graph @abs_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = abs %x : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @abs_f32(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %y = abs %x : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @sign_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = sign %x : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @sign_f32(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %y = sign %x : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @log1p_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %p = square %x : tensor<5x13xf16>
  %y = log1p %p : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @log1p_f32(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %p = square %x : tensor<5x13xf32>
  %y = log1p %p : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @softplus_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = softplus %x : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @softplus_f32(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %y = softplus %x : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @hard_sigmoid_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = hard_sigmoid %x : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @hard_sigmoid_f32(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %y = hard_sigmoid %x : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @hard_swish_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = hard_swish %x : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @hard_swish_f32(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %y = hard_swish %x : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @leaky_relu_0(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = leaky_relu %x {slope = 1.0e-02} : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @leaky_relu_1(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = leaky_relu %x {slope = 2.5} : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @clamp_2(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = clamp %x {low = -0.5, high = 0.75} : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @pow_3(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = pow %x {exponent = 3.0} : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @pow_4(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %y = pow %x {exponent = -2.0} : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @pow_of_size_0(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %a = abs %x : tensor<5x13xf32>
  %y = pow %a {exponent = 2.5} : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @pow_of_size_1(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %a = abs %x : tensor<5x13xf32>
  %y = pow %a {exponent = -1.5} : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @pow_of_size_2(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %a = abs %x : tensor<5x13xf32>
  %y = pow %a {exponent = 0.3} : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @pow_of_size_3(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %a = abs %x : tensor<5x13xf32>
  %y = pow %a {exponent = -0.7} : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @sin_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = sin %x : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @sin_far(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %c = constant 3000.0 : tensor<f32>
  %m = mul %x, %c : tensor<5x13xf32>, tensor<f32>
  %y = sin %m : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}

mirage_kernel.graph @cos_f16(%x: tensor<5x13xf16>) -> tensor<5x13xf16> {
  %y = cos %x : tensor<5x13xf16>
  return %y : tensor<5x13xf16>
}

mirage_kernel.graph @cos_far(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
  %c = constant 3000.0 : tensor<f32>
  %m = mul %x, %c : tensor<5x13xf32>, tensor<f32>
  %y = cos %m : tensor<5x13xf32>
  return %y : tensor<5x13xf32>
}
