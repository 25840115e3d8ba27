// Loops of attention that leave out tiles which their mask rules out, on the emulated GPU against float64, in every form in which
// tiles come: by cp.async, by tensor copies that all wait for, from a producer, with products ahead, in turns; longest blocks first. Masks end inside a
// tile, at its end, one key beyond it; the first block begins behind tiles that lie outside a window.
//
// RUN: rm -f %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] /' %s | mirage-mlir-opt --mirage-layout='target=h200 explain' -o %t.STAGED.mlir 2>%t.STAGED.err
// RUN: FileCheck %s --check-prefix=STAGED < %t.STAGED.err
// STAGED-COUNT-6: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.STAGED.mlir --mirage-lower=target=h200 -o %t.STAGED.low.mlir 2>/dev/null
// RUN: mirage-run %t.STAGED.low.mlir --program=inside --graph=inside_0 --target=emulator >> %t.out
// RUN: mirage-run %t.STAGED.low.mlir --program=at_the_end --graph=at_the_end_0 --target=emulator >> %t.out
// RUN: mirage-run %t.STAGED.low.mlir --program=beyond --graph=beyond_0 --target=emulator >> %t.out
// RUN: mirage-run %t.STAGED.low.mlir --program=from_zero --graph=from_zero_0 --target=emulator >> %t.out
// RUN: mirage-run %t.STAGED.low.mlir --program=window --graph=window_0 --target=emulator >> %t.out
// RUN: mirage-run %t.STAGED.low.mlir --program=one_key --graph=one_key_0 --target=emulator >> %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] schedule <roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, tensor, tensor], overlap = none>/' %s | mirage-mlir-opt --mirage-layout='target=h200 explain' -o %t.ROLES.mlir 2>%t.ROLES.err
// RUN: FileCheck %s --check-prefix=ROLES < %t.ROLES.err
// ROLES-COUNT-6: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.ROLES.mlir --mirage-lower=target=h200 -o %t.ROLES.low.mlir 2>/dev/null
// RUN: mirage-run %t.ROLES.low.mlir --program=inside --graph=inside_0 --target=emulator >> %t.out
// RUN: mirage-run %t.ROLES.low.mlir --program=at_the_end --graph=at_the_end_0 --target=emulator >> %t.out
// RUN: mirage-run %t.ROLES.low.mlir --program=beyond --graph=beyond_0 --target=emulator >> %t.out
// RUN: mirage-run %t.ROLES.low.mlir --program=from_zero --graph=from_zero_0 --target=emulator >> %t.out
// RUN: mirage-run %t.ROLES.low.mlir --program=window --graph=window_0 --target=emulator >> %t.out
// RUN: mirage-run %t.ROLES.low.mlir --program=one_key --graph=one_key_0 --target=emulator >> %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] schedule <overlap = ahead, roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, tensor, tensor]>/' %s | mirage-mlir-opt --mirage-layout='target=h200 explain' -o %t.AHEAD.mlir 2>%t.AHEAD.err
// RUN: FileCheck %s --check-prefix=AHEAD < %t.AHEAD.err
// AHEAD-COUNT-6: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.AHEAD.mlir --mirage-lower=target=h200 -o %t.AHEAD.low.mlir 2>/dev/null
// RUN: mirage-run %t.AHEAD.low.mlir --program=inside --graph=inside_0 --target=emulator >> %t.out
// RUN: mirage-run %t.AHEAD.low.mlir --program=at_the_end --graph=at_the_end_0 --target=emulator >> %t.out
// RUN: mirage-run %t.AHEAD.low.mlir --program=beyond --graph=beyond_0 --target=emulator >> %t.out
// RUN: mirage-run %t.AHEAD.low.mlir --program=from_zero --graph=from_zero_0 --target=emulator >> %t.out
// RUN: mirage-run %t.AHEAD.low.mlir --program=window --graph=window_0 --target=emulator >> %t.out
// RUN: mirage-run %t.AHEAD.low.mlir --program=one_key --graph=one_key_0 --target=emulator >> %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] schedule <overlap = turns, roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, tensor, tensor]>/' %s | mirage-mlir-opt --mirage-layout='target=h200 explain' -o %t.TURNS.mlir 2>%t.TURNS.err
// RUN: FileCheck %s --check-prefix=TURNS < %t.TURNS.err
// TURNS-COUNT-6: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.TURNS.mlir --mirage-lower=target=h200 -o %t.TURNS.low.mlir 2>/dev/null
// RUN: mirage-run %t.TURNS.low.mlir --program=inside --graph=inside_0 --target=emulator >> %t.out
// RUN: mirage-run %t.TURNS.low.mlir --program=window --graph=window_0 --target=emulator >> %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] schedule <overlap = ahead, loads = [tensor, tensor, tensor], warps = 8>/' %s | mirage-mlir-opt --mirage-layout='target=h200 explain' -o %t.ALONE.mlir 2>%t.ALONE.err
// RUN: FileCheck %s --check-prefix=ALONE < %t.ALONE.err
// ALONE-COUNT-6: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.ALONE.mlir --mirage-lower=target=h200 -o %t.ALONE.low.mlir 2>/dev/null
// RUN: mirage-run %t.ALONE.low.mlir --program=beyond --graph=beyond_0 --target=emulator >> %t.out
// RUN: mirage-run %t.ALONE.low.mlir --program=one_key --graph=one_key_0 --target=emulator >> %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] schedule <tile_order = longest>/' %s | mirage-mlir-opt --mirage-layout=target=h200 -o %t.LONGEST.mlir 2>%t.LONGEST.err
// RUN: FileCheck %s --check-prefix=LONGEST < %t.LONGEST.err
// LONGEST-COUNT-2: no block is the longest: all blocks run as many iterations
// LONGEST-NOT: no block is the longest
// RUN: mirage-mlir-opt %t.LONGEST.mlir --mirage-lower=target=h200 -o %t.LONGEST.low.mlir 2>/dev/null
// RUN: mirage-run %t.LONGEST.low.mlir --program=inside --graph=inside_0 --target=emulator >> %t.out
// RUN: mirage-run %t.LONGEST.low.mlir --program=beyond --graph=beyond_0 --target=emulator >> %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] schedule <loads = [async, async(stages = 1), async(stages = 1)]>/' %s | mirage-mlir-opt --mirage-layout='target=h200 explain' -o %t.ONE.mlir 2>%t.ONE.err
// RUN: FileCheck %s --check-prefix=ONE < %t.ONE.err
// ONE-COUNT-6: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.ONE.mlir --mirage-lower=target=h200 -o %t.ONE.low.mlir 2>/dev/null
// RUN: mirage-run %t.ONE.low.mlir --program=inside --graph=inside_0 --target=emulator >> %t.out
// RUN: mirage-run %t.ONE.low.mlir --program=window --graph=window_0 --target=emulator >> %t.out
//
// RUN: sed 's/grid \[2, 2\]/grid [2, 2] /' %s | mirage-mlir-opt --mirage-layout='target=a100 explain' -o %t.A100.mlir 2>%t.A100.err
// RUN: FileCheck %s --check-prefix=A100 < %t.A100.err
// A100-COUNT-6: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.A100.mlir --mirage-lower=target=a100 -o %t.A100.low.mlir 2>/dev/null
// RUN: mirage-run %t.A100.low.mlir --program=inside --graph=inside_0 --target=emulator >> %t.out
// RUN: mirage-run %t.A100.low.mlir --program=one_key --graph=one_key_0 --target=emulator >> %t.out
// RUN: FileCheck %s --check-prefix=RAN < %t.out
// RAN-COUNT-28: : ok

mirage_kernel.graph @inside(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal, offset = 100} : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>
  return %y : tensor<2x256x64xf16>
}
mirage_kernel.graph @inside_0(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> attributes {source = @inside} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2] : (tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, start = 100, grid = [128]} : !mirage_block.tile<128x1xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<128x1xi32>
      %z = mask %c, %x : !mirage_block.tile<128x64xi1>, !mirage_block.tile<1x128x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x64xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %eh = cast %e : !mirage_block.tile<1x128x64xf32> -> !mirage_block.tile<1x128x64xf16>
      %pv = matmul %eh, %vt : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<2x256x64xf16>
  }
  return %y : tensor<2x256x64xf16>
}

mirage_kernel.graph @at_the_end(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal, offset = 63} : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>
  return %y : tensor<2x256x64xf16>
}
mirage_kernel.graph @at_the_end_0(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> attributes {source = @at_the_end} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2] : (tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, start = 63, grid = [128]} : !mirage_block.tile<128x1xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<128x1xi32>
      %z = mask %c, %x : !mirage_block.tile<128x64xi1>, !mirage_block.tile<1x128x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x64xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %eh = cast %e : !mirage_block.tile<1x128x64xf32> -> !mirage_block.tile<1x128x64xf16>
      %pv = matmul %eh, %vt : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<2x256x64xf16>
  }
  return %y : tensor<2x256x64xf16>
}

mirage_kernel.graph @beyond(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal, offset = 64} : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>
  return %y : tensor<2x256x64xf16>
}
mirage_kernel.graph @beyond_0(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> attributes {source = @beyond} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2] : (tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, start = 64, grid = [128]} : !mirage_block.tile<128x1xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<128x1xi32>
      %z = mask %c, %x : !mirage_block.tile<128x64xi1>, !mirage_block.tile<1x128x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x64xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %eh = cast %e : !mirage_block.tile<1x128x64xf32> -> !mirage_block.tile<1x128x64xf16>
      %pv = matmul %eh, %vt : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<2x256x64xf16>
  }
  return %y : tensor<2x256x64xf16>
}

mirage_kernel.graph @from_zero(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal} : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>
  return %y : tensor<2x256x64xf16>
}
mirage_kernel.graph @from_zero_0(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> attributes {source = @from_zero} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2] : (tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, start = 0, grid = [128]} : !mirage_block.tile<128x1xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<128x1xi32>
      %z = mask %c, %x : !mirage_block.tile<128x64xi1>, !mirage_block.tile<1x128x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x64xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %eh = cast %e : !mirage_block.tile<1x128x64xf32> -> !mirage_block.tile<1x128x64xf16>
      %pv = matmul %eh, %vt : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<2x256x64xf16>
  }
  return %y : tensor<2x256x64xf16>
}

mirage_kernel.graph @window(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal, offset = 256, window = 100} : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>
  return %y : tensor<2x256x64xf16>
}
mirage_kernel.graph @window_0(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> attributes {source = @window} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2] : (tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, start = 256, grid = [128]} : !mirage_block.tile<128x1xi32>
      %low = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<128x1xi32>
      %h = iota {dim = 0, start = 156, grid = [128]} : !mirage_block.tile<128x1xi32>
      %high = less %h, %j : !mirage_block.tile<128x1xi32>, !mirage_block.tile<1x64xi32>
      %c = and %low, %high : !mirage_block.tile<128x64xi1>, !mirage_block.tile<128x64xi1>
      %z = mask %c, %x : !mirage_block.tile<128x64xi1>, !mirage_block.tile<1x128x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x64xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %eh = cast %e : !mirage_block.tile<1x128x64xf32> -> !mirage_block.tile<1x128x64xf16>
      %pv = matmul %eh, %vt : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<2x256x64xf16>
  }
  return %y : tensor<2x256x64xf16>
}

mirage_kernel.graph @one_key(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal, offset = 255, window = 1} : tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>
  return %y : tensor<2x256x64xf16>
}
mirage_kernel.graph @one_key_0(%q: tensor<2x256x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>) -> tensor<2x256x64xf16> attributes {source = @one_key} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2] : (tensor<2x256x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x256x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, start = 255, grid = [128]} : !mirage_block.tile<128x1xi32>
      %low = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<128x1xi32>
      %h = iota {dim = 0, start = 254, grid = [128]} : !mirage_block.tile<128x1xi32>
      %high = less %h, %j : !mirage_block.tile<128x1xi32>, !mirage_block.tile<1x64xi32>
      %c = and %low, %high : !mirage_block.tile<128x64xi1>, !mirage_block.tile<128x64xi1>
      %z = mask %c, %x : !mirage_block.tile<128x64xi1>, !mirage_block.tile<1x128x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x64xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %eh = cast %e : !mirage_block.tile<1x128x64xf32> -> !mirage_block.tile<1x128x64xf16>
      %pv = matmul %eh, %vt : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<2x256x64xf16>
  }
  return %y : tensor<2x256x64xf16>
}
