// call.c - calls of a compiled program. What the core says of them has no place in a text.
#include "capi.h"

typedef struct Listener {
  MirageMessageCallback on_message;
  void *user;
} Listener;

static void emit(void *user, MirageSeverity severity, const void *loc, const char *text) {
  const Listener *listener = user;
  const MirageMessage message = {.severity = severity, .file = "", .text = text};
  if (listener->on_message)
    listener->on_message(&message, listener->user);
}

MirageStatus mirageProgramLaunch(const MirageCompiledProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                 void *stream, MirageMessageCallback on_message, void *user) {
  Listener listener = {on_message, user};
  const MirageDiag diag = {emit, &listener};
  return mirage_callable_launch(program->callable, MIRAGE_CURRENT_DEVICE, inputs, outputs,
                                stream ? stream : MIRAGE_STREAM_LEGACY, &diag);
}

MirageStatus mirageProgramEmulate(const MirageCompiledProgram *program, const void *const *inputs, void *const *outputs,
                                  MirageMessageCallback on_message, void *user) {
  Listener listener = {on_message, user};
  const MirageDiag diag = {emit, &listener};
  return mirage_callable_emulate(program->callable, inputs, outputs, &diag);
}
