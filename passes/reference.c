// reference.c - what the reference page says of each pass and pipeline beyond its row of the pass table.
//
// An example is a module in front of which stands how it is run; its CHECK lines, FileCheck's, say what comes of it.
// test/reference runs all of them, and fails where a row of the table has none here.
#include "passes.h"

#include <string.h>

#define SQUARE                                                                                                         \
  "mirage_kernel.graph @p(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {\n"                                               \
  "  %0 = square %x : tensor<8x16xf16>\n"                                                                              \
  "  return %0 : tensor<8x16xf16>\n"                                                                                   \
  "}\n"
// Three operators: one kernel is faster than their three.
#define SOFTMAX                                                                                                        \
  "mirage_kernel.graph @p(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {\n"                                               \
  "  %0 = exp %x : tensor<8x16xf16>\n"                                                                                 \
  "  %1 = reduce_sum %0 {dim = 1} : tensor<8x16xf16>\n"                                                                \
  "  %2 = div %0, %1 : tensor<8x16xf16>, tensor<8x1xf16>\n"                                                            \
  "  return %2 : tensor<8x16xf16>\n"                                                                                   \
  "}\n"
// A right candidate, a wrong one, and the right one again.
#define CANDIDATES                                                                                                     \
  "mirage_kernel.graph @right(%x: tensor<8x16xf16>) -> tensor<8x16xf16> attributes {source = @p} {\n"                  \
  "  %0 = mul %x, %x : tensor<8x16xf16>, tensor<8x16xf16>\n"                                                           \
  "  return %0 : tensor<8x16xf16>\n"                                                                                   \
  "}\n"                                                                                                                \
  "mirage_kernel.graph @wrong(%x: tensor<8x16xf16>) -> tensor<8x16xf16> attributes {source = @p} {\n"                  \
  "  %0 = add %x, %x : tensor<8x16xf16>, tensor<8x16xf16>\n"                                                           \
  "  return %0 : tensor<8x16xf16>\n"                                                                                   \
  "}\n"                                                                                                                \
  "mirage_kernel.graph @again(%x: tensor<8x16xf16>) -> tensor<8x16xf16> attributes {source = @p} {\n"                  \
  "  %0 = mul %x, %x : tensor<8x16xf16>, tensor<8x16xf16>\n"                                                           \
  "  return %0 : tensor<8x16xf16>\n"                                                                                   \
  "}\n"

static const MiragePassReference REFERENCES[] = {
    {"mirage-superoptimize",
     "Everything from a program to its fastest known kernels. The modules between two of its passes can be printed, "
     "edited "
     "and fed\non. Each program ends with one selected graph and a `gpu.binary` beside it.",
     "// RUN: mirage-mlir-opt --mirage-superoptimize='target=a100 max-candidates=4'\n" SOFTMAX "// CHECK: graph @p(\n"
     "// CHECK: graph @p_{{.*}}proof = #mirage_kernel.proof<{{.*}}selected, source = @p\n"
     "// CHECK: gpu.binary @p_{{.*}}_bin {{.*}}sm_80\n"},
    {"convert-linalg-to-mirage",
     "For compilers whose programs are linalg on tensors: what can be said in the kernel dialect becomes programs, "
     "which the "
     "function\ncalls. What stays outside keeps its order.",
     "// RUN: mirage-mlir-opt --convert-linalg-to-mirage\n"
     "func.func @f(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {\n"
     "  %zero = arith.constant 0.0 : f32\n"
     "  %empty = tensor.empty() : tensor<8x4xf32>\n"
     "  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>\n"
     "  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) -> "
     "tensor<8x4xf32>\n"
     "  return %y : tensor<8x4xf32>\n"
     "}\n"
     "// CHECK-DAG: mirage_kernel.graph\n"
     "// CHECK-DAG: matmul %{{.*}} : tensor<8x16xf32>, tensor<16x4xf32>\n"
     "// CHECK-DAG: mirage_kernel.call\n"},
    {"convert-tosa-to-mirage",
     "The same for programs in TOSA. MLIR's own passes lower each function to linalg first; one that they cannot lower "
     "stays as it is.",
     "// RUN: mirage-mlir-opt --convert-tosa-to-mirage\n"
     "func.func @f(%x: tensor<1x8x16xf32>, %w: tensor<1x16x4xf32>) -> tensor<1x8x4xf32> {\n"
     "  %zp = \"tosa.const\"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>\n"
     "  %y = tosa.matmul %x, %w, %zp, %zp : (tensor<1x8x16xf32>, tensor<1x16x4xf32>, tensor<1xf32>, tensor<1xf32>) -> "
     "tensor<1x8x4xf32>\n"
     "  return %y : tensor<1x8x4xf32>\n"
     "}\n"
     "// CHECK-DAG: mirage_kernel.graph\n"
     "// CHECK-DAG: matmul %{{.*}} : tensor<{{.*}}8x16xf32>, tensor<{{.*}}16x4xf32>\n"
     "// CHECK-DAG: mirage_kernel.call\n"},
    {"convert-mirage-to-gpu",
     "Runs last: calls of compiled programs become launches that stock gpu-to-llvm finishes, and nothing of ours is "
     "left "
     "in the module.\nlibmirage_runtime.so is what the result calls. Calls on memrefs, after bufferization, need no "
     "copy.",
     "// RUN: mirage-mlir-opt --mirage-lower --convert-mirage-to-gpu\n" SQUARE
     "func.func @f(%x: memref<8x16xf16>, %y: memref<8x16xf16>) {\n"
     "  mirage_kernel.call @p(%x, %y) : (memref<8x16xf16>, memref<8x16xf16>) -> ()\n"
     "  return\n"
     "}\n"
     "// CHECK: gpu.binary @p_own_bin\n"
     "// CHECK: func.func @f(\n"
     "// CHECK: gpu.launch_func {{.*}}@p_own_bin::@p_own_k0\n"
     "// CHECK-NOT: mirage_kernel\n"},
    {"mirage-expand",
     "For reading, and for whoever wants to start from primitives: norms, softmax, attention, means and derived "
     "element-wise "
     "operators\nbecome the operators they are made of. The search does so by itself. Candidates stay as they are.",
     "// RUN: mirage-mlir-opt --mirage-expand\n" SQUARE "// CHECK: mul %arg0, %arg0\n"
     "// CHECK-NEXT: return\n"},
    {"mirage-enumerate",
     "Searches µGraphs for each program: kernels whose blocks compute pieces of it, in all orders and splits that "
     "abstract "
     "expressions,\naxes and memory do not rule out. The best predicted become candidates. They are unproven.",
     "// RUN: mirage-mlir-opt --mirage-enumerate='max-candidates=1 target=a100'\n" SOFTMAX
     "// CHECK: graph @p_0({{.*}}cost = #mirage_kernel.cost<{{.*}}source = @p\n"
     "// CHECK: custom {{.*}}grid [\n"},
    {"mirage-prune",
     "Takes away what need not be proven: candidates whose abstract expression is another one, that are built like an "
     "earlier one, or\nthat others beat in everything that is predicted.",
     "// RUN: mirage-mlir-opt --mirage-prune\n" SQUARE CANDIDATES "// CHECK: graph @right(\n"
     "// CHECK-NOT: graph @wrong(\n"
     "// CHECK-NOT: graph @again(\n"},
    {"mirage-verify",
     "Evaluates candidate and program at random points of large finite fields: equal ones get a proof, with the "
     "probability "
     "that a wrong\none passes, and a guard, the rounding errors of both. Others get a verdict, and a remark says "
     "where they "
     "differ.",
     "// RUN: mirage-mlir-opt --mirage-verify\n" SQUARE CANDIDATES
     "// CHECK: graph @right({{.*}}guard = #mirage_kernel.guard<{{.*}}proof = #mirage_kernel.proof<\n"
     "// CHECK: graph @wrong({{.*}}mirage_kernel.verdict = \"different\"\n"},
    {"mirage-layout",
     "Decides for each candidate who does what, and where each tile lives: warps, copies, buffers, shared memory. A "
     "candidate "
     "that fits\nno way is removed, with a warning.",
     "// RUN: mirage-mlir-opt --mirage-layout='own target=a100'\n" SQUARE "// CHECK: graph @p_own({{.*}}source = @p\n"
     "// CHECK: custom {{.*}}schedule <warps = {{[0-9]+}}\n"
     "// CHECK: !mirage_block.tile<{{.*}}, register>\n"},
    {"mirage-select",
     "Checks the proofs, and keeps of each program's proven candidates the fastest: measured where there is a GPU or a "
     "record, "
     "else by the\ncost model. Where none beats the program's own lowering, that stays.",
     "// RUN: mirage-mlir-opt --mirage-enumerate='target=a100 max-candidates=2' --mirage-verify "
     "--mirage-layout=target=a100 "
     "--mirage-select='target=a100 measure=no'\n" SOFTMAX
     "// CHECK: graph @p_0({{.*}}proof = #mirage_kernel.proof<{{.*}}selected, source = @p\n"
     "// CHECK-NOT: graph @p_1\n"},
    {"mirage-lower",
     "Compiles the selected graph of each program, or the program itself where none is selected, to PTX. How to launch "
     "each "
     "kernel stands\nin its `launch`.",
     "// RUN: mirage-mlir-opt --mirage-lower=target=a100\n" SQUARE
     "// CHECK: custom {{.*}}launch <kernel = \"p_own_k0\", threads = {{[0-9]+}}\n"
     "// CHECK: gpu.binary @p_own_bin {{.*}}#gpu.object<#nvvm.target<chip = \"sm_80\"\n"},
};

const MiragePassReference *mirage__pass_reference(const char *argument) {
  for (size_t i = 0; i < sizeof REFERENCES / sizeof *REFERENCES; i++)
    if (strcmp(REFERENCES[i].argument, argument) == 0)
      return &REFERENCES[i];
  return NULL;
}
