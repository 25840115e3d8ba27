// emit.h - the state of lowering one block graph, and what the files of this folder offer each other.
//
// Reading order: codegen.c (module and kernels) -> codegen_block.c (steps and loops) -> codegen_index.c (numbers,
// control flow, work division) -> codegen_shared.c (buffers, hazards) -> codegen_load.c / codegen_store.c ->
// codegen_elementwise.c (the element function) -> codegen_math.c -> codegen_matmul.c / codegen_mma.c / codegen_fma.c
// -> codegen_direct.c (columns, rows) -> codegen_reduce.c -> codegen_resident.c -> codegen_collective.c / codegen_grid.c /
// codegen_cluster.c.
//
// The element function is the heart: `mirage__element` gives code for `width` neighbouring elements of any value at a
// given index, as f32, of i32 as i32. Inline values recurse into their operands; buffers and direct loads read memory.
#ifndef MIRAGE_CODEGEN_EMIT_H
#define MIRAGE_CODEGEN_EMIT_H

#include "layout/block.h"
#include "primitives.h"
#include "starts.h"

enum { MAX_WIDTH = 8, MAX_HAZARDS = 96, MAX_MEMO = 4096, MAX_CLUSTER = 16 };

typedef struct Hazard {
  int64_t begin, end; // bytes of shared memory
  bool write;
} Hazard;

typedef struct Memo {
  uint32_t value, width;
  bool leaf; // of a meeting: what another block published
  LLVMValueRef member;
  LLVMValueRef index[MIRAGE_MAX_RANK];
  LLVMValueRef out[MAX_WIDTH];
} Memo;

enum { MOST_AWAITED = 512 };
/// Words that were asked for, and are there if they are not zero.
typedef struct Awaited {
  uint32_t count;
  LLVMValueRef words[MOST_AWAITED];
} Awaited;

typedef struct LoopState {
  LLVMValueRef iteration; // i32, of the iteration being emitted, counted from the first that is run
  LLVMValueRef first;     // i32, where tiles are left out: the first iteration that this block runs; NULL = 0
  LLVMValueRef count;     // i32: how many it runs, at least one; NULL = all
  LLVMValueRef before;    // turns of an earlier run of the loop, where it runs again (codegen_maxima.c); NULL = 0
  LLVMValueRef copy;      // which buffer of its pipelined loads holds this iteration's tiles; NULL = 0
  int32_t stages;         // 0 = no pipelined loads
  bool blocking;          // the workers load something themselves, or give tiles back by a barrier
  int32_t lag;            // groups of matrix instructions that run on into the next iteration
} LoopState;

/// What an evaluation loaded from device memory, in order, so that the same evaluation can be repeated later without
/// loading: recorded in one iteration of a loop, played in the next.
enum { MAX_TAPE = 64 };
typedef struct Tape {
  LLVMValueRef slots[MAX_TAPE]; // variables
  uint32_t count, next;
  bool playing;
} Tape;

/// Reads of device memory for four column units that are written together (codegen_quads.c).
typedef struct QuadReads QuadReads;

/// What a register-carried value keeps: one f32 or i32 variable per thread and accumulator.
typedef struct Accumulators {
  LLVMValueRef *cells; // allocas, promoted to registers by LLVM
  int32_t count;
} Accumulators;

/// The cell whose code is being generated: of row unit `unit` and column unit `column` of this thread's part of a
/// resident tile, accumulator `part` (0 .. 3, as in mma.m16n8k16).
typedef struct CellPlace {
  int32_t unit, column, part;
} CellPlace;

/// What generation knows of a BlockMeeting.
typedef struct Meeting {
  const BlockMeeting *plan;
  int64_t members, groups;      // blocks that meet; how many such groups the grid has
  LLVMValueRef member, group;   // of this block
  LLVMValueRef rank0;           // cluster: rank of the group's first member
  int64_t rank_of[MAX_CLUSTER]; // cluster: rank of each member less rank0
  bool words;                   // grid: which are their own signals (codegen_words.c)
  int64_t copies;               // grid: of each counter and slot; 2 inside loops, and of words
  int64_t counters, *slots;     // grid: bytes of the workspace where its counters begin, and the slots of each leaf
} Meeting;

/// A kernel among those of its program (codegen_early.c).
typedef struct EmitStart {
  KernelStart kernel;
  const bool *pending; // of each operand: whether another kernel may still write it
} EmitStart;

/// What a turn does with a running maximum.
typedef enum MaximaTurn {
  MAXIMA_TAKEN,  // takes that of its tile
  MAXIMA_RAISED, // and adds a margin, since later turns
  MAXIMA_KEPT,   // leave it as it is
  MAXIMA_SOUGHT, // takes it, and computes nothing else
} MaximaTurn;

typedef struct Emit {
  MirageGpu gpu;
  Block block;
  const MirageTarget *target;
  const MirageDiag *diag;
  EmitStart start;
  MirageStatus status;   // the first failure
  int32_t threads;       // that work together: all of the block, or its workers
  int32_t block_threads; // all
  int32_t barrier;       // number of the barrier among them: 0 = of the block
  int64_t shared_bytes;
  int64_t workspace_bytes, num_counters; // for meetings of the grid; 0 without any
  int64_t epochs;                        // bytes of the workspace before the blocks' epochs; 0 without words
  LLVMValueRef epoch;                    // launches before this one
  Awaited *awaited;                      // what the item at hand has read; NULL where nobody waits
  int32_t blocks_per_sm;                 // that must be resident at once; 0 = one is enough
  LLVMBasicBlockRef entry;               // variables go here
  LLVMValueRef thread, lane, warp, block_id[3], shared, workspace;
  LLVMValueRef *tensors;  // by value id: kernel parameters
  LoopState *loops;       // by loop index
  Meeting *meetings;      // by meeting index
  const Meeting *reading; // whose leaves are read as those of `member`; NULL = none: values are the block's own
  LLVMValueRef member;
  Hazard hazards[MAX_HAZARDS];
  uint32_t num_hazards;
  uint32_t operation;                       // hazards from here on belong to the operation being emitted
  uint32_t changes;                         // writes to shared memory and barriers announced so far
  bool copies_pending;                      // cp.async issued outside a loop and not waited for
  const Channel *landing[MIRAGE_MAX_LOADS]; // copies outside a loop that are not waited for
  uint32_t num_landing;
  Memo memo[MAX_MEMO];
  uint32_t num_memo;
  LLVMValueRef launched[3];         // where the block is in the launch, if that is not the grid (codegen_persistent.c)
  LLVMValueRef turn;                // tiles that it has begun before this one; NULL where it has one
  LLVMValueRef tile;                // its cluster's number among the grid's
  LLVMValueRef group;               // of workers, which has tiles to itself (Team.groups); NULL: all share one
  LLVMValueRef side_id;             // number of the block in the launch: below side_blocks for side blocks
  int32_t side_blocks;              // 0 = none
  int64_t side_counter, side_slots; // where in the workspace
  bool keep_elements;               // codegen_items.c: what was computed stays known to the end of the block
  bool in_order;                    // reads of device memory are issued where they stand: KEEP_ORDER
  Tape *tape;                       // reads of device memory go to it or come from it; NULL = none
  QuadReads *quad;                  // what is written together reads, or has read, 16 bytes at a time; NULL elsewhere
  Accumulators *registers;          // by value id (mirage__block_buffer_of): the cells of resident values
  LLVMValueRef bounded;             // an index of which it is known that it lies
  int64_t bound;                    // below this
  const CellPlace *cell;            // elements asked for are those of this cell; NULL outside
  MirageValue staged;               // a resident value of which the elements asked for
  LLVMValueRef staged_at;           // lie here in shared memory; {0} outside (codegen_staged.c)
  const BlockLoop *certain;         // in a section of this loop where its `certain` comparisons hold; NULL elsewhere
  const BlockNarrow *narrow;        // in a section of one turn of which a mask rules out columns; NULL elsewhere
  const BlockMaxima *maxima;        // of the loop that keeps its first one, while it does; NULL elsewhere
  MaximaTurn maxima_turn;           // what the turn at hand does with them
} Emit;

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void mirage__emit_fail(Emit *e, const void *loc, MirageStatus status, const char *format, ...);

static inline const MirageType *emit_type(const Emit *e, MirageValue value) { return &e->block.types[value.index]; }
static inline bool emit_is_shared(const Emit *e, MirageValue value) { return e->block.values[value.index].shared; }

// codegen_index.c -------------------------------------------------------------------------------- integers and control
LLVMValueRef mirage__add(Emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef mirage__mul(Emit *e, LLVMValueRef a, int64_t factor);
LLVMValueRef mirage__div(Emit *e, LLVMValueRef a, int64_t divisor);
LLVMValueRef mirage__mod(Emit *e, LLVMValueRef a, int64_t divisor);
LLVMValueRef mirage__less(Emit *e, LLVMValueRef a, LLVMValueRef b); // signed
LLVMValueRef mirage__less_than(Emit *e, LLVMValueRef a, int64_t b);
LLVMValueRef mirage__equals(Emit *e, LLVMValueRef a, int64_t b);
LLVMValueRef mirage__and(Emit *e, LLVMValueRef a, LLVMValueRef b); // NULL = true
LLVMValueRef mirage__select(Emit *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no);
/// index[0 .. rank) of row-major position `linear` in `shape`; extents of 1 give the constant 0.
void mirage__delinearize(Emit *e, LLVMValueRef linear, uint32_t rank, const int64_t *shape, LLVMValueRef *index);
/// The first element of item `item`, when the last dimension of `tile` is cut into items of `width` elements.
void mirage__item_index(Emit *e, const MirageType *tile, uint32_t width, LLVMValueRef item, LLVMValueRef *index);
/// A value that all lanes of a warp have in common, in a form that shows it.
LLVMValueRef mirage__uniform(Emit *e, LLVMValueRef value);
/// `by` elements on along the last dimension.
void mirage__along_row(Emit *e, uint32_t rank, const LLVMValueRef *index, int64_t by, LLVMValueRef *out);
LLVMValueRef mirage__linearize(Emit *e, uint32_t rank, const int64_t *shape, const LLVMValueRef *index);
/// A variable in the function's entry block.
LLVMValueRef mirage__variable(Emit *e, LLVMTypeRef type);
LLVMValueRef mirage__get(Emit *e, LLVMValueRef variable);
void mirage__set(Emit *e, LLVMValueRef variable, LLVMValueRef value);
Accumulators mirage__accumulators(Emit *e, MirageDType dtype, int32_t count);
/// Zeroed memory for the time of lowering; NULL after a failure that is noted.
void *mirage__emit_array(Emit *e, size_t count, size_t size);
/// `base`, so many bytes on.
LLVMValueRef mirage__at(Emit *e, LLVMValueRef base, LLVMValueRef bytes);
/// `at`, below `extent`: 0 where it would reach beyond (`reach` values are possible), which *valid then learns.
LLVMValueRef mirage__clamp(Emit *e, LLVMValueRef at, int64_t extent, int64_t reach, LLVMValueRef *valid);
/// The iteration being emitted of a loop and those around it, as one number; for loop -1 the tiles done before.
LLVMValueRef mirage__iteration(Emit *e, int32_t loop);

/// if (condition) { ... }: NULL = always. The returned block is handed to mirage__end_if.
LLVMBasicBlockRef mirage__begin_if(Emit *e, LLVMValueRef condition);
void mirage__end_if(Emit *e, LLVMBasicBlockRef join);

/// do { ... } while (again), without a barrier: for waiting. The returned block is handed to mirage__end_spin.
LLVMBasicBlockRef mirage__begin_spin(Emit *e);
void mirage__end_spin(Emit *e, LLVMBasicBlockRef spin, LLVMValueRef again);

/// for (i = 0; i < count; i++) with count >= 1.
typedef struct Repeat {
  LLVMBasicBlockRef header;
  LLVMValueRef index; // i32 phi
  LLVMValueRef count;
} Repeat;
Repeat mirage__begin_repeat(Emit *e, int64_t count);
Repeat mirage__begin_repeat_until(Emit *e, LLVMValueRef count);                  // at least 1
Repeat mirage__begin_repeat_from(Emit *e, LLVMValueRef begin, LLVMValueRef end); // from begin, which is below end
void mirage__end_repeat(Emit *e, const Repeat *repeat);

// codegen_persistent.c ---------------------------------------------------------------------------------- tiles in turn
typedef struct Tiles {
  LLVMBasicBlockRef header, after; // NULL: the block has one tile
  LLVMValueRef turn, number;
  LLVMValueRef thread, lane; // as they are known outside
} Tiles;
/// What stands between them is done for each tile of the block.
Tiles mirage__begin_tiles(Emit *e);
void mirage__end_tiles(Emit *e, const Tiles *tiles);
/// Code between them is of the tile that the block takes after this one, where there is one.
typedef struct NextTile {
  LLVMValueRef block_id[3];
  LLVMBasicBlockRef join;
} NextTile;
NextTile mirage__begin_next_tile(Emit *e);
/// Puts the block where its first tile is.
void mirage__place_first_tile(Emit *e);
void mirage__end_next_tile(Emit *e, const NextTile *next);
/// Before the first tile of a loop is waited for, and when the last one has come: groups of workers go through the stages of
/// their tiles one after the other.
void mirage__await_stages(Emit *e, int32_t loop);
void mirage__pass_stages(Emit *e, int32_t loop);
/// codegen.c: changes the block's place in the grid to that of the tile that it takes, by the schedule's order.
void mirage__order_tiles(Emit *e);

/// The number of a block of a grid, in the order in which blocks begin.
LLVMValueRef mirage__block_number(Emit *e, const LLVMValueRef *id, const int64_t *grid);

/// Runs `body` for every i in [0, count), divided over the block's threads: thread t takes t, t + threads, ...
typedef void (*Body)(Emit *e, LLVMValueRef item, void *user);
void mirage__for_items(Emit *e, int64_t count, Body body, void *user);

// codegen_shared.c --------------------------------------------------------------------------------------- shared memory
/// Address of an element of a buffer; `copy` NULL = copy 0.
LLVMValueRef mirage__tile_address(Emit *e, const MirageType *type, LLVMValueRef copy, const LLVMValueRef *index);
/// Widest power of two of neighbouring elements that may be moved at once: aligned, contiguous, at most 16 bytes.
uint32_t mirage__tile_width(const MirageType *type);
void mirage__tile_load(Emit *e, const MirageType *type, LLVMValueRef copy, const LLVMValueRef *index, uint32_t width,
                       LLVMValueRef *out);
void mirage__tile_store(Emit *e, const MirageType *type, LLVMValueRef copy, const LLVMValueRef *index, uint32_t width,
                        const LLVMValueRef *values);
/// Copy of a buffer that the iteration being emitted reads.
LLVMValueRef mirage__current_copy(Emit *e, MirageValue value);

/// Orders accesses of different threads: a barrier is emitted when what follows could meet an access before it. An
/// operation begins, announces all it will read and write, and then accesses.
void mirage__begin_operation(Emit *e);
void mirage__will_read(Emit *e, MirageValue value);        // everything an evaluation of `value` reads
void mirage__will_read_buffer(Emit *e, MirageValue value); // the buffer itself
void mirage__will_write(Emit *e, MirageValue value);
/// The last write announced was the copy engine's: whoever reads waits for its mbarrier, and needs no barrier.
void mirage__copied_by_engine(Emit *e);
/// Of a tile that is given back by an mbarrier: nobody writes there again before a barrier.
void mirage__note_read(Emit *e, MirageValue value);
void mirage__barrier(Emit *e);
void mirage__forget_hazards(Emit *e);

// codegen_access.c --------------------------------------------------------------------------------- tiles of tensors
/// Where this block's tile lies in a tensor, for the grid position and loop iterations in force.
typedef struct Access {
  const MirageType *tensor, *tile;
  LLVMValueRef base;
  int64_t pitch[MIRAGE_MAX_RANK];      // from one element to the next along a dimension of the tile, in bytes; of i4 in
                                       // half bytes
  LLVMValueRef start[MIRAGE_MAX_RANK]; // of the tile, in elements
  LLVMValueRef limit[MIRAGE_MAX_RANK]; // valid elements of the tile from its start; NULL = all
  int64_t least[MIRAGE_MAX_RANK];      // of these, in whichever block; 0 = not known
  uint32_t width;                      // neighbouring elements that are aligned and all valid or all not; <= 16 bytes
  MirageFill fill;
  bool masked;
  bool stream;  // read once: do not keep in the first cache
  bool awaited; // mirage__is_awaited
} Access;
/// `iteration` replaces that of the innermost loop around `node` (prefetching); NULL = the current one.
Access mirage__access(Emit *e, MirageNode node, MirageValue tensor, const MirageType *tile, LLVMValueRef iteration);
/// Which of the kernel's pointers a tensor is.
uint32_t mirage__pointer_of(const Emit *e, MirageValue tensor);
/// Bytes (of i4 half bytes) from one element to the next along each dimension that an access sees.
void mirage__access_pitches(const MirageType *tensor, const MirageAccessAttrs *access, int64_t *out_pitch);
LLVMValueRef mirage__access_address(Emit *e, const Access *access, const LLVMValueRef *index);
LLVMValueRef mirage__access_valid(Emit *e, const Access *access, const LLVMValueRef *index); // NULL = always
LLVMValueRef mirage__fill_value(Emit *e, MirageDType dtype, MirageFill fill);
/// `width` elements at `address` as they lie in memory, at most access.width; something harmless where not `valid`. Of i4 it
/// gives the bytes that hold them.
LLVMValueRef mirage__access_piece(Emit *e, const Access *access, LLVMValueRef address, LLVMValueRef valid,
                                  uint32_t width);
/// Reads `width` elements (a divisor or multiple of access.width) straight from device memory, masked ones as fill.
void mirage__access_read(Emit *e, const Access *access, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out);

// codegen_load.c, codegen_store.c
/// Starts copying the load's tile into copy `copy` of its buffer, for iteration `iteration` of its loop.
void mirage__issue_load(Emit *e, MirageNode node, LLVMValueRef iteration, LLVMValueRef copy);
void mirage__emit_store(Emit *e, MirageNode node);
/// Wide pieces, but not so wide that threads go idle.
uint32_t mirage__useful_width(int64_t elements, uint32_t width, int32_t threads);
/// The first index of a tile of indices, for the grid position and loop iterations in force. codegen_access.c
LLVMValueRef mirage__iota_start(Emit *e, MirageNode node);
/// `width` f32 values rounded to `dtype`: a scalar, or a vector. And back; what the vector is of.
LLVMValueRef mirage__pack(Emit *e, const LLVMValueRef *values, uint32_t width, MirageDType dtype);
void mirage__unpack(Emit *e, LLVMValueRef packed, uint32_t width, MirageDType dtype, LLVMValueRef *out);
LLVMTypeRef mirage__packed(Emit *e, uint32_t width, MirageDType dtype);

// codegen_turns.c
/// Works out which iterations of a loop this block runs, before the loop.
void mirage__find_turns(Emit *e, int32_t loop);
/// How many they are; whether turn i, counted from 0, is one of them.
LLVMValueRef mirage__turns(Emit *e, int32_t loop);
LLVMValueRef mirage__is_turn(Emit *e, int32_t loop, LLVMValueRef i);

/// Turns [begin, end) of a loop that are generated by themselves. Where the comparisons of masks hold for every element, a
/// mask costs nothing; what stands before and behind those turns has code of its own.
enum { MOST_SECTIONS = 4 };
typedef struct Section {
  LLVMValueRef begin, end;
  bool guarded;              // it may be empty
  const BlockLoop *certain;  // whose comparisons all hold in it; NULL: not known
  const BlockNarrow *narrow; // one turn, which all blocks run, of which a mask rules out columns; NULL: not known
  MaximaTurn maxima;
  bool peek; // a look at the first turn's tiles, which stay where they are for that turn
} Section;
/// The sections of a loop, in order: one where nothing is certain, or it runs again. Behind mirage__find_turns.
uint32_t mirage__sections(Emit *e, int32_t loop, Section sections[MOST_SECTIONS]);
/// Whether the comparison holds for every element in the section that is being generated.
bool mirage__is_certain(const Emit *e, MirageNode node);
/// Whether the elements at the cell at hand are hidden in the turn that is being generated: then *out is what they count as.
bool mirage__is_hidden(Emit *e, MirageValue value, LLVMValueRef *out);
/// Column units that a thread computes of a product in that turn, and units of its contraction.
int32_t mirage__narrow_columns(const Emit *e, MirageNode product, const MatmulSplit *split);
int32_t mirage__narrow_depth(const Emit *e, MirageNode product, const MatmulSplit *split);
typedef struct Running {
  LLVMValueRef turn; // less `shift`
  Repeat repeat;
  LLVMBasicBlockRef join;
} Running;
/// Runs what stands between them for each turn of the section from `shift` on: 1 where the loop's first turn is done.
Running mirage__begin_section(Emit *e, const Section *section, int64_t shift);
void mirage__end_section(Emit *e, const Running *running);

// codegen_maxima.c
/// Of an element that a turn does not compute, since the maximum is kept: true, and what it is.
bool mirage__kept(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out);
/// Of elements of the maximum that the first iteration takes: what is subtracted from all scores.
void mirage__add_margin(Emit *e, MirageValue value, uint32_t width, LLVMValueRef *out);
/// Whether the turn at hand has no use for the value.
bool mirage__is_unread(const Emit *e, MirageValue value);
/// Whether the turn at hand seeks the maximum, for which the node computes nothing.
bool mirage__is_unsought(const Emit *e, const MirageNodeView *node);
/// Whether a loop that keeps a maximum takes it in turns of its own; else its first iteration, which stands apart, does.
bool mirage__seeks_maximum(const Emit *e, int32_t loop);
/// Between two runs of such a loop: works out anew where the thread is. That, and what is computed from it, would else be kept in
/// registers all through the first of them.
void mirage__place_again(Emit *e);
/// Behind such a loop: where a sum of any thread is beyond the limit, what stands up to `otherwise` is done, and else what stands from there on,
/// each from the loop's end to the end of the block.
typedef struct Again {
  int32_t loop;
  LLVMBasicBlockRef otherwise, done;
  Emit *before; // what was known where the ways part
} Again;
Again mirage__begin_again(Emit *e, MirageNode loop, const BlockMaxima *maxima);
void mirage__otherwise(Emit *e, const Again *again);
void mirage__end_again(Emit *e, const Again *again);
/// The producers' part of that; `one`: the thread that copies.
void mirage__produce_again(Emit *e, MirageNode node, LLVMValueRef one);

// codegen_pipeline.c
/// Mbarriers of the whole block, ready to use.
void mirage__init_channels(Emit *e);
/// Before a loop; at the start and the end of an iteration; after the loop.
void mirage__begin_pipeline(Emit *e, int32_t loop);
void mirage__turn_pipeline(Emit *e, int32_t loop);
/// Before the first iteration: its tiles have come, and stay where they are. For loops with two buffers and more.
void mirage__peek_pipeline(Emit *e, int32_t loop);
void mirage__end_turn(Emit *e, int32_t loop);
/// The tiles of iteration `i` again, which were waited for before.
void mirage__turn_back(Emit *e, int32_t loop, LLVMValueRef i);
/// This warp no longer reads the tiles of iteration `i`.
void mirage__give_back(Emit *e, int32_t loop, LLVMValueRef i);
void mirage__end_pipeline(Emit *e, int32_t loop);
/// A load outside loops into its buffer; waited for by the next barrier, or await_landing.
void mirage__load_outside(Emit *e, MirageNode load);
void mirage__await_landing(Emit *e);
/// All copies of a load outside loops or of a loop, issued by the calling thread.
void mirage__produce(Emit *e, MirageNode node);
bool mirage__block_multicasts(const Emit *e);
void mirage__cluster_meet(Emit *e);
/// The same for blocks that may end behind it: what they stored elsewhere has arrived.
void mirage__cluster_leave(Emit *e);

// codegen_tensor.c
/// The calling thread's copies of a load's tile; `iteration`, `copy` as for mirage__issue_load.
void mirage__issue_copy(Emit *e, const BlockLoad *load, LLVMValueRef iteration, LLVMValueRef copy,
                        LLVMValueRef mbarrier);
/// All maps, mirage__block_count_maps.
void mirage__tensor_maps(const Emit *e, MirageTensorMap *maps);
/// Asks for all of them, so that the first copies need not wait for what names their tensors. For one thread.
void mirage__prefetch_maps(Emit *e);

// codegen_dequant.c
/// 32-bit registers that hold `columns` neighbouring elements of a row, as they lie in memory.
int32_t mirage__raw_words(MirageDType stored, int32_t columns);
/// Column `column` of two rows as a pair of `dtype`, from those registers. `stored` may be `dtype` itself.
LLVMValueRef mirage__dequant_pair(Emit *e, MirageDType stored, MirageDType dtype, const LLVMValueRef *low,
                                  const LLVMValueRef *high, int32_t column);
/// How eight neighbours of a row along the contraction come out of their registers: pair p of a fragment, of which product p / 2
/// takes two, is of neighbours order[2 p] and order[2 p + 1]. Each is as much less than the weight times 1 / factor, and more by
/// the offset: weight = factor * pair - offset.
typedef struct RowFormat {
  uint8_t order[8];
  double factor[2], offset; // by product
} RowFormat;
RowFormat mirage__row_format(MirageDType stored, MirageDType dtype);
/// The same of columns of half bytes: factors are of even columns, and of odd ones. And column `column` of eight, of two rows.
RowFormat mirage__column_format(MirageDType stored, MirageDType dtype);
LLVMValueRef mirage__dequant_column(Emit *e, MirageDType dtype, LLVMValueRef low, LLVMValueRef high, int32_t column);
/// Pair `pair` of eight neighbours, whose registers begin at `words`.
LLVMValueRef mirage__dequant_row(Emit *e, MirageDType stored, MirageDType dtype, const LLVMValueRef *words,
                                 int32_t pair);

/// Elements 2 `pair` and the next of the four of a register of f8, as f16.
LLVMValueRef mirage__halves_of_f8(Emit *e, MirageDType stored, LLVMValueRef word, int32_t pair);

// codegen_role.c
void mirage__emit_roles(Emit *e, MirageRegion body);
/// Number of this thread's group of workers, from `number` on; `number` where all share tiles.
LLVMValueRef mirage__group_plus(Emit *e, int64_t number);
/// Evaluates an inline value into its buffer; `from` into the buffer of `to`.
void mirage__materialize(Emit *e, MirageValue from, MirageValue to);

// codegen_elementwise.c, codegen_math.c
/// `width` elements from `index` on along the last dimension; index's last entry is a multiple of width.
void mirage__element(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out);
/// The same of a value whose buffer is about to be written with them: from what defines it.
void mirage__element_unwritten(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width,
                               LLVMValueRef *out);
LLVMValueRef mirage__element1(Emit *e, MirageValue value, const LLVMValueRef *index);
/// The same but for a positive factor, which it returns: of a value that is computed where it is read, as a constant times another.
/// Whoever multiplies later multiplies less: a maximum once a row, exp(x - y) not at all.
double mirage__element_unscaled(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width,
                                LLVMValueRef *out);
/// The same of an operand that broadcasts to a value of type `to`, at an index into that value.
void mirage__element_broadcast(Emit *e, MirageValue operand, const MirageType *to, const LLVMValueRef *index,
                               uint32_t width, LLVMValueRef *out);
void mirage__forget_elements(Emit *e);
/// Whether mirage__element knows the answer for this index.
bool mirage__is_remembered(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width);
/// Makes `values` the answer to mirage__element for this index until elements are forgotten.
void mirage__remember_element(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width,
                              const LLVMValueRef *values);
/// Index into an operand of type `from` that broadcasts to `to`.
void mirage__broadcast_index(Emit *e, const MirageType *from, const MirageType *to, const LLVMValueRef *index,
                             LLVMValueRef *out);
LLVMValueRef mirage__unary(Emit *e, MirageOp op, LLVMValueRef x);
/// 1 + op(x), of an error function or a hyperbolic tangent, in fewer instructions than op(x): what that is near zero does not show in
/// the sum. Where `has`.
bool mirage__has_one_more(const Emit *e, MirageOp op);
LLVMValueRef mirage__one_more(Emit *e, MirageOp op, LLVMValueRef x);
/// exp(factor x - y) in one multiply-add and one exponential: for a y that many x share.
LLVMValueRef mirage__exp_difference(Emit *e, double factor, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef mirage__binary(Emit *e, MirageOp op, LLVMValueRef a, LLVMValueRef b);
/// The same of SUB where b is never bottom.
LLVMValueRef mirage__subtract(Emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef mirage__round_to(Emit *e, MirageDType dtype, LLVMValueRef x);

// Carries: products, reductions, and values in cells. A carried one: begin before the loop, step in each iteration, end
// after it.
typedef struct Carry {
  MirageNode node;    // the product or reduction
  MirageValue result; // buffer that receives the total
  MirageValue init;   // {0}: none
  MirageValue factor; // {0}: plain sum or maximum
  Accumulators acc;
  bool fresh;         // the accumulators need no value before the product: it does not add to them
  LLVMValueRef *news; // of a resident carry: what its cells become once all carries of the loop have been computed
} Carry;
// codegen_masks.c ---------------------------------------------------------------------------------------------- masks
/// x + mask(p, 0) is mask(p, x), for bottom with anything is bottom. Which operand of a sum the mask is, and p; 2: neither is.
uint32_t mirage__find_mask(const Emit *e, const MirageNodeView *sum, MirageValue *out_predicate);
/// Makes neighbouring elements of a tile of this type bottom where the predicate does not hold.
void mirage__hide(Emit *e, MirageValue predicate, const MirageType *type, const LLVMValueRef *index, uint32_t width,
                  LLVMValueRef *values);
/// A length that was loaded, which may be any number, as an i32: beyond what indices can be they are all alike.
LLVMValueRef mirage__length(Emit *e, LLVMValueRef value);
/// Neighbouring elements of such a sum, and of a comparison of two indices; false where the operator is none.
bool mirage__masked_sum(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                        uint32_t width, LLVMValueRef *out);
bool mirage__compare_indices(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                             uint32_t width, LLVMValueRef *out);

void mirage__matmul_begin(Emit *e, Carry *carry); // codegen_matmul.c
void mirage__matmul_step(Emit *e, Carry *carry);
void mirage__matmul_end(Emit *e, Carry *carry);
void mirage__mma_step(Emit *e, Carry *carry, const MatmulSplit *split);                // codegen_mma.c
void mirage__emit_side_loop(Emit *e, int32_t loop, LLVMValueRef first, int64_t range); // the share of a side block
void mirage__emit_direct_loop(Emit *e, MirageNode node);                               // codegen_direct.c
/// Two values as one register of a fragment, the first in the lower half.
LLVMValueRef mirage__pack_pair(Emit *e, MirageDType dtype, LLVMValueRef low, LLVMValueRef high);
void mirage__mma_multiply(Emit *e, MirageDType p_dtype, MirageDType q_dtype, const LLVMValueRef *p,
                          const LLVMValueRef *q, LLVMValueRef *cells);
void mirage__warpgroup_step(Emit *e, Carry *carry, const MatmulSplit *split); // codegen_wgmma.c
/// The same in pieces: a first operand evaluated in cells (NULL after a failure), products issued as one group, of which
/// `fragments` is the first operand or NULL, and the wait until at most `groups` of them are under way.
typedef LLVMValueRef Fragment[4];
Fragment *mirage__warpgroup_fragments(Emit *e, Carry *carry, const MatmulSplit *split);
void mirage__warpgroup_issue(Emit *e, Carry *carry, const MatmulSplit *split, Fragment *fragments);
void mirage__warpgroup_wait(Emit *e, Carry *carry, int32_t groups);
/// The four registers of a product's first operand that is evaluated in cells: row unit and unit of the contraction.
void mirage__mma_cells_operand(Emit *e, Carry *carry, const MatmulSplit *split, int32_t row_unit, int32_t depth_unit,
                               LLVMValueRef *out);
/// Waits for what a loop let run on.
void mirage__warpgroup_finish(Emit *e, Carry *carry);
/// Loops that multiply ahead: what stands around the body of the first iteration, and of the others (codegen_ahead.c).
typedef struct Ahead Ahead;
Ahead *mirage__ahead(Emit *e, MirageNode loop, Carry *carries, const CarryKind *kinds); // NULL after a failure
void mirage__ahead_begin(Emit *e, Ahead *ahead);
void mirage__ahead_turn(Emit *e, Ahead *ahead, LLVMValueRef before); // to the iteration behind `before`
/// When the body is done but for its carries' new values; `before` NULL: the first iteration.
void mirage__ahead_prepare(Emit *e, Ahead *ahead, LLVMValueRef before);
void mirage__ahead_end(Emit *e, Ahead *ahead);
/// Whether the product has been issued when its step comes.
bool mirage__runs_ahead(const Emit *e, MirageNode product);
void mirage__fma_step(Emit *e, Carry *carry, const MatmulSplit *split); // codegen_fma.c
void mirage__reduce_begin(Emit *e, Carry *carry);                       // codegen_reduce.c
void mirage__reduce_step(Emit *e, Carry *carry);
void mirage__reduce_end(Emit *e, Carry *carry);
LLVMValueRef mirage__reduce_neutral(Emit *e, MirageOp op);
/// Over each group of `lanes` lanes; every lane gets the result.
LLVMValueRef mirage__reduce_lanes(Emit *e, MirageOp op, LLVMValueRef value, int32_t lanes);
LLVMValueRef mirage__reduce_pair(Emit *e, MirageOp op, LLVMValueRef a, LLVMValueRef b);
/// Sums (or takes the maximum of) the copies of a buffer into copy 0.
void mirage__combine_copies(Emit *e, MirageValue buffer, bool maximum);

/// Where accumulator `index` of this thread lies in the product: codegen_matmul.c.
typedef struct Cell {
  LLVMValueRef index[MIRAGE_MAX_RANK]; // in the result, clamped into it
  LLVMValueRef valid;                  // NULL = always
} Cell;
Cell mirage__matmul_cell(Emit *e, const MatmulSplit *split, const MirageType *result, int32_t index);
/// This thread's worker coordinates: which row, column and depth share it computes.
typedef struct Worker {
  LLVMValueRef row, col, depth;
} Worker;
Worker mirage__matmul_worker(Emit *e, const MatmulSplit *split);
/// Whether the value is the constant 0, computed where it is read.
bool mirage__is_zero(const Emit *e, MirageValue value);
MatmulSplit mirage__split_of(Emit *e, MirageNode node);

/// Row unit `i` of the worker, not clamped.
LLVMValueRef mirage__matmul_row_unit(Emit *e, const MatmulSplit *split, const Worker *worker, int32_t i);

// codegen_resident.c ----------------------------------------------------------------------------- tiles in registers
/// This thread's part of a tile with the rows of the block's partition, piece by piece: elements that lie side by side
/// in the last dimension and in neighbouring registers.
typedef struct TileCell {
  LLVMValueRef index[MIRAGE_MAX_RANK]; // of the first element, clamped into the tile
  LLVMValueRef valid;                  // inside the tile; NULL = always
  LLVMValueRef mine;                   // valid, and this lane is the one to write it (four lanes hold a row's vector)
  uint32_t width;                      // 1 or 2 elements
  CellPlace place;
  int32_t first; // number of the first element's register
} TileCell;
typedef void (*CellBody)(Emit *e, const TileCell *cell, void *user);
/// Generates `body` for each piece. Inside, mirage__element(e, value, cell->index, cell->width, out) reads resident
/// values from their registers, and everything else at the index. All lanes run it: padding is not branched around.
void mirage__for_cells(Emit *e, const MirageType *tile, CellBody body, void *user);
/// The pieces one by one: the first one of a column unit, or two, and the code of one.
TileCell mirage__cell_at(Emit *e, const MirageType *tile, const CellPlace *place);
void mirage__run_cell(Emit *e, const TileCell *cell, CellBody body, void *user);
/// The row `in_half` (0 .. 7) of a unit's half (part 0 or 2): its index, with the first column of the place's column unit.
void mirage__cell_row(Emit *e, const MirageType *tile, const CellPlace *place, LLVMValueRef in_half, TileCell *cell);
/// Whether evaluating the value reads resident values, so that it must happen inside mirage__for_cells.
bool mirage__in_cells(const Emit *e, MirageValue value);
/// The variables that hold this thread's cells of a resident value, made when first asked for.
Accumulators mirage__registers(Emit *e, MirageValue value);
/// What mirage__element gives for a resident value at e->cell.
void mirage__cell_get(Emit *e, MirageValue value, uint32_t width, LLVMValueRef *out);
/// Evaluates an inline value into its registers; any value that is evaluated in cells into the buffer of `to`.
void mirage__cells_compute(Emit *e, MirageValue value);
void mirage__cells_to_buffer(Emit *e, MirageValue from, MirageValue to);
/// A resident tile's second copy, where one is planned.
void mirage__cells_mirror(Emit *e, MirageValue value);
/// Where in device memory the element at `index` goes, and whether it does (NULL = always).
typedef LLVMValueRef (*CellAddress)(Emit *e, const LLVMValueRef *index, LLVMValueRef *out_valid, void *user);
/// How a value goes to device memory: mirage__gpu_store_global or mirage__words_store.
typedef void (*GlobalStore)(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address);
// codegen_quads.c
/// Two neighbours, as a vector, that were read for the quad at hand, or are from now on; NULL: it does not read them.
LLVMValueRef mirage__quad_read(Emit *e, const Access *access, const LLVMValueRef *index, uint32_t width);
/// Whether reads alone are wanted: what is computed now is computed once more when they have come.
bool mirage__quad_asks(const Emit *e);
/// The pieces of a tile in an order in which what they read from device memory is under way early. `body` runs twice for some,
/// first with values that mean nothing. False, and nothing is done: lanes hold no whole column units of it.
bool mirage__cells_in_quads(Emit *e, const MirageType *tile, CellBody body, void *user);
/// Writes a value that is evaluated in cells to device memory as elements of type `dtype`. `width` neighbours, at a
/// multiple of width, are neighbours there, aligned, and all valid or all not; 16 bytes of them at most.
void mirage__cells_write(Emit *e, MirageValue from, MirageDType dtype, uint32_t width, CellAddress address,
                         GlobalStore store, void *user);
// codegen_staged.c
/// Stores a tile that is evaluated in cells through shared memory (lib/layout/staging.c); `staged` is the resident value.
void mirage__store_staged(Emit *e, MirageValue from, MirageValue staged, const Access *access);
/// The resident forms of what codegen_matmul.c and codegen_reduce.c do with accumulators.
void mirage__cells_init(Emit *e, Carry *carry);
void mirage__cells_rescale(Emit *e, Carry *carry);
void mirage__cells_reduce(Emit *e, Carry *carry);
void mirage__cells_reduce_end(Emit *e, Carry *carry);

// codegen_collective.c: prepare before the kernel's entry is there (its workspace is known then), enter at its start.
void mirage__prepare_meetings(Emit *e);
void mirage__enter_meetings(Emit *e);
void mirage__emit_collective(Emit *e, MirageNode node);
/// After the code of a step.
void mirage__end_step(Emit *e, int32_t step);
/// Elements of a collective's result.
void mirage__gather(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out);
/// Elements of a leaf as e->member published them; false when `value` is none, or no member is set.
bool mirage__read_leaf(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out);
// codegen_grid.c
void mirage__prepare_grid_meeting(Emit *e, Meeting *m);
void mirage__grid_meet(Emit *e, const Meeting *m);
/// Makes this block's slots zero for the next launch, where words are signals: while workers wait for their first tiles, or, where
/// they copy these themselves, while what they published is on its way.
void mirage__clear_slots(Emit *e, const Meeting *m);
void mirage__read_grid_leaf(Emit *e, const Meeting *m, uint32_t leaf, const LLVMValueRef *index, uint32_t width,
                            LLVMValueRef *out);
// codegen_words.c
/// Sets aside the blocks' epochs, behind what the workspace has; once for all meetings.
void mirage__prepare_words(Emit *e);
/// The workers read the block's epoch when they begin, and count on at the end of the last meeting.
void mirage__enter_words(Emit *e);
void mirage__leave_words(Emit *e);
/// Which copy of the slots is this launch's, or the next one's: 0 or 1.
LLVMValueRef mirage__words_copy(Emit *e, bool other);
void mirage__clear_words(Emit *e, LLVMValueRef slot, int64_t bytes);
/// Stores a number, or a vector of some, of f32, of pairs of f16 or bf16, or of such bits: 4, 8 or 16 bytes.
void mirage__words_store(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address);
/// Reads what mirage__words_store wrote, as `type`. Only within the following.
LLVMValueRef mirage__words_load(Emit *e, LLVMTypeRef type, uint32_t bytes, LLVMValueRef address);
/// As mirage__element; where words are read, waits until all are there.
void mirage__awaited_element(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out);

// codegen_cluster.c
/// Goes on when these values, which were computed from what peers published, are there. Members hear that they may leave, or overwrite
/// that, without waiting for what this block does (CLUSTER_ARRIVE_RELAXED), but not before it has read.
void mirage__await_values(Emit *e, uint32_t width, const LLVMValueRef *values);
/// The same of an element of a value, if it is of a meeting of a cluster.
void mirage__await_peers(Emit *e, MirageValue value, uint32_t width, const LLVMValueRef *values);
void mirage__prepare_cluster_meeting(Emit *e, Meeting *m);
void mirage__cluster_barrier(Emit *e);
void mirage__read_cluster_leaf(Emit *e, const Meeting *m, MirageValue leaf, const LLVMValueRef *index, uint32_t width,
                               LLVMValueRef *out);

void mirage__emit_items(Emit *e);    // codegen_items.c
void mirage__emit_elements(Emit *e); // codegen_elements.c

// codegen_prefetch.c --------------------------------------------------------------------- tiles asked for, into L2

enum { MIRAGE_LINE_BYTES = 128 }; // of L2
/// How many lines of L2 a tile of the load is, at most.
int64_t mirage__tile_lines(Emit *e, const BlockLoad *load);
/// And how many bytes of each are the tile's.
int64_t mirage__tile_line_bytes(Emit *e, const BlockLoad *load);
/// Asks for the first `count` lines of a load's tiles, iteration by iteration; the threads share the work.
void mirage__prefetch_tiles(Emit *e, const BlockLoad *load, int64_t count);
/// Asks for what threads read behind the loops of the tile that begins, where that pays.
void mirage__prefetch_ends(Emit *e);

// codegen_early.c ------------------------------------------------------------------------ while the kernel before runs
/// Whether pointer `index` of the kernel is to what the kernel before may still write, or read: no access comes before the wait.
bool mirage__is_awaited(const Emit *e, uint32_t index);
/// At the kernel's begin: lets the next one start, and waits for the one before.
void mirage__start_early(Emit *e);
/// Before a store: the wait, where it was not at the kernel's begin.
void mirage__wait_to_store(Emit *e);

// codegen_side.c
/// Sets aside the workspace of side blocks, if there are any.
void mirage__prepare_side(Emit *e);
/// Where side block `block` leaves element `item` of a carry's result.
LLVMValueRef mirage__side_slot(Emit *e, uint32_t carry, LLVMValueRef block, LLVMValueRef item);
/// A block of the grid is about to read the slots.
void mirage__side_wait(Emit *e);
/// The work of side blocks, at the start of the kernel; the others go on behind it.
void mirage__emit_side_blocks(Emit *e);

// codegen_block.c
void mirage__emit_block(Emit *e);
void mirage__emit_region(Emit *e, MirageRegion region);

#endif
