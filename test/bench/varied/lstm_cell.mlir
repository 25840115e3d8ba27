// An LSTM's step: eight products, two results.
mirage_kernel.graph @lstm_cell(%x: tensor<16x512xf16>, %h: tensor<16x512xf16>, %c: tensor<16x512xf16>, %wi: tensor<512x512xf16>, %ui: tensor<512x512xf16>, %wf: tensor<512x512xf16>, %uf: tensor<512x512xf16>, %wo: tensor<512x512xf16>, %uo: tensor<512x512xf16>, %wc: tensor<512x512xf16>, %uc: tensor<512x512xf16>) -> (tensor<16x512xf16>, tensor<16x512xf16>)
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 1.0, 1.0, 0.044, 0.044, 0.044, 0.044, 0.044, 0.044, 0.044, 0.044>} {
  %v1 = matmul %x, %wi : tensor<16x512xf16>, tensor<512x512xf16>
  %v2 = matmul %h, %ui : tensor<16x512xf16>, tensor<512x512xf16>
  %v3 = add %v1, %v2 : tensor<16x512xf16>, tensor<16x512xf16>
  %v4 = sigmoid %v3 : tensor<16x512xf16>
  %v5 = matmul %x, %wf : tensor<16x512xf16>, tensor<512x512xf16>
  %v6 = matmul %h, %uf : tensor<16x512xf16>, tensor<512x512xf16>
  %v7 = add %v5, %v6 : tensor<16x512xf16>, tensor<16x512xf16>
  %v8 = sigmoid %v7 : tensor<16x512xf16>
  %v9 = matmul %x, %wo : tensor<16x512xf16>, tensor<512x512xf16>
  %v10 = matmul %h, %uo : tensor<16x512xf16>, tensor<512x512xf16>
  %v11 = add %v9, %v10 : tensor<16x512xf16>, tensor<16x512xf16>
  %v12 = sigmoid %v11 : tensor<16x512xf16>
  %v13 = matmul %x, %wc : tensor<16x512xf16>, tensor<512x512xf16>
  %v14 = matmul %h, %uc : tensor<16x512xf16>, tensor<512x512xf16>
  %v15 = add %v13, %v14 : tensor<16x512xf16>, tensor<16x512xf16>
  %v16 = tanh %v15 : tensor<16x512xf16>
  %v17 = mul %v8, %c : tensor<16x512xf16>, tensor<16x512xf16>
  %v18 = mul %v4, %v16 : tensor<16x512xf16>, tensor<16x512xf16>
  %v19 = add %v17, %v18 : tensor<16x512xf16>, tensor<16x512xf16>
  %v20 = tanh %v19 : tensor<16x512xf16>
  %v21 = mul %v12, %v20 : tensor<16x512xf16>, tensor<16x512xf16>
  return %v21, %v19 : tensor<16x512xf16>, tensor<16x512xf16>
}
