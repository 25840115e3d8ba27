// RUN: split-file %s %t
// RUN: mirage-mlir-opt %t/selected.mlir --mirage-lower 2>%t/err | FileCheck %s --check-prefix=SELECTED
// RUN: FileCheck %s --check-prefix=WARN < %t/err
// RUN: mirage-mlir-opt %t/selected.mlir --mirage-lower=target=a100 2>/dev/null | FileCheck %s --check-prefix=A100
// RUN: mirage-mlir-opt %t/selected.mlir --mirage-lower='opt-level=0 dump-llvm' 2>&1 >/dev/null | FileCheck %s --check-prefix=LLVM
// RUN: mirage-mlir-opt %t/own.mlir --mirage-lower 2>%t/err | FileCheck %s --check-prefix=OWN
// RUN: FileCheck %s --check-prefix=OWNWHY < %t/err
// RUN: mirage-mlir-opt %t/hand.mlir --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=HAND
// RUN: not mirage-mlir-opt %t/twice.mlir --mirage-lower 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: mirage-mlir-opt %t/selected.mlir --mirage-lower -o %t/once.mlir 2>/dev/null
// RUN: mirage-mlir-opt %t/once.mlir --mirage-lower 2>/dev/null | diff %t/once.mlir -

// What is selected becomes PTX beside the graph; its custom kernels learn how to be launched. Lowering again replaces it.
// SELECTED: graph @p(
// SELECTED: graph @c({{.*}}selected
// SELECTED: custom {{.*}}launch <kernel = "c_k0", threads = {{[0-9]+}}
// SELECTED: gpu.binary @c_bin [#gpu.object<#nvvm.target<chip = "sm_90a", features = "+ptx{{[0-9]+}}">, assembly = "{{.*}}.visible .entry c_k0(
// SELECTED-NOT: gpu.binary
// WARN: warning: @c: lowered without a proof that it computes what @p computes
// WARN: @c: lowered to {{[0-9]+}} bytes of PTX for sm_90a
// A100: gpu.binary @c_bin [#gpu.object<#nvvm.target<chip = "sm_80"{{.*}}.target sm_80
// LLVM: LLVM IR of @c
// LLVM: define {{.*}}@c_k0(

// Without a selected candidate, the program's own lowering is compiled.
// OWNWHY: remark: @p_own: lowered to {{[0-9]+}} bytes of PTX
// OWN: graph @p(
// OWN-NEXT: softmax
// OWN: graph @p_own({{.*}}selected, source = @p
// OWN: custom {{.*}}launch <kernel = "p_own_k0"
// OWN: gpu.binary @p_own_bin

// A program may be a µGraph written by hand: its own lowering is that graph, planned.
// HAND: graph @h(
// HAND-NOT: schedule
// HAND: graph @h_own({{.*}}selected, source = @h
// HAND: custom {{.*}} grid [4] schedule {{.*}}launch <kernel = "h_own_k0"
// HAND: gpu.binary @h_own_bin

// TWICE: error: mirage-lower: both @c and @d are selected for @p

//--- own.mlir
mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = softmax %x {dim = 1} : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}

//--- selected.mlir
mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @c(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [0]} : tensor<16x64xf16> -> !mirage_block.tile<4x64xf16>
    %e = exp %xt : !mirage_block.tile<4x64xf16>
    store %e, %yk {grid = [0]} : !mirage_block.tile<4x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}

//--- hand.mlir
mirage_kernel.graph @h(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [0]} : tensor<16x64xf16> -> !mirage_block.tile<4x64xf16>
    %e = exp %xt : !mirage_block.tile<4x64xf16>
    store %e, %yk {grid = [0]} : !mirage_block.tile<4x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}

//--- twice.mlir
mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @c(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, selected} {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @d(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, selected} {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
