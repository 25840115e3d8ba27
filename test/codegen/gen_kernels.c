// gen_kernels.c - mirage-kernel-test: compiles the graphs of kernel_graphs.c and, on a GPU, compares what they compute.
//
// With a GPU each case runs as code for every target that the device can run, on seeded random inputs, and its outputs
// are compared with the float64 evaluation of the same graph (Frobenius-relative error). Without one the PTX is only
// assembled by ptxas, where that is installed, and registers and spills are shown. With --gpu nothing is done without a
// GPU, and the exit status says so.
//
// With --emulate each case runs on the emulator instead, with asynchronous copies as late and as early as allowed;
// cases of more work than --max-work are left out and counted.
//
// With --primitives each instruction of the generator runs by itself, on the emulator and on the GPU, and is compared.
//
// With --defects those instructions are left out in turn, and the emulator must object.
// With --compile they are only compiled. --ptx keeps what was, and a table of the kernels (kernels.csv).
//
//   mirage-kernel-test [--emulate [--max-work elements] | --primitives | --defects | --compile]
//                      [--target h200|a100|...] [--filter text] [--ptx folder] [--gpu] [--verbose]
//
// Exit status: 0 when every case is ok, 1 otherwise; 77 (skipped) with --gpu where there is none.
#define _POSIX_C_SOURCE 200809L
#include "kernel_graphs.h"
#include "primitive_kernels.h"

#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "mirage/emulator.h"
#include "mirage/eval.h"
#include "mirage/layout.h"
#include "mirage/random.h"
#include "mirage/runtime.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77 };

typedef struct Options {
  const char *target, *filter, *ptx_folder;
  bool verbose, emulate, primitives, defects, compile, gpu;
  double max_work; // --emulate
} Options;

static void print_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  if (severity >= MIRAGE_SEVERITY_WARNING) // remarks say what a hint came to
    fprintf(stderr, "  %s\n", message);
}
static const MirageDiag DIAG = {print_message, NULL};
static void drop_message(void *user, MirageSeverity severity, const void *loc, const char *message) {}
static const MirageDiag SILENT = {drop_message, NULL};

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// ----------------------------------------------------------------------------------------------------------- compiling

static MirageUGraph *build(const KernelCase *c) {
  MirageUGraph *graph = mirage_ugraph_create(NULL, "kernel", &DIAG);
  if (!graph)
    return NULL;
  c->build(graph, c);
  if (mirage_ugraph_finish(graph) != MIRAGE_OK) {
    mirage_ugraph_destroy(graph);
    return NULL;
  }
  return graph;
}

static MirageStatus compile(const MirageUGraph *graph, const MirageTarget *target, MirageUGraph **out_graph,
                            MirageCode *out_code) {
  MirageCodegenOptions options = {.opt_level = 3};
  MIRAGE_TRY(mirage_canonicalize(graph, target, &DIAG, out_graph));
  MirageStatus status = mirage_layout_plan(*out_graph, target, &DIAG);
  if (status == MIRAGE_OK)
    status = mirage_codegen(*out_graph, target, &options, &DIAG, out_code);
  if (status != MIRAGE_OK) {
    mirage_ugraph_destroy(*out_graph);
    *out_graph = NULL;
  }
  return status;
}

static bool have_ptxas(void) {
  static int known = -1;
  if (known < 0)
    known = system("command -v ptxas > /dev/null 2>&1") == 0;
  return known;
}

// Assembles; adds what ptxas says of registers, stack and spills to `note`.
static bool assemble(const MirageCode *code, const MirageTarget *target, char *note, size_t size) {
  char path[] = "/tmp/mirage-kernel-XXXXXX", command[256], line[256];
  int file = mkstemp(path);
  if (file < 0)
    return false;
  bool written = write(file, code->ptx, code->ptx_bytes) == (ssize_t)code->ptx_bytes;
  close(file);
  snprintf(command, sizeof command, "ptxas -arch=%s -v -o /dev/null %s 2>&1", target->chip, path);
  FILE *pipe = written ? popen(command, "r") : NULL;
  int registers = 0, spills = 0, stack = 0;
  while (pipe && fgets(line, sizeof line, pipe)) {
    const char *used = strstr(line, "Used "), *frame = strstr(line, "bytes stack frame");
    int a, b, d;
    if (used && sscanf(used, "Used %d", &a) == 1 && a > registers)
      registers = a;
    if (frame && sscanf(line, " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &a, &b, &d) == 3)
      stack = a > stack ? a : stack, spills = b + d > spills ? b + d : spills;
    if (strstr(line, "error") || strstr(line, "fatal"))
      fprintf(stderr, "  %s", line);
  }
  int status = pipe ? pclose(pipe) : 1;
  unlink(path);
  snprintf(note, size, "%3d registers, %d spilled, %d stack", registers, spills, stack);
  return status == 0;
}

// One line a kernel: whose it is, how it is launched, CPU time of compiling the case, and where the PTX is.
static bool add_rows(const char *folder, const char *file_name, const KernelCase *c, const MirageTarget *target,
                     const MirageUGraph *lowered, double cpu_ms) {
  char path[512];
  snprintf(path, sizeof path, "%s/kernels.csv", folder);
  FILE *file = fopen(path, "a");
  if (!file)
    return false;
  if (ftell(file) == 0)
    fprintf(file, "source,target,chip,kernel,threads,shared_bytes,compile_ms,ptx\n");
  MirageRegionView body = mirage_ugraph_region(lowered, mirage_ugraph_body(lowered));
  for (uint32_t i = 0; i + 1 < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(lowered, body.nodes[i]);
    if (node.op != MIRAGE_OP_CUSTOM) // a view, which is no kernel
      continue;
    const MirageLaunch *launched = node.attrs->custom.launch;
    fprintf(file, "\"%s\",%s,%s,%s,%d,%d,%.1f,%s\n", c->name, target->name, target->chip, launched->kernel,
            launched->threads, launched->shared_bytes, cpu_ms, file_name);
  }
  return fclose(file) == 0;
}

static bool keep_ptx(const Options *options, const KernelCase *c, const MirageTarget *target,
                     const MirageUGraph *lowered, const MirageCode *code, double cpu_ms) {
  char name[256], path[512];
  int n = 0;
  for (const char *p = c->name; *p && n < 200; p++)
    name[n++] = isalnum((unsigned char)*p) ? *p : '_';
  snprintf(name + n, sizeof name - (size_t)n, ".%s.ptx", target->chip);
  snprintf(path, sizeof path, "%s/%s", options->ptx_folder, name);
  FILE *file = fopen(path, "w");
  bool ok = file && fputs(code->ptx, file) >= 0;
  ok = file && fclose(file) == 0 && ok;
  if (!ok || !add_rows(options->ptx_folder, name, c, target, lowered, cpu_ms)) {
    fprintf(stderr, "  cannot write %s\n", path);
    return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------- running, comparing

typedef struct Buffer {
  MirageType type;
  size_t count;
  double *values; // exactly representable in the element type
  void *bits;
  uint64_t device;
} Buffer;

static bool buffer_init(Buffer *buffer, const MirageType *type, MirageDevice *device) {
  *buffer = (Buffer){.type = *type, .count = (size_t)mirage_type_elements(type)};
  buffer->values = calloc(buffer->count + 1, sizeof(double));
  buffer->bits = calloc(buffer->count + 1, 4);
  return buffer->values && buffer->bits &&
         (!device || mirage_device_alloc(device, (size_t)mirage_type_bytes(type), &DIAG, &buffer->device) == MIRAGE_OK);
}

static void buffer_deinit(Buffer *buffer, MirageDevice *device) {
  if (buffer->device)
    mirage_device_free(device, buffer->device);
  free(buffer->values);
  free(buffer->bits);
}

static void draw(Buffer *buffer, uint64_t stream, double scale, double offset) {
  MirageRandom random;
  mirage_random_init(&random, 20240607, stream);
  for (size_t i = 0; i < buffer->count; i++) {
    double value = mirage_round_to(buffer->type.dtype, mirage_random_normal(&random) * scale + offset);
    buffer->values[i] = value;
    if (buffer->type.dtype == MIRAGE_F32)
      ((float *)buffer->bits)[i] = (float)value;
    else
      ((uint16_t *)buffer->bits)[i] =
          buffer->type.dtype == MIRAGE_F16 ? mirage_f16_from_double(value) : mirage_bf16_from_double(value);
  }
}

static void decode(Buffer *buffer, double *out) {
  for (size_t i = 0; i < buffer->count; i++)
    out[i] = buffer->type.dtype == MIRAGE_F32   ? (double)((float *)buffer->bits)[i]
             : buffer->type.dtype == MIRAGE_F16 ? mirage_f16_to_double(((uint16_t *)buffer->bits)[i])
                                                : mirage_bf16_to_double(((uint16_t *)buffer->bits)[i]);
}

static double tolerance_of(const KernelCase *c) {
  if (c->tolerance > 0)
    return c->tolerance;
  return c->dtype == MIRAGE_F16 ? 3e-3 : c->dtype == MIRAGE_BF16 ? 2e-2 : 5e-6;
}

enum { MOST_BUFFERS = 8, HOPPER_SHARED = 232448 };

typedef struct Run {
  Buffer inputs[MOST_BUFFERS];
  Buffer output;
} Run;

static MirageStatus launch(MirageDevice *device, const MirageUGraph *graph, const MirageCode *code, Run *run) {
  MirageModule *module = NULL;
  MirageProgram *program = NULL;
  uint64_t inputs[MOST_BUFFERS], output = run->output.device;
  uint32_t count = mirage_ugraph_num_inputs(graph);
  MirageStatus status = mirage_module_load(device, code->ptx, &DIAG, &module);
  if (status == MIRAGE_OK)
    status = mirage_program_create(module, graph, &DIAG, &program);
  for (uint32_t i = 0; status == MIRAGE_OK && i < count; i++) {
    inputs[i] = run->inputs[i].device;
    status = mirage_device_upload(device, inputs[i], run->inputs[i].bits,
                                  (size_t)mirage_type_bytes(&run->inputs[i].type), &DIAG);
  }
  size_t bytes = (size_t)mirage_type_bytes(&run->output.type);
  for (int again = 0; status == MIRAGE_OK && again < 2; again++) { // twice: workspaces must be clean again
    status = mirage_device_fill(device, output, 0xff, bytes, &DIAG);
    if (status == MIRAGE_OK)
      status = mirage_program_launch(program, inputs, &output, NULL, &DIAG);
  }
  if (status == MIRAGE_OK)
    status = mirage_device_synchronize(device, &DIAG);
  if (status == MIRAGE_OK)
    status = mirage_device_download(device, run->output.bits, output, bytes, &DIAG);
  mirage_program_destroy(program);
  mirage_module_unload(module);
  return status;
}

// Random inputs, and the float64 evaluation as the output's values.
static bool run_init(Run *run, MirageDevice *device, const KernelCase *c, const MirageUGraph *source) {
  const void *inputs[MOST_BUFFERS];
  uint32_t count = mirage_ugraph_num_inputs(source);
  if (count > MOST_BUFFERS)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    const MirageType *type = mirage_ugraph_type(source, mirage_ugraph_get_input(source, i));
    if (!buffer_init(&run->inputs[i], type, device))
      return false;
    double scale =
        i == 0 || type->rank < 2 ? 1 : 1 / sqrt((double)type->shape[type->rank - 2]); // weights: keep sums near 1
    draw(&run->inputs[i], i, c->offset > 0 ? 1 : scale, c->offset);
    inputs[i] = run->inputs[i].values;
  }
  void *outputs[1];
  bool ok = buffer_init(&run->output, mirage_ugraph_type(source, mirage_ugraph_get_output(source, 0)), device);
  outputs[0] = run->output.values;
  return ok && mirage_eval(source, mirage_domain_f64(), inputs, outputs, NULL, &DIAG) == MIRAGE_OK;
}

static void run_deinit(Run *run, MirageDevice *device) {
  for (uint32_t i = 0; i < MOST_BUFFERS; i++)
    buffer_deinit(&run->inputs[i], device);
  buffer_deinit(&run->output, device);
}

static bool compare_output(const KernelCase *c, Run *run, char *note, size_t size) {
  double relative = INFINITY, largest = INFINITY, *got = calloc(run->output.count + 1, sizeof(double));
  if (got) {
    decode(&run->output, got);
    mirage_compare(got, run->output.values, run->output.count, &relative, &largest);
  }
  free(got);
  snprintf(note, size, "error %.2e (largest %.2e)", relative, largest);
  return relative <= tolerance_of(c);
}

static bool compare(MirageDevice *device, const KernelCase *c, const MirageUGraph *source, const MirageUGraph *lowered,
                    const MirageCode *code, char *note, size_t size) {
  Run run = {0};
  bool ok = run_init(&run, device, c, source) && launch(device, lowered, code, &run) == MIRAGE_OK &&
            compare_output(c, &run, note, size);
  run_deinit(&run, device);
  return ok;
}

// ----------------------------------------------------------------------------------------------------------- emulating

static bool emulate(const KernelCase *c, const MirageUGraph *source, MirageEmulation *emulation, char *note,
                    size_t size) {
  static const MirageCopyTime TIMES[] = {MIRAGE_COPIES_LATE, MIRAGE_COPIES_EARLY};
  Run run = {0};
  const void *inputs[MOST_BUFFERS];
  bool ok = run_init(&run, NULL, c, source);
  for (uint32_t i = 0; i < MOST_BUFFERS; i++)
    inputs[i] = run.inputs[i].bits;
  void *outputs[1] = {run.output.bits};
  for (int i = 0; ok && i < 2; i++)
    ok = mirage_emulation_run(emulation, TIMES[i], inputs, outputs, &DIAG) == MIRAGE_OK &&
         compare_output(c, &run, note, size);
  run_deinit(&run, NULL);
  return ok;
}

static bool emulate_case(const KernelCase *c, const MirageTarget *target, const Options *options, unsigned *left_out) {
  char note[128] = "";
  MirageEmulation *emulation = NULL;
  MirageUGraph *source = build(c);
  double start = now_ms(), work = source ? mirage_emulation_work(source) : 0;
  if (options->max_work > 0 && work > options->max_work) {
    if (options->verbose)
      printf("%-5s %-34s %-7s %.2g elements\n", "-", c->name, target->chip, work);
    mirage_ugraph_destroy(source);
    ++*left_out;
    return true;
  }
  bool ok = source && mirage_emulation_create(source, target, NULL, &DIAG, &emulation) == MIRAGE_OK;
  double compiled = now_ms();
  ok = ok && emulate(c, source, emulation, note, sizeof note);
  printf("%-5s %-34s %-7s %5.0f ms to compile, %5.0f ms to run twice (%.1e elements); %s\n", ok ? "ok" : "WRONG",
         c->name, target->chip, compiled - start, now_ms() - compiled, work, note);
  fflush(stdout);
  mirage_emulation_destroy(emulation);
  mirage_ugraph_destroy(source);
  return ok;
}

// --------------------------------------------------------------------------------------------------------------- main

// The table is of this run alone.
static void forget_rows(const char *folder) {
  char path[512];
  snprintf(path, sizeof path, "%s/kernels.csv", folder);
  unlink(path);
}

static bool run_case(const KernelCase *c, const MirageTarget *target, MirageDevice *device, const Options *options) {
  char note[128] = "", assembled[128] = "";
  MirageUGraph *source = build(c), *lowered = NULL;
  MirageCode code = {0};
  double start = now_ms();
  clock_t cpu_start = clock();
  bool ok = source && compile(source, target, &lowered, &code) == MIRAGE_OK;
  double took = now_ms() - start, cpu_ms = 1e3 * (double)(clock() - cpu_start) / CLOCKS_PER_SEC;
  if (ok && options->ptx_folder)
    ok = keep_ptx(options, c, target, lowered, &code, cpu_ms);
  if (ok && strstr(code.ptx, ".local"))
    snprintf(assembled, sizeof assembled, "uses local memory");
  if (ok && !options->compile && have_ptxas() && (!device || options->verbose))
    ok = assemble(&code, target, assembled, sizeof assembled);
  if (ok && device)
    ok = compare(device, c, source, lowered, &code, note, sizeof note);
  printf("%-5s %-34s %-7s %5.0f ms  %s%s%s\n", ok ? "ok" : "WRONG", c->name, target->chip, took, note,
         *note && *assembled ? "; " : "", assembled);
  fflush(stdout);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(lowered);
  mirage_ugraph_destroy(source);
  return ok;
}

static bool device_runs(const MirageDevice *device, const MirageTarget *target) {
  if (!device)
    return true;
  const MirageDeviceInfo *info = mirage_device_info(device);
  bool exact = target->chip[strlen(target->chip) - 1] == 'a'; // architecture-specific code
  int have = info->compute_major * 10 + info->compute_minor, need = target->compute_major * 10 + target->compute_minor;
  return exact ? have == need : have >= need;
}

static int usage(const char *program) {
  fprintf(stderr,
          "usage: %s [--emulate [--max-work elements] | --primitives | --defects | --compile] [--target name] "
          "[--filter text] [--ptx folder] [--gpu] [--verbose]\n",
          program);
  return 2;
}

int main(int argc, char **argv) {
  Options options = {0};
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--target") && i + 1 < argc)
      options.target = argv[++i];
    else if (!strcmp(argv[i], "--filter") && i + 1 < argc)
      options.filter = argv[++i];
    else if (!strcmp(argv[i], "--ptx") && i + 1 < argc)
      options.ptx_folder = argv[++i];
    else if (!strcmp(argv[i], "--verbose"))
      options.verbose = true;
    else if (!strcmp(argv[i], "--emulate"))
      options.emulate = true;
    else if (!strcmp(argv[i], "--primitives"))
      options.primitives = true;
    else if (!strcmp(argv[i], "--gpu"))
      options.gpu = true;
    else if (!strcmp(argv[i], "--compile"))
      options.compile = true;
    else if (!strcmp(argv[i], "--defects"))
      options.defects = true;
    else if (!strcmp(argv[i], "--max-work") && i + 1 < argc)
      options.max_work = atof(argv[++i]);
    else
      return usage(argv[0]);
  }
  if (options.ptx_folder)
    forget_rows(options.ptx_folder);
  static const char *const TARGETS[] = {"h200", "a100"};
  MirageDevice *device = NULL;
  if (options.emulate || options.compile) {
    printf("%s\n", options.emulate ? "emulator" : "compiling only");
  } else {
    mirage_device_create(0, &SILENT, &device);
    printf("%s; ptxas %s\n", device ? mirage_device_info(device)->name : "no GPU: assembling only",
           have_ptxas() ? "found" : "not found");
  }
  if (options.gpu && !device) {
    printf("skipped: there is no GPU\n");
    return EXIT_SKIPPED;
  }
  if (options.defects)
    return primitives_defects(mirage_target_find("h200")) != 0;
  if (options.primitives) {
    bool old = device && mirage_device_info(device)->compute_major < 9;
    const MirageTarget *target = mirage_target_find(options.target ? options.target : old ? "a100" : "h200");
    unsigned differ = target ? primitives_compare(device, target, options.filter, options.ptx_folder, &DIAG) : 1;
    printf("%u differ\n", differ);
    mirage_device_destroy(device);
    return differ != 0;
  }
  unsigned wrong = 0, total = 0, left_out = 0;
  for (unsigned i = 0; i < NUM_KERNEL_CASES; i++) {
    const KernelCase *c = &KERNEL_CASES[i];
    if (options.filter && !strstr(c->name, options.filter))
      continue;
    for (size_t t = 0; t < sizeof TARGETS / sizeof *TARGETS; t++) {
      const char *name = options.target ? options.target : TARGETS[t];
      const MirageTarget *target = mirage_target_find(name);
      if (!target)
        return usage(argv[0]);
      if (device_runs(device, target) && !(c->hopper && target->shared_bytes_per_block < HOPPER_SHARED)) {
        total++;
        wrong +=
            options.emulate ? !emulate_case(c, target, &options, &left_out) : !run_case(c, target, device, &options);
      }
      if (options.target)
        break;
    }
  }
  total -= left_out;
  printf("%u of %u ok", total - wrong, total);
  if (left_out)
    printf(", %u left out as too large", left_out);
  printf("\n");
  mirage_device_destroy(device);
  return wrong || !total;
}
