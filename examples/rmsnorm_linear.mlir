// RMSNorm with gain, then a linear layer, at decode size: 2 tokens, hidden size 4096, 6144 outputs.
//
//   build/bin/mirage-mlir-opt --mirage-superoptimize=target=h200 examples/rmsnorm_linear.mlir
//
// The program alone takes several kernels, and writes and reads the normalised activations in between. Division by the
// root mean square commutes with the matrix product, so one kernel can sum the squares beside the product and divide once,
// after its loop.
mirage_kernel.graph @rmsnorm_linear(%x: tensor<2x4096xf16>, %g: tensor<4096xf16>, %w: tensor<4096x6144xf16>) -> tensor<2x6144xf16> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<2x4096xf16>, tensor<4096xf16>
  %y = matmul %n, %w : tensor<2x4096xf16>, tensor<4096x6144xf16>
  return %y : tensor<2x6144xf16>
}
