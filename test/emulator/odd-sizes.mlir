// The benchmark programs by their own lowering at sizes that no tile divides: masks inside reductions, exponentials and norms.
// RUN: mirage-module-test %s

// Attention: one, 3 and 17 rows; keys beside a multiple of the tile; head dimensions that are none of 16.
mirage_kernel.graph @attention_rows_1_keys_63(%q: tensor<2x1x64xf16>, %k: tensor<2x64x63xf16>, %v: tensor<2x63x64xf16>) -> tensor<2x1x64xf16> {
  %s = matmul %q, %k : tensor<2x1x64xf16>, tensor<2x64x63xf16>
  %p = softmax %s {dim = 2} : tensor<2x1x63xf16>
  %y = matmul %p, %v : tensor<2x1x63xf16>, tensor<2x63x64xf16>
  return %y : tensor<2x1x64xf16>
}

mirage_kernel.graph @attention_rows_3_keys_65(%q: tensor<3x3x40xbf16>, %k: tensor<3x40x65xbf16>, %v: tensor<3x65x40xbf16>) -> tensor<3x3x40xbf16> {
  %s = matmul %q, %k : tensor<3x3x40xbf16>, tensor<3x40x65xbf16>
  %p = softmax %s {dim = 2} : tensor<3x3x65xbf16>
  %y = matmul %p, %v : tensor<3x3x65xbf16>, tensor<3x65x40xbf16>
  return %y : tensor<3x3x40xbf16>
}

mirage_kernel.graph @attention_rows_17_keys_127(%q: tensor<2x17x17xf16>, %k: tensor<2x17x127xf16>, %v: tensor<2x127x17xf16>) -> tensor<2x17x17xf16> {
  %s = matmul %q, %k : tensor<2x17x17xf16>, tensor<2x17x127xf16>
  %p = softmax %s {dim = 2} : tensor<2x17x127xf16>
  %y = matmul %p, %v : tensor<2x17x127xf16>, tensor<2x127x17xf16>
  return %y : tensor<2x17x17xf16>
}

mirage_kernel.graph @attention_rows_33_keys_100_f32(%q: tensor<1x33x24xf32>, %k: tensor<1x24x100xf32>, %v: tensor<1x100x24xf32>) -> tensor<1x33x24xf32> {
  %s = matmul %q, %k : tensor<1x33x24xf32>, tensor<1x24x100xf32>
  %p = softmax %s {dim = 2} : tensor<1x33x100xf32>
  %y = matmul %p, %v : tensor<1x33x100xf32>, tensor<1x100x24xf32>
  return %y : tensor<1x33x24xf32>
}

mirage_kernel.graph @attention_keys_1(%q: tensor<2x5x16xf16>, %k: tensor<2x16x1xf16>, %v: tensor<2x1x16xf16>) -> tensor<2x5x16xf16> {
  %s = matmul %q, %k : tensor<2x5x16xf16>, tensor<2x16x1xf16>
  %p = softmax %s {dim = 2} : tensor<2x5x1xf16>
  %y = matmul %p, %v : tensor<2x5x1xf16>, tensor<2x1x16xf16>
  return %y : tensor<2x5x16xf16>
}

mirage_kernel.graph @qknorm_rows_1_keys_65(%q: tensor<1x1x64xf16>, %k: tensor<1x65x64xf16>, %v: tensor<1x65x64xf16>) -> tensor<1x1x64xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<1x1x64xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<1x65x64xf16>
  %s = matmul %qn, %kn {transpose_b} : tensor<1x1x64xf16>, tensor<1x65x64xf16>
  %p = softmax %s {dim = 2} : tensor<1x1x65xf16>
  %y = matmul %p, %v : tensor<1x1x65xf16>, tensor<1x65x64xf16>
  return %y : tensor<1x1x64xf16>
}

mirage_kernel.graph @qknorm_rows_17_keys_63(%q: tensor<2x17x33xbf16>, %k: tensor<2x63x33xbf16>, %v: tensor<2x63x33xbf16>) -> tensor<2x17x33xbf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x17x33xbf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<2x63x33xbf16>
  %s = matmul %qn, %kn {transpose_b} : tensor<2x17x33xbf16>, tensor<2x63x33xbf16>
  %p = softmax %s {dim = 2} : tensor<2x17x63xbf16>
  %y = matmul %p, %v : tensor<2x17x63xbf16>, tensor<2x63x33xbf16>
  return %y : tensor<2x17x33xbf16>
}

// Norms and products: rows 1, 3, 17; contractions and columns that no tile divides.
mirage_kernel.graph @rms_norm_row_1_4097(%x: tensor<1x4097xf16>, %g: tensor<4097xf16>, %w: tensor<4097x33xf16>) -> tensor<1x33xf16> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<1x4097xf16>, tensor<4097xf16>
  %y = matmul %n, %w : tensor<1x4097xf16>, tensor<4097x33xf16>
  return %y : tensor<1x33xf16>
}

mirage_kernel.graph @rms_norm_rows_3_100(%x: tensor<3x100xbf16>, %g: tensor<100xbf16>, %w: tensor<100x97xbf16>) -> tensor<3x97xbf16> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<3x100xbf16>, tensor<100xbf16>
  %y = matmul %n, %w : tensor<3x100xbf16>, tensor<100x97xbf16>
  return %y : tensor<3x97xbf16>
}

mirage_kernel.graph @rms_norm_rows_17_97(%x: tensor<17x97xf16>, %g: tensor<97xf16>, %w: tensor<97x1000xf16>) -> tensor<17x1000xf16> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<17x97xf16>, tensor<97xf16>
  %y = matmul %n, %w : tensor<17x97xf16>, tensor<97x1000xf16>
  return %y : tensor<17x1000xf16>
}

mirage_kernel.graph @rms_norm_rows_3_97_f32(%x: tensor<3x97xf32>, %g: tensor<97xf32>, %w: tensor<97x65xf32>) -> tensor<3x65xf32> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<3x97xf32>, tensor<97xf32>
  %y = matmul %n, %w : tensor<3x97xf32>, tensor<97x65xf32>
  return %y : tensor<3x65xf32>
}

mirage_kernel.graph @lora_rows_1(%x: tensor<1x1000xf16>, %w: tensor<1000x97xf16>, %a: tensor<1000x5xf16>, %b: tensor<5x97xf16>) -> tensor<1x97xf16> {
  %xw = matmul %x, %w : tensor<1x1000xf16>, tensor<1000x97xf16>
  %xa = matmul %x, %a : tensor<1x1000xf16>, tensor<1000x5xf16>
  %xab = matmul %xa, %b : tensor<1x5xf16>, tensor<5x97xf16>
  %y = add %xw, %xab : tensor<1x97xf16>, tensor<1x97xf16>
  return %y : tensor<1x97xf16>
}

mirage_kernel.graph @lora_rows_17(%x: tensor<17x97xbf16>, %w: tensor<97x100xbf16>, %a: tensor<97x3xbf16>, %b: tensor<3x100xbf16>) -> tensor<17x100xbf16> {
  %xw = matmul %x, %w : tensor<17x97xbf16>, tensor<97x100xbf16>
  %xa = matmul %x, %a : tensor<17x97xbf16>, tensor<97x3xbf16>
  %xab = matmul %xa, %b : tensor<17x3xbf16>, tensor<3x100xbf16>
  %y = add %xw, %xab : tensor<17x100xbf16>, tensor<17x100xbf16>
  return %y : tensor<17x100xbf16>
}

mirage_kernel.graph @gated_mlp_rows_1(%x: tensor<1x1000xf16>, %w1: tensor<1000x97xf16>, %w3: tensor<1000x97xf16>) -> tensor<1x97xf16> {
  %a = matmul %x, %w1 : tensor<1x1000xf16>, tensor<1000x97xf16>
  %b = matmul %x, %w3 : tensor<1x1000xf16>, tensor<1000x97xf16>
  %s = silu %a : tensor<1x97xf16>
  %y = mul %s, %b : tensor<1x97xf16>, tensor<1x97xf16>
  return %y : tensor<1x97xf16>
}

mirage_kernel.graph @gated_mlp_rows_3(%x: tensor<3x97xbf16>, %w1: tensor<97x100xbf16>, %w3: tensor<97x100xbf16>) -> tensor<3x100xbf16> {
  %a = matmul %x, %w1 : tensor<3x97xbf16>, tensor<97x100xbf16>
  %b = matmul %x, %w3 : tensor<3x97xbf16>, tensor<97x100xbf16>
  %s = silu %a : tensor<3x100xbf16>
  %y = mul %s, %b : tensor<3x100xbf16>, tensor<3x100xbf16>
  return %y : tensor<3x100xbf16>
}

mirage_kernel.graph @gated_mlp_rows_17_f32(%x: tensor<17x65xf32>, %w1: tensor<65x33xf32>, %w3: tensor<65x33xf32>) -> tensor<17x33xf32> {
  %a = matmul %x, %w1 : tensor<17x65xf32>, tensor<65x33xf32>
  %b = matmul %x, %w3 : tensor<17x65xf32>, tensor<65x33xf32>
  %s = silu %a : tensor<17x33xf32>
  %y = mul %s, %b : tensor<17x33xf32>, tensor<17x33xf32>
  return %y : tensor<17x33xf32>
}

mirage_kernel.graph @norm_transformer_1_4097(%h: tensor<1x4097xf16>, %x: tensor<1x4097xf16>, %alpha: tensor<1x4097xf16>) -> tensor<1x4097xf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<1x4097xf16>
  %d = sub %n, %x : tensor<1x4097xf16>, tensor<1x4097xf16>
  %s = mul %alpha, %d : tensor<1x4097xf16>, tensor<1x4097xf16>
  %u = add %x, %s : tensor<1x4097xf16>, tensor<1x4097xf16>
  %y = rms_norm %u {eps = 0.0} : tensor<1x4097xf16>
  return %y : tensor<1x4097xf16>
}

mirage_kernel.graph @norm_transformer_17_97(%h: tensor<17x97xbf16>, %x: tensor<17x97xbf16>, %alpha: tensor<17x97xbf16>) -> tensor<17x97xbf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<17x97xbf16>
  %d = sub %n, %x : tensor<17x97xbf16>, tensor<17x97xbf16>
  %s = mul %alpha, %d : tensor<17x97xbf16>, tensor<17x97xbf16>
  %u = add %x, %s : tensor<17x97xbf16>, tensor<17x97xbf16>
  %y = rms_norm %u {eps = 0.0} : tensor<17x97xbf16>
  return %y : tensor<17x97xbf16>
}

mirage_kernel.graph @experts_3_of_1(%x: tensor<3x1x97xf16>, %a: tensor<3x97x100xf16>, %b: tensor<3x100x65xf16>) -> tensor<3x1x65xf16> {
  %h = matmul %x, %a : tensor<3x1x97xf16>, tensor<3x97x100xf16>
  %s = silu %h : tensor<3x1x100xf16>
  %y = matmul %s, %b : tensor<3x1x100xf16>, tensor<3x100x65xf16>
  return %y : tensor<3x1x65xf16>
}

mirage_kernel.graph @experts_2_of_17(%x: tensor<2x17x65xbf16>, %a: tensor<2x65x97xbf16>, %b: tensor<2x97x33xbf16>) -> tensor<2x17x33xbf16> {
  %h = matmul %x, %a : tensor<2x17x65xbf16>, tensor<2x65x97xbf16>
  %s = silu %h : tensor<2x17x97xbf16>
  %y = matmul %s, %b : tensor<2x17x97xbf16>, tensor<2x97x33xbf16>
  return %y : tensor<2x17x33xbf16>
}

// Transposed operands, whose rows are not of a multiple of 16 bytes.
mirage_kernel.graph @linear_ta_1(%x: tensor<100x1xf16>, %w: tensor<100x97xf16>) -> tensor<1x97xf16> {
  %y = matmul %x, %w {transpose_a} : tensor<100x1xf16>, tensor<100x97xf16>
  return %y : tensor<1x97xf16>
}

mirage_kernel.graph @linear_tb_3(%x: tensor<3x97xbf16>, %w: tensor<1000x97xbf16>) -> tensor<3x1000xbf16> {
  %y = matmul %x, %w {transpose_b} : tensor<3x97xbf16>, tensor<1000x97xbf16>
  return %y : tensor<3x1000xbf16>
}

mirage_kernel.graph @linear_ta_tb_17(%x: tensor<97x17xf16>, %w: tensor<65x97xf16>) -> tensor<17x65xf16> {
  %y = matmul %x, %w {transpose_a, transpose_b} : tensor<97x17xf16>, tensor<65x97xf16>
  return %y : tensor<17x65xf16>
}

mirage_kernel.graph @linear_column_1(%x: tensor<100x97xf16>, %w: tensor<97x1xf16>) -> tensor<100x1xf16> {
  %y = matmul %x, %w : tensor<100x97xf16>, tensor<97x1xf16>
  return %y : tensor<100x1xf16>
}

mirage_kernel.graph @linear_depth_1(%x: tensor<17x1xbf16>, %w: tensor<1x33xbf16>) -> tensor<17x33xbf16> {
  %y = matmul %x, %w : tensor<17x1xbf16>, tensor<1x33xbf16>
  return %y : tensor<17x33xbf16>
}

mirage_kernel.graph @linear_ta_tb_f32(%x: tensor<33x65xf32>, %w: tensor<97x33xf32>) -> tensor<65x97xf32> {
  %y = matmul %x, %w {transpose_a, transpose_b} : tensor<33x65xf32>, tensor<97x33xf32>
  return %y : tensor<65x97xf32>
}

// Rows that are walked in a loop, because no tile holds them; and dimensions that are not the last.
mirage_kernel.graph @softmax_long_row(%x: tensor<2x20001xf16>) -> tensor<2x20001xf16> {
  %y = softmax %x {dim = 1} : tensor<2x20001xf16>
  return %y : tensor<2x20001xf16>
}

mirage_kernel.graph @softmax_dim_0(%x: tensor<33x70xbf16>) -> tensor<33x70xbf16> {
  %y = softmax %x {dim = 0} : tensor<33x70xbf16>
  return %y : tensor<33x70xbf16>
}

mirage_kernel.graph @softmax_long_dim_0(%x: tensor<1501x40xf16>) -> tensor<1501x40xf16> {
  %y = softmax %x {dim = 0} : tensor<1501x40xf16>
  return %y : tensor<1501x40xf16>
}

mirage_kernel.graph @softmax_middle(%x: tensor<3x65x17xf32>) -> tensor<3x65x17xf32> {
  %y = softmax %x {dim = 1} : tensor<3x65x17xf32>
  return %y : tensor<3x65x17xf32>
}

mirage_kernel.graph @rms_norm_long_row(%x: tensor<1x17001xf16>, %g: tensor<17001xf16>) -> tensor<1x17001xf16> {
  %y = rms_norm %x, %g {eps = 0.001} : tensor<1x17001xf16>, tensor<17001xf16>
  return %y : tensor<1x17001xf16>
}

mirage_kernel.graph @layer_norm_long_row(%x: tensor<2x17001xf16>, %g: tensor<17001xf16>, %b: tensor<17001xf16>) -> tensor<2x17001xf16> {
  %c = constant 4.0 : tensor<1xf16>
  %z = add %x, %c : tensor<2x17001xf16>, tensor<1xf16>
  %y = layer_norm %z, %g, %b {eps = 0.001} : tensor<2x17001xf16>, tensor<17001xf16>, tensor<17001xf16>
  return %y : tensor<2x17001xf16>
}

mirage_kernel.graph @layer_norm_rank_1(%x: tensor<97xf32>) -> tensor<97xf32> {
  %y = layer_norm %x {eps = 0.001} : tensor<97xf32>
  return %y : tensor<97xf32>
}

mirage_kernel.graph @layer_norm_rank_3(%x: tensor<3x17x33xbf16>, %g: tensor<33xbf16>) -> tensor<3x17x33xbf16> {
  %y = layer_norm %x, %g {eps = 0.001} : tensor<3x17x33xbf16>, tensor<33xbf16>
  return %y : tensor<3x17x33xbf16>
}

mirage_kernel.graph @scaled_attention(%q: tensor<3x17x24xf16>, %k: tensor<3x65x24xf16>, %v: tensor<3x65x24xf16>) -> tensor<3x17x24xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25} : tensor<3x17x24xf16>, tensor<3x65x24xf16>, tensor<3x65x24xf16>
  return %y : tensor<3x17x24xf16>
}
