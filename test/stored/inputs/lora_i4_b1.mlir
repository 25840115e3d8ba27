// LoRA of rank 16 for one token, on a base of i4 with a scale for each column.
mirage_kernel.graph @lora_i4_b1(%x: tensor<1x4096xf16>, %w: tensor<4096x4096xi4>, %s: tensor<4096xf16>, %a: tensor<4096x16xf16>, %b: tensor<16x4096xf16>) -> tensor<1x4096xf16> {
  %wf = cast %w : tensor<4096x4096xi4> -> tensor<4096x4096xf16>
  %ws = mul %wf, %s : tensor<4096x4096xf16>, tensor<4096xf16>
  %p = matmul %x, %ws : tensor<1x4096xf16>, tensor<4096x4096xf16>
  %l = matmul %x, %a : tensor<1x4096xf16>, tensor<4096x16xf16>
  %r = matmul %l, %b : tensor<1x16xf16>, tensor<16x4096xf16>
  %y = add %p, %r : tensor<1x4096xf16>, tensor<1x4096xf16>
  return %y : tensor<1x4096xf16>
}
