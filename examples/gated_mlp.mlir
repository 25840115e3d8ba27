// The gated half of an MLP, silu(x @ w1) * (x @ w3), for one token of hidden size 4096.
//
//   build/bin/mirage-mlir-opt --mirage-superoptimize=target=h200 examples/gated_mlp.mlir
//
// Two matrix products share their activations; one kernel can accumulate both side by side and gate in its epilogue.
mirage_kernel.graph @gated_mlp(%x: tensor<1x4096xf16>, %w1: tensor<4096x4096xf16>, %w3: tensor<4096x4096xf16>) -> tensor<1x4096xf16> {
  %a = matmul %x, %w1 : tensor<1x4096xf16>, tensor<4096x4096xf16>
  %b = matmul %x, %w3 : tensor<1x4096xf16>, tensor<4096x4096xf16>
  %s = silu %a : tensor<1x4096xf16>
  %y = mul %s, %b : tensor<1x4096xf16>, tensor<1x4096xf16>
  return %y : tensor<1x4096xf16>
}
