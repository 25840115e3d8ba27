// Attention of normalised queries and keys in one kernel, the softmax online: what the original system got wrong.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: 0 different, 0 unsupported

mirage_kernel.graph @even(%q: tensor<2x32x32xf16>, %k: tensor<2x128x32xf16>, %v: tensor<2x128x32xf16>) -> tensor<2x32x32xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x32x32xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<2x128x32xf16>
  %s = matmul %qn, %kn {transpose_b} : tensor<2x32x32xf16>, tensor<2x128x32xf16>
  %p = softmax %s {dim = 2} : tensor<2x32x128xf16>
  %y = matmul %p, %v : tensor<2x32x128xf16>, tensor<2x128x32xf16>
  return %y : tensor<2x32x32xf16>
}
mirage_kernel.graph @even_online(%q: tensor<2x32x32xf16>, %k: tensor<2x128x32xf16>, %v: tensor<2x128x32xf16>) -> tensor<2x32x32xf16>
    attributes {source = @even} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2]
      : (tensor<2x32x32xf16>, tensor<2x128x32xf16>, tensor<2x128x32xf16>) -> tensor<2x32x32xf16> {
    %qt = load %qk {grid = [0, 1]} : tensor<2x32x32xf16> -> !mirage_block.tile<1x16x32xf16>
    %count = constant 32.0 : !mirage_block.tile<1x1x1xf32>
    %qs = square %qt : !mirage_block.tile<1x16x32xf16>
    %qm = reduce_sum %qs {dim = 2} : !mirage_block.tile<1x16x32xf32>
    %qd = div %qm, %count : !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x1x1xf32>
    %qr = sqrt %qd : !mirage_block.tile<1x16x1xf32>
    %qf = div %qt, %qr : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x16x1xf32>
    %qn = cast %qf : !mirage_block.tile<1x16x32xf32> -> !mirage_block.tile<1x16x32xf16>
    %none = bottom : !mirage_block.tile<1x16x1xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x16x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x16x32xf32>
    %m, %l, %o = loop 4 (%mc = %none max, %lc = %l0 rescale, %oc = %o0 rescale) : !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x32xf32> {
      %kt = load %kk {grid = [0], loop = [1]} : tensor<2x128x32xf16> -> !mirage_block.tile<1x32x32xf16>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x128x32xf16> -> !mirage_block.tile<1x32x32xf16>
      %ks = square %kt : !mirage_block.tile<1x32x32xf16>
      %km = reduce_sum %ks {dim = 2} : !mirage_block.tile<1x32x32xf32>
      %kd = div %km, %count : !mirage_block.tile<1x32x1xf32>, !mirage_block.tile<1x1x1xf32>
      %kr = sqrt %kd : !mirage_block.tile<1x32x1xf32>
      %kf = div %kt, %kr : !mirage_block.tile<1x32x32xf16>, !mirage_block.tile<1x32x1xf32>
      %kn = cast %kf : !mirage_block.tile<1x32x32xf32> -> !mirage_block.tile<1x32x32xf16>
      %s = matmul %qn, %kn {transpose_b} : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      %top = reduce_max %s {dim = 2} : !mirage_block.tile<1x16x32xf32>
      %new = max %mc, %top : !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x1xf32>
      %gap = sub %mc, %new : !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x1xf32>
      %f = exp %gap : !mirage_block.tile<1x16x1xf32>
      %x = sub %s, %new : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x1xf32>
      %e = exp %x : !mirage_block.tile<1x16x32xf32>
      %r = reduce_sum %e {dim = 2} : !mirage_block.tile<1x16x32xf32>
      %p = cast %e : !mirage_block.tile<1x16x32xf32> -> !mirage_block.tile<1x16x32xf16>
      %pv = matmul %p, %vt : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      yield %top, %r, %pv rescale %f, %f : !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x1xf32>
    }
    %z = div %o, %l : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x1xf32>
    store %z, %yk {grid = [0, 1]} : !mirage_block.tile<1x16x32xf32>, tensor<2x32x32xf16>
  }
  return %y : tensor<2x32x32xf16>
}


mirage_kernel.graph @ragged(%q: tensor<2x17x24xf16>, %k: tensor<2x63x24xf16>, %v: tensor<2x63x24xf16>) -> tensor<2x17x24xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x17x24xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<2x63x24xf16>
  %s = matmul %qn, %kn {transpose_b} : tensor<2x17x24xf16>, tensor<2x63x24xf16>
  %p = softmax %s {dim = 2} : tensor<2x17x63xf16>
  %y = matmul %p, %v : tensor<2x17x63xf16>, tensor<2x63x24xf16>
  return %y : tensor<2x17x24xf16>
}
mirage_kernel.graph @ragged_online(%q: tensor<2x17x24xf16>, %k: tensor<2x63x24xf16>, %v: tensor<2x63x24xf16>) -> tensor<2x17x24xf16>
    attributes {source = @ragged} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2]
      : (tensor<2x17x24xf16>, tensor<2x63x24xf16>, tensor<2x63x24xf16>) -> tensor<2x17x24xf16> {
    %qt = load %qk {grid = [0, 1]} : tensor<2x17x24xf16> -> !mirage_block.tile<1x9x24xf16>
    %count = constant 24.0 : !mirage_block.tile<1x1x1xf32>
    %qs = square %qt : !mirage_block.tile<1x9x24xf16>
    %qm = reduce_sum %qs {dim = 2} : !mirage_block.tile<1x9x24xf32>
    %qd = div %qm, %count : !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x1x1xf32>
    %qr = sqrt %qd : !mirage_block.tile<1x9x1xf32>
    %qf = div %qt, %qr : !mirage_block.tile<1x9x24xf16>, !mirage_block.tile<1x9x1xf32>
    %qn = cast %qf : !mirage_block.tile<1x9x24xf32> -> !mirage_block.tile<1x9x24xf16>
    %none = bottom : !mirage_block.tile<1x9x1xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x9x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x9x24xf32>
    %m, %l, %o = loop 3 (%mc = %none max, %lc = %l0 rescale, %oc = %o0 rescale) : !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x9x24xf32> {
      %kt = load %kk {grid = [0], loop = [1]} : tensor<2x63x24xf16> -> !mirage_block.tile<1x21x24xf16>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x63x24xf16> -> !mirage_block.tile<1x21x24xf16>
      %ks = square %kt : !mirage_block.tile<1x21x24xf16>
      %km = reduce_sum %ks {dim = 2} : !mirage_block.tile<1x21x24xf32>
      %kd = div %km, %count : !mirage_block.tile<1x21x1xf32>, !mirage_block.tile<1x1x1xf32>
      %kr = sqrt %kd : !mirage_block.tile<1x21x1xf32>
      %kf = div %kt, %kr : !mirage_block.tile<1x21x24xf16>, !mirage_block.tile<1x21x1xf32>
      %kn = cast %kf : !mirage_block.tile<1x21x24xf32> -> !mirage_block.tile<1x21x24xf16>
      %s = matmul %qn, %kn {transpose_b} : !mirage_block.tile<1x9x24xf16>, !mirage_block.tile<1x21x24xf16>
      %top = reduce_max %s {dim = 2} : !mirage_block.tile<1x9x21xf32>
      %new = max %mc, %top : !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x9x1xf32>
      %gap = sub %mc, %new : !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x9x1xf32>
      %f = exp %gap : !mirage_block.tile<1x9x1xf32>
      %x = sub %s, %new : !mirage_block.tile<1x9x21xf32>, !mirage_block.tile<1x9x1xf32>
      %e = exp %x : !mirage_block.tile<1x9x21xf32>
      %r = reduce_sum %e {dim = 2} : !mirage_block.tile<1x9x21xf32>
      %p = cast %e : !mirage_block.tile<1x9x21xf32> -> !mirage_block.tile<1x9x21xf16>
      %pv = matmul %p, %vt : !mirage_block.tile<1x9x21xf16>, !mirage_block.tile<1x21x24xf16>
      yield %top, %r, %pv rescale %f, %f : !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x9x24xf32>, !mirage_block.tile<1x9x1xf32>, !mirage_block.tile<1x9x1xf32>
    }
    %z = div %o, %l : !mirage_block.tile<1x9x24xf32>, !mirage_block.tile<1x9x1xf32>
    store %z, %yk {grid = [0, 1]} : !mirage_block.tile<1x9x24xf32>, tensor<2x17x24xf16>
  }
  return %y : tensor<2x17x24xf16>
}
