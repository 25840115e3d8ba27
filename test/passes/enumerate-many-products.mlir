// 24 products before exponentials, and 24 behind: each two of them look like an attention. As many are pieces as there are operators, and the
// search goes on (sanitizers see a list that is too short).
//
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h100 max-states=20000 max-candidates=1' -o %t.mlir 2>&1 | FileCheck %s
// CHECK: @many: {{.*}}its own lowering
mirage_kernel.graph @many(%x: tensor<16x16xf16>, %w0: tensor<16x16xf16>, %w1: tensor<16x16xf16>, %w2: tensor<16x16xf16>, %w3: tensor<16x16xf16>, %w4: tensor<16x16xf16>, %w5: tensor<16x16xf16>, %w6: tensor<16x16xf16>, %w7: tensor<16x16xf16>, %w8: tensor<16x16xf16>, %w9: tensor<16x16xf16>, %w10: tensor<16x16xf16>, %w11: tensor<16x16xf16>, %w12: tensor<16x16xf16>, %w13: tensor<16x16xf16>, %w14: tensor<16x16xf16>, %w15: tensor<16x16xf16>, %w16: tensor<16x16xf16>, %w17: tensor<16x16xf16>, %w18: tensor<16x16xf16>, %w19: tensor<16x16xf16>, %w20: tensor<16x16xf16>, %w21: tensor<16x16xf16>, %w22: tensor<16x16xf16>, %w23: tensor<16x16xf16>, %v0: tensor<384x16xf16>, %v1: tensor<384x16xf16>, %v2: tensor<384x16xf16>, %v3: tensor<384x16xf16>, %v4: tensor<384x16xf16>, %v5: tensor<384x16xf16>, %v6: tensor<384x16xf16>, %v7: tensor<384x16xf16>, %v8: tensor<384x16xf16>, %v9: tensor<384x16xf16>, %v10: tensor<384x16xf16>, %v11: tensor<384x16xf16>, %v12: tensor<384x16xf16>, %v13: tensor<384x16xf16>, %v14: tensor<384x16xf16>, %v15: tensor<384x16xf16>, %v16: tensor<384x16xf16>, %v17: tensor<384x16xf16>, %v18: tensor<384x16xf16>, %v19: tensor<384x16xf16>, %v20: tensor<384x16xf16>, %v21: tensor<384x16xf16>, %v22: tensor<384x16xf16>, %v23: tensor<384x16xf16>) -> (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>) {
  %a0 = matmul %x, %w0 : tensor<16x16xf16>, tensor<16x16xf16>
  %a1 = matmul %x, %w1 : tensor<16x16xf16>, tensor<16x16xf16>
  %a2 = matmul %x, %w2 : tensor<16x16xf16>, tensor<16x16xf16>
  %a3 = matmul %x, %w3 : tensor<16x16xf16>, tensor<16x16xf16>
  %a4 = matmul %x, %w4 : tensor<16x16xf16>, tensor<16x16xf16>
  %a5 = matmul %x, %w5 : tensor<16x16xf16>, tensor<16x16xf16>
  %a6 = matmul %x, %w6 : tensor<16x16xf16>, tensor<16x16xf16>
  %a7 = matmul %x, %w7 : tensor<16x16xf16>, tensor<16x16xf16>
  %a8 = matmul %x, %w8 : tensor<16x16xf16>, tensor<16x16xf16>
  %a9 = matmul %x, %w9 : tensor<16x16xf16>, tensor<16x16xf16>
  %a10 = matmul %x, %w10 : tensor<16x16xf16>, tensor<16x16xf16>
  %a11 = matmul %x, %w11 : tensor<16x16xf16>, tensor<16x16xf16>
  %a12 = matmul %x, %w12 : tensor<16x16xf16>, tensor<16x16xf16>
  %a13 = matmul %x, %w13 : tensor<16x16xf16>, tensor<16x16xf16>
  %a14 = matmul %x, %w14 : tensor<16x16xf16>, tensor<16x16xf16>
  %a15 = matmul %x, %w15 : tensor<16x16xf16>, tensor<16x16xf16>
  %a16 = matmul %x, %w16 : tensor<16x16xf16>, tensor<16x16xf16>
  %a17 = matmul %x, %w17 : tensor<16x16xf16>, tensor<16x16xf16>
  %a18 = matmul %x, %w18 : tensor<16x16xf16>, tensor<16x16xf16>
  %a19 = matmul %x, %w19 : tensor<16x16xf16>, tensor<16x16xf16>
  %a20 = matmul %x, %w20 : tensor<16x16xf16>, tensor<16x16xf16>
  %a21 = matmul %x, %w21 : tensor<16x16xf16>, tensor<16x16xf16>
  %a22 = matmul %x, %w22 : tensor<16x16xf16>, tensor<16x16xf16>
  %a23 = matmul %x, %w23 : tensor<16x16xf16>, tensor<16x16xf16>
  %c0 = concat %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17, %a18, %a19, %a20, %a21, %a22, %a23 {dim = 1} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>
  %c1 = exp %c0 : tensor<16x384xf16>
  %c2 = tanh %c1 : tensor<16x384xf16>
  %c3 = exp %c2 : tensor<16x384xf16>
  %c4 = tanh %c3 : tensor<16x384xf16>
  %c5 = sqrt %c4 : tensor<16x384xf16>
  %c6 = tanh %c5 : tensor<16x384xf16>
  %c7 = exp %c6 : tensor<16x384xf16>
  %c8 = tanh %c7 : tensor<16x384xf16>
  %c9 = exp %c8 : tensor<16x384xf16>
  %o0 = matmul %c9, %v0 : tensor<16x384xf16>, tensor<384x16xf16>
  %o1 = matmul %c9, %v1 : tensor<16x384xf16>, tensor<384x16xf16>
  %o2 = matmul %c9, %v2 : tensor<16x384xf16>, tensor<384x16xf16>
  %o3 = matmul %c9, %v3 : tensor<16x384xf16>, tensor<384x16xf16>
  %o4 = matmul %c9, %v4 : tensor<16x384xf16>, tensor<384x16xf16>
  %o5 = matmul %c9, %v5 : tensor<16x384xf16>, tensor<384x16xf16>
  %o6 = matmul %c9, %v6 : tensor<16x384xf16>, tensor<384x16xf16>
  %o7 = matmul %c9, %v7 : tensor<16x384xf16>, tensor<384x16xf16>
  %o8 = matmul %c9, %v8 : tensor<16x384xf16>, tensor<384x16xf16>
  %o9 = matmul %c9, %v9 : tensor<16x384xf16>, tensor<384x16xf16>
  %o10 = matmul %c9, %v10 : tensor<16x384xf16>, tensor<384x16xf16>
  %o11 = matmul %c9, %v11 : tensor<16x384xf16>, tensor<384x16xf16>
  %o12 = matmul %c9, %v12 : tensor<16x384xf16>, tensor<384x16xf16>
  %o13 = matmul %c9, %v13 : tensor<16x384xf16>, tensor<384x16xf16>
  %o14 = matmul %c9, %v14 : tensor<16x384xf16>, tensor<384x16xf16>
  %o15 = matmul %c9, %v15 : tensor<16x384xf16>, tensor<384x16xf16>
  %o16 = matmul %c9, %v16 : tensor<16x384xf16>, tensor<384x16xf16>
  %o17 = matmul %c9, %v17 : tensor<16x384xf16>, tensor<384x16xf16>
  %o18 = matmul %c9, %v18 : tensor<16x384xf16>, tensor<384x16xf16>
  %o19 = matmul %c9, %v19 : tensor<16x384xf16>, tensor<384x16xf16>
  %o20 = matmul %c9, %v20 : tensor<16x384xf16>, tensor<384x16xf16>
  %o21 = matmul %c9, %v21 : tensor<16x384xf16>, tensor<384x16xf16>
  %o22 = matmul %c9, %v22 : tensor<16x384xf16>, tensor<384x16xf16>
  %o23 = matmul %c9, %v23 : tensor<16x384xf16>, tensor<384x16xf16>
  return %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14, %o15, %o16, %o17, %o18, %o19, %o20, %o21, %o22, %o23 : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>
}
