// A linear layer with a low-rank update, x @ w + (x @ a) @ b: 2 tokens, 4096 to 4096, rank 16.
//
//   build/bin/mirage-mlir-opt --mirage-superoptimize=target=h200 examples/lora.mlir
//
// Three small kernels beside one large one become one: each block computes x @ a for itself, beside its part of x @ w.
mirage_kernel.graph @lora(%x: tensor<2x4096xf16>, %w: tensor<4096x4096xf16>, %a: tensor<4096x16xf16>, %b: tensor<16x4096xf16>) -> tensor<2x4096xf16> {
  %xw = matmul %x, %w : tensor<2x4096xf16>, tensor<4096x4096xf16>
  %xa = matmul %x, %a : tensor<2x4096xf16>, tensor<4096x16xf16>
  %xab = matmul %xa, %b : tensor<2x16xf16>, tensor<16x4096xf16>
  %y = add %xw, %xab : tensor<2x4096xf16>, tensor<2x4096xf16>
  return %y : tensor<2x4096xf16>
}
