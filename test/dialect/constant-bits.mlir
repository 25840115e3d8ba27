// Constants by their bits, as MLIR writes them: of the element type. They are printed as numbers.
// RUN: mirage-mlir-opt %s | FileCheck %s
// RUN: mirage-mlir-opt %s | mirage-mlir-opt | FileCheck %s

mirage_kernel.graph @bits(%x: tensor<4xf32>, %h: tensor<4xf16>, %b: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>) {
  // CHECK: constant -3.4028234663852886e+38 : tensor<f32>
  %0 = constant 0xFF7FFFFF : tensor<f32>
  // CHECK: constant 1.0 : tensor<f16>
  %1 = constant 0x3C00 : tensor<f16>
  // CHECK: constant 1.0 : tensor<bf16>
  %2 = constant 0x3F80 : tensor<bf16>
  %3 = max %x, %0 : tensor<4xf32>, tensor<f32>
  %4 = mul %h, %1 : tensor<4xf16>, tensor<f16>
  %5 = mul %b, %2 : tensor<4xbf16>, tensor<bf16>
  return %3, %4, %5 : tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>
}
