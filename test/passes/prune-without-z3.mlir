// UNSUPPORTED: z3
// RUN: not mirage-mlir-opt %S/prune.mlir --mirage-prune="engine=z3" -o /dev/null 2>&1 | FileCheck %s
// A build without Z3 names the option that it lacks.

// CHECK: this build has no Z3; configure it with -DMIRAGE_WITH_Z3=ON, or use engine=normal-form
