// interrupt.h - Ctrl-C and SIGTERM in a tool that runs our passes.
#ifndef MIRAGE_TOOLS_INTERRUPT_H
#define MIRAGE_TOOLS_INTERRUPT_H

#ifdef __cplusplus
extern "C" {
#endif

/// The first of these signals lets a running pass of ours end with the best it has found; a second one, of either kind,
/// or one while none is running, is left to the handler that is there now. One that is ignored stays so.
void tool_handle_interrupts(void);

#ifdef __cplusplus
}
#endif
#endif
