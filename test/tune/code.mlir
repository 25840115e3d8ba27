// A record is worth what it measured: where this build makes other code of the program or of the choice, the record is passed
// over, with a remark - measured again where there is a GPU, else the cost model decides.
// RUN: rm -rf %t.db* %t.other.db* && mirage-mlir-opt %S/measured.mlir --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>/dev/null
// RUN: mirage-tune --database=%t.db export %t.json 2>/dev/null && FileCheck %s --check-prefix=RECORD < %t.json
// RECORD: "code": "{{[0-9a-f]+}}"
//
// The code of the choice (the last digits) is another.
// RUN: sed 's/\("code": "................\)................"/\10123456789abcdef"/' %t.json > %t.other.json && mirage-tune --database=%t.other.db import %t.other.json
// RUN: env MIRAGE_TUNING_DB=%t.other.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not env MIRAGE_TUNING_DB=%t.other.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=INSISTS
// MODEL: @zero: what the tuning database holds was measured of other code (Fake GPU 0, 20{{.*}}Z), compiled before the code generator or the planner changed: the cost model decides
// MODEL: @zero: selected @{{.*}} us predicted on h200
// INSISTS: error: mirage-select: measure=yes: no usable GPU, and the tuning database does not know @zero
//
// So is that of the own lowering (the first digits). With the GPU it is measured again, and the record is that of today.
// RUN: rm -rf %t.other.db* && sed 's/"code": "................/"code": "0123456789abcdef/' %t.json > %t.other.json && mirage-tune --database=%t.other.db import %t.other.json
// RUN: env MIRAGE_TUNING_DB=%t.other.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: @zero: what the tuning database holds was measured of other code {{.*}}: measured again
// AGAIN: @zero: selected @one of {{[0-9]+}} measured
// RUN: grep '"code"' %t.json > %t.code && mirage-tune --database=%t.other.db export - 2>/dev/null | grep '"code"' | diff %t.code -
//
// One of an earlier version does not say what it measured: good enough where there is no GPU, and said.
// RUN: rm -rf %t.other.db* && sed 's/"code": ".*"/"code": ""/' %t.json > %t.other.json && mirage-tune --database=%t.other.db import %t.other.json
// RUN: env MIRAGE_TUNING_DB=%t.other.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=EARLIER
// EARLIER: @zero: measured on Fake GPU 0 by an earlier version, whose code may have been another
// EARLIER: @zero: selected @one: 10.00 us measured on Fake GPU 0
// RUN: env MIRAGE_TUNING_DB=%t.other.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=BETTER
// BETTER: @zero: the tuning database does not say of which code its times are: measured again
// BETTER: @zero: selected @one of {{[0-9]+}} measured
//
// Names are no code: a renamed program, and the choice inserted under another name, are what was measured.
// RUN: sed -n '/^mirage_kernel.graph @zero/,/^}/p' %S/measured.mlir | sed 's/@zero/@nought/' > %t.renamed.mlir
// RUN: env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.renamed.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=RENAMED
// RENAMED-NOT: other code
// RENAMED: @nought: selected @nought_tuned: 10.00 us measured on Fake GPU 0
