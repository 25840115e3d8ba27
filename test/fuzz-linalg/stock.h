// stock.h - the interpreter against MLIR's own lowering to LLVM, compiled and run.
#ifndef FUZZ_LINALG_STOCK_H
#define FUZZ_LINALG_STOCK_H

#include <stdint.h>

/// Runs the functions of `count` modules both ways; prints what differs. 1 after a difference.
int stock_modules(uint64_t seed, long first, long count);

#endif
