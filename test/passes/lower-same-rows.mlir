// What is the same in all rows, where they begin anywhere (lib/codegen/codegen_rows_ahead.c): the two windows of a piece are read two pieces
// ahead, before the branch that keeps them there. Of bf16 rows of 20,001 columns that 512 threads share a thread has five pieces: two gains
// are read in twelve loads, and another four for each of the two pieces behind. (The first store is the one of what lies at a row's end.)
//
// RUN: mirage-mlir-opt %s --mirage-layout --mirage-lower=target=h200 2>/dev/null | sed 's/\\0A/\n/g' > %t.ptx
// RUN: sed -n '/entry ahead_0_k0/,/entry mean_0_k0/p' %t.ptx | grep -o -e 'ld.global.v4' -e 'bar.warp.sync' -e 'st.global.v4' | uniq -c | FileCheck %s
// CHECK: {{^ +}}12 ld.global.v4
// CHECK-NEXT: {{^ +}}1 bar.warp.sync
// CHECK-NEXT: {{^ +}}1 st.global.v4
// CHECK-NEXT: {{^ +}}4 ld.global.v4
// CHECK-NEXT: {{^ +}}1 bar.warp.sync
// CHECK-NEXT: {{^ +}}1 st.global.v4
// CHECK-NEXT: {{^ +}}4 ld.global.v4
// CHECK-NEXT: {{^ +}}1 bar.warp.sync
// CHECK-NOT: ld.global.v4
//
// Of pairs of bf16 the upper one is masked, not taken out and moved up.
// RUN: FileCheck %s --check-prefix=PAIR < %t.ptx
// PAIR: entry ahead_0_k0(
// PAIR-NOT: cvt.f32.bf16
// PAIR: ld.shared.v4
// PAIR: and.b32 {{.*}}, -65536
// PAIR-NOT: cvt.f32.bf16
// PAIR: ret;
//
// A maximum may be bottom, and bottom less anything is bottom; a mean is not.
// RUN: FileCheck %s --check-prefix=BOTTOM < %t.ptx
// BOTTOM: entry mean_0_k0(
// BOTTOM-NOT: 0fFF800000
// BOTTOM: entry most_0_k0(
// BOTTOM: setp.eq.f32 {{.*}}, 0fFF800000
// BOTTOM: ret;
mirage_kernel.graph @ahead(%x: tensor<3x20001xbf16>, %g: tensor<20001xbf16>, %h: tensor<20001xbf16>) -> tensor<3x20001xbf16> {
  %m = reduce_max %x {dim = 1} : tensor<3x20001xbf16>
  %c = sub %x, %m : tensor<3x20001xbf16>, tensor<3x1xbf16>
  %p = mul %c, %g : tensor<3x20001xbf16>, tensor<20001xbf16>
  %y = add %p, %h : tensor<3x20001xbf16>, tensor<20001xbf16>
  return %y : tensor<3x20001xbf16>
}
mirage_kernel.graph @ahead_0(%x: tensor<3x20001xbf16>, %g: tensor<20001xbf16>, %h: tensor<20001xbf16>) -> tensor<3x20001xbf16> attributes {source = @ahead, selected} {
  %y = custom (%a = %x, %b = %g, %c = %h) outs(%d) grid [1] : (tensor<3x20001xbf16>, tensor<20001xbf16>, tensor<20001xbf16>) -> tensor<3x20001xbf16> {
    %t = load %a : tensor<3x20001xbf16> -> !mirage_block.tile<3x20001xbf16>
    %u = load %b : tensor<20001xbf16> -> !mirage_block.tile<20001xbf16>
    %v = load %c : tensor<20001xbf16> -> !mirage_block.tile<20001xbf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<3x20001xbf16> -> !mirage_block.tile<3x1xf32>
    %s = sub %t, %m : !mirage_block.tile<3x20001xbf16>, !mirage_block.tile<3x1xf32>
    %p = mul %s, %u : !mirage_block.tile<3x20001xf32>, !mirage_block.tile<20001xbf16>
    %q = add %p, %v : !mirage_block.tile<3x20001xf32>, !mirage_block.tile<20001xbf16>
    store %q, %d : !mirage_block.tile<3x20001xf32>, tensor<3x20001xbf16>
  }
  return %y : tensor<3x20001xbf16>
}
mirage_kernel.graph @mean(%x: tensor<3x4096xf32>) -> tensor<3x4096xf32> {
  %m = reduce_mean %x {dim = 1} : tensor<3x4096xf32>
  %y = sub %x, %m : tensor<3x4096xf32>, tensor<3x1xf32>
  return %y : tensor<3x4096xf32>
}
mirage_kernel.graph @mean_0(%x: tensor<3x4096xf32>) -> tensor<3x4096xf32> attributes {source = @mean, selected} {
  %y = custom (%a = %x) outs(%b) grid [3] : (tensor<3x4096xf32>) -> tensor<3x4096xf32> {
    %t = load %a {grid = [0]} : tensor<3x4096xf32> -> !mirage_block.tile<1x4096xf32>
    %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x4096xf32> -> !mirage_block.tile<1x1xf32>
    %n = constant 4096.0 : !mirage_block.tile<1x1xf32>
    %m = div %s, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x4096xf32>, !mirage_block.tile<1x1xf32>
    store %d, %b {grid = [0]} : !mirage_block.tile<1x4096xf32>, tensor<3x4096xf32>
  }
  return %y : tensor<3x4096xf32>
}
mirage_kernel.graph @most(%x: tensor<3x4096xf32>) -> tensor<3x4096xf32> {
  %m = reduce_max %x {dim = 1} : tensor<3x4096xf32>
  %y = sub %x, %m : tensor<3x4096xf32>, tensor<3x1xf32>
  return %y : tensor<3x4096xf32>
}
mirage_kernel.graph @most_0(%x: tensor<3x4096xf32>) -> tensor<3x4096xf32> attributes {source = @most, selected} {
  %y = custom (%a = %x) outs(%b) grid [3] : (tensor<3x4096xf32>) -> tensor<3x4096xf32> {
    %t = load %a {grid = [0]} : tensor<3x4096xf32> -> !mirage_block.tile<1x4096xf32>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x4096xf32> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x4096xf32>, !mirage_block.tile<1x1xf32>
    store %d, %b {grid = [0]} : !mirage_block.tile<1x4096xf32>, tensor<3x4096xf32>
  }
  return %y : tensor<3x4096xf32>
}
