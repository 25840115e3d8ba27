// fuzz_mlir.c - libFuzzer target for the text path: a module in our three dialects is parsed and verified by MLIR;
// every graph in it is imported into a µGraph, exported, imported and exported again.
//
// What must hold: no crash, leak or undefined behaviour for any text; what the dialects' verifiers accept, the bridge
// imports or refuses with a sentence; what it exports passes the verifiers; and from the first export on, import and
// export change nothing.
//
// Mutations work on tokens - a number, name or punctuation changes into another one of the text or of our vocabulary, a
// line moves, doubles or goes - because bytes alone hardly ever get past the parser. MLIR itself is not instrumented.
#include "mirage/bridge.h"

#include "mirage-c/Dialects.h"
#include "mlir-c/Diagnostics.h"
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
const char *__asan_default_options(void);

// LLVM's own code does not tell AddressSanitizer about its arenas and containers, though the headers that we include
// do.
const char *__asan_default_options(void) { return "allow_user_poisoning=0:detect_container_overflow=0"; }

static void check(bool condition) {
  if (!condition)
    abort();
}

// -------------------------------------------------------------------------------------------------------------- target

enum { RUNS_OF_A_CONTEXT = 500 }; // types and attributes live as long as their context

static MlirLogicalResult swallow(MlirDiagnostic diagnostic, void *user) { return mlirLogicalResultSuccess(); }

static MlirContext get_context(void) {
  static MlirContext context;
  static int runs;
  if (context.ptr && ++runs % RUNS_OF_A_CONTEXT)
    return context;
  if (context.ptr)
    mlirContextDestroy(context);
  context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mirageRegisterDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirContextAttachDiagnosticHandler(context, swallow, NULL, NULL);
  return context;
}

static void count_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  check(message && *message);
  ++*(unsigned *)user;
}

typedef struct Text {
  char *data;
  size_t used, capacity;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  if (text->used + part.length > text->capacity) {
    text->capacity = 2 * (text->used + part.length);
    text->data = realloc(text->data, text->capacity);
    check(text->data != NULL);
  }
  memcpy(text->data + text->used, part.data, part.length);
  text->used += part.length;
}

static bool is_graph(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  static const char graph[] = "mirage_kernel.graph";
  return name.length == sizeof graph - 1 && memcmp(name.data, graph, name.length) == 0;
}

// Puts what the bridge makes of a graph in its place, at the end of the module. A graph that it refuses, with a
// sentence, stays.
static void pass_through(MlirContext context, MlirModule module, MlirOperation op) {
  unsigned messages = 0;
  const MirageDiag diag = {count_message, &messages};
  MlirLocation loc = mlirOperationGetLocation(op);
  MirageUGraph *graph;
  MlirOperation exported;
  if (mirage_bridge_import(op, &diag, &graph) != MIRAGE_OK) {
    check(messages >= 1 && !graph);
    return;
  }
  check(messages == 0 && mirage_ugraph_status(graph) == MIRAGE_OK);
  mlirOperationDestroy(op);
  MirageStatus status = mirage_bridge_export(graph, context, mlirModuleGetBody(module), loc, &diag, &exported);
  check(status == MIRAGE_OK && messages == 0);
  mirage_ugraph_destroy(graph);
}

// Every graph of the module once; the result must verify and is printed.
static Text round_trip(MlirContext context, MlirModule module) {
  Text text = {0};
  size_t count = 0;
  MlirOperation next, op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (MlirOperation o = op; o.ptr; o = mlirOperationGetNextInBlock(o))
    count++;
  for (; count > 0; count--, op = next) { // what is exported comes behind the last of these
    next = mlirOperationGetNextInBlock(op);
    if (is_graph(op))
      pass_through(context, module, op);
  }
  check(mlirOperationVerify(mlirModuleGetOperation(module)));
  mlirOperationPrint(mlirModuleGetOperation(module), append, &text);
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1); // the parser wants a terminated buffer
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = 0;
  MlirContext context = get_context();
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(text, size));
  int used = -1; // a text that does not parse teaches nothing
  if (!mlirModuleIsNull(module)) {
    Text first = round_trip(context, module), second = round_trip(context, module);
    check(first.used == second.used && memcmp(first.data, second.data, first.used) == 0);
    free(first.data);
    free(second.data);
    mlirModuleDestroy(module);
    used = 0;
  }
  free(text);
  return used;
}

// ------------------------------------------------------------------------------------------------------------- mutator

static const char *const WORDS[] = {
#define MIRAGE_OP(name, mnemonic, min, max, levels, kind, attrs) mnemonic,
#include "mirage/ops.def"
    "f16",
    "bf16",
    "f32",
    "i1",
    "tensor<2x4xf16>",
    "tensor<4xf32>",
    "tensor<f32>",
    "tensor<?xf16>",
    "!mirage_block.tile<2x4xf16>",
    "!mirage_block.tile<1x1xf32, shared>",
    "!mirage_block.tile<2x2xf32, register>",
    "!mirage_thread.fragment<2x4xf32>",
    "{dim = 1}",
    "{dim = -1}",
    "{transpose_b}",
    "{grid = [0, 1], loop = [1]}",
    "{grid = [-1], fill = bottom}",
    "{eps = 1.0e-5}",
    "{extent = 2}",
    "{axes = [0]}",
    "{perm = [1, 0]}",
    "grid [4, 2]",
    "cluster [2, 1]",
    "schedule <warps = 4>",
    "sum",
    "max",
    "rescale",
    "concat(1)",
    "assign",
    "loop 2",
    "custom",
    "thread",
    "yield",
    "return",
    "attributes {source = @program}",
    "-> ",
    ": ",
    ", ",
    "%0",
    "@a",
    "0x7FC00000",
    "1.0e400",
    "-1",
    "0",
    "1",
    "2",
    "3",
    "4096",
    "2147483648",
    "9223372036854775807",
    "99999999999999999999"};
enum { NUM_WORDS = sizeof WORDS / sizeof *WORDS };

static uint32_t draw(uint32_t *state, size_t below) {
  *state = *state * 1664525u + 1013904223u;
  return below ? (uint32_t)((*state >> 4) % below) : 0;
}

typedef struct Span {
  size_t begin, end;
} Span;

static bool in_word(uint8_t c) { return isalnum(c) || c == '_' || c == '%' || c == '.' || c == '@' || c == '!'; }

// The token around a random place: a run of word characters, or one character.
static Span token_at(const uint8_t *data, size_t size, size_t at) {
  Span span = {at, at + 1};
  if (!in_word(data[at]))
    return span;
  while (span.begin > 0 && in_word(data[span.begin - 1]))
    span.begin--;
  while (span.end < size && in_word(data[span.end]))
    span.end++;
  return span;
}

static Span line_at(const uint8_t *data, size_t size, size_t at) {
  Span span = {at, at};
  while (span.begin > 0 && data[span.begin - 1] != '\n')
    span.begin--;
  while (span.end < size && data[span.end] != '\n')
    span.end++;
  span.end += span.end < size;
  return span;
}

// Puts `length` bytes in the place of a span; returns the new size, or the old one when it does not fit.
static size_t replace(uint8_t *data, size_t size, size_t max_size, Span span, const void *with, size_t length) {
  size_t after = size - span.end, result = span.begin + length + after;
  if (result > max_size)
    return size;
  memmove(data + span.begin + length, data + span.end, after);
  memcpy(data + span.begin, with, length);
  return result;
}

static size_t mutate_once(uint8_t *data, size_t size, size_t max_size, uint32_t *state) {
  bool lines = draw(state, 4) == 0;
  size_t at = draw(state, size), other = draw(state, size);
  Span span = lines ? line_at(data, size, at) : token_at(data, size, at);
  Span source = lines ? line_at(data, size, other) : token_at(data, size, other);
  if (draw(state, 6) == 0)
    return replace(data, size, max_size, span, "", 0);
  if (!lines && draw(state, 2)) {
    const char *word = WORDS[draw(state, NUM_WORDS)];
    return replace(data, size, max_size, span, word, strlen(word));
  }
  uint8_t kept[512];
  size_t length = source.end - source.begin;
  if (length > sizeof kept)
    return size;
  memcpy(kept, data + source.begin, length);
  if (lines)
    span.end = span.begin; // the line is doubled elsewhere
  return replace(data, size, max_size, span, kept, length);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  uint32_t state = seed;
  if (size == 0 || draw(&state, 8) == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  for (uint32_t n = 1 + draw(&state, 3); n > 0 && size > 0; n--)
    size = mutate_once(data, size, max_size, &state);
  return size;
}
