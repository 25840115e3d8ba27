// fibre.c - switching stacks: save the callee's registers, exchange the stack pointer, restore.
//
// An emulated block switches at every barrier and warp instruction, so this is a few instructions of assembly rather
// than swapcontext, which asks the kernel for the signal mask each time.
#include "fibre.h"

#include <stdint.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the stack pointer to *save and takes `load` for it. The frame at either is what the instructions below say.
void mirage__stack_swap(void **save, void *load);

#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl mirage__stack_swap\n"
        ".hidden mirage__stack_swap\n"
        ".type mirage__stack_swap, @function\n"
        "mirage__stack_swap:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size mirage__stack_swap, . - mirage__stack_swap\n");
enum { FRAME_WORDS = 8, RETURN_WORD = 6 }; // six registers, the return address, one word so that calls are aligned
#elif defined(__aarch64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl mirage__stack_swap\n"
        ".hidden mirage__stack_swap\n"
        ".type mirage__stack_swap, %function\n"
        "mirage__stack_swap:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n"
        "  stp x21, x22, [sp, #16]\n"
        "  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n"
        "  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n"
        "  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n"
        "  ldp x21, x22, [sp, #16]\n"
        "  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n"
        "  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size mirage__stack_swap, . - mirage__stack_swap\n");
enum { FRAME_WORDS = 20, RETURN_WORD = 11 };
#else
#error "mirage__stack_swap: write the instructions for this processor"
#endif

void mirage__stack_prepare(MirageStack *stack, void *memory, size_t bytes, void (*entry)(void)) {
  uint64_t *top = (uint64_t *)((uintptr_t)((char *)memory + bytes) & ~(uintptr_t)15);
  uint64_t *frame = top - FRAME_WORDS;
  memset(frame, 0, FRAME_WORDS * sizeof *frame);
  frame[RETURN_WORD] = (uint64_t)(uintptr_t)entry;
  *stack = (MirageStack){.pointer = frame, .bottom = memory, .bytes = bytes};
}

#ifdef WITH_ASAN
static _Thread_local MirageStack *left; // by the switch under way

void mirage__stack_entered(void) { __sanitizer_finish_switch_fiber(NULL, &left->bottom, &left->bytes); }

void mirage__stack_switch(MirageStack *from, MirageStack *to) {
  left = from;
  __sanitizer_start_switch_fiber(&from->shadow, to->bottom, to->bytes);
  mirage__stack_swap(&from->pointer, to->pointer);
  __sanitizer_finish_switch_fiber(from->shadow, &left->bottom, &left->bytes);
}

void mirage__stack_end(MirageStack *from, MirageStack *to) {
  left = from;
  __sanitizer_start_switch_fiber(NULL, to->bottom, to->bytes); // frees what it kept for this stack
  mirage__stack_swap(&from->pointer, to->pointer);
}
#else
void mirage__stack_entered(void) {}
void mirage__stack_switch(MirageStack *from, MirageStack *to) { mirage__stack_swap(&from->pointer, to->pointer); }
void mirage__stack_end(MirageStack *from, MirageStack *to) { mirage__stack_swap(&from->pointer, to->pointer); }
#endif
