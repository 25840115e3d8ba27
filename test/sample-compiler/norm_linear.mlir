// y = (x / sqrt(mean(x * x))) w, then exp: as an exporter writes it.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @norm_linear(%x: tensor<4x64xf32>, %w: tensor<64x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %e1 = tensor.empty() : tensor<4x64xf32>
  %e2 = tensor.empty() : tensor<4x1xf32>
  %e3 = tensor.empty() : tensor<4x16xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x1xf32>) -> tensor<4x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x64xf32>) outs(%z2 : tensor<4x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %b, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x1xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x64xf32>, tensor<4x1xf32>) outs(%e1 : tensor<4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %b, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x64xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = linalg.matmul ins(%y, %w : tensor<4x64xf32>, tensor<64x16xf32>) outs(%z3 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = linalg.exp ins(%p : tensor<4x16xf32>) outs(%e3 : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
