// run.h - prints what one program became, and runs it.
#ifndef SAMPLE_RUN_H
#define SAMPLE_RUN_H

#include "mirage-c/Compile.h"

/// Sentences of the library on standard error: errors and warnings.
void say(const MirageMessage *message, void *user);

/// Kernels in order with their launches, as whoever launches them by other means needs them.
void print_program(const MirageCompiledProgram *program);

/// Runs the program on made-up inputs, on GPU 0 or, where there is none, on the emulator, and prints what each output begins
/// with. False after a failure, of which was told.
bool run_program(const MirageCompiledProgram *program);

#endif
