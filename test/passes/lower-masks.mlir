// Code that no mask slows down where it hides nothing: a loop's body stands once for whole tiles, where nothing is compared, and once for
// those that the mask divides. Behind a window there are such on both sides. Where one of two conditions suffices there is one body, which
// runs for all tiles. Two blocks of a loop that leaves some out share a multiprocessor: what the mask takes beside tiles, a register or two,
// must not cost that.
//
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 -o %t.low 2>/dev/null
// RUN: FileCheck %s --check-prefix=LENGTH < %t.low
// RUN: grep -o 'minnctapersm .' %t.low | FileCheck %s --check-prefix=BESIDE
// BESIDE-COUNT-3: minnctapersm 2
// BESIDE-NOT: minnctapersm
// LENGTH: graph @length_0(
// LENGTH-NEXT: loads = [tensor(stages = 1), tensor(stages = 3), register(stages = 1), tensor(stages = 3)]
// RUN: %python %S/loop_masks.py %t.low > %t.loops
// RUN: FileCheck %s --check-prefix=LOOPS < %t.loops
// LOOPS: causal: masked
// LOOPS-NEXT: causal: whole
// LOOPS-NEXT: window: masked
// LOOPS-NEXT: window: whole
// LOOPS-NEXT: window: masked
// LOOPS-NEXT: either: masked
// LOOPS-NEXT: length: masked
// LOOPS-NEXT: length: whole
// LOOPS-NOT: {{masked|whole}}

mirage_kernel.graph @causal(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal} : tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>
  return %y : tensor<16x2048x64xf16>
}
mirage_kernel.graph @causal_0(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> attributes {selected, source = @causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [16, 16] : (tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 16 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x128x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x1x1xf32>
      %key = iota {dim = 1, loop = [128]} : !mirage_block.tile<1x128xi32>
      %query = iota {dim = 0, grid = [128]} : !mirage_block.tile<128x1xi32>
      %c = less_equal %key, %query : !mirage_block.tile<1x128xi32>, !mirage_block.tile<128x1xi32> -> !mirage_block.tile<128x128xi1>
      %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
      %hidden = mask %c, %zero : !mirage_block.tile<128x128xi1>, !mirage_block.tile<128x128xf32>
      %z = add %hidden, %x : !mirage_block.tile<128x128xf32>, !mirage_block.tile<1x128x128xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x128xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x128xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %h = cast %e : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x128xf16>
      %pv = matmul %h, %vt : !mirage_block.tile<1x128x128xf16>, !mirage_block.tile<1x128x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x128xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<16x2048x64xf16>
  }
  return %y : tensor<16x2048x64xf16>
}

mirage_kernel.graph @window(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125, causal, window = 512} : tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>
  return %y : tensor<16x2048x64xf16>
}
mirage_kernel.graph @window_0(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> attributes {selected, source = @window} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [16, 16] : (tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 16 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x128x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x1x1xf32>
      %key = iota {dim = 1, loop = [128]} : !mirage_block.tile<1x128xi32>
      %query = iota {dim = 0, grid = [128]} : !mirage_block.tile<128x1xi32>
      %a = less_equal %key, %query : !mirage_block.tile<1x128xi32>, !mirage_block.tile<128x1xi32> -> !mirage_block.tile<128x128xi1>
      %early = iota {dim = 0, start = -512, grid = [128]} : !mirage_block.tile<128x1xi32>
      %b = less %early, %key : !mirage_block.tile<128x1xi32>, !mirage_block.tile<1x128xi32> -> !mirage_block.tile<128x128xi1>
      %c = and %a, %b : !mirage_block.tile<128x128xi1>, !mirage_block.tile<128x128xi1>
      %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
      %hidden = mask %c, %zero : !mirage_block.tile<128x128xi1>, !mirage_block.tile<128x128xf32>
      %z = add %hidden, %x : !mirage_block.tile<128x128xf32>, !mirage_block.tile<1x128x128xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x128xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x128xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %h = cast %e : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x128xf16>
      %pv = matmul %h, %vt : !mirage_block.tile<1x128x128xf16>, !mirage_block.tile<1x128x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x128xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<16x2048x64xf16>
  }
  return %y : tensor<16x2048x64xf16>
}

mirage_kernel.graph @either(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> {
  %key = iota {dim = 1} : tensor<1x2048xi32>
  %query = iota {dim = 0} : tensor<2048x1xi32>
  %a = less_equal %key, %query : tensor<1x2048xi32>, tensor<2048x1xi32>
  %first = constant 100.0 : tensor<1x1xi32>
  %b = less %key, %first : tensor<1x2048xi32>, tensor<1x1xi32>
  %c = or %a, %b : tensor<2048x2048xi1>, tensor<1x2048xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.125} : tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<2048x2048xi1>
  return %y : tensor<16x2048x64xf16>
}
mirage_kernel.graph @either_0(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> attributes {selected, source = @either} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [16, 16] : (tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>) -> tensor<16x2048x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 16 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x128x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x1x1xf32>
      %key = iota {dim = 1, loop = [128]} : !mirage_block.tile<1x128xi32>
      %query = iota {dim = 0, grid = [128]} : !mirage_block.tile<128x1xi32>
      %a = less_equal %key, %query : !mirage_block.tile<1x128xi32>, !mirage_block.tile<128x1xi32> -> !mirage_block.tile<128x128xi1>
      %first = constant 100.0 : !mirage_block.tile<1x1xi32>
      %b = less %key, %first : !mirage_block.tile<1x128xi32>, !mirage_block.tile<1x1xi32> -> !mirage_block.tile<1x128xi1>
      %c = or %a, %b : !mirage_block.tile<128x128xi1>, !mirage_block.tile<1x128xi1>
      %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
      %hidden = mask %c, %zero : !mirage_block.tile<128x128xi1>, !mirage_block.tile<128x128xf32>
      %z = add %hidden, %x : !mirage_block.tile<128x128xf32>, !mirage_block.tile<1x128x128xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x128xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x128xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %h = cast %e : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x128xf16>
      %pv = matmul %h, %vt : !mirage_block.tile<1x128x128xf16>, !mirage_block.tile<1x128x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x128xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<16x2048x64xf16>
  }
  return %y : tensor<16x2048x64xf16>
}

// A length that the kernel learns when it runs is read where it is asked for; tensor copies bring the rest.
mirage_kernel.graph @length(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>, %n: tensor<16x1x1xi32>) -> tensor<16x2048x64xf16> {
  %key = iota {dim = 2} : tensor<1x1x2048xi32>
  %query = iota {dim = 1} : tensor<1x2048x1xi32>
  %a = less_equal %key, %query : tensor<1x1x2048xi32>, tensor<1x2048x1xi32>
  %b = less %key, %n : tensor<1x1x2048xi32>, tensor<16x1x1xi32>
  %c = and %a, %b : tensor<1x2048x2048xi1>, tensor<16x1x2048xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.125} : tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x2048xi1>
  return %y : tensor<16x2048x64xf16>
}
mirage_kernel.graph @length_0(%q: tensor<16x2048x64xf16>, %k: tensor<16x2048x64xf16>, %v: tensor<16x2048x64xf16>, %n: tensor<16x1x1xi32>) -> tensor<16x2048x64xf16> attributes {selected, source = @length} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%yk) grid [16, 16] : (tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x2048x64xf16>, tensor<16x1x1xi32>) -> tensor<16x2048x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 16 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x128x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x1x1xf32>
      %key = iota {dim = 1, loop = [128]} : !mirage_block.tile<1x128xi32>
      %query = iota {dim = 0, grid = [128]} : !mirage_block.tile<128x1xi32>
      %a = less_equal %key, %query : !mirage_block.tile<1x128xi32>, !mirage_block.tile<128x1xi32> -> !mirage_block.tile<128x128xi1>
      %nt = load %nk {grid = [-1, 0]} : tensor<16x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %b = less %key, %nt : !mirage_block.tile<1x128xi32>, !mirage_block.tile<1x1x1xi32> -> !mirage_block.tile<1x1x128xi1>
      %c = and %a, %b : !mirage_block.tile<128x128xi1>, !mirage_block.tile<1x1x128xi1> -> !mirage_block.tile<1x128x128xi1>
      %zero = constant 0.0 : !mirage_block.tile<1x128x128xf32>
      %hidden = mask %c, %zero : !mirage_block.tile<1x128x128xi1>, !mirage_block.tile<1x128x128xf32>
      %z = add %hidden, %x : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x128x128xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x128x128xf32>
      %new = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %f = exp %df : !mirage_block.tile<1x128x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x128x1xf32>
      %e = exp %d : !mirage_block.tile<1x128x128xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<16x2048x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %h = cast %e : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x128xf16>
      %pv = matmul %h, %vt : !mirage_block.tile<1x128x128xf16>, !mirage_block.tile<1x128x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x128x128xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<16x2048x64xf16>
  }
  return %y : tensor<16x2048x64xf16>
}
