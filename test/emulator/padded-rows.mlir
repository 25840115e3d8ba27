// Products of matrices whose rows tensor copies cannot read, as they are found, on the emulated GPU against float64: copied first,
// with longer rows, where that pays.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no' -o %t.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// RUN: mirage-run %t.mlir --program=both --target=emulator > %t.out
// RUN: mirage-run %t.mlir --program=transposed --target=emulator >> %t.out
// RUN: mirage-run %t.mlir --program=few --target=emulator >> %t.out
// RUN: FileCheck %s < %t.out
// CHECK-COUNT-3: : ok

// A GPU without tensor copies has no use for longer rows, and nothing is copied whose rows are whole runs of 16 bytes.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=a100 measure=no' 2>/dev/null | FileCheck %s --check-prefix=A100
// RUN: sed 's/133/136/g; s/261/264/g; s/1029/1032/g' %s > %t.aligned.mlir
// RUN: mirage-mlir-opt %t.aligned.mlir --mirage-superoptimize='target=h200 measure=no' 2>/dev/null | FileCheck %s --check-prefix=A100
// A100-NOT: x136x{{b?}}f16>{{.*}}->{{.*}}x136x
// A100-NOT: x264x{{b?}}f16>{{.*}}->{{.*}}x264x
// A100-NOT: -> tensor<133x1088x

// IR: graph @both_
// IR: custom {{.*}} : (tensor<1536x133xbf16>) -> tensor<1536x136xbf16>
// IR: custom {{.*}} : (tensor<133x1029xbf16>) -> tensor<133x1088xbf16>
// IR: custom {{.*}} : (tensor<1536x136xbf16>, tensor<133x1088xbf16>) -> tensor<1536x1029xbf16>
mirage_kernel.graph @both(%x: tensor<1536x133xbf16>, %w: tensor<133x1029xbf16>) -> tensor<1536x1029xbf16> {
  %0 = matmul %x, %w : tensor<1536x133xbf16>, tensor<133x1029xbf16>
  return %0 : tensor<1536x1029xbf16>
}

// IR: graph @transposed_
// IR: custom {{.*}} : (tensor<1024x264xf16>, tensor<1029x264xf16>) -> tensor<1024x1029xf16>
mirage_kernel.graph @transposed(%x: tensor<1024x261xf16>, %w: tensor<1029x261xf16>) -> tensor<1024x1029xf16> {
  %0 = matmul %x, %w {transpose_b} : tensor<1024x261xf16>, tensor<1029x261xf16>
  return %0 : tensor<1024x1029xf16>
}

// IR: graph @few_
// IR-NOT: x1088x
mirage_kernel.graph @few(%x: tensor<4x200xf16>, %w: tensor<200x1029xf16>) -> tensor<4x1029xf16> {
  %0 = matmul %x, %w : tensor<4x200xf16>, tensor<200x1029xf16>
  return %0 : tensor<4x1029xf16>
}
