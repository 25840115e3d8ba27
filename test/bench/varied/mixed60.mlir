mirage_kernel.graph @mixed60(%x: tensor<16x512xf16>, %w: tensor<512x512xf16>, %g: tensor<512xf16>) -> tensor<16x512xf16> {
  %v1 = rms_norm %x, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v2 = matmul %v1, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v3 = silu %v2 : tensor<16x512xf16>
  %v4 = add %x, %v3 : tensor<16x512xf16>, tensor<16x512xf16>
  %v5 = rms_norm %v4, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v6 = matmul %v5, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v7 = silu %v6 : tensor<16x512xf16>
  %v8 = add %v4, %v7 : tensor<16x512xf16>, tensor<16x512xf16>
  %v9 = rms_norm %v8, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v10 = matmul %v9, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v11 = silu %v10 : tensor<16x512xf16>
  %v12 = add %v8, %v11 : tensor<16x512xf16>, tensor<16x512xf16>
  %v13 = rms_norm %v12, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v14 = matmul %v13, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v15 = silu %v14 : tensor<16x512xf16>
  %v16 = add %v12, %v15 : tensor<16x512xf16>, tensor<16x512xf16>
  %v17 = rms_norm %v16, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v18 = matmul %v17, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v19 = silu %v18 : tensor<16x512xf16>
  %v20 = add %v16, %v19 : tensor<16x512xf16>, tensor<16x512xf16>
  %v21 = rms_norm %v20, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v22 = matmul %v21, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v23 = silu %v22 : tensor<16x512xf16>
  %v24 = add %v20, %v23 : tensor<16x512xf16>, tensor<16x512xf16>
  %v25 = rms_norm %v24, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v26 = matmul %v25, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v27 = silu %v26 : tensor<16x512xf16>
  %v28 = add %v24, %v27 : tensor<16x512xf16>, tensor<16x512xf16>
  %v29 = rms_norm %v28, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v30 = matmul %v29, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v31 = silu %v30 : tensor<16x512xf16>
  %v32 = add %v28, %v31 : tensor<16x512xf16>, tensor<16x512xf16>
  %v33 = rms_norm %v32, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v34 = matmul %v33, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v35 = silu %v34 : tensor<16x512xf16>
  %v36 = add %v32, %v35 : tensor<16x512xf16>, tensor<16x512xf16>
  %v37 = rms_norm %v36, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v38 = matmul %v37, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v39 = silu %v38 : tensor<16x512xf16>
  %v40 = add %v36, %v39 : tensor<16x512xf16>, tensor<16x512xf16>
  %v41 = rms_norm %v40, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v42 = matmul %v41, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v43 = silu %v42 : tensor<16x512xf16>
  %v44 = add %v40, %v43 : tensor<16x512xf16>, tensor<16x512xf16>
  %v45 = rms_norm %v44, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v46 = matmul %v45, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v47 = silu %v46 : tensor<16x512xf16>
  %v48 = add %v44, %v47 : tensor<16x512xf16>, tensor<16x512xf16>
  %v49 = rms_norm %v48, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v50 = matmul %v49, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v51 = silu %v50 : tensor<16x512xf16>
  %v52 = add %v48, %v51 : tensor<16x512xf16>, tensor<16x512xf16>
  %v53 = rms_norm %v52, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v54 = matmul %v53, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v55 = silu %v54 : tensor<16x512xf16>
  %v56 = add %v52, %v55 : tensor<16x512xf16>, tensor<16x512xf16>
  %v57 = rms_norm %v56, %g {eps = 1.0e-05} : tensor<16x512xf16>, tensor<512xf16>
  %v58 = matmul %v57, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %v59 = silu %v58 : tensor<16x512xf16>
  %v60 = add %v56, %v59 : tensor<16x512xf16>, tensor<16x512xf16>
  return %v60 : tensor<16x512xf16>
}
