// pass_table.c - every pass and pipeline, once.
//
// A row of MIRAGE_PASSES names the argument, the body, the options (with type, default, help and range) and the
// dialects of the operations that the pass creates. To add a pass: its option struct in passes.h, its body in a file of
// its own, a row here. Options of one name mean the same thing in every pass, so that a pipeline can forward them.
#include "mirage-c/Dialects.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Bufferization.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/Index.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Tensor.h"
#include "mlir-c/Dialect/Tosa.h"
#include "progress.h"
#include "vary.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BOOL(type, field, name, fallback, help)                                                                        \
  {name, MIRAGE_OPTION_BOOL, offsetof(type, field), fallback, help, 0, 1, NULL, 0, 0}
#define INT(type, field, name, fallback, min, max, help)                                                               \
  {name, MIRAGE_OPTION_INT, offsetof(type, field), fallback, help, min, max, NULL, 0, 0}
#define DOUBLE(type, field, name, fallback, min, max, help)                                                            \
  {name, MIRAGE_OPTION_DOUBLE, offsetof(type, field), fallback, help, min, max, NULL, 0, 0}
#define STRING(type, field, name, fallback, help)                                                                      \
  {name, MIRAGE_OPTION_STRING, offsetof(type, field), fallback, help, 0, 0, NULL, 0, 0}
#define TUPLES(type, field, name, least, most, min, max, help)                                                         \
  {name, MIRAGE_OPTION_TUPLES, offsetof(type, field), "", help, min, max, NULL, least, most}
#define CHOICE(type, field, name, fallback, choices, help)                                                             \
  {name, MIRAGE_OPTION_CHOICE, offsetof(type, field), fallback, help, 0, 0, choices, 0, 0}

#define TARGET(type)                                                                                                   \
  {"target",                                                                                                           \
   MIRAGE_OPTION_TARGET,                                                                                               \
   offsetof(type, target),                                                                                             \
   "h200",                                                                                                             \
   "GPU to compile for, by name (h200, a100, ...) or chip (sm_90a)",                                                   \
   0,                                                                                                                  \
   0,                                                                                                                  \
   NULL,                                                                                                               \
   0,                                                                                                                  \
   0}
#define TENSOR_MAPS(type)                                                                                              \
  BOOL(type, tensor_maps, "tensor-maps", "true",                                                                       \
       "kernels may use tensor and bulk copies: whoever launches them passes the tensor maps of `launch` (mirage-run " \
       "does); false: plain pointers only")
#define SEED(type) INT(type, seed, "seed", "1", 0, 9.2e18, "seed of everything random; same seed, same result")

#define NUM_THREADS(type)                                                                                              \
  INT(type, num_threads, "num-threads", "0", 0, 4096,                                                                  \
      "threads, 0 = one for each core; the result does not depend on it")
#define LOG2_BOUND(type)                                                                                               \
  DOUBLE(type, log2_bound, "log2-bound", "-60", -4096, -1,                                                             \
         "the probability that a wrong graph passes must be at most 2 to this")
#define PROGRESS(type)                                                                                                 \
  CHOICE(type, progress, "progress", "auto", MIRAGE_PROGRESS_CHOICES,                                                  \
         "how far it has come, on standard error: a live line, plain lines, JSON lines, nothing, or what fits")
#define EXPLAIN(type) BOOL(type, explain, "explain", "false", "say of each candidate what became of it")

static const MiragePassOption CONVERT_OPTIONS[] = {
    BOOL(MirageConvertOptions, explain, "explain", "false", "say of each operation that stays outside why it does"),
};

static const MiragePassOption ENUMERATE_OPTIONS[] = {
    TARGET(MirageEnumerateOptions),
    TENSOR_MAPS(MirageEnumerateOptions),
    INT(MirageEnumerateOptions, max_block_ops, "max-block-ops", "11", 1, 64,
        "operators of a block graph: loads count, stores do not, an element-wise chain is one"),
    INT(MirageEnumerateOptions, max_loops, "max-loops", "3", 1, 3, "loops of a block graph, one after the other"),
    INT(MirageEnumerateOptions, max_candidates, "max-candidates", "16", 1, 65536,
        "candidates kept for each program, best predicted first"),
    INT(MirageEnumerateOptions, max_states, "max-states", "0", 0, 1e15,
        "stop after visiting this many prefixes; 0 = 200000 up to 11 block operators, twice as many for each of the "
        "next "
        "two; five times as many where `optimal` is set"),
    BOOL(
        MirageEnumerateOptions, optimal, "optimal", "false",
        "leave out nothing by judgement, and say so at the program when every block graph up to max-block-ops was met"),
    DOUBLE(MirageEnumerateOptions, time_budget, "time-budget", "0", 0, 1e9,
           "seconds after which the search of a program ends with what it has found; 0 = none"),
    STRING(MirageEnumerateOptions, checkpoint, "checkpoint", "",
           "file that is written now and then; a search goes on from it where it exists, and it goes when all is done"),
    STRING(MirageEnumerateOptions, resume, "resume", "", "the same, but the file must exist"),
    PROGRESS(MirageEnumerateOptions),
    TUPLES(MirageEnumerateOptions, griddims, "griddims", 1, 3, 1, 2147483647,
           "allowed grids: 64 allows 64 blocks along any axis, 16x4 or 16x4x1 one grid as a whole (this and the lists "
           "below: default from the shapes and the target)"),
    TUPLES(MirageEnumerateOptions, blockdims, "blockdims", 1, 1, 32, 1024, "allowed threads of a block"),
    TUPLES(MirageEnumerateOptions, imaps, "imaps", 3, 3, -1, MIRAGE_MAX_RANK - 1,
           "allowed maps of inputs: 0:-1:1 = the tensor dimensions that grid x, y and z split, -1 = none"),
    TUPLES(MirageEnumerateOptions, omaps, "omaps", 3, 3, -1, MIRAGE_MAX_RANK - 1, "the same of outputs"),
    TUPLES(MirageEnumerateOptions, fmaps, "fmaps", 1, 1, -1, MIRAGE_MAX_RANK - 1,
           "allowed tensor dimensions of inputs that a loop splits, -1 = none"),
    TUPLES(MirageEnumerateOptions, franges, "franges", 1, 1, 1, 2147483647, "allowed loop ranges"),
    STRING(MirageEnumerateOptions, search_space, "search-space", "",
           "JSON file with these lists and limits; options that are given win"),
    SEED(MirageEnumerateOptions),
    NUM_THREADS(MirageEnumerateOptions),
    BOOL(MirageEnumerateOptions, prune, "prune", "true",
         "cut prefixes while searching; false turns the four switches below off as well"),
    BOOL(MirageEnumerateOptions, prune_expr, "prune-expr", "true", "cut by abstract expressions"),
    BOOL(MirageEnumerateOptions, prune_axis, "prune-axis", "true", "cut by axis provenance"),
    BOOL(MirageEnumerateOptions, keep_products, "keep-products", "true",
         "abstract expressions keep a product of two sums as it is"),
    BOOL(MirageEnumerateOptions, merge, "merge", "true", "merge tensors of equal fingerprint"),
    BOOL(MirageEnumerateOptions, bound_needs, "bound-needs", "true",
         "bound block graphs by all that their missing tensors need, not by the longest path alone"),
    BOOL(MirageEnumerateOptions, prune_memory, "prune-memory", "true", "cut tensors whose smallest tile fits no block"),
    BOOL(MirageEnumerateOptions, share_pieces, "share-pieces", "true", "search equal pieces of the program once"),
    BOOL(MirageEnumerateOptions, stats, "stats", "false", "print the funnel, a number a line, to standard error"),
    BOOL(MirageEnumerateOptions, json, "json", "false", "print the funnel as a line of JSON to standard error"),
    CHOICE(
        MirageEnumerateOptions, replay, "replay", "no", "no,yes,add",
        "yes: search nothing new, but say of each candidate that is there whether the search meets it, or which test "
        "cuts which operator; add: and add the search's own graph that stands for it"),
};

static const MiragePassOption PRUNE_OPTIONS[] = {
    TARGET(MiragePruneOptions),
    TENSOR_MAPS(MiragePruneOptions),
    INT(MiragePruneOptions, beaten_by, "beaten-by", "4", 1, 65536,
        "a candidate is dominated when this many others are as good in predicted time, bytes and kernels, and better "
        "in one, of time by 3 %, two of them with the same way to combine split reductions"),
    BOOL(MiragePruneOptions, expr, "expr", "true", "remove candidates whose abstract expression is not the program's"),
    CHOICE(MiragePruneOptions, engine, "engine", "normal-form", "normal-form,z3",
           "who compares expressions: normal forms, or Z3 (slow; removes what it cannot show to be equal)"),
    BOOL(MiragePruneOptions, duplicates, "duplicates", "true", "remove candidates that are built like an earlier one"),
    BOOL(MiragePruneOptions, dominated, "dominated", "true", "remove dominated candidates"),
    EXPLAIN(MiragePruneOptions),
    BOOL(MiragePruneOptions, stats, "stats", "false", "print the counts, a number a line, to standard error"),
};

static const MiragePassOption VERIFY_OPTIONS[] = {
    SEED(MirageVerifyPassOptions),
    INT(MirageVerifyPassOptions, trials, "trials", "0", 0, 1000000,
        "random evaluations, 0 = as many as the bound asks for"),
    INT(MirageVerifyPassOptions, first_trial, "first-trial", "0", 0, 5e8,
        "number of the first trial; with trials=1, the one that a witness names"),
    LOG2_BOUND(MirageVerifyPassOptions),
    DOUBLE(MirageVerifyPassOptions, max_work, "max-work", "2e6", 1, 1e15,
           "multiplications a trial may cost at full size; above, by transfer from a smaller instance"),
    BOOL(MirageVerifyPassOptions, guard, "guard", "true",
         "refuse what is equal in exact arithmetic but loses over twice the program's accuracy in its own types"),
    STRING(MirageVerifyPassOptions, against, "against", "",
           "compare every other graph of the module with this one, whatever its source says"),
    NUM_THREADS(MirageVerifyPassOptions),
    PROGRESS(MirageVerifyPassOptions),
    EXPLAIN(MirageVerifyPassOptions),
};

static const MiragePassOption LAYOUT_OPTIONS[] = {
    TARGET(MirageLayoutOptions),
    TENSOR_MAPS(MirageLayoutOptions),
    INT(MirageLayoutOptions, variants, "variants", "0", 0, 4096,
        "of so many of each program's best candidates, add other schedules as candidates, for mirage-run --tune to "
        "time"),
    BOOL(MirageLayoutOptions, threads, "threads", "false",
         "write element-wise chains of what no hand scheduled as thread graphs; the code stays the same"),
    BOOL(MirageLayoutOptions, explain, "explain", "false",
         "say of each kernel who does what, what passes between them, and of each form that it was taken or why not"),
    BOOL(MirageLayoutOptions, own, "own", "false", "add each program's own lowering as the candidate @<program>_own"),
};

static const MiragePassOption SELECT_OPTIONS[] = {
    TARGET(MirageSelectOptions),
    TENSOR_MAPS(MirageSelectOptions),
    CHOICE(MirageSelectOptions, keep, "keep", "best", "best,all",
           "best: remove the candidates that were not chosen; all: keep them"),
    LOG2_BOUND(MirageSelectOptions),
    DOUBLE(MirageSelectOptions, full_size_work, "full-size-work", "1e9", 0, 1e15,
           "prove the chosen one at full size as well if that takes at most this many multiplications of 2.5 ns; a "
           "number of an input is drawn in the time of 24"),
    SEED(MirageSelectOptions),
    CHOICE(MirageSelectOptions, measure, "measure", "auto", "auto,yes,no",
           "time candidates on the GPU, and remember what was fastest; auto: where there is one for the target, and by "
           "what is remembered where there is none (the environment's MIRAGE_MEASURE=no or yes means that instead); "
           "no: by the model alone"),
    INT(MirageSelectOptions, measure_candidates, "measure-candidates", "12", 1, 256,
        "candidates of a program that are timed: the one predicted best, and those that differ most"),
    INT(MirageSelectOptions, measure_schedules, "measure-schedules", "4", 0, MIRAGE_MOST_VARIANTS,
        "other schedules that are timed as well, of the fastest of them and of one that is nearly as fast"),
    DOUBLE(MirageSelectOptions, measure_timeout, "measure-timeout", "10", 0.01, 3600,
           "seconds after which a kernel that is timed counts as hanging"),
};

static const MiragePassOption LOWER_OPTIONS[] = {
    TARGET(MirageLowerOptions),
    TENSOR_MAPS(MirageLowerOptions),
    INT(MirageLowerOptions, opt_level, "opt-level", "3", 0, 3, "LLVM optimisation level"),
    NUM_THREADS(MirageLowerOptions),
    BOOL(MirageLowerOptions, dump_llvm, "dump-llvm", "false", "print the optimised LLVM IR to standard error"),
};

static const MiragePassOption CONVERT_GPU_OPTIONS[] = {
    CHOICE(MirageConvertGpuOptions, memory, "memory", "device", "device,host",
           "where tensors and memrefs of the calls live: device: the GPU can access them; host: they are copied to the "
           "device and back at each call"),
    BOOL(MirageConvertGpuOptions, async, "async", "false",
         "calls that follow each other share one stream, and are waited for at its end (with memory=device)"),
    BOOL(MirageConvertGpuOptions, emulation, "emulation", "false",
         "put the kernels for this machine behind their PTX, for the runtime library's emulated GPU"),
    BOOL(MirageConvertGpuOptions, keep, "keep-graphs", "false", "leave the programs and their graphs in the module"),
};

static MlirDialectHandle (*const OWN_DIALECTS[])(void) = {
    mlirGetDialectHandle__mirage_kernel__,
    mlirGetDialectHandle__mirage_block__,
    mlirGetDialectHandle__mirage_thread__,
};
static MlirDialectHandle (*const LOWER_DIALECTS[])(void) = {
    mlirGetDialectHandle__mirage_kernel__, mlirGetDialectHandle__mirage_block__, mlirGetDialectHandle__mirage_thread__,
    mlirGetDialectHandle__gpu__,           mlirGetDialectHandle__nvvm__,
};

static MlirDialectHandle (*const TOSA_DIALECTS[])(void) = {
    mlirGetDialectHandle__mirage_kernel__, mlirGetDialectHandle__mirage_block__, mlirGetDialectHandle__mirage_thread__,
    mlirGetDialectHandle__tosa__,          mlirGetDialectHandle__linalg__,       mlirGetDialectHandle__tensor__,
    mlirGetDialectHandle__arith__,         mlirGetDialectHandle__math__,         mlirGetDialectHandle__scf__,
    mlirGetDialectHandle__index__,         mlirGetDialectHandle__func__,
};

static MlirDialectHandle (*const GPU_DIALECTS[])(void) = {
    mlirGetDialectHandle__gpu__,   mlirGetDialectHandle__nvvm__,   mlirGetDialectHandle__llvm__,
    mlirGetDialectHandle__arith__, mlirGetDialectHandle__memref__, mlirGetDialectHandle__bufferization__,
};

#define PASS(name, summary, options, type, dialects)                                                                   \
  {"mirage-" #name, #name,    summary,         "builtin.module",   options, COUNT(options),                            \
   sizeof(type),    dialects, COUNT(dialects), mirage_pass_##name, 0,       NULL}

const MiragePassInfo MIRAGE_PASSES[] = {
    {"convert-linalg-to-mirage", "convert-linalg", "Cut programs out of functions on tensors, and call them",
     "builtin.module", CONVERT_OPTIONS, COUNT(CONVERT_OPTIONS), sizeof(MirageConvertOptions), OWN_DIALECTS,
     COUNT(OWN_DIALECTS), mirage_pass_convert_linalg, 0, NULL},
    {"convert-tosa-to-mirage", "convert-tosa", "The same of TOSA, which MLIR's own passes lower to linalg first",
     "builtin.module", CONVERT_OPTIONS, COUNT(CONVERT_OPTIONS), sizeof(MirageConvertOptions), TOSA_DIALECTS,
     COUNT(TOSA_DIALECTS), mirage_pass_convert_tosa, 0, NULL},
    {"mirage-expand", "expand", "Write sugar (norms, softmax, attention) as primitive operators", "builtin.module",
     NULL, 0, 0, OWN_DIALECTS, COUNT(OWN_DIALECTS), mirage_pass_expand, 0, NULL},
    {"mirage-enumerate", "enumerate", "Search candidates for every program and add them as sibling graphs",
     "builtin.module", ENUMERATE_OPTIONS, COUNT(ENUMERATE_OPTIONS), sizeof(MirageEnumerateOptions), OWN_DIALECTS,
     COUNT(OWN_DIALECTS), mirage_pass_enumerate, offsetof(MirageEnumerateOptions, given), mirage__check_search_options},
    PASS(prune, "Remove wrong, duplicate and dominated candidates", PRUNE_OPTIONS, MiragePruneOptions, OWN_DIALECTS),
    PASS(verify, "Prove every candidate equivalent to its program in finite fields", VERIFY_OPTIONS,
         MirageVerifyPassOptions, OWN_DIALECTS),
    PASS(layout, "Plan schedule, placement and layout of every candidate's tiles", LAYOUT_OPTIONS, MirageLayoutOptions,
         OWN_DIALECTS),
    PASS(select, "Choose the proven candidate of least predicted cost for every program", SELECT_OPTIONS,
         MirageSelectOptions, OWN_DIALECTS),
    PASS(lower, "Compile what was selected, or the program itself, to PTX in a gpu.binary", LOWER_OPTIONS,
         MirageLowerOptions, LOWER_DIALECTS),
    {"convert-mirage-to-gpu", "convert-gpu", "Launch the kernels of compiled programs where functions call them",
     "builtin.module", CONVERT_GPU_OPTIONS, COUNT(CONVERT_GPU_OPTIONS), sizeof(MirageConvertGpuOptions), GPU_DIALECTS,
     COUNT(GPU_DIALECTS), mirage_pass_convert_gpu, 0, NULL},
};
const size_t MIRAGE_NUM_PASSES = COUNT(MIRAGE_PASSES);

static const char *const SUPEROPTIMIZE[] = {
    "mirage-enumerate", "mirage-prune", "mirage-verify", "mirage-layout", "mirage-select", "mirage-lower",
};

const MiragePipelineInfo MIRAGE_PIPELINES[] = {
    {"mirage-superoptimize", "From programs to PTX: enumerate, prune, verify, layout, select, lower", SUPEROPTIMIZE,
     COUNT(SUPEROPTIMIZE)},
};
const size_t MIRAGE_NUM_PIPELINES = COUNT(MIRAGE_PIPELINES);

const MiragePassInfo *mirage__pass_find(const char *argument, size_t length) {
  for (size_t i = 0; i < MIRAGE_NUM_PASSES; i++)
    if (strlen(MIRAGE_PASSES[i].argument) == length && memcmp(MIRAGE_PASSES[i].argument, argument, length) == 0)
      return &MIRAGE_PASSES[i];
  return NULL;
}
