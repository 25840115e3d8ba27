// What cannot be converted.
// RUN: mirage-mlir-opt --convert-mirage-to-gpu --split-input-file --verify-diagnostics %s
// RUN: not mirage-mlir-opt --convert-mirage-to-gpu=memory=gpu --split-input-file %s 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: convert-mirage-to-gpu: option memory must be one of device,host, got 'gpu'

// A module without calls is as it was, with a warning.
// expected-warning @below {{convert-mirage-to-gpu: no function calls a program: there is nothing to launch}}
module {
  mirage_kernel.graph @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = exp %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

mirage_kernel.graph @p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{convert-mirage-to-gpu: no graph is selected for @p: run mirage-superoptimize first}}
  %y = mirage_kernel.call @p(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
mirage_kernel.graph @p_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {source = @p, selected} {
  // expected-error @below {{program: @p_0 holds exp outside a custom kernel: select and lower the graph first}}
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mirage_kernel.call @p(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
mirage_kernel.graph @p_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {source = @p, selected} {
  // expected-error @below {{program: a custom kernel of @p_0 has no launch attribute: lower the graph first}}
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = load %xk : tensor<4xf32> -> !mirage_block.tile<4xf32>
    %1 = exp %0 : !mirage_block.tile<4xf32>
    store %1, %yk : !mirage_block.tile<4xf32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mirage_kernel.call @p(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
mirage_kernel.graph @p_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {source = @p, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "p_0_k0", threads = 32> : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = load %xk : tensor<4xf32> -> !mirage_block.tile<4xf32>
    %1 = exp %0 : !mirage_block.tile<4xf32>
    store %1, %yk : !mirage_block.tile<4xf32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{convert-mirage-to-gpu: @p_0 has no gpu.binary @p_0_bin: run mirage-lower first}}
  %y = mirage_kernel.call @p(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
mirage_kernel.graph @p_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {source = @p, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "p_0_k0", threads = 32> : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = load %xk : tensor<4xf32> -> !mirage_block.tile<4xf32>
    %1 = exp %0 : !mirage_block.tile<4xf32>
    store %1, %yk : !mirage_block.tile<4xf32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
gpu.binary @p_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".visible .entry p_0_k01(">]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{convert-mirage-to-gpu: gpu.binary @p_0_bin has no kernel p_0_k0: run mirage-lower again}}
  %y = mirage_kernel.call @p(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
mirage_kernel.graph @p_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {source = @p, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "p_0_k0", threads = 32> : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = load %xk : tensor<4xf32> -> !mirage_block.tile<4xf32>
    %1 = exp %0 : !mirage_block.tile<4xf32>
    store %1, %yk : !mirage_block.tile<4xf32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
gpu.binary @p_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, bin = "\7FELF">]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{convert-mirage-to-gpu: gpu.binary @p_0_bin holds no PTX (assembly) object: run mirage-lower again}}
  %y = mirage_kernel.call @p(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Rows with gaps.
mirage_kernel.graph @p(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = exp %x : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
mirage_kernel.graph @p_0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {source = @p, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "p_0_k0", threads = 32> : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = load %xk : tensor<4x4xf32> -> !mirage_block.tile<4x4xf32>
    %1 = exp %0 : !mirage_block.tile<4x4xf32>
    store %1, %yk : !mirage_block.tile<4x4xf32>, tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}
gpu.binary @p_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".visible .entry p_0_k0(">]
func.func @gaps(%x: memref<4x4xf32, strided<[8, 1]>>, %y: memref<4x4xf32>) {
  // expected-error @below {{operand 0 is memref<4x4xf32, strided<[8, 1]>>: kernels take rows one behind the other: copy it to a memref without a layout first}}
  mirage_kernel.call @p(%x, %y) : (memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32>) -> ()
  return
}

// -----

mirage_kernel.graph @p(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = exp %x : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
mirage_kernel.graph @p_0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {source = @p, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "p_0_k0", threads = 32> : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = load %xk : tensor<4x4xf32> -> !mirage_block.tile<4x4xf32>
    %1 = exp %0 : !mirage_block.tile<4x4xf32>
    store %1, %yk : !mirage_block.tile<4x4xf32>, tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}
gpu.binary @p_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".visible .entry p_0_k0(">]
func.func @misaligned(%x: memref<4x4xf32, strided<[4, 1], offset: 2>>, %y: memref<4x4xf32>) {
  // expected-error @below {{operand 0 is memref<4x4xf32, strided<[4, 1], offset: 2>>, which begins at byte 8: kernels take tensors that begin at a multiple of 16}}
  mirage_kernel.call @p(%x, %y) : (memref<4x4xf32, strided<[4, 1], offset: 2>>, memref<4x4xf32>) -> ()
  return
}
