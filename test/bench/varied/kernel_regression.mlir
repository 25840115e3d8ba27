// Nadaraya-Watson: an RBF kernel of pairwise distances, normalised over the samples.
mirage_kernel.graph @kernel_regression(%x: tensor<256x64xf16>, %y: tensor<1024x64xf16>, %v: tensor<1024x64xf16>) -> tensor<256x64xf16> attributes {mirage_kernel.input_scales = array<f64: 0.1, 0.1, 1.0>} {
  %v1 = mul %x, %x : tensor<256x64xf16>, tensor<256x64xf16>
  %v2 = reduce_sum %v1 {dim = 1} : tensor<256x64xf16>
  %v3 = mul %y, %y : tensor<1024x64xf16>, tensor<1024x64xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<1024x64xf16>
  %v5 = transpose %v4 {perm = [1, 0]} : tensor<1024x1xf16>
  %v6 = add %v2, %v5 : tensor<256x1xf16>, tensor<1x1024xf16>
  %v7 = matmul %x, %y {transpose_b} : tensor<256x64xf16>, tensor<1024x64xf16>
  %v8 = constant 2.0 : tensor<1x1xf16>
  %v9 = mul %v7, %v8 : tensor<256x1024xf16>, tensor<1x1xf16>
  %v10 = sub %v6, %v9 : tensor<256x1024xf16>, tensor<256x1024xf16>
  %v11 = neg %v10 : tensor<256x1024xf16>
  %v12 = exp %v11 : tensor<256x1024xf16>
  %v13 = matmul %v12, %v : tensor<256x1024xf16>, tensor<1024x64xf16>
  %v14 = reduce_sum %v12 {dim = 1} : tensor<256x1024xf16>
  %v15 = div %v13, %v14 : tensor<256x64xf16>, tensor<256x1xf16>
  return %v15 : tensor<256x64xf16>
}
