// ugraph.h - the in-memory µGraph: a kernel graph whose custom kernels hold block graphs, whose thread nodes hold
// thread graphs. [Mirage 2]
//
// One SSA graph with regions serves all three levels. Nodes and values are 32-bit ids into arrays that live in the
// graph's arena; id 0 means none. A node's operands, results and region are found by the accessors below; nothing is
// ever removed from a graph - a transformation builds a new one.
//
//   kernel region (level K)      values are tensors in device memory
//     custom    -> region (B)    arguments: the operands' tensors, then one tensor per result (the outputs to store to)
//       loop    -> region (B)    arguments: the carries' current values; ends in yield(contributions..., factors...)
//       thread  -> region (T)    arguments: the operands as fragments; ends in yield(results...)
//
// Building is strictly nested: open_custom / open_loop / open_thread push a region, close pops it. Builders remember
// their first failure, so a chain reads straight and is checked once, at finish.
//
// Example: y = x @ w on a grid of 4 blocks that split the columns, looping over the contraction 8 times
//
//   MirageUGraph *g = mirage_ugraph_create(NULL, "linear", &diag);
//   MirageValue x = mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){16, 64}));
//   MirageValue w = mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){64, 32}));
//   MirageType y_type = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){16, 32});
//   MirageNode k = mirage_ugraph_open_custom(g, 2, (MirageValue[]){x, w}, 1, &y_type, &custom_attrs);   // grid {4,1,1}
//   MirageValue zero = mirage_ugraph_constant(g, mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){16, 8}), 0.0);
//   MirageNode l = mirage_ugraph_open_loop(g, 1, &zero, &loop_attrs);                                   // range 8, sum
//   MirageValue xt = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 0), &x_access);   // [16, 8]
//   MirageValue wt = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 1), &w_access);   // [8, 8]
//   MirageValue p = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (MirageValue[]){xt, wt}, NULL);
//   mirage_ugraph_close(g, 1, &p);
//   MirageValue acc = mirage_ugraph_result(g, l, 0);
//   mirage_ugraph_store(g, acc, mirage_ugraph_argument(g, k, 2), &y_access);
//   mirage_ugraph_close(g, 0, NULL);
//   MirageValue y = mirage_ugraph_result(g, k, 0);
//   mirage_ugraph_return(g, 1, &y);
//   MIRAGE_TRY(mirage_ugraph_finish(g));
#ifndef MIRAGE_UGRAPH_H
#define MIRAGE_UGRAPH_H

#include "mirage/arena.h"
#include "mirage/diag.h"
#include "mirage/schedule.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------- operators

typedef enum { MIRAGE_LEVEL_KERNEL = 1, MIRAGE_LEVEL_BLOCK = 2, MIRAGE_LEVEL_THREAD = 4 } MirageLevel;

typedef enum {
  MIRAGE_KIND_UNARY,
  MIRAGE_KIND_BINARY,
  MIRAGE_KIND_MATMUL,
  MIRAGE_KIND_REDUCE,
  MIRAGE_KIND_SHAPE,
  MIRAGE_KIND_CAST,
  MIRAGE_KIND_CONSTANT,
  MIRAGE_KIND_IOTA,
  MIRAGE_KIND_SUGAR,
  MIRAGE_KIND_REGION,
  MIRAGE_KIND_TERMINATOR,
  MIRAGE_KIND_ACCESS,
  MIRAGE_KIND_COLLECTIVE,
} MirageOpKind;

typedef enum {
#define MIRAGE_ATTRS(kind) MIRAGE_ATTRS_##kind,
#define MIRAGE_ATTRS_OWN(kind) MIRAGE_ATTRS_##kind,
#include "mirage/attrs.def"
  MIRAGE_NUM_ATTRS
} MirageAttrsKind;

typedef enum {
  MIRAGE_OP_NONE,
#define MIRAGE_OP(name, mnemonic, min, max, levels, kind, attrs) MIRAGE_OP_##name,
#include "mirage/ops.def"
  MIRAGE_NUM_OPS
} MirageOp;

#define MIRAGE_ANY UINT32_MAX

typedef struct MirageOpInfo {
  const char *name;     // "MATMUL"
  const char *mnemonic; // "matmul", without a dialect prefix
  uint32_t min_operands, max_operands;
  uint32_t levels; // bit set of MirageLevel
  MirageOpKind kind;
  MirageAttrsKind attrs;
} MirageOpInfo;

/// Which elements an element-wise operator takes and gives.
typedef enum {
  MIRAGE_TYPING_NUMBERS,    // numbers give numbers: all that is not listed here
  MIRAGE_TYPING_COMPARES,   // two numbers, or two indices, give a predicate
  MIRAGE_TYPING_PREDICATES, // predicates give a predicate
  MIRAGE_TYPING_MASKS,      // a predicate and numbers give numbers
} MirageTyping;
MirageTyping mirage_op_typing(MirageOp op);

/// The row of `op`. `op` must lie in (0, MIRAGE_NUM_OPS).
const MirageOpInfo *mirage_op_info(MirageOp op);
/// The operator with this mnemonic (not NUL-terminated) at this level, or MIRAGE_OP_NONE.
MirageOp mirage_op_find(MirageLevel level, const char *mnemonic, size_t length);

/// One step of a derived operator's canonical form. Operand numbers: 0 and 1 are the derived operator's own operands,
/// 2 + i is the result of step i. A CONSTANT step has no operands, only `value`; a unary step uses `a` only.
typedef struct MirageExpansionStep {
  MirageOp op; // exp, log, sqrt, erf, tanh, sin, cos, not, add, sub, mul, div, max, less, less_equal, equal or constant
  uint8_t a, b;
  double value;
} MirageExpansionStep;

typedef struct MirageExpansion {
  uint32_t num_steps;
  MirageExpansionStep steps[14]; // the last step is the result
} MirageExpansion;

/// The canonical form of a derived element-wise operator (rsqrt, square, neg, sigmoid, silu, gelu, gelu_tanh, relu,
/// min, greater, greater_equal, not_equal), or NULL for every other operator. The one definition of their meaning: expansion, expressions and fields
/// follow it.
const MirageExpansion *mirage_op_expansion(MirageOp op);
/// Whether mirage_ugraph_expand writes the operator as others: those, the mean and sugar.
bool mirage_op_expands(MirageOp op);
/// Whether it is sugar that computes element by element: abs, sign, log1p, softplus, hard_sigmoid, hard_swish, leaky_relu, pow,
/// clamp.
bool mirage_op_is_function(MirageOp op);

// -------------------------------------------------------------------------------------------------------------- types

enum { MIRAGE_MAX_RANK = 6, MIRAGE_MAX_LOOPS = 4 };

typedef enum {
#define MIRAGE_DTYPE(name, text, bits, family) MIRAGE_##name,
#include "mirage/dtypes.def"
} MirageDType;

enum {
#define MIRAGE_DTYPE(name, text, bits, family) +1
  MIRAGE_NUM_DTYPES = 0
#include "mirage/dtypes.def"
};

/// What may be done with elements of a type: arithmetic (FLOAT); nothing but moving and casting them (STORED); logic
/// (PREDICATE); comparison (INDEX).
typedef enum { MIRAGE_FAMILY_FLOAT, MIRAGE_FAMILY_STORED, MIRAGE_FAMILY_PREDICATE, MIRAGE_FAMILY_INDEX } MirageFamily;

/// Bytes of one element in a tile: at least 1, so that each has an address. In device memory it has mirage_dtype_bits.
uint32_t mirage_dtype_bytes(MirageDType dtype);
uint32_t mirage_dtype_bits(MirageDType dtype);
bool mirage_dtype_is_stored(MirageDType dtype);
bool mirage_dtype_is_f8(MirageDType dtype);
const char *mirage_dtype_name(MirageDType dtype); // "f16", "bf16", "f32", ...
MirageFamily mirage_dtype_family(MirageDType dtype);
/// Whether `dtype`, which may be any number, is a row of dtypes.def.
bool mirage_dtype_exists(int dtype);

typedef enum {
  MIRAGE_SPACE_DEVICE,   // tensor: device memory, row-major, contiguous
  MIRAGE_SPACE_TILE,     // tile whose place is not decided yet
  MIRAGE_SPACE_SHARED,   // tile in shared memory
  MIRAGE_SPACE_REGISTER, // tile spread over the block's registers
  MIRAGE_SPACE_FRAGMENT, // fragment inside a thread region
} MirageSpace;

/// How much of a tile's place a person fixed: nothing, that it is a buffer in shared memory, how it lies there, and where.
typedef enum { MIRAGE_ASK_NOTHING, MIRAGE_ASK_PLACE, MIRAGE_ASK_LAYOUT, MIRAGE_ASK_OFFSET } MirageAsk;

/// Where the elements of a tile lie. The default (all zero) means "not planned". Dropping it never changes a result.
///
/// Panels:  a tile whose last dimension is wider than `panel` lies as panels behind each other, all rows of the first,
///          then all rows of the second: element (.., r, c) of a tile of R rows at ((c / panel) * R + r) * panel + c %
///          panel. Strides then are those of one panel, dense.
/// Swizzle: the number of a 16-byte chunk is XORed with the row (second-last index) mod 2^swizzle. Where a row is
/// shorter
///          than 128 bytes, with the number of the 128-byte line that it lies in. With rows of 32, 64, 128 bytes and
///          swizzle 1, 2, 3 this is what tensor copies and the matrix instructions of a GPU do.
typedef struct MirageLayout {
  bool planned;
  MirageAsk asked;                  // of a planned kernel's tile: what a person had fixed before it was planned
  uint8_t swizzle;                  // shared: 16-byte chunks of rows change places, see below; 0 = none
  int32_t panel;                    // shared: elements of the last dimension that a row holds, see below; 0 = all
  int32_t offset;                   // shared: byte offset from the start of the block's shared memory; -1 = none
  int32_t stages;                   // shared: buffers used round-robin by the iterations of the loop, >= 1
  int64_t strides[MIRAGE_MAX_RANK]; // shared: in elements
} MirageLayout;

typedef struct MirageType {
  MirageDType dtype;
  MirageSpace space;
  uint32_t rank;
  int64_t shape[MIRAGE_MAX_RANK]; // every extent >= 1
  MirageLayout layout;            // tiles only
} MirageType;

MirageType mirage_type_tensor(MirageDType dtype, uint32_t rank, const int64_t *shape);
MirageType mirage_type_tile(MirageDType dtype, uint32_t rank, const int64_t *shape);
int64_t mirage_type_elements(const MirageType *type);
/// Elements times element size, without padding. A tensor's elements of less than a byte lie side by side, a tile's not.
int64_t mirage_type_bytes(const MirageType *type);
bool mirage_type_same_shape(const MirageType *a, const MirageType *b);
/// Same element type and shape; space and layout may differ.
bool mirage_type_same_meaning(const MirageType *a, const MirageType *b);
/// Writes "2x64xf16" into `buffer` (truncating) and returns it.
const char *mirage_type_format(const MirageType *type, char *buffer, size_t size);

// --------------------------------------------------------------------------------------------------------- attributes

/// What a masked element (outside the valid extents of a load) holds: the neutral element of what follows.
typedef enum { MIRAGE_FILL_ZERO, MIRAGE_FILL_ONE, MIRAGE_FILL_BOTTOM } MirageFill;

/// How a block's tile lies in a tensor: imap / omap and fmap of [Mirage 2].
///   grid[a]  tensor dimension that grid axis a (0 = x) splits, or -1: replicated (load) / written by all alike (store)
///   loop[l]  tensor dimension that the l-th enclosing loop (0 = outermost) splits, or -1
/// A dimension of extent n is split by the axes that name it, in the order x, y, z, loops outermost first:
///   chunk_0 = n, chunk_{i+1} = ceil(chunk_i / parts_i), start += index_i * chunk_{i+1};  tile extent = last chunk.
/// Element j of the tile is valid when it lies inside every enclosing chunk; a load gives invalid ones `fill`, a store
/// drops them.
/// With tiles[d] > 0 the tiles of dimension d have that many elements instead, one after the other: chunks are whole tiles,
/// and only the tensor's end cuts one short. 3000 rows over 24 blocks are tiles of 125, or with tiles = 128 of 128, the
/// last of which holds 56: extents that an instruction wants, at sizes that they do not divide. A dimension that nothing
/// splits may have a tile that is larger than the tensor.
/// With `cyclic` the order is: loops outermost first, then x, y, z. Of 8192 keys in tiles of 128 over 4 blocks and 16 iterations block b
/// then has tiles b, b + 4, b + 8, ..., not 16 b, 16 b + 1, ...: of the first n keys every block has n / 4. Some dimension has to be split by
/// both, the grid and a loop.
/// Of dimension d only the window [begin[d], end[d]) is accessed, as if it were the tensor; end[d] = 0: all of it. So a
/// slice of a tensor is loaded, and a part of a concatenation stored, where it lies.
/// A transposed tensor is accessed where it lies, too: dimension d of what is accessed - of the tile, the maps, and the
/// window - is the tensor's dimension order[d]. All zero: as it is. The last dimension stays the last, so that rows stay
/// rows.
typedef struct MirageAccessAttrs {
  int8_t grid[3];
  int8_t loop[MIRAGE_MAX_LOOPS];
  int8_t order[MIRAGE_MAX_RANK];
  MirageFill fill;
  int64_t begin[MIRAGE_MAX_RANK], end[MIRAGE_MAX_RANK];
  int64_t tiles[MIRAGE_MAX_RANK]; // 0: by division
  bool cyclic;
} MirageAccessAttrs;

/// The tensor's dimension that dimension `dim` of an access is.
uint32_t mirage_access_dim(const MirageAccessAttrs *access, uint32_t dim);
/// Extent of the window that an access sees along its dimension `dim`.
int64_t mirage_access_extent(const MirageAccessAttrs *access, const MirageType *tensor, uint32_t dim);
/// The axes and loops that split dimension `dim`, outermost first: 0 to 2 are grid x, y, z, and 3 + l is the l-th enclosing loop.
enum { MIRAGE_MAX_SPLITS = 3 + MIRAGE_MAX_LOOPS };
uint32_t mirage_access_splits(const MirageAccessAttrs *access, uint32_t dim, uint8_t out_splits[MIRAGE_MAX_SPLITS]);
/// Whether some dimension is split by the grid and by a loop, so that `cyclic` says something.
bool mirage_access_may_cycle(const MirageAccessAttrs *access);
/// The chunks into which `count` axes of `parts` parts each, outermost first, cut `extent` elements of dimension `dim`:
/// chunks[0] is all of them, chunks[count] a tile. Room for count + 1.
void mirage_access_chunks(const MirageAccessAttrs *access, uint32_t dim, int64_t extent, uint32_t count,
                          const int64_t *parts, int64_t *out_chunks);

/// How a loop-carried value `acc` takes the iteration's contribution `c`. SUM and RESCALE carry f32 and take
/// contributions of any element type; MAX carries f32 or the contribution's own type; CONCAT and ASSIGN keep the type.
typedef enum {
  MIRAGE_COMBINE_SUM,     // acc + c
  MIRAGE_COMBINE_MAX,     // max(acc, c)
  MIRAGE_COMBINE_RESCALE, // acc * f + c, with f a factor that this iteration yields (broadcasts against acc)
  MIRAGE_COMBINE_CONCAT,  // acc[.., i*e .. (i+1)*e, ..] = c along `dim`; iteration i; c's extent e is acc's / range
  MIRAGE_COMBINE_ASSIGN,  // c
} MirageCombine;

typedef struct MirageCarry {
  MirageCombine combine;
  int32_t dim; // CONCAT only
} MirageCarry;

typedef struct MirageLoopAttrs {
  int64_t range;              // iterations, >= 1
  uint32_t num_carries;       // = number of operands (initial values) and of results
  const MirageCarry *carries; // copied by the builder
} MirageLoopAttrs;

/// A box of a tensor in device memory that the hardware copies by coordinates (cp.async.bulk.tensor). The innermost
/// dimension comes first in every array. Elements of a box outside the tensor land as zeros. The generated code names
/// it by a kernel parameter, lib/runtime encodes it for the driver (cuTensorMapEncodeTiled), lib/emulator reads it as
/// it is.
enum { MIRAGE_MAP_RANK = 5, MIRAGE_TENSOR_MAP_BYTES = 128 }; // the driver's form: 128 bytes, aligned to 64
typedef struct MirageTensorMap {
  uint32_t pointer; // which of the kernel's pointers it begins at: operands, results, workspace
  MirageDType dtype;
  uint32_t rank;                    // 1 .. 5
  int64_t extents[MIRAGE_MAP_RANK]; // elements
  int64_t strides[MIRAGE_MAP_RANK]; // bytes; [0] is the element's size, the others multiples of 16
  int32_t box[MIRAGE_MAP_RANK];     // elements, 1 .. 256; box[0] times the element's size is a multiple of 16
  // Of the shared memory, exchanges 16-byte pieces within 2^swizzle of them: 0 none, 1 = 32 bytes, 2 = 64, 3 = 128;
  // box[0] times the element's size is at most that.
  int32_t swizzle;
} MirageTensorMap;

/// A kernel's workspace, if it has one, is zero before its first launch, and its own: what a launch leaves there the next one
/// counts on. The first bytes count blocks, and are zero again after each launch.
enum { MIRAGE_WORKSPACE_COUNTERS = 32768 };

/// What lowering found out: how to launch the kernel that a custom node became.
typedef struct MirageLaunch {
  const char *kernel;      // entry name in the PTX
  int32_t threads;         // per block
  int32_t shared_bytes;    // dynamic shared memory
  int64_t workspace_bytes; // device memory that the kernel may use; see MIRAGE_WORKSPACE_COUNTERS
  bool starts_early;       // it may start before the kernel before it has ended, and waits for that by itself
  bool in_pairs;           // of no clusters: it is faster in clusters of two blocks along x, and right without
  uint32_t num_maps;       // parameters after the pointers
  const MirageTensorMap *maps;
} MirageLaunch;

/// That a kernel is planned (lib/layout): its schedule and the places of its tiles were worked out for one target, and
/// are not to be read as a person's wishes. Without a plan they are just that: an ask, which a plan must honour.
///
/// Places and loops are the decisions that nothing else in the graph shows, a digit for each value and each loop of the
/// block graph; lib/layout/stored.c says what they mean. A plan is void when its kernel, schedule or tiles were changed
/// since (mirage_ugraph_plan_holds).
typedef struct MiragePlan {
  char target[32];             // name of the target
  uint64_t of;                 // hash of the kernel as it was planned
  const MirageSchedule *asked; // the schedule that a person had written, or NULL
  int64_t partition[4];        // of resident tiles: warps by rows, warps by columns, batch, rows; 0 = there are none
  bool in_threads;             // tiles stay in the threads that load them
  bool paired;                 // the clusters are the planner's: blocks in twos that share copies
  const char *loops, *places;  // "": not recorded, to be planned again
} MiragePlan;

typedef struct MirageCustomAttrs {
  int64_t grid[3];                // blocks per axis, >= 1
  int64_t cluster[3];             // blocks of a cluster per axis; divides grid; {1,1,1} = none
  const MirageSchedule *schedule; // or NULL; copied by the builder
  const MiragePlan *plan;         // or NULL: the schedule is an ask; copied by the builder
  const MirageLaunch *launch;     // or NULL; copied by the builder
} MirageCustomAttrs;

/// Blocks to launch along each axis: the grid, and along x the schedule's side blocks before it; or the schedule's
/// persistent blocks, their clusters one after the other along x.
void mirage_custom_launch_grid(const MirageCustomAttrs *attrs, int64_t out_grid[3]);

typedef union MirageAttrs {
  struct {
    bool transpose_a, transpose_b;
    bool wide; // the result keeps the type that sums are taken in, f32, at the kernel level too
  } matmul;
  struct {
    int32_t dim;
    int64_t extent; // what is left of the dimension; divides it
    bool wide;      // as for matmul
  } reduce;
  struct {
    MirageType type; // the result; cast uses its dtype only
  } shape;
  struct {
    int32_t dim;
    int64_t times; // out[.., i, ..] = in[.., i mod extent, ..]
  } repeat;
  struct {
    int32_t perm[MIRAGE_MAX_RANK]; // result dimension i is operand dimension perm[i]
  } perm;
  struct {
    int32_t dim;
    int64_t begin, end; // end exclusive
  } slice;
  struct {
    int32_t dim;
  } dim;
  struct {
    MirageType type;
    double value; // splat; exactly representable in the element type or rounded to it
  } constant;
  struct {
    MirageType type;
    int32_t dim;
    // Element i is start + i[dim] + the sum of grid[a] times the block's index along axis a, and of loop[l] times the
    // iteration of the l-th enclosing loop (0 = outermost). At the kernel level there are neither.
    int64_t start, grid[3], loop[MIRAGE_MAX_LOOPS];
  } iota;
  struct {
    double eps;
  } eps;
  struct {
    double slope;
  } slope;
  struct {
    double exponent;
  } exponent;
  struct {
    double low, high;
  } bounds;
  struct {
    double scale; // factor of q @ k^T
    double cap;   // scores become cap * tanh(score / cap); 0 = none
    bool causal;  // query i sees the keys up to i + offset; with a window, the last `window` of these
    int64_t offset, window;
  } sdpa;
  struct {
    bool axis[3]; // grid axes reduced over
  } axes;
  MirageAccessAttrs access;
  MirageLoopAttrs loop;
  MirageCustomAttrs custom;
} MirageAttrs;

/// A field of an operator's attributes (attrs.def), for whoever passes them on without asking what they mean.
typedef enum {
  MIRAGE_ATTR_FLAG,   // bool
  MIRAGE_ATTR_DIM,    // int32_t
  MIRAGE_ATTR_INT,    // int64_t
  MIRAGE_ATTR_NUMBER, // double
  MIRAGE_ATTR_STEPS,  // int64_t[]
} MirageAttrForm;
typedef enum { MIRAGE_ATTR_NEEDED, MIRAGE_ATTR_OPTIONAL, MIRAGE_ATTR_ADDED } MirageAttrUse;

typedef struct MirageAttrField {
  const char *name;
  MirageAttrsKind kind;
  MirageAttrForm form;
  MirageAttrUse use;
  uint32_t offset, size; // in MirageAttrs
  double usual;
  const char *meaning;
} MirageAttrField;

/// The fields of a kind, in order; none of a kind with a form of its own.
const MirageAttrField *mirage_attrs_fields(MirageAttrsKind kind, uint32_t *out_count);
/// Whether a kind has a form of its own: SHAPE, PERM, CUSTOM, LOOP, ACCESS, AXES.
bool mirage_attrs_are_own(MirageAttrsKind kind);
/// Numbers that a field holds: 1, but for steps.
uint32_t mirage_attr_count(const MirageAttrField *field);
/// Of all forms but NUMBER. `set` says false where the value does not fit the field.
int64_t mirage_attr_get(const MirageAttrField *field, const MirageAttrs *attrs, uint32_t index);
bool mirage_attr_set(const MirageAttrField *field, MirageAttrs *attrs, uint32_t index, int64_t value);
/// Of a NUMBER.
double mirage_attr_number(const MirageAttrField *field, const MirageAttrs *attrs);
void mirage_attr_set_number(const MirageAttrField *field, MirageAttrs *attrs, double value);
bool mirage_attr_is_usual(const MirageAttrField *field, const MirageAttrs *attrs);

// ------------------------------------------------------------------------------------------------------- ids and views

typedef struct MirageNode {
  uint32_t index;
} MirageNode;
typedef struct MirageValue {
  uint32_t index;
} MirageValue;
typedef struct MirageRegion {
  uint32_t index;
} MirageRegion;

typedef struct MirageUGraph MirageUGraph;

/// Read-only view of a node. Pointers stay valid until the next building call.
typedef struct MirageNodeView {
  MirageOp op;
  MirageLevel level;
  uint32_t num_operands, num_results;
  const MirageValue *operands;
  MirageValue first_result; // results are consecutive
  MirageRegion region;      // the node's own region, or 0
  MirageRegion parent;      // the region it stands in
  const MirageAttrs *attrs; // NULL when the operator takes none
  const void *loc;          // the builder's cookie
} MirageNodeView;

typedef struct MirageRegionView {
  MirageLevel level;
  MirageNode owner; // 0 for the kernel region
  uint32_t num_arguments;
  MirageValue first_argument; // arguments are consecutive
  uint32_t num_nodes;
  const MirageNode *nodes; // in order; the terminator last
} MirageRegionView;

/// Grid, cluster and loops around a node of a block graph.
typedef struct MirageScope {
  int64_t grid[3];
  int64_t cluster[3];
  uint32_t num_loops;
  int64_t ranges[MIRAGE_MAX_LOOPS]; // outermost first
} MirageScope;

// ---------------------------------------------------------------------------------------------------------- graph meta

/// How sure we are that the graph equals its source. [Mirage 5]; lib/verify/README.md
typedef struct MirageProof {
  bool present;
  uint32_t trials;
  uint64_t q;      // prime of exponents, 0 when the pair has no exponential
  uint32_t p_bits; // size of the fresh primes p
  uint64_t seed;
  double log2_bound;     // log2 of the probability that a wrong graph passes
  bool shrunken;         // proven on a smaller instance, to which the theorem of transfer applies,
  uint32_t axes, points; // in which so many axes are smaller, and that needed so many points of one at most
  bool free_exp;         // by the theorem of free exponentials
  uint32_t pieces;       // proven one after the other, the figures below of the worst; 0 = as a whole
  uint64_t pair; // hash of both graphs (mirage_ugraph_pair_hash): the proof of an edited graph is noticed; 0 = none
  // What the bound of a trial is made of, the worst output: degree, exponential monomials (their number rounded up to a
  // power of two), calls of functions of which nothing is known. The theorem with exponentials applies when q is not 0.
  uint64_t degree, calls;
  uint32_t log2_terms;
} MirageProof;

/// Rounding errors of a candidate beside those of its program, against float64 (lib/verify/guard.c). Relative errors
/// are Frobenius norms over that of the reference; the scale of the inputs shown is the worst for the candidate.
typedef struct MirageGuard {
  bool present;
  double program_relative, candidate_relative;
  double program_max, candidate_max; // largest absolute errors
  bool shrunken;                     // measured on a smaller instance
} MirageGuard;

/// Predicted cost on a target, and the measured time where somebody measured it.
typedef struct MirageCost {
  bool present;
  double time_us;
  double bytes; // device memory traffic
  double flops;
  uint32_t kernels;
  char target[32];                     // name of what it is predicted for; "" where nobody says
  double measured_us, measured_spread; // with a cold L2 cache: median, and (p90 - p10) of it; 0 = not measured
} MirageCost;

typedef struct MirageGraphMeta {
  const char *name;   // symbol
  const char *source; // symbol of the program it is a candidate for, or NULL for a program
  MirageProof proof;
  MirageGuard guard;
  MirageCost cost;
  bool selected;
} MirageGraphMeta;

// ------------------------------------------------------------------------------------------------------------ building

/// Creates an empty graph. `allocator` NULL = malloc; `diag` receives the builder's errors and is borrowed for the
/// graph's life. NULL when memory is out.
MirageUGraph *mirage_ugraph_create(const MirageAllocator *allocator, const char *name, const MirageDiag *diag);
void mirage_ugraph_destroy(MirageUGraph *graph);

/// Cookie for nodes built from here on (MirageNodeView.loc).
void mirage_ugraph_set_loc(MirageUGraph *graph, const void *loc);

/// Adds a kernel-level input. Inputs come before any node.
MirageValue mirage_ugraph_input(MirageUGraph *graph, MirageType tensor);

/// Adds a node without a region to the open region; result types are inferred (load needs the open scope).
/// Returns its result; {0} for store, and after a failure. So a later call may get {0} as an operand: it does nothing,
/// the first error stands.
MirageValue mirage_ugraph_apply(MirageUGraph *graph, MirageOp op, uint32_t num_operands, const MirageValue *operands,
                                const MirageAttrs *attrs);
MirageValue mirage_ugraph_constant(MirageUGraph *graph, MirageType type, double value); // in a block: an equal one
MirageValue mirage_ugraph_cast(MirageUGraph *graph, MirageValue operand, MirageDType dtype);
MirageValue mirage_ugraph_load(MirageUGraph *graph, MirageValue tensor, const MirageAccessAttrs *access);
void mirage_ugraph_store(MirageUGraph *graph, MirageValue tile, MirageValue tensor, const MirageAccessAttrs *access);

MirageNode mirage_ugraph_open_custom(MirageUGraph *graph, uint32_t num_operands, const MirageValue *operands,
                                     uint32_t num_results, const MirageType *results, const MirageCustomAttrs *attrs);
MirageNode mirage_ugraph_open_loop(MirageUGraph *graph, uint32_t num_inits, const MirageValue *inits,
                                   const MirageLoopAttrs *attrs);
MirageNode mirage_ugraph_open_thread(MirageUGraph *graph, uint32_t num_operands, const MirageValue *operands);
/// Ends the innermost open region. loop: contributions then factors; thread: results; custom: nothing.
void mirage_ugraph_close(MirageUGraph *graph, uint32_t num_values, const MirageValue *values);

/// Ends the kernel region.
void mirage_ugraph_return(MirageUGraph *graph, uint32_t num_values, const MirageValue *values);
/// Checks what only the whole graph shows (every region closed, a return, every custom output stored). Returns the
/// first failure of any building call.
MirageStatus mirage_ugraph_finish(MirageUGraph *graph);
MirageStatus mirage_ugraph_status(const MirageUGraph *graph);

/// The values of a custom node's block graph are numbered in a row, in the same order in every copy: the first, and how
/// many there are.
MirageValue mirage_ugraph_kernel_values(const MirageUGraph *graph, MirageNode custom, uint32_t *out_count);

/// Overrides the space and layout of a value (layout pass, bridge). A fragment keeps its space: its layout is that of the
/// buffer that holds it besides.
void mirage_ugraph_set_placement(MirageUGraph *graph, MirageValue value, MirageSpace space, const MirageLayout *layout);
/// Replaces the schedule / launch of a custom node (copied; NULL removes).
void mirage_ugraph_set_schedule(MirageUGraph *graph, MirageNode custom, const MirageSchedule *schedule);
void mirage_ugraph_set_launch(MirageUGraph *graph, MirageNode custom, const MirageLaunch *launch);
/// Says that a custom node is planned, as it stands: `plan->of` is computed here. NULL: it is not.
void mirage_ugraph_set_plan(MirageUGraph *graph, MirageNode custom, const MiragePlan *plan);
/// Replaces the cluster of a custom node that holds no collective over one: then it only says which blocks are neighbours.
void mirage_ugraph_set_cluster(MirageUGraph *graph, MirageNode custom, const int64_t cluster[3]);
MirageGraphMeta *mirage_ugraph_meta(MirageUGraph *graph);
const MirageGraphMeta *mirage_ugraph_get_meta(const MirageUGraph *graph);
/// Copies `text` into the graph's arena.
const char *mirage_ugraph_intern_string(MirageUGraph *graph, const char *text);

// ------------------------------------------------------------------------------------------------------------- reading

MirageRegion mirage_ugraph_body(const MirageUGraph *graph); // the kernel region
MirageRegionView mirage_ugraph_region(const MirageUGraph *graph, MirageRegion region);
MirageNodeView mirage_ugraph_node(const MirageUGraph *graph, MirageNode node);
/// Never NULL: an id that names no value has an empty type (rank 0), so that a chain of building calls may ask for
/// types after a failure.
const MirageType *mirage_ugraph_type(const MirageUGraph *graph, MirageValue value);
/// The node that defines a value, or {0} for a region argument.
MirageNode mirage_ugraph_def(const MirageUGraph *graph, MirageValue value);
/// Whether a value is a predicate or an index, of which masks are made. Sums of products of i8 are i32 as well, and neither.
bool mirage_ugraph_is_logical(const MirageUGraph *graph, MirageValue value);
MirageValue mirage_ugraph_result(const MirageUGraph *graph, MirageNode node, uint32_t index);
/// The value in whose memory a kernel-level value lies: itself, or what was reshaped to it. A tensor is contiguous, so
/// that a reshape is no kernel.
MirageValue mirage_ugraph_storage(const MirageUGraph *graph, MirageValue value);
/// Argument `index` of a node's region.
MirageValue mirage_ugraph_argument(const MirageUGraph *graph, MirageNode node, uint32_t index);
uint32_t mirage_ugraph_num_nodes(const MirageUGraph *graph);  // ids run 1 .. num_nodes
uint32_t mirage_ugraph_num_values(const MirageUGraph *graph); // ids run 1 .. num_values
uint32_t mirage_ugraph_num_inputs(const MirageUGraph *graph);
MirageValue mirage_ugraph_get_input(const MirageUGraph *graph, uint32_t index);
uint32_t mirage_ugraph_num_outputs(const MirageUGraph *graph); // 0 before return
MirageValue mirage_ugraph_get_output(const MirageUGraph *graph, uint32_t index);
/// Scope around a node inside a custom node.
MirageScope mirage_ugraph_scope(const MirageUGraph *graph, MirageNode node);

// ---------------------------------------------------------------------------------------------------------- shape
// rules

/// The one place where types are checked and inferred, used by the builder, the dialects' verifiers and type inference.
/// Operators with a region are checked by mirage_op_check_loop and mirage_op_check_custom instead.
///
/// Shapes:  `operands[num_operands]`; `out_result` is the single result's type (untouched for store).
/// Types:   at the kernel level results have the operands' element type, or f32 where the operands of an element-wise
///          operator differ, and where a matmul or reduction is `wide`. At block and thread level arithmetic results are
///          f32 whatever the operands. matmul and mma operands, and those of sugar, must have one element type at every
///          level, but that the two kinds of f8 may meet; of i8 the product is i32, of f8 f32. Data movement keeps the type;
///          cast converts.
/// scope:   needed by load, store and collectives; NULL skips the checks that depend on it and, for load, BAD_ARGUMENT.
/// Errors:  BAD_SHAPE, BAD_TYPE, BAD_ARGUMENT, with a sentence that names the operator and both values.
MirageStatus mirage_op_infer(MirageOp op, MirageLevel level, uint32_t num_operands, const MirageType *operands,
                             const MirageAttrs *attrs, const MirageScope *scope, const MirageDiag *diag,
                             const void *loc, MirageType *out_result);

/// Checks what a loop's yield must satisfy against the carries.
MirageStatus mirage_op_check_loop(const MirageLoopAttrs *attrs, uint32_t num_inits, const MirageType *inits,
                                  uint32_t num_yielded, const MirageType *yielded, const MirageDiag *diag,
                                  const void *loc);
/// Checks grid, cluster, schedule and counts of a custom node.
MirageStatus mirage_op_check_custom(const MirageCustomAttrs *attrs, const MirageDiag *diag, const void *loc);
/// Tile extents of an access (see MirageAccessAttrs) into `tensor` within `scope`.
MirageStatus mirage_access_tile(const MirageType *tensor, const MirageAccessAttrs *access, const MirageScope *scope,
                                const MirageDiag *diag, const void *loc, MirageType *out_tile);

// ----------------------------------------------------------------------------------------------------- transformations

/// Whether attention has more than a scale: a mask, a causal one, a cap.
bool mirage_attention_is_masked(uint32_t num_operands, const MirageAttrs *attrs);
/// Copies a graph and expands masked attention alone, in f32 with one rounding at its end.
MirageStatus mirage_ugraph_expand_masks(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph);
/// Applies a function (mirage_op_is_function) written as other operators: to a tensor, or to a tile of a block graph.
MirageValue mirage_ugraph_apply_function(MirageUGraph *graph, MirageOp op, const MirageAttrs *attrs, MirageValue x);
/// Whether mirage_ugraph_expand would make something else of a graph.
bool mirage_ugraph_expands(const MirageUGraph *graph);
/// Rebuilds a kernel graph with sugar expanded and derived operators in canonical form (softmax, norms, attention,
/// rsqrt = 1/sqrt, silu = x * sigmoid(x), sigmoid = 1/(1 + exp(-x)), square = x*x, mean = sum / extent).
/// Predicates that are reshaped are made in the shape in which they are read.
/// lib/ugraph/expand.c documents each; custom nodes are copied unchanged.
MirageStatus mirage_ugraph_expand(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph);
/// The same, but what expands computes in f32 and rounds once at its end, as evaluation in real types (lib/eval) and a
/// framework's fused operator do.
MirageStatus mirage_ugraph_expand_wide(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph);
/// A graph of one custom kernel alone: its operands are the inputs, its results the outputs. Schedule and places are those
/// of the kernel. `map` has an entry for each value of `graph` (mirage_ugraph_num_values + 1) and says of the kernel's
/// operands and results, and of all values in it, what they are in the new graph; other entries stay as they are, so that
/// one map serves all kernels of a graph.
MirageStatus mirage_ugraph_extract_custom(const MirageUGraph *graph, MirageNode custom, MirageValue *map,
                                          const MirageDiag *diag, MirageUGraph **out_graph, MirageNode *out_custom);
/// Copies kernel-level nodes of `from`, with their regions, to the end of `to`, which is being built. `map` has an entry
/// for each value of `from` (mirage_ugraph_num_values + 1): it gives the operands and receives the results.
MirageStatus mirage_ugraph_copy_nodes(MirageUGraph *to, const MirageUGraph *from, uint32_t num_nodes,
                                      const MirageNode *nodes, MirageValue *map);
/// Copies a graph whose tiles have no place yet, with each chain of element-wise operators of a block graph as a thread
/// graph. It computes, and is planned and compiled, as before. lib/ugraph/threads.c
MirageStatus mirage_ugraph_fuse_threads(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph);
/// Copies a graph.
MirageStatus mirage_ugraph_clone(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph);

// -------------------------------------------------------------------------------------------------------------- hashes

/// 128-bit hash of what a graph computes and how, the same for graphs that differ only in names, node order, operand
/// order of commutative operators, unused nodes, layouts and launches. Not proof against somebody who looks for a
/// collision.
///
/// Errors:  NO_MEMORY.
typedef struct MirageGraphHash {
  uint64_t low, high;
} MirageGraphHash;
MirageStatus mirage_ugraph_hash(const MirageUGraph *graph, const MirageDiag *diag, MirageGraphHash *out_hash);
/// The same of a kernel as it stands, with schedule, places and plan, and with the order of its nodes and operands: what is
/// worked out of a kernel depends on nothing else but the target, and on which of its operands are the same tensor.
MirageGraphHash mirage_ugraph_kernel_hash(const MirageUGraph *graph, MirageNode custom);
/// Whether a custom node has a plan and is still what was planned: its block graph, schedule, tiles and the plan itself.
bool mirage_ugraph_plan_holds(const MirageUGraph *graph, MirageNode custom);
/// What ties a proof to its two graphs: a hash of both without schedules, which never change a result. Never 0.
///
/// Errors:  NO_MEMORY.
MirageStatus mirage_ugraph_pair_hash(const MirageUGraph *source, const MirageUGraph *candidate, const MirageDiag *diag,
                                     uint64_t *out_hash);

#ifdef __cplusplus
}
#endif
#endif
