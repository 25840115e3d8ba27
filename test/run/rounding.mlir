// The default tolerance follows the program's own roundings where these make more error than usual; what the user says stays.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator --baseline %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --json %t.mlir > %t.json
// RUN: %python -c "import json; o = json.load(open(r'%t.json'))['result']['outputs'][0]; assert o['program_rounding'] > 0.01 and o['tolerance'] == 1.5 * o['program_rounding'] and o['relative_error'] <= o['program_rounding']"
// RUN: mirage-mlir-opt --mirage-lower %s -o %t.own.mlir 2>/dev/null
// RUN: bash -c "mirage-run --target=emulator --tolerance=1e-3 %t.own.mlir; [ $? = 1 ]" | FileCheck %s --check-prefix=ASKED

// CHECK:      output 0      tensor<8x64xf16>: error {{.*}}; tolerance 0.{{0[1-9]}}{{[0-9]+}}: ok
// CHECK:      output 0      tensor<8x64xf16> by the program's own lowering: error {{.*}}; tolerance 0.{{0[1-9]}}{{[0-9]+}}: ok
// CHECK:      rounding      output 0: error 0.{{0[1-9]}}{{[0-9]+}} by the program, operator by operator in its own types
// ASKED:      output 0 {{.*}}: error {{.*}}; tolerance 0.001: EXCEEDED
// ASKED-NOT:  rounding

mirage_kernel.graph @cancels(%x: tensor<8x64xf16>, %w: tensor<64x64xf16>) -> tensor<8x64xf16> {
  %c = constant 64.0 : tensor<f16>
  %y = matmul %x, %w : tensor<8x64xf16>, tensor<64x64xf16>
  %up = add %y, %c : tensor<8x64xf16>, tensor<f16>
  %z = sub %up, %c : tensor<8x64xf16>, tensor<f16>
  return %z : tensor<8x64xf16>
}
