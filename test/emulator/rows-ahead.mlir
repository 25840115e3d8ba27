// Long rows, and rows that begin anywhere: those of the next turns wait in shared memory (lib/layout/rows_ahead.c).
//
// RUN: mirage-mlir-opt %s --mirage-layout=explain --mirage-lower -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --check-prefix=PLAN < %t.remarks
// RUN: mirage-run %t.mlir --target=emulator --program=torn --graph=torn_0 --compile=h200 | FileCheck %s --check-prefix=TORN
// RUN: mirage-run %t.mlir --target=emulator --program=torn --graph=torn_1 --compile=h200 | FileCheck %s --check-prefix=TORN
// RUN: mirage-run %t.mlir --target=emulator --program=words --graph=words_0 --compile=h200 | FileCheck %s --check-prefix=WORDS
// RUN: mirage-run %t.mlir --target=emulator --program=long --graph=long_0 --compile=h200 | FileCheck %s --check-prefix=LONG
// RUN: mirage-run %t.mlir --target=emulator --program=long --graph=long_1 --compile=h200 | FileCheck %s --check-prefix=LONG
// RUN: mirage-run %t.mlir --target=emulator --program=long --graph=long_0 --compile=a100 | FileCheck %s --check-prefix=LONG
// RUN: mirage-run %t.mlir --target=emulator --program=counted --graph=counted_0 --compile=h200 | FileCheck %s --check-prefix=COUNTED
// RUN: mirage-run %t.mlir --target=emulator --program=mixed --graph=mixed_0 --compile=h200 | FileCheck %s --check-prefix=MIXED
// RUN: mirage-run %t.mlir --target=emulator --program=narrow --graph=narrow_0 --compile=h200 | FileCheck %s --check-prefix=NARROW
// RUN: mirage-run %t.mlir --target=emulator --program=bytes --graph=bytes_0 --compile=h200 | FileCheck %s --check-prefix=NARROW
// RUN: mirage-run %t.mlir --target=emulator --program=tail --compile=h200 | FileCheck %s --check-prefix=TAIL
// RUN: mirage-run %t.mlir --target=emulator --program=nested --compile=h200 | FileCheck %s --check-prefix=TAIL
// RUN: mirage-run %t.mlir --target=emulator --program=long_tail --compile=h200 | FileCheck %s --check-prefix=LONGTAIL
// RUN: mirage-run %t.mlir --target=emulator --program=long_nested --compile=h200 | FileCheck %s --check-prefix=LONGNESTED
// RUN: mirage-run %t.mlir --target=emulator --program=brief --graph=brief_0 --compile=h200 | FileCheck %s --check-prefix=BRIEF
// RUN: mirage-run %t.mlir --target=emulator --program=moved --graph=moved_0 --compile=h200 | FileCheck %s --check-prefix=MOVED
//
// TORN: output 0 {{.*}} 25015 of 25015 elements compared; {{.*}}: ok
// WORDS: output 0 {{.*}} 30006 of 30006 elements compared; {{.*}}: ok
// LONG: output 0 {{.*}} 80000 of 80000 elements compared; {{.*}}: ok
// COUNTED: output 0 {{.*}} 6002 of 6002 elements compared; {{.*}}: ok
// MIXED: output 0 {{.*}} 6002 of 6002 elements compared; {{.*}}: ok
// NARROW: output 0 {{.*}} 6002 of 6002 elements compared; {{.*}}: ok
// TAIL: output 0 {{.*}} 1552 of 1552 elements compared; {{.*}}: ok
// LONGTAIL: output 0 {{.*}} 12796 of 12796 elements compared; {{.*}}: ok
// LONGNESTED: output 0 {{.*}} 25596 of 25596 elements compared; {{.*}}: ok
// BRIEF: output 0 {{.*}} 19019 of 19019 elements compared; {{.*}}: ok
// MOVED: output 0 {{.*}} 3 of 3 elements compared; {{.*}}: ok

// f16 rows of 10,006 bytes, of a tensor that ends within a window: three rows at once, one of which the second block does not have; and
// parts of rows that blocks of a cluster share.
// PLAN: remark: plan: rows wait in shared memory: 1 turn of 3 rows, 1 tensor, in whole windows of 16 bytes, in which they begin anywhere
// PLAN: remark: form: rows in threads: taken
// PLAN: remark: plan: rows wait in shared memory: 2 turns of 3 rows, 1 tensor, in whole windows of 16 bytes, in which they begin anywhere
mirage_kernel.graph @torn(%x: tensor<5x5003xf16>, %g: tensor<5003xf16>) -> tensor<5x5003xf16> {
  %m = reduce_max %x {dim = 1} : tensor<5x5003xf16>
  %c = sub %x, %m : tensor<5x5003xf16>, tensor<5x1xf16>
  %y = mul %c, %g : tensor<5x5003xf16>, tensor<5003xf16>
  return %y : tensor<5x5003xf16>
}
mirage_kernel.graph @torn_0(%x: tensor<5x5003xf16>, %g: tensor<5003xf16>) -> tensor<5x5003xf16> attributes {source = @torn} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2] : (tensor<5x5003xf16>, tensor<5003xf16>) -> tensor<5x5003xf16> {
    %xt = load %xk {grid = [0]} : tensor<5x5003xf16> -> !mirage_block.tile<3x5003xf16>
    %gt = load %gk : tensor<5003xf16> -> !mirage_block.tile<5003xf16>
    %mm = reduce_max %xt {dim = 1} : !mirage_block.tile<3x5003xf16> -> !mirage_block.tile<3x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<3x5003xf16>, !mirage_block.tile<3x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<3x5003xf32>, !mirage_block.tile<5003xf16>
    store %p, %yk {grid = [0]} : !mirage_block.tile<3x5003xf32>, tensor<5x5003xf16>
  }
  return %y : tensor<5x5003xf16>
}
mirage_kernel.graph @torn_1(%x: tensor<5x5003xf16>, %g: tensor<5003xf16>) -> tensor<5x5003xf16> attributes {source = @torn} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [1, 4] cluster [1, 4] : (tensor<5x5003xf16>, tensor<5003xf16>) -> tensor<5x5003xf16> {
    %xt = load %xk {grid = [0, 1]} : tensor<5x5003xf16> -> !mirage_block.tile<5x1251xf16>
    %gt = load %gk {grid = [-1, 0]} : tensor<5003xf16> -> !mirage_block.tile<1251xf16>
    %lm = reduce_max %xt {dim = 1} : !mirage_block.tile<5x1251xf16> -> !mirage_block.tile<5x1xf32>
    %mm = cluster_max %lm {axes = [1]} : !mirage_block.tile<5x1xf32> -> !mirage_block.tile<5x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<5x1251xf16>, !mirage_block.tile<5x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<5x1251xf32>, !mirage_block.tile<1251xf16>
    store %p, %yk {grid = [0, 1]} : !mirage_block.tile<5x1251xf32>, tensor<5x5003xf16>
  }
  return %y : tensor<5x5003xf16>
}

// Windows of four elements, in more turns than one.
// PLAN: remark: plan: rows wait in shared memory: 2 turns of 2 rows, 1 tensor, in whole windows of 16 bytes, in which they begin anywhere
mirage_kernel.graph @words(%x: tensor<6x5001xf32>, %g: tensor<5001xf32>) -> tensor<6x5001xf32> {
  %m = reduce_max %x {dim = 1} : tensor<6x5001xf32>
  %c = sub %x, %m : tensor<6x5001xf32>, tensor<6x1xf32>
  %y = mul %c, %g : tensor<6x5001xf32>, tensor<5001xf32>
  return %y : tensor<6x5001xf32>
}
mirage_kernel.graph @words_0(%x: tensor<6x5001xf32>, %g: tensor<5001xf32>) -> tensor<6x5001xf32> attributes {source = @words} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2] : (tensor<6x5001xf32>, tensor<5001xf32>) -> tensor<6x5001xf32> {
    %xt = load %xk {grid = [0]} : tensor<6x5001xf32> -> !mirage_block.tile<3x5001xf32>
    %gt = load %gk : tensor<5001xf32> -> !mirage_block.tile<5001xf32>
    %mm = reduce_max %xt {dim = 1} : !mirage_block.tile<3x5001xf32> -> !mirage_block.tile<3x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<3x5001xf32>, !mirage_block.tile<3x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<3x5001xf32>, !mirage_block.tile<5001xf32>
    store %p, %yk {grid = [0]} : !mirage_block.tile<3x5001xf32>, tensor<6x5001xf32>
  }
  return %y : tensor<6x5001xf32>
}

// Rows that begin with a window; and thirds of them, which do not.
// PLAN: remark: plan: rows wait in shared memory: 3 turns of 2 rows, 1 tensor{{$}}
// PLAN: remark: plan: rows wait in shared memory: {{.*}} begin anywhere
mirage_kernel.graph @long(%x: tensor<5x16000xf16>, %g: tensor<16000xf16>) -> tensor<5x16000xf16> {
  %m = reduce_max %x {dim = 1} : tensor<5x16000xf16>
  %c = sub %x, %m : tensor<5x16000xf16>, tensor<5x1xf16>
  %y = mul %c, %g : tensor<5x16000xf16>, tensor<16000xf16>
  return %y : tensor<5x16000xf16>
}
mirage_kernel.graph @long_0(%x: tensor<5x16000xf16>, %g: tensor<16000xf16>) -> tensor<5x16000xf16> attributes {source = @long} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [1] : (tensor<5x16000xf16>, tensor<16000xf16>) -> tensor<5x16000xf16> {
    %xt = load %xk {grid = [0]} : tensor<5x16000xf16> -> !mirage_block.tile<5x16000xf16>
    %gt = load %gk : tensor<16000xf16> -> !mirage_block.tile<16000xf16>
    %mm = reduce_max %xt {dim = 1} : !mirage_block.tile<5x16000xf16> -> !mirage_block.tile<5x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<5x16000xf16>, !mirage_block.tile<5x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<5x16000xf32>, !mirage_block.tile<16000xf16>
    store %p, %yk {grid = [0]} : !mirage_block.tile<5x16000xf32>, tensor<5x16000xf16>
  }
  return %y : tensor<5x16000xf16>
}
mirage_kernel.graph @long_1(%x: tensor<5x16000xf16>, %g: tensor<16000xf16>) -> tensor<5x16000xf16> attributes {source = @long} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2, 3] cluster [1, 3] : (tensor<5x16000xf16>, tensor<16000xf16>) -> tensor<5x16000xf16> {
    %xt = load %xk {grid = [0, 1]} : tensor<5x16000xf16> -> !mirage_block.tile<3x5334xf16>
    %gt = load %gk {grid = [-1, 0]} : tensor<16000xf16> -> !mirage_block.tile<5334xf16>
    %lm = reduce_max %xt {dim = 1} : !mirage_block.tile<3x5334xf16> -> !mirage_block.tile<3x1xf32>
    %mm = cluster_max %lm {axes = [1]} : !mirage_block.tile<3x1xf32> -> !mirage_block.tile<3x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<3x5334xf16>, !mirage_block.tile<3x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<3x5334xf32>, !mirage_block.tile<5334xf16>
    store %p, %yk {grid = [0, 1]} : !mirage_block.tile<3x5334xf32>, tensor<5x16000xf16>
  }
  return %y : tensor<5x16000xf16>
}

// A last tile that reaches beyond the tensor: the fill counts in what is reduced, and so does that of
// what is the same for all rows.
mirage_kernel.graph @tail(%x: tensor<16x97xf16>, %g: tensor<97xf16>) -> tensor<16x97xf16> {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [3] : (tensor<16x97xf16>, tensor<97xf16>) -> tensor<16x97xf16> {
    %xt = load %xk {fill = one, grid = [1]} : tensor<16x97xf16> -> !mirage_block.tile<16x33xf16>
    %gt = load %gk {grid = [0]} : tensor<97xf16> -> !mirage_block.tile<33xf16>
    %d = sub %xt, %gt : !mirage_block.tile<16x33xf16>, !mirage_block.tile<33xf16>
    %e = exp %d : !mirage_block.tile<16x33xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<16x33xf32>
    %p = div %e, %s : !mirage_block.tile<16x33xf32>, !mirage_block.tile<16x1xf32>
    store %p, %yk {grid = [1]} : !mirage_block.tile<16x33xf32>, tensor<16x97xf16>
  }
  return %y : tensor<16x97xf16>
}

// The same in parts of halves, behind which the tensor goes on.
mirage_kernel.graph @nested(%x: tensor<16x97xf16>, %g: tensor<97xf16>) -> tensor<16x97xf16> {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2, 3] : (tensor<16x97xf16>, tensor<97xf16>) -> tensor<16x97xf16> {
    %xt = load %xk {fill = one, grid = [1, 1]} : tensor<16x97xf16> -> !mirage_block.tile<16x17xf16>
    %gt = load %gk {grid = [0, 0]} : tensor<97xf16> -> !mirage_block.tile<17xf16>
    %d = sub %xt, %gt : !mirage_block.tile<16x17xf16>, !mirage_block.tile<17xf16>
    %e = exp %d : !mirage_block.tile<16x17xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<16x17xf32>
    %p = div %e, %s : !mirage_block.tile<16x17xf32>, !mirage_block.tile<16x1xf32>
    store %p, %yk {grid = [1, 1]} : !mirage_block.tile<16x17xf32>, tensor<16x97xf16>
  }
  return %y : tensor<16x97xf16>
}

// And of rows longer than a warp holds.
mirage_kernel.graph @long_tail(%x: tensor<4x3199xf16>, %g: tensor<3199xf16>) -> tensor<4x3199xf16> {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [3] : (tensor<4x3199xf16>, tensor<3199xf16>) -> tensor<4x3199xf16> {
    %xt = load %xk {fill = one, grid = [1]} : tensor<4x3199xf16> -> !mirage_block.tile<4x1067xf16>
    %gt = load %gk {grid = [0]} : tensor<3199xf16> -> !mirage_block.tile<1067xf16>
    %d = sub %xt, %gt : !mirage_block.tile<4x1067xf16>, !mirage_block.tile<1067xf16>
    %e = exp %d : !mirage_block.tile<4x1067xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x1067xf32>
    %p = div %e, %s : !mirage_block.tile<4x1067xf32>, !mirage_block.tile<4x1xf32>
    store %p, %yk {grid = [1]} : !mirage_block.tile<4x1067xf32>, tensor<4x3199xf16>
  }
  return %y : tensor<4x3199xf16>
}
mirage_kernel.graph @long_nested(%x: tensor<4x6399xf16>, %g: tensor<6399xf16>) -> tensor<4x6399xf16> {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2, 3] : (tensor<4x6399xf16>, tensor<6399xf16>) -> tensor<4x6399xf16> {
    %xt = load %xk {fill = one, grid = [1, 1]} : tensor<4x6399xf16> -> !mirage_block.tile<4x1067xf16>
    %gt = load %gk {grid = [0, 0]} : tensor<6399xf16> -> !mirage_block.tile<1067xf16>
    %d = sub %xt, %gt : !mirage_block.tile<4x1067xf16>, !mirage_block.tile<1067xf16>
    %e = exp %d : !mirage_block.tile<4x1067xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x1067xf32>
    %p = div %e, %s : !mirage_block.tile<4x1067xf32>, !mirage_block.tile<4x1xf32>
    store %p, %yk {grid = [1, 1]} : !mirage_block.tile<4x1067xf32>, tensor<4x6399xf16>
  }
  return %y : tensor<4x6399xf16>
}

// What is the same for all rows may be of another type, here of bytes.
// PLAN: remark: plan: rows wait in shared memory: {{.*}} begin anywhere
mirage_kernel.graph @narrow(%x: tensor<2x3001xf16>, %g: tensor<3001xi8>) -> tensor<2x3001xf16> {
  %m = reduce_max %x {dim = 1} : tensor<2x3001xf16>
  %c = sub %x, %m : tensor<2x3001xf16>, tensor<2x1xf16>
  %h = cast %g : tensor<3001xi8> -> tensor<3001xf16>
  %y = mul %c, %h : tensor<2x3001xf16>, tensor<3001xf16>
  return %y : tensor<2x3001xf16>
}
mirage_kernel.graph @narrow_0(%x: tensor<2x3001xf16>, %g: tensor<3001xi8>) -> tensor<2x3001xf16> attributes {source = @narrow} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [1] : (tensor<2x3001xf16>, tensor<3001xi8>) -> tensor<2x3001xf16> {
    %xt = load %xk : tensor<2x3001xf16> -> !mirage_block.tile<2x3001xf16>
    %gt = load %gk : tensor<3001xi8> -> !mirage_block.tile<3001xi8>
    %m = reduce_max %xt {dim = 1} : !mirage_block.tile<2x3001xf16> -> !mirage_block.tile<2x1xf32>
    %c = sub %xt, %m : !mirage_block.tile<2x3001xf16>, !mirage_block.tile<2x1xf32>
    %h = cast %gt : !mirage_block.tile<3001xi8> -> !mirage_block.tile<3001xf32>
    %p = mul %c, %h : !mirage_block.tile<2x3001xf32>, !mirage_block.tile<3001xf32>
    store %p, %yk : !mirage_block.tile<2x3001xf32>, tensor<2x3001xf16>
  }
  return %y : tensor<2x3001xf16>
}

// Not rows that are bytes themselves: a window would hold more than a thread takes at once;
// PLAN-NOT: rows wait
// PLAN: remark: form: rows in threads: taken
mirage_kernel.graph @bytes(%x: tensor<2x3001xi8>) -> tensor<2x3001xf16> {
  %f = cast %x : tensor<2x3001xi8> -> tensor<2x3001xf16>
  %m = reduce_max %f {dim = 1} : tensor<2x3001xf16>
  %y = sub %f, %m : tensor<2x3001xf16>, tensor<2x1xf16>
  return %y : tensor<2x3001xf16>
}
mirage_kernel.graph @bytes_0(%x: tensor<2x3001xi8>) -> tensor<2x3001xf16> attributes {source = @bytes} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x3001xi8>) -> tensor<2x3001xf16> {
    %xt = load %xk : tensor<2x3001xi8> -> !mirage_block.tile<2x3001xi8>
    %f = cast %xt : !mirage_block.tile<2x3001xi8> -> !mirage_block.tile<2x3001xf32>
    %m = reduce_max %f {dim = 1} : !mirage_block.tile<2x3001xf32> -> !mirage_block.tile<2x1xf32>
    %c = sub %f, %m : !mirage_block.tile<2x3001xf32>, !mirage_block.tile<2x1xf32>
    store %c, %yk : !mirage_block.tile<2x3001xf32>, tensor<2x3001xf16>
  }
  return %y : tensor<2x3001xf16>
}

// nor rows that leave room for blocks beside each other,
// PLAN-NOT: rows wait
// PLAN: remark: form: rows in threads: taken
mirage_kernel.graph @short(%x: tensor<16x4096xf16>, %g: tensor<4096xf16>) -> tensor<16x4096xf16> {
  %m = reduce_max %x {dim = 1} : tensor<16x4096xf16>
  %c = sub %x, %m : tensor<16x4096xf16>, tensor<16x1xf16>
  %y = mul %c, %g : tensor<16x4096xf16>, tensor<4096xf16>
  return %y : tensor<16x4096xf16>
}
mirage_kernel.graph @short_0(%x: tensor<16x4096xf16>, %g: tensor<4096xf16>) -> tensor<16x4096xf16> attributes {source = @short} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [1] : (tensor<16x4096xf16>, tensor<4096xf16>) -> tensor<16x4096xf16> {
    %xt = load %xk {grid = [0]} : tensor<16x4096xf16> -> !mirage_block.tile<16x4096xf16>
    %gt = load %gk : tensor<4096xf16> -> !mirage_block.tile<4096xf16>
    %mm = reduce_max %xt {dim = 1} : !mirage_block.tile<16x4096xf16> -> !mirage_block.tile<16x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<16x4096xf16>, !mirage_block.tile<16x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<16x4096xf32>, !mirage_block.tile<4096xf16>
    store %p, %yk {grid = [0]} : !mirage_block.tile<16x4096xf32>, tensor<16x4096xf16>
  }
  return %y : tensor<16x4096xf16>
}

// nor short rows that begin anywhere, of which a warp holds one,
// PLAN-NOT: rows wait
// PLAN: remark: form: rows in threads: taken
mirage_kernel.graph @brief(%x: tensor<19x1001xf16>, %g: tensor<1001xf16>) -> tensor<19x1001xf16> {
  %m = reduce_mean %x {dim = 1} : tensor<19x1001xf16>
  %c = sub %x, %m : tensor<19x1001xf16>, tensor<19x1xf16>
  %y = mul %c, %g : tensor<19x1001xf16>, tensor<1001xf16>
  return %y : tensor<19x1001xf16>
}
mirage_kernel.graph @brief_0(%x: tensor<19x1001xf16>, %g: tensor<1001xf16>) -> tensor<19x1001xf16> attributes {source = @brief} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2] : (tensor<19x1001xf16>, tensor<1001xf16>) -> tensor<19x1001xf16> {
    %xt = load %xk {grid = [0]} : tensor<19x1001xf16> -> !mirage_block.tile<10x1001xf16>
    %gt = load %gk : tensor<1001xf16> -> !mirage_block.tile<1001xf16>
    %s = reduce_sum %xt {dim = 1} : !mirage_block.tile<10x1001xf16> -> !mirage_block.tile<10x1xf32>
    %n = constant 1001.0 : !mirage_block.tile<1x1xf32>
    %mm = div %s, %n : !mirage_block.tile<10x1xf32>, !mirage_block.tile<1x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<10x1001xf16>, !mirage_block.tile<10x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<10x1001xf32>, !mirage_block.tile<1001xf16>
    store %p, %yk {grid = [0]} : !mirage_block.tile<10x1001xf32>, tensor<19x1001xf16>
  }
  return %y : tensor<19x1001xf16>
}

// nor what is asked for in shared memory,
// PLAN-NOT: rows wait
// PLAN: remark: form: rows in threads: no: load does not keep to columns, or is asked for elsewhere
mirage_kernel.graph @asked(%x: tensor<5x5003xf16>, %g: tensor<5003xf16>) -> tensor<5x5003xf16> {
  %m = reduce_max %x {dim = 1} : tensor<5x5003xf16>
  %c = sub %x, %m : tensor<5x5003xf16>, tensor<5x1xf16>
  %y = mul %c, %g : tensor<5x5003xf16>, tensor<5003xf16>
  return %y : tensor<5x5003xf16>
}
mirage_kernel.graph @asked_0(%x: tensor<5x5003xf16>, %g: tensor<5003xf16>) -> tensor<5x5003xf16> attributes {source = @asked} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2] schedule <loads = [async, register]> : (tensor<5x5003xf16>, tensor<5003xf16>) -> tensor<5x5003xf16> {
    %xt = load %xk {grid = [0]} : tensor<5x5003xf16> -> !mirage_block.tile<3x5003xf16>
    %gt = load %gk : tensor<5003xf16> -> !mirage_block.tile<5003xf16>
    %mm = reduce_max %xt {dim = 1} : !mirage_block.tile<3x5003xf16> -> !mirage_block.tile<3x1xf32>
    %c = sub %xt, %mm : !mirage_block.tile<3x5003xf16>, !mirage_block.tile<3x1xf32>
    %p = mul %c, %gt : !mirage_block.tile<3x5003xf32>, !mirage_block.tile<5003xf16>
    store %p, %yk {grid = [0]} : !mirage_block.tile<3x5003xf32>, tensor<5x5003xf16>
  }
  return %y : tensor<5x5003xf16>
}

// nor rows that begin anywhere where something counts columns,
// PLAN-NOT: rows wait
// PLAN: remark: form: rows in threads: taken
mirage_kernel.graph @counted(%x: tensor<2x3001xf16>) -> tensor<2x3001xf16> {
  %m = reduce_max %x {dim = 1} : tensor<2x3001xf16>
  %c = sub %x, %m : tensor<2x3001xf16>, tensor<2x1xf16>
  %i = iota {dim = 0} : tensor<3001xi32>
  %f = cast %i : tensor<3001xi32> -> tensor<3001xf32>
  %h = constant 0.001 : tensor<1xf32>
  %s = mul %f, %h : tensor<3001xf32>, tensor<1xf32>
  %z = mul %c, %s : tensor<2x3001xf16>, tensor<3001xf32>
  %y = cast %z : tensor<2x3001xf32> -> tensor<2x3001xf16>
  return %y : tensor<2x3001xf16>
}
mirage_kernel.graph @counted_0(%x: tensor<2x3001xf16>) -> tensor<2x3001xf16> attributes {source = @counted} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x3001xf16>) -> tensor<2x3001xf16> {
    %xt = load %xk : tensor<2x3001xf16> -> !mirage_block.tile<2x3001xf16>
    %m = reduce_max %xt {dim = 1} : !mirage_block.tile<2x3001xf16> -> !mirage_block.tile<2x1xf32>
    %c = sub %xt, %m : !mirage_block.tile<2x3001xf16>, !mirage_block.tile<2x1xf32>
    %i = iota {dim = 0} : !mirage_block.tile<3001xi32>
    %f = cast %i : !mirage_block.tile<3001xi32> -> !mirage_block.tile<3001xf32>
    %h = constant 0.001 : !mirage_block.tile<1xf32>
    %s = mul %f, %h : !mirage_block.tile<3001xf32>, !mirage_block.tile<1xf32>
    %p = mul %c, %s : !mirage_block.tile<2x3001xf32>, !mirage_block.tile<3001xf32>
    store %p, %yk : !mirage_block.tile<2x3001xf32>, tensor<2x3001xf16>
  }
  return %y : tensor<2x3001xf16>
}

// nor rows whose elements are of different sizes, which lie in different places of their windows,
// PLAN-NOT: rows wait
// PLAN: remark: form: rows in threads: taken
mirage_kernel.graph @mixed(%x: tensor<2x3001xf16>, %r: tensor<2x3001xf32>) -> tensor<2x3001xf16> {
  %m = reduce_max %x {dim = 1} : tensor<2x3001xf16>
  %c = sub %x, %m : tensor<2x3001xf16>, tensor<2x1xf16>
  %z = mul %c, %r : tensor<2x3001xf16>, tensor<2x3001xf32>
  %y = cast %z : tensor<2x3001xf32> -> tensor<2x3001xf16>
  return %y : tensor<2x3001xf16>
}
mirage_kernel.graph @mixed_0(%x: tensor<2x3001xf16>, %r: tensor<2x3001xf32>) -> tensor<2x3001xf16> attributes {source = @mixed} {
  %y = custom (%xk = %x, %rk = %r) outs(%yk) grid [1] : (tensor<2x3001xf16>, tensor<2x3001xf32>) -> tensor<2x3001xf16> {
    %xt = load %xk : tensor<2x3001xf16> -> !mirage_block.tile<2x3001xf16>
    %rt = load %rk : tensor<2x3001xf32> -> !mirage_block.tile<2x3001xf32>
    %m = reduce_max %xt {dim = 1} : !mirage_block.tile<2x3001xf16> -> !mirage_block.tile<2x1xf32>
    %c = sub %xt, %m : !mirage_block.tile<2x3001xf16>, !mirage_block.tile<2x1xf32>
    %p = mul %c, %rt : !mirage_block.tile<2x3001xf32>, !mirage_block.tile<2x3001xf32>
    store %p, %yk : !mirage_block.tile<2x3001xf32>, tensor<2x3001xf16>
  }
  return %y : tensor<2x3001xf16>
}

// nor what is moved before it is reduced.
// PLAN-NOT: rows wait
// PLAN: remark: form: rows in threads: taken
mirage_kernel.graph @moved(%x: tensor<3x2x16000xf16>) -> tensor<3x1xf16> {
  %r = reshape %x : tensor<3x2x16000xf16> -> tensor<3x32000xf16>
  %m = reduce_max %r {dim = 1} : tensor<3x32000xf16>
  return %m : tensor<3x1xf16>
}
mirage_kernel.graph @moved_0(%x: tensor<3x2x16000xf16>) -> tensor<3x1xf16> attributes {source = @moved} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<3x2x16000xf16>) -> tensor<3x1xf16> {
    %xt = load %xk : tensor<3x2x16000xf16> -> !mirage_block.tile<3x2x16000xf16>
    %r = reshape %xt : !mirage_block.tile<3x2x16000xf16> -> !mirage_block.tile<3x32000xf16>
    %m = reduce_max %r {dim = 1} : !mirage_block.tile<3x32000xf16> -> !mirage_block.tile<3x1xf32>
    store %m, %yk : !mirage_block.tile<3x1xf32>, tensor<3x1xf16>
  }
  return %y : tensor<3x1xf16>
}
