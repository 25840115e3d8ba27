// A key cache of which a number of keys is valid that the kernel learns when it runs: `index < length` is a mask, the loop ends where it
// says, and whatever the length is - nothing, less than that, more than there is - no access leaves the cache. A row without keys is 0.
//
// RUN: mirage-mlir-opt %s --mirage-verify=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF: @length_0: equivalent to @length; {{.*}}by transfer
// RUN: sed 's/less %j, %nt/less_equal %j, %nt/' %s | mirage-mlir-opt --mirage-verify=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=LONGER
// LONGER: @length_0: {{unsupported|different}}
// RUN: sed 's/div %o, %divisor/div %o, %l/' %s | mirage-mlir-opt --mirage-verify=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: @length_0: {{unsupported|different}}
//
// RUN: mirage-mlir-opt %s --mirage-layout=explain -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=PLAN < %t.err
// PLAN: plan: loop 0: tiles that a mask rules out are left out
// RUN: mirage-mlir-opt %t.mlir --mirage-lower -o %t.low.mlir 2>/dev/null
// RUN: rm -f %t.out
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 2x1x1 values=100,512
// RUN: mirage-run %t.low.mlir --graph=length_0 --program=length --target=emulator --input=3=%t.npy >> %t.out
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 2x1x1 values=0,1
// RUN: mirage-run %t.low.mlir --graph=length_0 --program=length --target=emulator --input=3=%t.npy >> %t.out
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 2x1x1 values=-5,2147483647
// RUN: mirage-run %t.low.mlir --graph=length_0 --program=length --target=emulator --input=3=%t.npy >> %t.out
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 2x1x1 values=64,65
// RUN: mirage-run %t.low.mlir --graph=length_0 --program=length --target=emulator --input=3=%t.npy >> %t.out
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 2x1x1 values=-2147483648,511
// RUN: mirage-run %t.low.mlir --graph=length_0 --program=length --target=emulator --input=3=%t.npy >> %t.out
// RUN: sed 's/grid .2. :/grid [2] schedule <loads = [tensor, tensor, register, tensor, register]> :/' %s | mirage-mlir-opt --mirage-layout | mirage-mlir-opt --mirage-lower -o %t.tensor.mlir 2>/dev/null
// RUN: grep -q 'loads = .tensor(stages = 1), tensor(stages = [2-9]), register(stages = 1), tensor' %t.tensor.mlir
// RUN: mirage-run %t.tensor.mlir --graph=length_0 --program=length --target=emulator --input=3=%t.npy >> %t.out
// RUN: %python %S/../run/inputs/make_npy.py %t.npy '<f8' 2x1x1 values=0,129
// RUN: mirage-run %t.tensor.mlir --graph=length_0 --program=length --target=emulator --input=3=%t.npy >> %t.out
// RUN: FileCheck %s --check-prefix=RAN < %t.out
// RAN-COUNT-7: 8192 of 8192 elements compared; {{.*}}: ok

mirage_kernel.graph @length(%q: tensor<2x64x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %n: tensor<2x1x1xi32>) -> tensor<2x64x64xf16> {
  %i = iota {dim = 2} : tensor<1x1x512xi32>
  %m = less %i, %n : tensor<1x1x512xi32>, tensor<2x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.125} : tensor<2x64x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>, tensor<2x1x512xi1>
  return %y : tensor<2x64x64xf16>
}
mirage_kernel.graph @length_0(%q: tensor<2x64x64xf16>, %k: tensor<2x512x64xf16>, %v: tensor<2x512x64xf16>, %n: tensor<2x1x1xi32>) -> tensor<2x64x64xf16> attributes {source = @length} {
  %i = iota {dim = 2} : tensor<1x1x512xi32>
  %m = less %i, %n : tensor<1x1x512xi32>, tensor<2x1x1xi32>
  %any = reduce_max %m {dim = 2} : tensor<2x1x512xi1>
  %no = not %any : tensor<2x1x1xi1>
  %floor = cast %no : tensor<2x1x1xi1> -> tensor<2x1x1xf16>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %fk = %floor) outs(%yk) grid [2] : (tensor<2x64x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>, tensor<2x1x1xi32>, tensor<2x1x1xf16>) -> tensor<2x64x64xf16> {
    %qt = load %qk {grid = [0]} : tensor<2x64x64xf16> -> !mirage_block.tile<1x64x64xf16>
    %none = bottom : !mirage_block.tile<1x64x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x64x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x64x1xf32>
    %mx, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32> {
      %kt = load %kk {grid = [0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x64x64xf16>, !mirage_block.tile<1x64x64xf16>
      %scale = constant 0.125 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 2, loop = [64]} : !mirage_block.tile<1x1x64xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %c = less %j, %nt : !mirage_block.tile<1x1x64xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %c, %x : !mirage_block.tile<1x1x64xi1>, !mirage_block.tile<1x64x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x64x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %f = exp %df : !mirage_block.tile<1x64x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>
      %e = exp %d : !mirage_block.tile<1x64x64xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x512x64xf16> -> !mirage_block.tile<1x64x64xf16>
      %eh = cast %e : !mirage_block.tile<1x64x64xf32> -> !mirage_block.tile<1x64x64xf16>
      %pv = matmul %eh, %vt : !mirage_block.tile<1x64x64xf16>, !mirage_block.tile<1x64x64xf16>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x64x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
    }
    %ft = load %fk {grid = [0]} : tensor<2x1x1xf16> -> !mirage_block.tile<1x1x1xf16>
    %divisor = add %l, %ft : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x1x1xf16>
    %r = div %o, %divisor : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x64x64xf32>, tensor<2x64x64xf16>
  }
  return %y : tensor<2x64x64xf16>
}
