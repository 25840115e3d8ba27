// block.h - one block graph seen as straight-line steps: what layout planning and code generation must agree on.
//
// Shared by lib/layout and lib/codegen only. Steps are numbered in textual order; thread regions are flattened into the
// block graph around them (a fragment is the tile it comes from). Every tile value is one of
//
//   inline    REGISTER, and its operator computes element by element: consumers ask for an element and get code for it
//   direct    REGISTER, a load: consumers read device memory
//   carried   REGISTER, a product or a reduction that only feeds a loop's sum (or max, or rescaled sum): every thread
//             keeps its part of the accumulator in registers until the loop ends
//   resident  REGISTER: every thread of a partition of the warps keeps its cells of the tile for the tile's whole life
//             (resident.c); SHARED as well where somebody reads it in another order: then the buffer is a second copy
//   buffer    SHARED: stored in shared memory; see buffer_of for the carries and results that share one
#ifndef MIRAGE_LAYOUT_BLOCK_H
#define MIRAGE_LAYOUT_BLOCK_H

#include "actors.h"
#include "mirage/arena.h"
#include "mirage/target.h"
#include "mirage/ugraph.h"

typedef struct BlockValue {
  bool inside;     // belongs to this custom node
  bool shared;     // buffer
  bool resident;   // lives in registers, in the cells of the block's partition
  bool carried;    // a product or a reduction that takes its step with the yield of its loop
  bool warpgroup;  // a product that the matrix instruction of a warpgroup computes from shared memory (warpgroup.c)
  int32_t load;    // number of the load that it is the tile of, -1 = none
  int32_t channel; // through which it comes, -1 = none
  MirageNode def;  // {0}: argument of `owner`'s region
  MirageNode owner;
  uint32_t index;    // which result or argument
  int32_t loop;      // innermost loop around the definition, -1 = none
  MirageValue alias; // what a thread argument or result stands for; itself otherwise
  uint32_t num_uses;
  int32_t begin, end; // steps between which the buffer must hold its value
  int32_t meeting; // collective that meets there, or value on the way to one or from it (see BlockMeeting); -1 = none
  bool gathered;   // of a meeting: computed where it is read, as the members of the meeting share its readers' work
} BlockValue;

typedef struct BlockLoad {
  MirageNode node;
  MirageValue tile;
  int32_t loop; // innermost loop around it, -1 = none
  LoadBy by;
  bool once;      // read once: past the first cache
  bool multicast; // copied once for all blocks of the cluster that share the tile
} BlockLoad;

/// The iterations i in which a comparison of indices holds somewhere in the tile, or everywhere:
/// step * i <= constant + grid . (the block's place) + value.
typedef struct LoopBound {
  int64_t step; // above 0: where they end; below: where they begin; 0: all of them, or none
  int64_t constant, grid[3];
  MirageValue value; // a tile of one index that was loaded; {0} = none
  int64_t expected;  // what that is taken to be where times are predicted: half of the indices that it is compared with
  MirageNode comparison; // that sets the bound
} LoopBound;

typedef struct BlockLoop {
  MirageNode node;
  int32_t parent;     // enclosing loop, -1 = none
  int32_t depth;      // 0 = outermost
  int32_t begin, end; // steps of the loop node and of its yield; results are written at end + 1
  int64_t range;
  int64_t trips;     // product of the ranges up to here
  int32_t stages;    // buffers of each tile that it loads, 0 = not decided yet
  bool stages_asked; // by a person
  bool side;         // direct: side blocks compute the products that do not depend on the grid
  bool direct;       // streams weights from device memory (direct.c): all its values are computed where they are read
  bool released;     // warps give its tiles back by mbarriers, to one among them that copies (overlap.c)
  bool ahead;        // its products run on while it computes (overlap.c)
  int32_t turns;     // ahead: warpgroups that take turns with them, 0 = none
  bool skips;        // runs from bound to bound (bounds.c)
  LoopBound *bounds; // of the iterations that no mask rules out
  uint32_t num_bounds;
  LoopBound *certain; // and of those in which these comparisons hold for every element
  uint32_t num_certain;
} BlockLoop;

/// Collectives that meet once (meeting.c). Blocks that differ only in `axes` are the members of a meeting: they publish
/// the `leaves`, wait for each other at the step of the last collective, and then each collective's result at an index
/// is the sum or maximum over members of its operand there, evaluated with the member's leaves.
typedef struct BlockMeeting {
  int32_t channel; // of the leaves
  bool cluster;    // through the cluster's shared memory, else through device memory
  bool axes[3];
  int32_t loop;        // innermost loop around it, -1 = none
  int32_t first, step; // of the first collective, of the last: where the blocks meet
  int32_t end;         // step of the last reader of a gathered result; `step` when there is none
  uint32_t num_values, num_leaves;
  MirageValue *values; // results, and what is computed from them up to `step`, in textual order
  MirageValue *leaves;
} BlockMeeting;

typedef struct BlockStep {
  MirageNode node;
  int32_t loop; // innermost loop around the node
} BlockStep;

/// How the warps divide the tiles that live in registers: all resident tiles have the same rows, batch counted as rows.
///
/// Rows come in units of 16, columns in units of 8, a batch element starts a unit. Warp (r, c), r = warp % by_row, owns
/// rows_each row units and mirage__partition_columns column units from c times that many on. Row unit i of it is
///   by_row % 4 == 0   (r / 4 * rows_each + i) * 4 + r % 4: four warps own 64 neighbouring rows, as wgmma wants them
///   else              r * rows_each + i
/// In a unit, lane 4 g + t holds cells c = 0 .. 3 at (g + 8 (c / 2), 2 t + c % 2), the accumulators of the matrix
/// instruction: cell 4 (i * columns + j) + c of a tile. A tile with one column holds 2 cells a unit, rows g and g + 8,
/// the same in the four lanes t: cell 2 i + c / 2. With by_col == 1 a row belongs to the four lanes of one quad.
typedef struct Partition {
  int32_t by_row, by_col; // 0 = nothing is resident
  int64_t batch, rows;    // rows of a batch element
  int32_t row_units;      // of a batch element
  int32_t rows_each;
} Partition;

/// A block whose tiles stay in the threads that load them, rows of the one shape [.., n]. `across` threads share a row,
/// thread t of them columns width * (t + across * p) .. for p < pieces; `teams` rows lie side by side in the threads, and
/// each takes `together` rows at once, and more of them after that. Where rows are apart (elements.c) nothing is reduced;
/// where they are not (items.c), `across` is a power of two or all threads.
typedef struct ThreadRows {
  bool on, apart;
  int32_t rows, pieces;
  int32_t across, teams, together;
  int32_t abreast;   // pieces at once, where rows are apart
  bool late;         // what is the same for all rows is loaded where it is used: registers do not hold it beside a row
  int32_t registers; // of a thread, about
  int32_t ahead;     // turns whose rows have room in shared memory; 0 = rows go straight to registers (rows_ahead.c)
  int32_t windows;   // of 16 bytes, that a row has there
  int32_t tensors;   // whose rows wait there side by side,
  int32_t same;      // and tiles that are the same in all rows
  bool torn;         // rows begin anywhere in such a window, all of a turn's row number in the same place of it
  uint32_t width;
  MirageType shape;
} ThreadRows;

/// What such threads hold of a row: tiles as wide as it that differ from row to row, and that do not. Of those that differ:
/// how many tensors they are loaded from; bytes of an element, 0 where they are not alike; whether rows begin anywhere (mirage__row_is_torn); bytes of shared memory
/// in which they may wait, 0 = none.
typedef struct RowLoads {
  int64_t values, same;
  int64_t tensors, bytes, room;
  bool torn, meets; // blocks of a cluster share them
  double beside;    // blocks for each multiprocessor
} RowLoads;

/// How rows of `columns` are divided among `warps` (0 = open; `*out_warps` are chosen then): items.c. False: the registers
/// do not hold them.
bool mirage__rows_in_threads(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items,
                             int32_t *out_warps);
/// Blocks of element-wise operators: the shape of what each stores, of so many operators, on so many multiprocessors. `bytes`: of the
/// widest element that is loaded or stored.
typedef struct ElementTiles {
  double blocks;
  int64_t rows, columns, bytes;
  int32_t operators, num_sms;
} ElementTiles;

/// How such elements are divided among `asked` warps (0 = open; `*out_warps` are chosen then): elements.c.
ThreadRows mirage__elements_in_threads(const ElementTiles *tiles, int32_t asked, int32_t *out_warps);
/// Rows in hand one after the other, until all are done.
int32_t mirage__thread_turns(const ThreadRows *items);
/// Blocks of rows in threads for which registers are kept on a multiprocessor: two large ones, where that is no hardship, so that one
/// loads while the other reduces (H100, instance norm of 8192 x 14336 by 16 warps: 203 us with 72 registers, one block).
int32_t mirage__rows_beside(const ThreadRows *items, int32_t threads, const MirageTarget *target);

/// Whether a tensor has several rows, not one for all of them.
bool mirage__row_differs(const MirageType *tensor);
/// Bytes of an element of rows that may wait in shared memory: f16, bf16 and f32; 0: others may not.
int64_t mirage__row_bytes(const MirageType *tensor);
/// Bytes of the windows in which rows wait in shared memory: what one asynchronous copy brings.
enum { ROW_WINDOW = 16 };
/// Whether a tile's rows begin in the midst of such windows of the tensor.
bool mirage__row_is_torn(const MirageType *tensor, const MirageType *tile);
/// Room for waiting rows beside what `reductions` of a block's rows leave for each other.
int64_t mirage__row_room(const MirageTarget *target, int64_t rows, int64_t reductions);
/// Whether blocks have a row each, and so many more follow that few warps of each do better than registers full of rows.
bool mirage__rows_follow(int64_t rows, RowLoads loads);
/// The rows of blocks that wait in shared memory beside those of other blocks; false: blocks do not follow each other, or find no room.
bool mirage__rows_beside_others(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items,
                                int32_t *out_warps);
/// How rows are divided whose next turns wait in shared memory (rows_ahead.c); false: they need not, or find no room.
bool mirage__rows_ahead(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items,
                        int32_t *out_warps);
/// Blocks on a multiprocessor, each with the registers that it needs.
int32_t mirage__rows_ahead_blocks(const ThreadRows *items, int64_t shared_bytes, const MirageTarget *target);
/// Whether what a thread has of them stays in registers from one reduction to the next; else it is read again.
bool mirage__rows_stay(const ThreadRows *items);
/// Pieces of a thread of which the results of special functions stay, where rows themselves do not.
int32_t mirage__results_stay(const ThreadRows *items);

typedef struct Block {
  const MirageUGraph *graph;
  MirageNode custom;
  MirageArena *arena;
  BlockValue *values;    // by value id
  MirageType *types;     // by value id: as in the graph, with the placements decided since
  uint32_t *seen;        // by value id: the last walk that met it; 0: walks so far (mirage__block_leaves)
  int32_t *step_of_node; // by node id, -1 outside
  BlockStep *steps;
  int32_t num_steps;
  BlockLoop *loops;
  int32_t num_loops;
  BlockMeeting *meetings;
  int32_t num_meetings;
  Partition partition;
  ThreadRows items;
  BlockLoad loads[MIRAGE_MAX_LOADS]; // in textual order
  uint32_t num_loads;
  Team team;
  Channel *channels;
  int32_t num_channels;
  int64_t cluster[3]; // blocks of a cluster along the axes of the grid
  MirageTileOrder tile_order;
  MirageOverlap overlap; // what goes on while warpgroups multiply; loops say where
  int32_t persistent;    // blocks that are launched, each for several tiles in turn; 0 = one for each tile
  bool first_maxima;     // loops keep the maximum of their first tile (maxima.c)
  MirageStart start;     // behind the kernel before
  int32_t num_mbarriers; // behind the tiles, 8 bytes each
  bool fences; // what copies and matrix instructions do by themselves has to be ordered with what threads do there
} Block;

/// Numbers the steps of `custom`; memory comes from `arena`. `shared` flags are taken from the values' spaces.
/// `clusters`: whether the target has any; else collectives of a cluster meet as those of the grid do.
MirageStatus mirage__block_init(Block *block, const MirageUGraph *graph, MirageNode custom, MirageArena *arena,
                                bool clusters, const MirageDiag *diag);
/// What the block graph's kernel says; blocks of its grid, and of one of its clusters.
const MirageCustomAttrs *mirage__block_custom(const Block *block);
double mirage__block_grid(const Block *block);
int64_t mirage__block_cluster(const Block *block);
/// The node of a step; false where there is none, or it only hands values through.
bool mirage__block_step(const Block *block, int32_t step, MirageNodeView *out_view);
/// The next such node behind step `*step`, -1 at first; false when there is none.
bool mirage__block_next(const Block *block, int32_t *step, MirageNodeView *out_view);
/// The value that `value` stands for once thread regions are flattened.
MirageValue mirage__block_resolve(const Block *block, MirageValue value);
/// The operator that computes a resolved value: LOOP for results and carries of a loop, NONE for tensors.
MirageOp mirage__block_op(const Block *block, MirageValue value);
int32_t mirage__block_find_loop(const Block *block, MirageNode node);
bool mirage__block_loop_contains(const Block *block, int32_t outer, int32_t inner);
static inline bool mirage__is_product(MirageOp op) { return op == MIRAGE_OP_MATMUL || op == MIRAGE_OP_MMA; }
static inline bool mirage__is_reduction(MirageOp op) { return mirage_op_info(op)->kind == MIRAGE_KIND_REDUCE; }
/// An operator whose elements can be computed one by one from elements of its operands.
bool mirage__block_can_inline(MirageOp op);
MirageNodeView mirage__block_def(const Block *block, MirageValue value);
/// Yield of a loop: contributions, then factors of the rescaled carries.
MirageNodeView mirage__block_yield(const Block *block, MirageNode loop);
/// Which operand of the loop's yield is the factor of carry `index`, counting from 0.
uint32_t mirage__block_factor_index(const MirageLoopAttrs *attrs, uint32_t index);

/// Calls `visit` for every buffer and direct load that an evaluation of `value` reads.
typedef void (*BlockVisit)(void *user, MirageValue leaf);
void mirage__block_leaves(const Block *block, MirageValue value, BlockVisit visit, void *user);
/// Calls `read` for every buffer, resident value and direct load that a step reads: what is computed where it is asked for is
/// read by who asks. `first` is the step that reads; `last` the end of the loops in which it does so again and again.
typedef void (*BlockRead)(void *user, MirageValue leaf, int32_t first, int32_t last);
void mirage__block_reads(const Block *block, BlockRead read, void *user);

// ------------------------------------------------------------------------------------------------ actors and channels

/// Stages of a loop at most, and what a producer keeps on its way to a multiprocessor (H100, 128 x 4096 x 4096: 18.3 us with 100 KB of
/// room, 14.7 with 160).
enum { MIRAGE_MOST_STAGES = 8, MIRAGE_FED_BYTES = 128 * 1024 };

/// Warps of a block, all actors together; of those who compute a tile together; groups of such, each with tiles of its own.
int32_t mirage__team_warps(const Team *team);
int32_t mirage__team_workers(const Team *team);
int32_t mirage__team_groups(const Team *team);
/// Number of the first warp of an actor of the team.
int32_t mirage__team_first_warp(const Team *team, const Actor *actor);
/// The number of warps, where they all do the same.
void mirage__team_set_warps(Team *team, int32_t warps);
/// Adds so many side blocks, if any.
void mirage__team_add_side(Team *team, int32_t blocks);
/// Registers per thread that a block of so many warps begins with, one block on a multiprocessor; that a worker has.
int32_t mirage__launch_registers(int32_t warps);
int32_t mirage__team_registers(const Team *team);
/// Most accumulators that a worker can keep; the same where warpgroups multiply, `summed`: in a loop that keeps nothing else, of
/// tiles that lie in shared memory.
int32_t mirage__accumulator_limit(const Team *team);
int32_t mirage__warpgroup_limit(const Team *team, bool summed);
/// Warps that share a tile of three slabs of 64 rows, and accumulators of their threads.
enum { MIRAGE_SLAB_ROWS = 64, MIRAGE_THREE_GROUPS = 12, MIRAGE_THREE_GROUPS_MOST = 96 };
/// The first actor of a kind, NULL = none; all of them.
const Actor *mirage__team_first(const Team *team, ActorKind kind);
ActorSet mirage__team_all(const Team *team, ActorKind kind);
static inline bool mirage__has_producer(const Team *team) { return mirage__team_first(team, ACTOR_PRODUCER) != NULL; }
/// Those who compute.
ActorSet mirage__team_computes(const Team *team);

/// Derives channels, when all else is decided.
MirageStatus mirage__block_channels(Block *block);
/// Mbarriers that bulk and tensor copies take with the loops' stages.
int32_t mirage__block_count_mbarriers(const Block *block);
/// The channel by which a tile comes, and that of a loop's loads which has this signal when full; NULL = none.
const Channel *mirage__block_channel_of(const Block *block, MirageValue tile);
const Channel *mirage__block_loop_channel(const Block *block, int32_t loop, SignalKind full);

/// Finds the meetings of a block whose steps are numbered.
MirageStatus mirage__block_meetings(Block *block, bool clusters, const MirageDiag *diag);
/// The meeting whose leaf `value` is, or whose result: NULL for none.
const BlockMeeting *mirage__block_meeting_of(const Block *block, MirageValue value);
/// Number of `value` among the leaves, -1 when it is none.
int32_t mirage__meeting_leaf(const BlockMeeting *meeting, MirageValue value);

/// How a loop keeps one of its carries.
typedef enum {
  CARRY_NONE,     // not at all
  CARRY_SHARED,   // in a buffer
  CARRY_RESIDENT, // in the cells of its loop's result
  CARRY_MATMUL,   // in the accumulators of the product
  CARRY_REDUCE,   // in the partial results of the reduction
} CarryKind;
/// CARRY_MATMUL or CARRY_REDUCE where the graph's structure permits it, registers apart; else CARRY_SHARED.
CarryKind mirage__block_carry_candidate(const Block *block, MirageNode loop, uint32_t index);
/// The kind in force.
CarryKind mirage__block_carry_kind(const Block *block, MirageNode loop, uint32_t index);
/// Whether another carry of the loop takes this one's old value as it stands: then a buffer needs a second copy of it.
bool mirage__block_carry_is_taken(const Block *block, MirageNode loop, uint32_t index);
/// The value whose placement describes the memory or the registers of a tile: a carry and its loop's result are one.
MirageValue mirage__block_buffer_of(const Block *block, MirageValue value);

// ------------------------------------------------------------------------------------------- dividing work in a block

/// How workers (warps for the matrix instruction, threads for plain multiply-adds) divide a product.
///
/// rows x cols x depth is measured in units: 16 x 8 x 16 elements for the matrix instruction, of bytes 16 x 8 x 32, single
/// elements otherwise. Batch counts as rows. Worker (r, c, d) of by_row x by_col x by_depth computes row units [r*rows_each,
/// ..), col units [c*cols_each, ..), and every by_depth-th depth unit from d on; with by_depth > 1 partial tiles are
/// summed afterwards.
typedef struct MatmulSplit {
  bool tensor_core;
  bool swap;      // rows run over n and cols over m
  bool resident;  // the result's cells are the accumulators: rows as in Partition
  bool summed;    // over a loop that loads both operands
  bool warpgroup; // by the matrix instruction of a warpgroup: four warps own slabs of 64 rows, as in Partition
  int64_t batch, m, n, k;
  int32_t k_unit;                            // elements of a depth unit
  int32_t row_units, col_units, depth_units; // row_units per batch element
  int32_t by_row, by_col, by_depth;
  int32_t rows_each, cols_each;
  int32_t accumulators; // f32 or i32 registers per thread
} MatmulSplit;
/// How much of the contraction a matrix instruction takes of such operands: 32 bytes; 1 of f32.
int32_t mirage__k_unit(const MirageType *a);
/// Fills in m, n, k and batch.
void mirage__matmul_shape(const MirageType *a, const MirageType *b, const MirageAttrs *attrs, MatmulSplit *split);
/// Whether workers may divide a product in so many parts along each dimension.
bool mirage__may_divide(Divide divide, int32_t by_row, int32_t by_col, int32_t by_depth);
MatmulSplit mirage__matmul_split(const MirageType *a, const MirageType *b, const MirageAttrs *attrs, const Team *team);
/// The same for a product of a block graph, by the partition where its result is resident, by
/// warpgroups where it is marked.
MatmulSplit mirage__block_matmul_split(const Block *block, const MirageNodeView *product);
/// Blocks of a planned kernel that a multiprocessor is to hold at once.
int32_t mirage__resident_blocks(const Block *block, const MirageTarget *target);
/// Whether a multiprocessor has one of its blocks at a time, however few registers it needs: by threads, shared memory and grid.
bool mirage__block_alone(const Block *block, const MirageTarget *target);
/// Multiprocessors on which clusters of so many blocks find room for one block each, for certain: a cluster lies within a group
/// of multiprocessors of unknown size, and each group may leave all but one of a cluster unused.
int64_t mirage__certain_sms(const MirageTarget *target, int64_t cluster);
/// Whether a planned kernel starts while the one before it runs, another one of its program or, of the `first`, any.
bool mirage__starts_early(const MirageUGraph *graph, MirageNode custom, bool first, const MirageTarget *target);
/// Whether blocks that are neighbours along x are then to be launched as clusters of two, which lie beside each other: they share
/// lines of L2. Nothing but the launch knows of these clusters.
bool mirage__stands_in_pairs(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target);
/// Shared memory, at least the block's own, with which no multiprocessor takes more blocks than its share of the grid.
int64_t mirage__spread_bytes(const Block *block, bool first, const MirageTarget *target);

/// Registers that a thread of a kernel needs which leaves out masked tiles, and computes with resident ones; and how many
/// of its blocks a multiprocessor is to hold, two at most, which the assembler would miss by a register or two. 0: it is no such kernel.
int32_t mirage__masked_registers(const Block *block);
int32_t mirage__masked_blocks(const Block *block, const MirageTarget *target);

/// The split of a product among warpgroups; false when its shape or the number of warps does not admit one. Warpgroup
/// (r, c) of by_row / 4 x by_col computes slabs of 64 rows [r*rows_each, ..), and col units [c*cols_each, ..).
bool mirage__warpgroup_split(const Block *block, const MirageNodeView *product, MatmulSplit *out_split);

/// A product that a loop may issue an iteration early: of operands as they were loaded (overlap.c).
bool mirage__block_is_early(const Block *block, MirageNode node);
/// Whether the tile is the first operand of such a product of the loop.
bool mirage__block_feeds_early(const Block *block, int32_t loop, MirageValue tile);

/// Finds the bounds that masks set to a loop. bounds.c
MirageStatus mirage__block_bounds(Block *block, int32_t loop);
/// Why the loop runs all its iterations all the same, or NULL.
const char *mirage__bounds_reason(const Block *block, int32_t loop);
/// The iterations [first, end) that the block at a place of the grid runs, as code generation has it (codegen_turns.c); what is known
/// when the kernel runs is as expected.
void mirage__block_turns(const BlockLoop *loop, const int64_t at[3], int64_t *out_first, int64_t *out_end);
/// Of these, the iterations [first, end) in which the comparisons of `certain` hold everywhere; *out_first = *out_end: none.
void mirage__block_certain(const BlockLoop *loop, const int64_t at[3], int64_t *out_first, int64_t *out_end);
/// The axis of the grid along which blocks run more and more iterations, and whether those with most come last; -1: all run as
/// many. longest.c
int mirage__block_longest_axis(const Block *block, bool *out_reversed);
/// The order in which blocks take their tiles: in groups that share rows and columns; those that run most iterations first.
bool mirage__block_groups_tiles(const Block *block);
bool mirage__block_longest_first(const Block *block);
/// Iterations that the loops of a block run.
typedef struct BlockLengths {
  double least, mean, most; // of all blocks of the grid
} BlockLengths;
BlockLengths mirage__block_lengths(const Block *block);
/// Which part of a loop's iterations a block runs, on average.
double mirage__block_share(const Block *block, int32_t loop);
/// Iterations below which a loop's body is not generated a second time, for those in which comparisons hold everywhere.
enum { LEAST_SECTIONS = 3 };
/// What is known of a tile's columns from some column on, in an iteration in which a mask rules these out.
typedef enum HiddenColumns { COLUMNS_SHOWN, COLUMNS_BOTTOM, COLUMNS_ZERO, COLUMNS_UNREAD } HiddenColumns;
typedef struct BlockNarrow {
  int64_t columns, width; // how many are left, of how many
  const uint8_t *hidden;  // HiddenColumns of the tiles of that width, by value id
} BlockNarrow;
/// Whether a mask rules out the last columns of a loop's tiles in this iteration, wherever the block stands in the grid, so that a
/// product of warpgroups has fewer columns. For blocks whose places are planned. narrow.c
bool mirage__block_narrow(const Block *block, int32_t loop, int64_t iteration, BlockNarrow *out);
/// What a value is in the iterations in which a loop keeps the maximum of its first tile.
typedef enum KeptValue {
  KEPT_NOT,
  KEPT_MAXIMUM, // the loop's running maximum, as it was
  KEPT_ZERO,
  KEPT_ONE,
  KEPT_UNREAD, // the maximum of the tile, for which nobody asks
} KeptValue;
typedef struct BlockMaxima {
  uint32_t carry;      // the maximum, among what the loop carries
  MirageValue old;     // it, before an iteration
  MirageValue now;     // what the iteration subtracts
  double margin;       // that is added to the first maximum, so that weights of f16 have more room above than below
  double limit;        // of sums: where all of a thread's are below, no weight overflows
  const bool *tells;   // by carry: it is such a sum
  const uint8_t *kept; // KeptValue by value id
  const bool *sought;  // by value id: what the loop computes the maximum from, and nothing else of it
  BlockNarrow sample;  // the columns of the first tile whose maximum it is; none: all
} BlockMaxima;
/// Why a loop takes the maximum of every tile, or NULL. For blocks whose places are planned. maxima.c
const char *mirage__maxima_reason(const Block *block, int32_t loop, BlockMaxima *out);
/// Whether it keeps the first: it is asked to, and may.
bool mirage__keeps_maxima(const Block *block, int32_t loop, BlockMaxima *out);
/// In which part of the iterations that are run code generation takes that for granted.
double mirage__block_certain_share(const Block *block, int32_t loop);

// ------------------------------------------------------------------------------------------------ tiles in registers

/// Whether the tile has the partition's rows.
bool mirage__partition_fits(const Partition *partition, const MirageType *type);
/// Column units of such a tile that a thread owns; 0 for a tile with one column.
int32_t mirage__partition_columns(const Partition *partition, const MirageType *type);
/// Registers of a thread that such a tile takes.
int32_t mirage__partition_cells(const Partition *partition, const MirageType *type);
/// The most registers of a thread that hold resident values at one time; -1 when memory is short.
int32_t mirage__resident_registers(const Block *block);
/// Whether evaluating the value reads registers of resident values: then it must happen cell by cell.
bool mirage__block_in_cells(const Block *block, MirageValue value);
/// Whether the product takes its first operand straight from cells.
bool mirage__block_operand_in_cells(const Block *block, const MirageNodeView *product);

/// A matmul operand as the matrix instruction may read it: a buffer, or a transpose of one (then `perm` says how).
typedef struct MatmulOperand {
  MirageValue base;
  int32_t perm[MIRAGE_MAX_RANK]; // operand dimension i is base dimension perm[i]
  int32_t k_dim, unit_dim;       // of the base: the contraction, and the other of the last two
  bool k_inner;                  // the contraction is the base's last dimension
} MatmulOperand;
MatmulOperand mirage__matmul_operand(const Block *block, const MirageNodeView *product, uint32_t which);
/// Whether the last dimension of operand 0 or 1 is the contraction.
bool mirage__k_is_last(const MirageNodeView *product, uint32_t which);
/// Whether some product reads the value as such an operand; some product of warpgroups.
bool mirage__is_operand(const Block *block, MirageValue value, bool of_warpgroups);

/// Gives a tile the swizzled rows that tensor copies write and warpgroup products read: 32, 64 or 128 bytes, or panels of
/// the longest of these that divides its rows. False, and the tile as it was, when its shape does not admit them.
bool mirage__swizzled_layout(MirageType *type);
/// Elements that one row of a panel holds.
int64_t mirage__panel_width(const MirageType *type);
/// Rows of a panel: all dimensions but the last.
int64_t mirage__panel_rows(const MirageType *type);
/// Bytes of all panels, the last of which may hold more columns than the tile has: what a tensor copy brings.
int64_t mirage__panels_bytes(const MirageType *type);
/// How the axes around an access cut a dimension, outermost first: chunk[0] is the window's extent, and axis i cuts
/// chunk[i] into parts[i] of chunk[i + 1], the last of which is the tile's. Returns the number of axes.
enum { MAX_AXES = 3 + MIRAGE_MAX_LOOPS };
uint32_t mirage__block_chunks(const Block *block, MirageNode access, uint32_t dim, int64_t *parts, int64_t *chunk);
/// The load that the value is the tile of, NULL = none.
const BlockLoad *mirage__block_load(const Block *block, MirageValue tile);
/// Whether a load's tile is copied by the copy engine; in boxes that a tensor map describes.
bool mirage__block_is_copied(const Block *block, MirageValue tile);
bool mirage__block_takes_map(const Block *block, const BlockLoad *load);
/// Tensor maps of the loads before `end`: all of them, in the order of the kernel's parameters, where it is the end of the
/// loads.
uint32_t mirage__block_count_maps(const Block *block, const BlockLoad *end);
/// Rows of a load's tile that each of the blocks which share it copies; all where they cannot be shared out.
int64_t mirage__block_copied_rows(const Block *block, const BlockLoad *load);

/// How threads divide a reduction: `group` threads share an output; groups wider than a warp leave one partial per
/// warp.
typedef struct ReduceSplit {
  int64_t outputs, length; // results; elements reduced into each
  int32_t group;           // 1 .. 32 (a power of two), or 32 * warps_each
  int32_t warps_each;      // warps that share one output; 1 unless group > 32
  int32_t outputs_each;    // results per group
  int32_t vector;          // neighbouring elements taken at once
} ReduceSplit;
ReduceSplit mirage__reduce_split(const MirageType *in, const MirageType *out, int32_t dim, int32_t warps);
ReduceSplit mirage__block_reduce_split(const Block *block, const MirageNodeView *reduction);

// ------------------------------------------------------------------------------------------------------- direct loops

enum { MAX_DIRECT_CARRIES = 8, MAX_DIRECT_UNITS = 4, MAX_DIRECT_AHEAD = 4, DIRECT_WARPS = 16 };

typedef struct DirectProduct {
  MirageNode node; // what the loop sums: the product, or the sum over its groups
  MirageNode product;
  MirageValue scale;              // of a group and column: what the product of a group is multiplied with; none = 0
  MirageValue weight, activation; // the load of b [k, columns], perhaps cast; a [m, k], or [k, m] when transposed
  bool transposed;
  bool side; // the same in all blocks of the grid
  uint32_t carry, group;
  int64_t columns, first_column; // columns [first_column, first_column + columns) of the group
} DirectProduct;

/// A sum or maximum over the rows of a tile [m, k], and over its groups.
typedef struct DirectReduction {
  MirageNode node, inner; // what the loop sums; where that is a reduction of another one, that one
  MirageValue operand;
  uint32_t carry;
} DirectReduction;

/// Products of one activation, side by side: one product of `columns` columns. Lane 4 g + t takes columns
/// lane_columns * (8 i + g) .. of piece i.
typedef struct DirectGroup {
  MirageValue activation;
  bool transposed;
  int64_t columns;
  int32_t lane_columns, pieces;
  int32_t accumulators;      // f32 registers per thread
  MirageDType stored, dtype; // of the weights in device memory, and as they are multiplied
} DirectGroup;

typedef struct DirectLoop {
  int64_t m, k;      // of one iteration, all groups of rows of b together
  int64_t group_k;   // rows of a group; k where there is one
  bool rows;         // weights lie as [n, k]: a row for each output (direct_rows.c)
  bool prepared;     // activations are computed once, before the loop: for rows, and for columns of half bytes
  int32_t lane_k;    // of such a row: neighbours that a lane takes at once, four lanes a step
  int64_t whole_k;   // of all iterations
  int32_t col_units; // of 8 activation rows
  int32_t ahead;     // steps of a warp that are under way at once
  uint32_t num_products, num_reductions, num_groups;
  DirectProduct products[MAX_DIRECT_CARRIES];
  DirectReduction reductions[MAX_DIRECT_CARRIES];
  DirectGroup groups[MAX_DIRECT_CARRIES];
} DirectLoop;

typedef enum { DIRECT_WHOLE, DIRECT_MAIN, DIRECT_SIDE } DirectPart;

/// What the loop would be as a direct one (direct.c); false when its carries do not allow it. BlockLoop.direct says
/// whether it is one. MAIN leaves out the products that are the same in all blocks, SIDE has only those.
bool mirage__direct_loop(const Block *block, int32_t loop, DirectPart part, DirectLoop *out);

/// Whether what this load of the block graph brings differs from block to block of the grid.
bool mirage__direct_of_grid(const Block *block, MirageValue load);
/// The two extents of a matrix whose leading dimensions are all 1; NULL otherwise. Groups of them: the last of the leading
/// dimensions counts them.
const int64_t *mirage__matrix_extents(const MirageType *type);
const int64_t *mirage__grouped_extents(const MirageType *type, int64_t *out_groups);
/// Columns of one box of the tensor copies that bring a tile.
int64_t mirage__box_columns(const MirageType *tile);
/// Registers of a thread for a group of `columns` columns and `rows` activation rows; 0: no such group.
int32_t mirage__direct_registers(int64_t rows, int64_t columns);
/// Columns that the loads of a warp cover for such a group: `columns`, rounded up to whole pieces of eight lanes.
int64_t mirage__direct_columns(int64_t columns);
/// Whether two blocks that stream such a group find registers on a multiprocessor; `ragged`: some tile has columns past the end.
bool mirage__direct_is_small(int64_t rows, int64_t columns, bool ragged);
bool mirage__direct_is_ragged(const Block *block, const DirectLoop *direct);
/// Decides what weights of rows leave open, when products and groups are known; why they cannot be streamed, or NULL.
const char *mirage__direct_rows(const Block *block, int32_t loop, DirectLoop *direct);
/// The same of columns of half bytes, where that fits; else nothing is prepared for them.
void mirage__direct_half_bytes(const Block *block, int32_t loop, DirectLoop *direct);
/// Neighbours of a row that a lane takes at once, and a thread's registers, for rows of `bits` wide numbers that `warps` warps
/// share: 0 = no choice fits.
int32_t mirage__direct_lane(int64_t group_k, int64_t whole_k, uint32_t bits, int32_t warps);
int32_t mirage__direct_row_registers(int64_t rows, int64_t columns, uint32_t bits, int32_t lane_k);
/// Words of a lane in a step, and how many steps of so many are under way, of the `steps` that a warp has.
int32_t mirage__direct_row_words(int64_t columns, uint32_t bits, int32_t lane_k);
int32_t mirage__direct_row_ahead(int32_t words, int64_t steps);
/// The activations of a group as lanes read them, in shared memory behind all else: f16 or bf16 [m, whole_k], rows `pitch` bytes
/// apart, and the sum of each step as f32 [m, steps].
typedef struct DirectPrepared {
  int64_t values, pitch, sums, steps, end; // values, sums, end: bytes
} DirectPrepared;
DirectPrepared mirage__direct_prepared(const Block *block, int32_t loop, uint32_t group);
int64_t mirage__direct_row_bytes(int64_t rows, int64_t whole_k, int32_t lane_k);
/// Bytes of them all; for a loop as described.
int64_t mirage__block_prepared_bytes(const Block *block);
int64_t mirage__direct_prepared_bytes(const DirectLoop *direct);
/// Whether a direct loop with k tiles of `depth` and so many registers can be run by `warps` warps.
bool mirage__direct_fits(int64_t depth, int32_t registers, int32_t warps, const MirageTarget *target);

/// The plan of one custom kernel: read where the graph holds it, else made, without touching the graph. `out_block` holds
/// all placements, also of fragments. Memory comes from `arena`. Errors as mirage_layout_plan; BAD_ARGUMENT where the plan is
/// for another target, or of what the kernel was before an edit.
MirageStatus mirage__plan_block(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target,
                                MirageArena *arena, const MirageDiag *diag, Block *out_block);
/// The same in closed form, for whoever asks what a kernel would cost: where only the solver could tell how its tiles lie,
/// they are taken to fit with the fewest stages. A plan for another target is forgotten, hence a graph that is the caller's.
/// Errors: LIMIT, UNSUPPORTED, BAD_ARGUMENT, without a sentence, where there is no plan; NO_MEMORY.
MirageStatus mirage__plan_closed(MirageUGraph *graph, MirageNode custom, const MirageTarget *target, MirageArena *arena,
                                 Block *out_block);
/// Accumulators of a thread with which warpgroups take tiles in turn, by the planner's own choice.
enum { MIRAGE_GROUP_LEAST = 128, MIRAGE_GROUP_MOST = 192 };
/// Iterations of a loop from which on products run ahead, by the planner's own choice, where all blocks begin at once and where not.
int32_t mirage__least_ahead(bool at_once);
/// Iterations of a loop for which blocks become pairs that share copies, though all begin at once, and how many blocks these are
/// (copies.c).
enum { MIRAGE_PAIRED_AT_ONCE = 32 };
bool mirage__pairs_at_once(double blocks, double rows_and_columns, bool torn, const MirageTarget *target);
/// The same of smaller tiles, where blocks that are no neighbours load an operand of so many bytes.
bool mirage__pairs_far(double blocks, double bytes, const MirageTarget *target);
/// Whether a tile comes in boxes whose rows are half a line of L2 and more, as it must for that.
bool mirage__long_boxes(const MirageType *tile);
/// Whether rows of a tensor begin in the midst of lines of L2.
bool mirage__rows_are_torn(const MirageType *tensor);
/// What a loop's sum of products begins with instead of 0, since adding it is all that becomes of the sum: a tile read straight
/// from device memory, or a resident sum of an earlier loop; {0}: with nothing (initial.c). And the sum that an addition finds
/// complete; {0}: it adds.
MirageValue mirage__block_initial(const Block *block, MirageNode loop, uint32_t index);
MirageValue mirage__block_added(const Block *block, const MirageNodeView *add);
/// Whether a later loop's sum begins with what this loop sums.
bool mirage__block_leads(const Block *block, int32_t loop);
/// Bytes of shared memory that a planned block uses.
int64_t mirage__block_shared_bytes(const Block *block);
/// Where its mbarriers begin.
int64_t mirage__block_mbarrier_offset(const Block *block);
/// Where stores pass through shared memory on their way, behind the mbarriers: STAGED_ROWS rows of STAGED_COLUMNS f32 of each
/// worker, a pitch apart that keeps eight rows in different banks. The resident value that is read there; {0}: the lanes
/// store what they hold (staging.c).
enum { STAGED_ROWS = 8, STAGED_COLUMNS = 64, STAGED_PITCH = STAGED_COLUMNS + 8 };
MirageValue mirage__block_staged(const Block *block, const MirageNodeView *store);
int64_t mirage__block_staging_offset(const Block *block);
int64_t mirage__block_staging_bytes(const Block *block);
/// Which of the tensors whose rows wait a load is of, counted from 0; -1: what it brings does not wait.
int32_t mirage__waiting_tensor(const Block *block, MirageNode load);
/// Where rows wait for their turn, behind all else, and the bytes of it (rows_ahead.c).
int64_t mirage__block_waiting_offset(const Block *block);
int64_t mirage__block_waiting_bytes(const Block *block);
/// Bytes of one buffer of a planned tile, a multiple of 16; where all of its buffers end; whether those of two tiles meet.
int64_t mirage__buffer_bytes(const MirageType *type);
int64_t mirage__buffer_end(const MirageType *type);
bool mirage__buffers_meet(const MirageType *a, const MirageType *b);
/// Whether the value has a buffer of its own: not the carry of a loop, which lies in that of the loop's result.
bool mirage__block_is_buffer(const Block *block, MirageValue value);

#endif
