// Rows a block each, or so many that registers are full of them: when they wait in shared memory, and of how many warps blocks are that
// share a multiprocessor (lib/layout/rows_ahead.c).
//
// RUN: mirage-mlir-opt %s --mirage-layout="explain target=h200" -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=PLAN < %t.remarks

// Two rows of 100 KB have room on a multiprocessor, for eight warps each,
// CHECK-LABEL: graph @two_0(
// CHECK: grid [512] schedule <warps = 8,
// PLAN: plan: rows wait in shared memory: 1 turn of 1 row,
mirage_kernel.graph @two(%x: tensor<512x50257xf16>) -> tensor<512x50257xf16> {
  %y = softmax %x {dim = 1} : tensor<512x50257xf16>
  return %y : tensor<512x50257xf16>
}
mirage_kernel.graph @two_0(%x: tensor<512x50257xf16>) -> tensor<512x50257xf16> attributes {source = @two} {
  %y = custom (%a = %x) outs(%b) grid [512] : (tensor<512x50257xf16>) -> tensor<512x50257xf16> {
    %t = load %a {grid = [0]} : tensor<512x50257xf16> -> !mirage_block.tile<1x50257xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x50257xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x50257xf16>, !mirage_block.tile<1x1xf32>
    %e = exp %d : !mirage_block.tile<1x50257xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<1x50257xf32> -> !mirage_block.tile<1x1xf32>
    %p = div %e, %s : !mirage_block.tile<1x50257xf32>, !mirage_block.tile<1x1xf32>
    store %p, %b {grid = [0]} : !mirage_block.tile<1x50257xf32>, tensor<512x50257xf16>
  }
  return %y : tensor<512x50257xf16>
}

// four of 28 KB for four,
// CHECK-LABEL: graph @four_0(
// CHECK: grid [2048] schedule <warps = 4,
// PLAN: plan: rows wait in shared memory: 1 turn of 1 row,
mirage_kernel.graph @four(%x: tensor<2048x14336xf16>) -> tensor<2048x14336xf16> {
  %y = softmax %x {dim = 1} : tensor<2048x14336xf16>
  return %y : tensor<2048x14336xf16>
}
mirage_kernel.graph @four_0(%x: tensor<2048x14336xf16>) -> tensor<2048x14336xf16> attributes {source = @four} {
  %y = custom (%a = %x) outs(%b) grid [2048] : (tensor<2048x14336xf16>) -> tensor<2048x14336xf16> {
    %t = load %a {grid = [0]} : tensor<2048x14336xf16> -> !mirage_block.tile<1x14336xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x14336xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x14336xf16>, !mirage_block.tile<1x1xf32>
    %e = exp %d : !mirage_block.tile<1x14336xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<1x14336xf32> -> !mirage_block.tile<1x1xf32>
    %p = div %e, %s : !mirage_block.tile<1x14336xf32>, !mirage_block.tile<1x1xf32>
    store %p, %b {grid = [0]} : !mirage_block.tile<1x14336xf32>, tensor<2048x14336xf16>
  }
  return %y : tensor<2048x14336xf16>
}

// but not if few blocks follow: all threads have a row then, in registers,
// CHECK-LABEL: graph @few_0(
// CHECK: grid [200] schedule <warps = 14,
// PLAN-NOT: rows wait
// PLAN: form: rows in threads: taken
mirage_kernel.graph @few(%x: tensor<200x14336xf16>) -> tensor<200x14336xf16> {
  %y = softmax %x {dim = 1} : tensor<200x14336xf16>
  return %y : tensor<200x14336xf16>
}
mirage_kernel.graph @few_0(%x: tensor<200x14336xf16>) -> tensor<200x14336xf16> attributes {source = @few} {
  %y = custom (%a = %x) outs(%b) grid [200] : (tensor<200x14336xf16>) -> tensor<200x14336xf16> {
    %t = load %a {grid = [0]} : tensor<200x14336xf16> -> !mirage_block.tile<1x14336xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x14336xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x14336xf16>, !mirage_block.tile<1x1xf32>
    %e = exp %d : !mirage_block.tile<1x14336xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<1x14336xf32> -> !mirage_block.tile<1x1xf32>
    %p = div %e, %s : !mirage_block.tile<1x14336xf32>, !mirage_block.tile<1x1xf32>
    store %p, %b {grid = [0]} : !mirage_block.tile<1x14336xf32>, tensor<200x14336xf16>
  }
  return %y : tensor<200x14336xf16>
}

// nor if 16 warps are asked for,
// CHECK-LABEL: graph @asked_0(
// CHECK: grid [2048] schedule <warps = 16,
// PLAN-NOT: rows wait
// PLAN: form: rows in threads: taken
mirage_kernel.graph @asked(%x: tensor<2048x14336xf16>) -> tensor<2048x14336xf16> {
  %y = softmax %x {dim = 1} : tensor<2048x14336xf16>
  return %y : tensor<2048x14336xf16>
}
mirage_kernel.graph @asked_0(%x: tensor<2048x14336xf16>) -> tensor<2048x14336xf16> attributes {source = @asked} {
  %y = custom (%a = %x) outs(%b) grid [2048] schedule <warps = 16> : (tensor<2048x14336xf16>) -> tensor<2048x14336xf16> {
    %t = load %a {grid = [0]} : tensor<2048x14336xf16> -> !mirage_block.tile<1x14336xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x14336xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x14336xf16>, !mirage_block.tile<1x1xf32>
    %e = exp %d : !mirage_block.tile<1x14336xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<1x14336xf32> -> !mirage_block.tile<1x1xf32>
    %p = div %e, %s : !mirage_block.tile<1x14336xf32>, !mirage_block.tile<1x1xf32>
    store %p, %b {grid = [0]} : !mirage_block.tile<1x14336xf32>, tensor<2048x14336xf16>
  }
  return %y : tensor<2048x14336xf16>
}

// nor shorter rows,
// CHECK-LABEL: graph @short_0(
// CHECK: grid [2048] schedule <warps = 8,
// PLAN-NOT: rows wait
// PLAN: form: rows in threads: taken
mirage_kernel.graph @short(%x: tensor<2048x8192xf16>) -> tensor<2048x8192xf16> {
  %y = softmax %x {dim = 1} : tensor<2048x8192xf16>
  return %y : tensor<2048x8192xf16>
}
mirage_kernel.graph @short_0(%x: tensor<2048x8192xf16>) -> tensor<2048x8192xf16> attributes {source = @short} {
  %y = custom (%a = %x) outs(%b) grid [2048] : (tensor<2048x8192xf16>) -> tensor<2048x8192xf16> {
    %t = load %a {grid = [0]} : tensor<2048x8192xf16> -> !mirage_block.tile<1x8192xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x8192xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x8192xf16>, !mirage_block.tile<1x1xf32>
    %e = exp %d : !mirage_block.tile<1x8192xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<1x8192xf32> -> !mirage_block.tile<1x1xf32>
    %p = div %e, %s : !mirage_block.tile<1x8192xf32>, !mirage_block.tile<1x1xf32>
    store %p, %b {grid = [0]} : !mirage_block.tile<1x8192xf32>, tensor<2048x8192xf16>
  }
  return %y : tensor<2048x8192xf16>
}

// unless two others that are the same for all of them leave no registers.
// CHECK-LABEL: graph @same_0(
// CHECK: grid [512] schedule <warps = 4,
// PLAN: plan: rows wait in shared memory: 1 turn of 1 row,
mirage_kernel.graph @same(%x: tensor<512x8192xf16>, %g: tensor<8192xf16>, %h: tensor<8192xf16>) -> tensor<512x8192xf16> {
  %m = reduce_max %x {dim = 1} : tensor<512x8192xf16>
  %d = sub %x, %m : tensor<512x8192xf16>, tensor<512x1xf16>
  %p = mul %d, %g : tensor<512x8192xf16>, tensor<8192xf16>
  %y = add %p, %h : tensor<512x8192xf16>, tensor<8192xf16>
  return %y : tensor<512x8192xf16>
}
mirage_kernel.graph @same_0(%x: tensor<512x8192xf16>, %g: tensor<8192xf16>, %h: tensor<8192xf16>) -> tensor<512x8192xf16> attributes {source = @same} {
  %y = custom (%a = %x, %gk = %g, %hk = %h) outs(%b) grid [512] : (tensor<512x8192xf16>, tensor<8192xf16>, tensor<8192xf16>) -> tensor<512x8192xf16> {
    %t = load %a {grid = [0]} : tensor<512x8192xf16> -> !mirage_block.tile<1x8192xf16>
    %gt = load %gk : tensor<8192xf16> -> !mirage_block.tile<8192xf16>
    %ht = load %hk : tensor<8192xf16> -> !mirage_block.tile<8192xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x8192xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x8192xf16>, !mirage_block.tile<1x1xf32>
    %p = mul %d, %gt : !mirage_block.tile<1x8192xf32>, !mirage_block.tile<8192xf16>
    %q = add %p, %ht : !mirage_block.tile<1x8192xf32>, !mirage_block.tile<8192xf16>
    store %q, %b {grid = [0]} : !mirage_block.tile<1x8192xf32>, tensor<512x8192xf16>
  }
  return %y : tensor<512x8192xf16>
}

// Rows of less than 4 KB stay there all the same.
// CHECK-LABEL: graph @shortest_0(
// CHECK: grid [512] schedule <warps =
// PLAN-NOT: rows wait
// PLAN: form: rows in threads: taken
mirage_kernel.graph @shortest(%x: tensor<512x1024xf16>, %g: tensor<1024xf16>, %h: tensor<1024xf16>) -> tensor<512x1024xf16> {
  %m = reduce_max %x {dim = 1} : tensor<512x1024xf16>
  %d = sub %x, %m : tensor<512x1024xf16>, tensor<512x1xf16>
  %p = mul %d, %g : tensor<512x1024xf16>, tensor<1024xf16>
  %y = add %p, %h : tensor<512x1024xf16>, tensor<1024xf16>
  return %y : tensor<512x1024xf16>
}
mirage_kernel.graph @shortest_0(%x: tensor<512x1024xf16>, %g: tensor<1024xf16>, %h: tensor<1024xf16>) -> tensor<512x1024xf16> attributes {source = @shortest} {
  %y = custom (%a = %x, %gk = %g, %hk = %h) outs(%b) grid [512] : (tensor<512x1024xf16>, tensor<1024xf16>, tensor<1024xf16>) -> tensor<512x1024xf16> {
    %t = load %a {grid = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<1x1024xf16>
    %gt = load %gk : tensor<1024xf16> -> !mirage_block.tile<1024xf16>
    %ht = load %hk : tensor<1024xf16> -> !mirage_block.tile<1024xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x1024xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x1024xf16>, !mirage_block.tile<1x1xf32>
    %p = mul %d, %gt : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1024xf16>
    %q = add %p, %ht : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1024xf16>
    store %q, %b {grid = [0]} : !mirage_block.tile<1x1024xf32>, tensor<512x1024xf16>
  }
  return %y : tensor<512x1024xf16>
}

// So do rows that begin anywhere, where what is the same for all of them is cut out anew for each.
// CHECK-LABEL: graph @torn_0(
// CHECK: grid [512] schedule <warps = 8,
// PLAN: plan: rows wait in shared memory: 1 turn of 1 row,
mirage_kernel.graph @torn(%x: tensor<512x50257xf16>, %g: tensor<50257xf16>, %h: tensor<50257xf16>) -> tensor<512x50257xf16> {
  %m = reduce_max %x {dim = 1} : tensor<512x50257xf16>
  %d = sub %x, %m : tensor<512x50257xf16>, tensor<512x1xf16>
  %p = mul %d, %g : tensor<512x50257xf16>, tensor<50257xf16>
  %y = add %p, %h : tensor<512x50257xf16>, tensor<50257xf16>
  return %y : tensor<512x50257xf16>
}
mirage_kernel.graph @torn_0(%x: tensor<512x50257xf16>, %g: tensor<50257xf16>, %h: tensor<50257xf16>) -> tensor<512x50257xf16> attributes {source = @torn} {
  %y = custom (%a = %x, %gk = %g, %hk = %h) outs(%b) grid [512] : (tensor<512x50257xf16>, tensor<50257xf16>, tensor<50257xf16>) -> tensor<512x50257xf16> {
    %t = load %a {grid = [0]} : tensor<512x50257xf16> -> !mirage_block.tile<1x50257xf16>
    %gt = load %gk : tensor<50257xf16> -> !mirage_block.tile<50257xf16>
    %ht = load %hk : tensor<50257xf16> -> !mirage_block.tile<50257xf16>
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<1x50257xf16> -> !mirage_block.tile<1x1xf32>
    %d = sub %t, %m : !mirage_block.tile<1x50257xf16>, !mirage_block.tile<1x1xf32>
    %p = mul %d, %gt : !mirage_block.tile<1x50257xf32>, !mirage_block.tile<50257xf16>
    %q = add %p, %ht : !mirage_block.tile<1x50257xf32>, !mirage_block.tile<50257xf16>
    store %q, %b {grid = [0]} : !mirage_block.tile<1x50257xf32>, tensor<512x50257xf16>
  }
  return %y : tensor<512x50257xf16>
}
