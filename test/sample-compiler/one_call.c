// one_call.c - Mirage with no MLIR of our own: text in, kernels out, one call.
//
//   one-call program.mlir [target [options]]
#include "run.h"

#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path, size_t *out_length) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  *out_length = 0;
  for (size_t room = 0, got = 1; file && got; *out_length += got) {
    if (*out_length + 4096 > room && !(text = realloc(text, room = 2 * room + 8192)))
      break;
    got = fread(text + *out_length, 1, 4096, file);
  }
  if (file)
    fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4)
    return fprintf(stderr, "usage: one-call program.mlir [target [options]]\n"), 2;
  size_t length;
  char *text = read_file(argv[1], &length);
  if (!text)
    return fprintf(stderr, "one-call: %s: cannot be read\n", argv[1]), 2;
  MirageCompileOptions options = {.target = argc > 2 ? argv[2] : NULL,
                                  .options = argc > 3 ? argv[3] : "measure=no",
                                  .file = argv[1],
                                  .on_message = say};
  MirageCompilation *compilation;
  MirageStatus status = mirageCompile(text, length, &options, &compilation);
  free(text);
  if (status != MIRAGE_OK)
    return 1;
  bool ok = true;
  for (uint32_t i = 0; i < mirageCompilationGetNumPrograms(compilation); i++) {
    const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, i);
    print_program(program);
    ok = run_program(program) && ok;
  }
  mirageCompilationDestroy(compilation);
  return ok ? 0 : 1;
}
