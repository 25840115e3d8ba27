// interrupt.h - Ctrl-C in a tool that runs our passes.
#ifndef MIRAGE_TOOLS_INTERRUPT_H
#define MIRAGE_TOOLS_INTERRUPT_H

#ifdef __cplusplus
extern "C" {
#endif

/// The first Ctrl-C lets a running pass of ours end with the best it has found; a second one, or one while none is
/// running, is left to the handler that is there now. Where SIGINT is ignored, it stays so.
void tool_handle_interrupts(void);

#ifdef __cplusplus
}
#endif
#endif
