// machine.h - the emulated GPU while one kernel runs on it: threads, blocks, clusters, memory.
//
// Reading order: machine.c (threads take turns, fail) -> emulator_meeting.c (barriers) -> clock.c (who may count on
// what) -> trace.c (what is known of each byte) -> emulator_memory.c (device and shared memory, cp.async) -> order.c
// (blocks that exchange data) -> mbarrier.c, emulator_copy.c (bulk and tensor copies) -> warp.c, emulator_warpgroup.c
// (what lanes and warps do together) -> calls.c (the instructions, one function a row of primitives.def).
//
// One operating-system thread runs one machine; the machine in force is a thread-local, so instructions find it. A
// thread runs until it has to wait; then the next ready one continues, in the order in which they became ready.
#ifndef MIRAGE_EMULATOR_MACHINE_H
#define MIRAGE_EMULATOR_MACHINE_H

#include "fibre.h"
#include "mirage/emulator.h"
#include <setjmp.h>

enum { LANES = 32, GROUP = 128, NUM_BARRIERS = 16, STACK_BYTES = 128 << 10, MOST_MBARRIERS = 64 };

// -------------------------------------------------------------------------------------------------------- what to run

/// One tensor or workspace of the kernel, in device memory.
typedef struct Buffer {
  uint8_t *data;
  uint64_t bytes;
  const char *kind; // "operand", "result", "workspace"
  uint32_t number;  // of its kind
  bool writable;
  bool awaited;     // an earlier kernel, which may still run, writes it: no access before GRID_WAIT
  uint32_t *writer; // results: by bytes, 1 + number of the block that wrote them; else NULL
} Buffer;

/// Device addresses: buffer i begins at (i + 1) << 40, shifted so that an offset below zero is one too.
enum { BUFFER_SHIFT = 40 };
#define BUFFER_BIAS (UINT64_C(1) << 39)
static inline uint64_t buffer_address(uint32_t index) { return ((uint64_t)(index + 1) << BUFFER_SHIFT) + BUFFER_BIAS; }

/// An operator that code reports by its id.
typedef struct Operator {
  const char *mnemonic; // NULL: none that code belongs to
  const void *loc;      // for diagnostics
} Operator;

typedef struct Launch {
  uint32_t num_operators; // of `operators`, by id, from 1
  const Operator *operators;
  const char *name;
  void (*entry)(const uint64_t *pointers);
  uint32_t num_buffers;
  Buffer *buffers; // operands, results, workspace
  uint32_t num_maps;
  const MirageTensorMap *maps;
  int64_t grid[3], cluster[3];
  uint32_t threads, shared_bytes;
  bool together; // all blocks at once: they wait for each other, through the last buffer
  MirageCopyTime copies;
  const MirageDiag *diag;
} Launch;

/// Runs one kernel. Errors: FAULT, LIMIT (too many threads at once), NO_MEMORY.
MirageStatus mirage__machine_run(const Launch *launch);
/// After it: results are written entirely, the workspace's counters zero. Errors: FAULT. written.c
MirageStatus mirage__check_written(const Launch *launch, const void *loc);

// -------------------------------------------------------------------------------------------------------- its state

typedef struct Block Block;
typedef struct Cluster Cluster;
typedef struct Order Order;
typedef struct Clock Clock;       // clock.c
typedef struct Flight Flight;     // emulator_copy.c
typedef struct Products Products; // emulator_warpgroup.c

/// Whoever reads and writes: a thread, a warp (reads of ldmatrix), a warpgroup (reads of its products), an mbarrier
/// (copies that it announces). Number of the block in the batch << 16 | number in the block: threads, warps,
/// warpgroups, mbarriers follow each other. An actor counts; what it does at a count is known to all who know the
/// count.
typedef uint32_t Actor;

/// What threads leave for each other at a meeting point: all that those who came know.
typedef struct Channel {
  Clock *clock;
  uint64_t last_base, last_fence; // serials of what was put in last: threads often know the same
  Clock *joined;                  // the last result of acquiring, from `joined_from` and `joined_of`
  uint64_t joined_from, joined_of;
} Channel;

/// An asynchronous copy of one thread under way (cp.async).
typedef struct Copy {
  uint64_t to, from;
  uint32_t bytes, valid; // of which `valid` come from `from`, the others are zero
  uint32_t group;        // of the thread's commits
  uint32_t op;
} Copy;

typedef enum { READY, WAITING, POLLING, ENDED } FibreState;

typedef struct Mbarrier Mbarrier;
typedef struct Fibre {
  MirageStack stack;
  struct Fibre *next; // in the queue or the meeting where it waits
  Block *block;
  uint32_t thread; // in the block
  FibreState state;
  const char *where;         // what it waits at
  const Mbarrier *waits_for; // where that is an mbarrier
  uint32_t op;               // of which operator
  uint32_t words[10];        // operands of a warp instruction, then its results
  uint64_t address;
  Clock *base;       // what it knows of others
  uint32_t count;    // its own
  Clock *fence_base; // what it knew at its last proxy fence, or NULL
  uint32_t fence_count;
  Clock *cluster_base; // the same at its last fence for its cluster
  uint32_t cluster_count;
  Copy *copies; // under way, oldest first
  uint32_t num_copies, max_copies, groups;
  uint32_t cluster_arrivals, cluster_waits;
  bool reads_peer; // what it loaded of a peer's shared memory may be under way
  uint64_t poll_address, poll_progress;
  bool grid_waited;
  Products *products; // of its warpgroup, or NULL
} Fibre;

/// Threads that wait for each other.
typedef struct Meeting {
  uint32_t arrived, expected, op;
  const char *where;
  Fibre *first, *last;
  Channel channel;
} Meeting;

/// What threads ask each other at a barrier: whether a predicate holds for any of them.
typedef struct Question {
  bool any[2];       // of the answers in turn
  uint32_t answered; // how many there were
} Question;

/// What is known of a granule: a byte of shared memory, or two neighbouring ones of the workspace.
typedef struct Granule {
  Actor writer;                   // last write
  uint32_t write_count, write_op; // count 0 = never
  uint32_t readers;               // since then: a set of trace.c
  bool pending;                   // destination of a copy under way
  bool async;                     // written by the async proxy
  bool mbarrier;                  // not for plain accesses
  bool word;                      // of the workspace: written as a signal of its own
} Granule;
enum { WORKSPACE_GRANULE = 2 };

/// An object in shared memory that counts arrivals and bytes (mbarrier.c).
struct Mbarrier {
  uint32_t offset, op;
  uint32_t expected, missing; // arrivals of a phase; of this one
  int64_t bytes;              // that copies must still bring in this phase
  uint32_t phase;             // number of those completed
  Actor actor, initialiser;
  uint32_t initialised; // count of the initialiser
  bool live, fenced;
  Fibre *waiting;
  Channel channel; // of the arrivals so far
  Channel done;    // of those of completed phases
};

struct Block {
  Cluster *cluster;
  uint32_t id[3], number, rank, slot; // slot: in the batch
  uint8_t *shared;
  Granule *granules;
  Meeting barriers[NUM_BARRIERS];
  Question questions[NUM_BARRIERS];
  Meeting *warps, *warpgroups;
  uint32_t *warp_counts;
  uint16_t *warp_registers; // per thread; 0 = as launched
  Meeting registers;        // who waits for some
  Mbarrier mbarriers[MOST_MBARRIERS];
  uint32_t num_mbarriers, ended;
};

struct Cluster {
  Block *blocks;
  uint32_t size, arrived, phase;
  Meeting meeting;
  Channel done; // of the last phase
};

typedef struct Clocks Clocks;
typedef struct Trace Trace;

typedef struct Machine {
  const Launch *launch;
  uint64_t *pointers;
  MirageStack main;
  Fibre *self; // running now
  Fibre *first_ready, *last_ready, *polling;
  Fibre *fibres;
  uint32_t num_fibres, ended;
  Cluster *clusters;
  uint32_t num_clusters, num_blocks; // of a batch
  Block *blocks;
  Granule *granules; // of all blocks, then of the workspace
  uint32_t num_granules;
  Clocks *clocks;
  Trace *trace;
  Flight *first_flight, *last_flight; // bulk copies under way, oldest first
  Flight *arriving;                   // being done right now
  bool landing;                       // on the main stack: failures jump to `landed`
  jmp_buf landed;
  Order *order;            // NULL unless blocks wait for each other
  const Buffer *workspace; // what it watches
  uint64_t progress;       // counts changes of device memory that a polling thread may wait for
  bool failed;
  uint32_t failed_op;
  char message[512];
} Machine;

extern _Thread_local Machine *mirage__machine;

// -------------------------------------------------------------------------------------------------- machine.c offers

/// Ends the run: the running thread broke a rule. `format` goes on after the operator's name.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
_Noreturn void mirage__machine_fail(Machine *m, uint32_t op, const char *format, ...);
/// "matmul" for an operator of the kernel.
const char *mirage__machine_op_name(const Machine *m, uint32_t op);

static inline const Block *mirage__machine_block(const Machine *m, uint32_t slot) { return &m->blocks[slot]; }
void mirage__machine_make_ready(Machine *m, Fibre *fibre);
/// The running thread waits at `where` of `op` until somebody makes it ready.
void mirage__machine_suspend(Machine *m, const char *where, uint32_t op);
/// Waits until device memory changes.
void mirage__machine_poll(Machine *m);

// ------------------------------------------------------------------------------------------- emulator_meeting.c offers

/// The running thread comes to a meeting of `expected` threads. True for the last, which goes on at once, having to
/// call mirage__meeting_release; the others return false when it has.
bool mirage__meeting_join(Machine *m, Meeting *meeting, uint32_t expected, const char *where, uint32_t op);
void mirage__meeting_release(Machine *m, Meeting *meeting);
/// Barrier `number` of the block for `threads` threads; not `waits`: only arrives.
void mirage__meeting_barrier(Machine *m, uint32_t op, uint32_t number, uint32_t threads, bool waits);
/// Waits there; whether `value` is true for any thread that came.
bool mirage__meeting_any(Machine *m, uint32_t op, uint32_t number, uint32_t threads, bool value);
void mirage__meeting_warp(Machine *m, uint32_t op, uint32_t lanes); // all lanes of a warp, with their memory
void mirage__meeting_cluster_arrive(Machine *m, uint32_t op, bool relaxed);
void mirage__meeting_cluster_wait(Machine *m, uint32_t op);
/// Threads of a fibre's warpgroup: the last of a block may have fewer warps.
static inline uint32_t mirage__group_threads(const Machine *m, const Fibre *fibre) {
  uint32_t left = m->launch->threads - fibre->thread / GROUP * GROUP;
  return left < GROUP ? left : GROUP;
}
/// setmaxnreg to `count` registers per thread.
void mirage__meeting_registers(Machine *m, uint32_t op, uint32_t count, bool more);

// ---------------------------------------------------------------------------------------------------- clock.c offers

Clocks *mirage__clocks_create(uint32_t num_blocks, uint32_t threads); // NULL: out of memory
void mirage__clocks_destroy(Clocks *clocks);
Clock *mirage__clock_origin(Clocks *clocks); // knows nothing
void mirage__clock_drop(Clocks *clocks, Clock *clock);
uint64_t mirage__clock_serial(const Clock *clock); // changes with what it knows

static inline Actor thread_actor(const Fibre *fibre) { return fibre->block->slot << 16 | fibre->thread; }
Actor mirage__clock_warp(const Machine *m, const Fibre *fibre);
Actor mirage__clock_group(const Machine *m, const Fibre *fibre);
Actor mirage__clock_mbarrier(const Machine *m, const Block *block, uint32_t index);
/// "thread 3", "a copy", ...
const char *mirage__clock_name(const Machine *m, Actor actor, char *buffer, size_t size);

/// Leaves in `channel` what the thread knows and has done; what it does from now on is not in there.
void mirage__clock_release(Machine *m, Fibre *fibre, Channel *channel);
/// The same of one actor alone.
void mirage__clock_release_count(Machine *m, Actor actor, uint32_t count, Channel *channel);
void mirage__clock_acquire(Machine *m, Fibre *fibre, Channel *channel);
/// Adds what `from` has to `to`.
void mirage__clock_merge(Machine *m, Channel *to, const Channel *from);
void mirage__clock_take(Machine *m, Fibre *fibre, Channel *channel); // instead of what it knew, being part of it
void mirage__clock_clear(Machine *m, Channel *channel);
void mirage__clock_fence(Machine *m, Fibre *fibre);
/// A fence for the blocks of its cluster; and what it tells these where it arrives at their barrier: what it knew and had done then.
void mirage__clock_fence_cluster(Machine *m, Fibre *fibre);
void mirage__clock_release_fenced(Machine *m, Fibre *fibre, Channel *channel);
/// What lanes[0 .. count) know of other blocks, each of them learns.
void mirage__clock_share_outside(Machine *m, Fibre *lanes, uint32_t count);

/// Whether all that `actor` did at `count` comes before what the thread does now. _alike: that of its warp or group as
/// a whole, so that what it did itself is not known for that reason.
bool mirage__clock_knows(const Machine *m, const Fibre *fibre, Actor actor, uint32_t count);
bool mirage__clock_knows_alike(const Machine *m, const Fibre *fibre, Actor actor, uint32_t count);
/// The same, with a proxy fence in between.
bool mirage__clock_knows_fenced(const Machine *m, const Fibre *fibre, Actor actor, uint32_t count, bool alike);

// ---------------------------------------------------------------------------------------------------- trace.c offers

Trace *mirage__trace_create(void); // NULL: out of memory
void mirage__trace_destroy(Trace *trace);
void mirage__trace_reset(Trace *trace);

/// One access: by whom, on whose knowledge.
typedef struct Access {
  uint32_t op;
  const Fibre *fibre; // knows
  Actor actor;        // does
  uint32_t count;
  bool alike; // fibre stands for its warp or group
  bool async; // through the async proxy
} Access;
/// Where the granules are, for the sentences: "byte 4 of shared memory".
typedef struct Ground {
  Granule *granules;
  uint32_t granule_bytes;
  const char *name, *unordered;
} Ground;

Access mirage__trace_by_thread(const Fibre *fibre, uint32_t op);
/// Granules [first, first + count) are read, written, made the destination of a copy, which then lands there.
void mirage__trace_read(Machine *m, const Access *access, const Ground *ground, uint32_t first, uint32_t count);
void mirage__trace_write(Machine *m, const Access *access, const Ground *ground, uint32_t first, uint32_t count);
void mirage__trace_copy(Machine *m, const Access *access, const Ground *ground, uint32_t first, uint32_t count);
void mirage__trace_land(const Access *access, const Ground *ground, uint32_t first, uint32_t count);

// -------------------------------------------------------------------------------------------- emulator_memory.c offers

/// Checked memory: the bytes at a device or shared address. Fails the run where the access breaks a rule.
void *mirage__memory_global(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment, bool write);
/// An address that L2 is asked for: nothing is read, so nobody need have written it.
void mirage__memory_prefetch(Machine *m, uint32_t op, uint64_t address);
/// A word by which blocks wait for each other: checked as the above, but its accesses are what orders others.
uint32_t *mirage__memory_flag(Machine *m, uint32_t op, uint64_t address, bool write);
/// Words that are signals of their own, at a multiple of their size.
void *mirage__memory_words(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, bool write);
const void *mirage__memory_shared_read(Machine *m, uint32_t op, uint64_t address, uint32_t bytes);
void *mirage__memory_shared_write(Machine *m, uint32_t op, uint64_t address, uint32_t bytes);
/// The same on behalf of `lane`. A 16-byte row read for all lanes; what lies beyond its first element may be unwritten
/// (padding).
void *mirage__memory_shared_write_of(Machine *m, uint32_t op, const Fibre *lane, uint64_t address, uint32_t bytes);
const void *mirage__memory_shared_row(Machine *m, uint32_t op, Fibre *warp, const Fibre *lane, uint64_t address);

typedef struct Place {
  Block *block;
  uint32_t offset;
} Place;
/// `what` begins the sentence: "reads", "copies to".
Place mirage__memory_place(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment,
                           const char *what);
Ground mirage__memory_ground(const Block *block);

void mirage__copy_issue(Machine *m, uint32_t op, uint64_t to, uint64_t from, uint32_t bytes, uint32_t valid);
void mirage__copy_commit(Machine *m);
/// Completes all but the newest `allowed` groups of the running thread.
void mirage__copy_wait(Machine *m, uint32_t op, uint32_t allowed);
/// The bytes of one copy of the running thread arrive.
void mirage__copy_perform(Machine *m, const Copy *copy);
/// At the end of a thread: nothing may be under way.
void mirage__copy_end(Machine *m);

// ------------------------------------------------------------------------------------------------- mbarrier.c offers

extern const char MIRAGE_AT_MBARRIER[]; // Fibre.where of a thread that waits for one
void mirage__mbarrier_init(Machine *m, uint32_t op, uint64_t address, uint32_t count);
void mirage__mbarrier_end(Machine *m, uint32_t op, uint64_t address);
void mirage__mbarrier_fence(Machine *m); // those that the running thread has initialised may be used by copies
/// The running thread arrives, after announcing `bytes` of copies.
void mirage__mbarrier_arrive(Machine *m, uint32_t op, uint64_t address, uint32_t bytes);
/// Whether the phase of that parity has completed: at the second question in a row only when it has.
bool mirage__mbarrier_try_wait(Machine *m, uint32_t op, uint64_t address, uint32_t parity);
/// For copies: finds it, as one that the async proxy may use. A copy's bytes, or the arrival of cp.async.
Mbarrier *mirage__mbarrier_find(Machine *m, uint32_t op, uint64_t address, bool for_copies, Block **out_block);
void mirage__mbarrier_bytes(Machine *m, Mbarrier *mbarrier, uint32_t op, uint32_t bytes);
void mirage__mbarrier_copied(Machine *m, Mbarrier *mbarrier, uint32_t op);

// ---------------------------------------------------------------------------------------------- emulator_copy.c offers

void mirage__bulk_copy(Machine *m, uint32_t op, uint64_t to, uint64_t from, uint32_t bytes, uint64_t mbarrier);
/// blocks: ranks of the cluster by bits, or 0: the own block.
void mirage__tensor_copy(Machine *m, uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t rank,
                         const int32_t *coordinates, uint32_t blocks);
/// Arrives at the mbarrier when the running thread's cp.async so far have landed.
void mirage__copy_arrive(Machine *m, uint32_t op, uint64_t mbarrier);
/// Lets the oldest copy arrive; false when there is none.
bool mirage__copy_land(Machine *m);
void mirage__copy_check_end(Machine *m); // at the end of a block: none is under way to it
void mirage__copy_drop_all(Machine *m);
MirageStatus mirage__copy_check_maps(const Launch *launch);
/// Exchanges 16-byte pieces: bits 4 .. of an address with bits 7 .., as many as `swizzle` says.
static inline uint32_t swizzled(uint32_t offset, uint32_t swizzle) {
  return offset ^ (offset >> 7 & ((1u << swizzle) - 1)) << 4;
}

// ---------------------------------------------------------------------------------------------------- order.c offers

/// `granules`: of the workspace.
Order *mirage__order_create(const Buffer *workspace, Granule *granules); // NULL: out of memory
void mirage__order_destroy(Order *order);
void mirage__order_release(Machine *m, uint64_t address);
void mirage__order_acquire(Machine *m, uint64_t address);
/// A plain access to the workspace, at `data` in its buffer.
void mirage__order_access(Machine *m, uint32_t op, const void *data, uint32_t bytes, bool write);
/// A word of it that an earlier launch left is read.
void mirage__order_epoch(Machine *m, uint32_t op, const void *data);
/// An access to words of it that are signals of their own.
void mirage__order_words(Machine *m, uint32_t op, const void *data, uint32_t bytes, bool write);

// ----------------------------------------------------------------------------------------------------- warp.c offers

float mirage__warp_shuffle_xor(Machine *m, uint32_t op, uint32_t lanes, float value, uint32_t lane_mask,
                               uint32_t clamp);
uint32_t mirage__warp_shuffle_idx(Machine *m, uint32_t op, uint32_t lanes, uint32_t value, uint32_t lane,
                                  uint32_t clamp);
uint32_t mirage__warp_vote(Machine *m, uint32_t op, uint32_t lanes, bool value); // a bit a lane
void mirage__warp_ldmatrix(Machine *m, uint32_t op, uint64_t address, uint32_t count, bool transposed, uint32_t *out);
void mirage__warp_stmatrix(Machine *m, uint32_t op, uint64_t address, uint32_t count, bool transposed,
                           const uint32_t *words);
typedef enum { MMA_F16, MMA_BF16, MMA_S8, MMA_E4M3, MMA_E5M2 } MmaType;
/// operands: a0..a3, b0, b1 as registers, c0..c3 and the results as the bits of f32, of i8 as i32.
void mirage__warp_mma(Machine *m, uint32_t op, MmaType a, MmaType b, const uint32_t *operands, uint32_t *out);
/// Elements of a register, two or four.
static inline uint32_t mirage__mma_per_word(MmaType type) { return type >= MMA_S8 ? 4 : 2; }
void mirage__warp_unpack(MmaType type, uint32_t word, float *out);
/// c + a * b: f32 as it is, i32 around 2^32.
uint32_t mirage__mma_add(MmaType type, uint32_t sum, float a, float b);

// ----------------------------------------------------------------------------------------- emulator_warpgroup.c offers

typedef struct GroupProduct {
  MmaType type, b_type;
  uint32_t n;
  bool a_mn_major, b_mn_major;
  uint64_t a, b;          // descriptors
  const uint32_t *a_regs; // instead of a, or NULL
} GroupProduct;
void mirage__group_product(Machine *m, uint32_t op, const GroupProduct *product, uint32_t *cells);
void mirage__group_fence(Machine *m, uint32_t op);
void mirage__group_commit(Machine *m, uint32_t op);
void mirage__group_wait(Machine *m, uint32_t op, uint32_t allowed);
void mirage__group_results(Machine *m, uint32_t op, uint32_t count, uint32_t *cells);
/// How many commits of its products the thread knows to be done.
uint32_t mirage__group_done(const Fibre *fibre);
/// Fails when a value of `bytes` bytes to be stored is an accumulator that no wait has given back.
void mirage__group_check_store(Machine *m, uint32_t op, const void *value, uint32_t bytes);
void mirage__group_end(Machine *m);
void mirage__group_drop(Fibre *fibre);

// ---------------------------------------------------------------------------------------------------- calls.c offers

typedef struct CallSymbol {
  const char *name; // as in the generated code
  void *function;
} CallSymbol;
/// Every function that generated code may call.
const CallSymbol *mirage__calls(uint32_t *out_count);

// ------------------------------------------------------------------------------------------------------ jit.c offers

typedef struct Jit Jit;
/// Generates code for all kernels of a planned graph and compiles it. `fault`: codegen/host.h, or NULL.
MirageStatus mirage__jit_create(MirageUGraph *graph, const MirageTarget *target, struct MirageFault *fault,
                                const MirageDiag *diag, Jit **out_jit);
/// The same of a module that is there; takes it over with context and machine, also when it fails.
struct MirageHostModule;
MirageStatus mirage__jit_compile(const struct MirageHostModule *module, const MirageDiag *diag, Jit **out_jit);
MirageStatus mirage__jit_find(Jit *jit, const char *name, const MirageDiag *diag,
                              void (**out_entry)(const uint64_t *pointers));
void mirage__jit_destroy(Jit *jit);

#endif
