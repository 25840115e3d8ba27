// RMSNorm and a linear layer as linalg on tensors, the way exporters print them: statistics in f32, a wide product that is rounded.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
func.func @norm_linear(%x: tensor<8x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<8x4096xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<8x4096xf32>
  %xf = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4096xf16>) outs(%e1 : tensor<8x4096xf32>) {
  ^bb0(%a: f16, %b: f32):
    %0 = arith.extf %a : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<8x4096xf32>
  %e2 = tensor.empty() : tensor<8x1xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x1xf32>) -> tensor<8x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%xf : tensor<8x4096xf32>) outs(%z2 : tensor<8x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %b, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x1xf32>
  %e3 = tensor.empty() : tensor<8x4096xf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%xf, %s : tensor<8x4096xf32>, tensor<8x1xf32>) outs(%e3 : tensor<8x4096xf16>) {
  ^bb0(%a: f32, %b: f32, %c: f16):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<8x4096xf16>
  %z4 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %p = linalg.matmul ins(%y, %w : tensor<8x4096xf16>, tensor<4096x4096xf16>) outs(%z4 : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x4096xf32>) outs(%e3 : tensor<8x4096xf16>) {
  ^bb0(%a: f32, %b: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<8x4096xf16>
  return %r : tensor<8x4096xf16>
}
