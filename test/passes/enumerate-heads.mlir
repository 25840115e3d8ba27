// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=1' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// Reshapes, transpositions, repeats and rotated halves around what computes are views: kernels load and store heads where they
// lie, and nothing is copied.

// PROVEN: @between: 1 candidate, 1 equivalent
// PROVEN: @projected: 1 candidate, 1 equivalent
// PROVEN: @groups: 1 candidate, 1 equivalent
// PROVEN: @turns: 1 candidate, 1 equivalent
// PROVEN: @rotated: 1 candidate, 1 equivalent
// PROVEN: @group_norm: 1 candidate, 1 equivalent
// PROVEN: @two_orders: 1 candidate, 1 equivalent

// Heads between rows and columns: one kernel.
// CHECK: graph @between_0
// CHECK-NEXT: custom
// CHECK: load {{.*}} order = [0, 2, 1, 3]
// CHECK: load {{.*}} order = [0, 2, 1, 3]
// CHECK: load {{.*}} order = [0, 2, 1, 3]
// CHECK: store {{.*}} order = [0, 2, 1, 3]{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: return
mirage_kernel.graph @between(%q: tensor<2x64x4x32xf16>, %k: tensor<2x64x4x32xf16>, %v: tensor<2x64x4x32xf16>) -> tensor<2x64x4x32xf16> {
  %qt = transpose %q {perm = [0, 2, 1, 3]} : tensor<2x64x4x32xf16>
  %kt = transpose %k {perm = [0, 2, 1, 3]} : tensor<2x64x4x32xf16>
  %vt = transpose %v {perm = [0, 2, 1, 3]} : tensor<2x64x4x32xf16>
  %o = scaled_dot_product_attention %qt, %kt, %vt {scale = 0.125} : tensor<2x4x64x32xf16>, tensor<2x4x64x32xf16>, tensor<2x4x64x32xf16>
  %y = transpose %o {perm = [0, 2, 1, 3]} : tensor<2x4x64x32xf16>
  return %y : tensor<2x64x4x32xf16>
}

// One projection cut into three: a product, and attention that sees its columns as heads and stores rows of all heads.
// CHECK: graph @projected_0
// CHECK: %[[SEEN:.*]] = reshape {{.*}} -> tensor<64x12x32xf16>
// CHECK-NEXT: custom ({{.*}} = %[[SEEN]], {{.*}} = %[[SEEN]], {{.*}} = %[[SEEN]])
// CHECK-DAG: load {{.*}} order = [1, 0, 2], begin = [0], end = [4]
// CHECK-DAG: load {{.*}} order = [1, 0, 2], begin = [4], end = [8]
// CHECK-DAG: load {{.*}} order = [1, 0, 2], begin = [8], end = [12]
// CHECK: store {{.*}} order = [1, 0, 2]{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: %[[Y:.*]] = reshape {{.*}} -> tensor<64x128xf16>
// CHECK-NEXT: return %[[Y]]
mirage_kernel.graph @projected(%x: tensor<64x128xf16>, %w: tensor<128x384xf16>) -> tensor<64x128xf16> {
  %p = matmul %x, %w : tensor<64x128xf16>, tensor<128x384xf16>
  %q0 = slice %p {dim = 1, begin = 0, end = 128} : tensor<64x384xf16>
  %k0 = slice %p {dim = 1, begin = 128, end = 256} : tensor<64x384xf16>
  %v0 = slice %p {dim = 1, begin = 256, end = 384} : tensor<64x384xf16>
  %q1 = reshape %q0 : tensor<64x128xf16> -> tensor<64x4x32xf16>
  %k1 = reshape %k0 : tensor<64x128xf16> -> tensor<64x4x32xf16>
  %v1 = reshape %v0 : tensor<64x128xf16> -> tensor<64x4x32xf16>
  %q = transpose %q1 {perm = [1, 0, 2]} : tensor<64x4x32xf16>
  %k = transpose %k1 {perm = [1, 0, 2]} : tensor<64x4x32xf16>
  %v = transpose %v1 {perm = [1, 0, 2]} : tensor<64x4x32xf16>
  %o = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<4x64x32xf16>, tensor<4x64x32xf16>, tensor<4x64x32xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<4x64x32xf16>
  %y = reshape %o1 : tensor<64x4x32xf16> -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// Keys and values of two groups, each for three heads: heads are two axes, and nothing is repeated.
// CHECK: graph @groups_0
// CHECK-NOT: repeat
// CHECK-NOT: broadcast
// CHECK: custom
// CHECK: load {{.*}}tensor<1x2x32x32xf16>
// CHECK: store {{.*}}tensor<2x3x32x32xf16>{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: reshape {{.*}} -> tensor<6x32x32xf16>
// CHECK-NEXT: return
mirage_kernel.graph @groups(%q: tensor<6x32x32xf16>, %k: tensor<2x32x32xf16>, %v: tensor<2x32x32xf16>) -> tensor<6x32x32xf16> {
  %k1 = reshape %k : tensor<2x32x32xf16> -> tensor<2x1x32x32xf16>
  %k2 = repeat %k1 {dim = 1, times = 3} : tensor<2x1x32x32xf16>
  %k3 = reshape %k2 : tensor<2x3x32x32xf16> -> tensor<6x32x32xf16>
  %v1 = reshape %v : tensor<2x32x32xf16> -> tensor<2x1x32x32xf16>
  %v2 = repeat %v1 {dim = 1, times = 3} : tensor<2x1x32x32xf16>
  %v3 = reshape %v2 : tensor<2x3x32x32xf16> -> tensor<6x32x32xf16>
  %o = scaled_dot_product_attention %q, %k3, %v3 {scale = 0.125} : tensor<6x32x32xf16>, tensor<6x32x32xf16>, tensor<6x32x32xf16>
  return %o : tensor<6x32x32xf16>
}

// The same of heads that take turns: h reads group h modulo 2.
// CHECK: graph @turns_0
// CHECK-NOT: repeat
// CHECK: custom
// CHECK-NOT: custom
// CHECK: graph @rotated(
mirage_kernel.graph @turns(%q: tensor<6x32x32xf16>, %k: tensor<2x32x32xf16>, %v: tensor<2x32x32xf16>) -> tensor<6x32x32xf16> {
  %k1 = repeat %k {dim = 0, times = 3} : tensor<2x32x32xf16>
  %v1 = repeat %v {dim = 0, times = 3} : tensor<2x32x32xf16>
  %o = scaled_dot_product_attention %q, %k1, %v1 {scale = 0.125} : tensor<6x32x32xf16>, tensor<6x32x32xf16>, tensor<6x32x32xf16>
  return %o : tensor<6x32x32xf16>
}

// Rotary positions as frameworks write them, with halves of x that change places: computed a half at a time, x read once.
// CHECK: graph @rotated_0
// CHECK-NEXT: custom
// CHECK-NOT: concat
// CHECK: store {{.*}}end = [0, 0, 16]{{.*}}
// CHECK-NEXT: store {{.*}}begin = [0, 0, 16], end = [0, 0, 32]{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: return
mirage_kernel.graph @rotated(%x: tensor<4x64x32xf16>, %c: tensor<64x32xf16>, %s: tensor<64x32xf16>) -> tensor<4x64x32xf16> {
  %a = slice %x {dim = 2, begin = 0, end = 16} : tensor<4x64x32xf16>
  %b = slice %x {dim = 2, begin = 16, end = 32} : tensor<4x64x32xf16>
  %n = neg %b : tensor<4x64x16xf16>
  %r = concat %n, %a {dim = 2} : tensor<4x64x16xf16>, tensor<4x64x16xf16>
  %xc = mul %x, %c : tensor<4x64x32xf16>, tensor<64x32xf16>
  %rs = mul %r, %s : tensor<4x64x32xf16>, tensor<64x32xf16>
  %y = add %xc, %rs : tensor<4x64x32xf16>, tensor<4x64x32xf16>
  return %y : tensor<4x64x32xf16>
}

// Groups of channels split off for their statistics, and a gain for each channel after they are merged.
// CHECK: graph @group_norm_0
// CHECK: custom
// CHECK-NOT: custom
// CHECK: graph @two_orders(
mirage_kernel.graph @group_norm(%x: tensor<64x256xf16>, %g: tensor<256xf16>) -> tensor<64x256xf16> {
  %r = reshape %x : tensor<64x256xf16> -> tensor<64x8x32xf16>
  %n = rms_norm %r {eps = 1.0e-05} : tensor<64x8x32xf16>
  %m = reshape %n : tensor<64x8x32xf16> -> tensor<64x256xf16>
  %y = mul %m, %g : tensor<64x256xf16>, tensor<256xf16>
  return %y : tensor<64x256xf16>
}

// A result that is wanted in two orders is stored in one, and transposed for the other.
// CHECK: graph @two_orders_0
// CHECK: custom
// CHECK: transpose
// CHECK: return
mirage_kernel.graph @two_orders(%x: tensor<4x64x32xf16>, %w: tensor<4x32x32xf16>) -> (tensor<4x64x32xf16>, tensor<64x4x32xf16>) {
  %p = matmul %x, %w : tensor<4x64x32xf16>, tensor<4x32x32xf16>
  %e = exp %p : tensor<4x64x32xf16>
  %t = transpose %e {perm = [1, 0, 2]} : tensor<4x64x32xf16>
  return %e, %t : tensor<4x64x32xf16>, tensor<64x4x32xf16>
}
