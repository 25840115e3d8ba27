// Adam's update in f32: four vectors, three results.
mirage_kernel.graph @adam(%p: tensor<1000000xf32>, %g: tensor<1000000xf32>, %m: tensor<1000000xf32>, %v: tensor<1000000xf32>) -> (tensor<1000000xf32>, tensor<1000000xf32>, tensor<1000000xf32>) {
  %v1 = constant 0.9 : tensor<1xf32>
  %v2 = mul %m, %v1 : tensor<1000000xf32>, tensor<1xf32>
  %v3 = constant 0.1 : tensor<1xf32>
  %v4 = mul %g, %v3 : tensor<1000000xf32>, tensor<1xf32>
  %v5 = add %v2, %v4 : tensor<1000000xf32>, tensor<1000000xf32>
  %v6 = mul %v, %v : tensor<1000000xf32>, tensor<1000000xf32>
  %v7 = constant 0.99 : tensor<1xf32>
  %v8 = mul %v6, %v7 : tensor<1000000xf32>, tensor<1xf32>
  %v9 = mul %g, %g : tensor<1000000xf32>, tensor<1000000xf32>
  %v10 = constant 0.01 : tensor<1xf32>
  %v11 = mul %v9, %v10 : tensor<1000000xf32>, tensor<1xf32>
  %v12 = add %v8, %v11 : tensor<1000000xf32>, tensor<1000000xf32>
  %v13 = sqrt %v12 : tensor<1000000xf32>
  %v14 = constant 1.0e-08 : tensor<1xf32>
  %v15 = add %v13, %v14 : tensor<1000000xf32>, tensor<1xf32>
  %v16 = div %v5, %v15 : tensor<1000000xf32>, tensor<1000000xf32>
  %v17 = constant 0.001 : tensor<1xf32>
  %v18 = mul %v16, %v17 : tensor<1000000xf32>, tensor<1xf32>
  %v19 = sub %p, %v18 : tensor<1000000xf32>, tensor<1000000xf32>
  return %v19, %v5, %v12 : tensor<1000000xf32>, tensor<1000000xf32>, tensor<1000000xf32>
}
