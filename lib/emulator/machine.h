// machine.h - the emulated GPU while one kernel runs on it: threads, blocks, clusters, memory.
//
// Reading order: machine.c (threads take turns, meet, fail) -> memory.c (device and shared memory, copies) -> order.c
// (blocks that exchange data) -> warp.c (what the lanes of a warp do together) -> calls.c (the instructions, one
// function a row of primitives.def).
//
// One operating-system thread runs one machine; the machine in force is a thread-local, so instructions find it. A
// thread runs until it has to wait; then the next ready one continues, in the order in which they became ready.
#ifndef MIRAGE_EMULATOR_MACHINE_H
#define MIRAGE_EMULATOR_MACHINE_H

#include "fibre.h"
#include "mirage/emulator.h"

enum { LANES = 32, NUM_BARRIERS = 16, STACK_BYTES = 128 << 10 };

// -------------------------------------------------------------------------------------------------------- what to run

/// One tensor or workspace of the kernel, in device memory.
typedef struct Buffer {
  uint8_t *data;
  uint64_t bytes;
  const char *kind; // "operand", "result", "workspace"
  uint32_t number;  // of its kind
  bool writable;
  bool awaited;     // an earlier kernel, which may still run, writes it: no access before GRID_WAIT
  uint32_t *writer; // results: by pairs of bytes, 1 + number of the block that wrote them; else NULL
} Buffer;

/// Device addresses: buffer i begins at (i + 1) << 40, shifted so that an offset below zero is one too.
enum { BUFFER_SHIFT = 40 };
#define BUFFER_BIAS (UINT64_C(1) << 39)
static inline uint64_t buffer_address(uint32_t index) { return ((uint64_t)(index + 1) << BUFFER_SHIFT) + BUFFER_BIAS; }

typedef struct Launch {
  const MirageUGraph *graph; // whose node ids the code reports
  MirageNode custom;
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

// -------------------------------------------------------------------------------------------------------- its state

typedef struct Block Block;
typedef struct Cluster Cluster;
typedef struct Order Order;

/// An asynchronous copy under way.
typedef struct Copy {
  uint64_t to, from;
  uint32_t bytes, valid; // of which `valid` come from `from`, the others are zero
  uint32_t group;        // of the thread's commits
  uint32_t op;
} Copy;

typedef enum { READY, WAITING, POLLING, ENDED } FibreState;

typedef struct Fibre {
  MirageStack stack;
  struct Fibre *next; // in the queue or the meeting where it waits
  Block *block;
  uint32_t thread; // in the block
  FibreState state;
  const char *where;  // what it waits at
  uint32_t op;        // of which operator
  uint32_t words[10]; // operands of a warp instruction, then its results
  uint64_t address;
  Copy *copies; // under way, oldest first
  uint32_t num_copies, max_copies, groups;
  uint32_t cluster_arrivals;
  uint64_t poll_address, poll_progress;
  bool grid_waited;
  uint32_t acquired_epoch; // of the block, when the thread last acquired a flag
} Fibre;

/// Threads that wait for each other.
typedef struct Meeting {
  uint32_t arrived, op;
  const char *where;
  Fibre *first, *last;
} Meeting;

/// What is known of two neighbouring bytes of shared memory. Accesses are ordered by epochs: the block's counts its
/// barriers, the cluster's the cluster's.
typedef struct Granule {
  uint32_t write_epoch, write_cluster_epoch, write_op; // last write; epoch 0 = never
  uint32_t read_epoch, read_cluster_epoch, read_op;    // last read
  uint16_t writer, reader;                             // number in the cluster, or MANY
  uint8_t reader_block;
  bool pending; // destination of a copy that nobody waited for
} Granule;
enum { MANY = 0xffff, GRANULE = 2 };

struct Block {
  Cluster *cluster;
  uint32_t id[3], number, rank;
  uint8_t *shared;
  Granule *granules;
  Meeting barriers[NUM_BARRIERS];
  Meeting *warps;
  uint32_t epoch, ended;
};

struct Cluster {
  Block *blocks;
  uint32_t size, arrived, phase, epoch;
  Meeting meeting;
};

typedef struct Machine {
  const Launch *launch;
  uint64_t *pointers;
  MirageStack main;
  Fibre *self; // running now
  Fibre *first_ready, *last_ready, *polling;
  Fibre *fibres;
  uint32_t num_fibres, ended;
  Cluster *clusters;
  uint32_t num_clusters;
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

/// The running thread comes to a meeting of `expected` threads. True for the last, which goes on at once, having to
/// call mirage__machine_release; the others return false when it has.
bool mirage__machine_meet(Machine *m, Meeting *meeting, uint32_t expected, const char *where, uint32_t op);
void mirage__machine_release(Machine *m, Meeting *meeting);
/// Waits until device memory changes.
void mirage__machine_poll(Machine *m);

void mirage__machine_barrier(Machine *m, uint32_t number, uint32_t op);
void mirage__machine_cluster_arrive(Machine *m, uint32_t op);
void mirage__machine_cluster_wait(Machine *m, uint32_t op);

static inline uint32_t cluster_thread(const Machine *m, const Fibre *fibre) {
  return fibre->block->rank * m->launch->threads + fibre->thread;
}

// --------------------------------------------------------------------------------------------------- memory.c offers

/// Checked memory: the bytes at a device or shared address. Fails the run where the access breaks a rule.
void *mirage__memory_global(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment, bool write);
/// A word by which blocks wait for each other: checked as the above, but its accesses are what orders others.
uint32_t *mirage__memory_flag(Machine *m, uint32_t op, uint64_t address, bool write);
const void *mirage__memory_shared_read(Machine *m, uint32_t op, uint64_t address, uint32_t bytes);
void *mirage__memory_shared_write(Machine *m, uint32_t op, uint64_t address, uint32_t bytes);
/// A 16-byte row read on behalf of all lanes; what lies beyond its first element may be unwritten (padding).
const void *mirage__memory_shared_row(Machine *m, uint32_t op, const Fibre *lane, uint64_t address);

void mirage__copy_issue(Machine *m, uint32_t op, uint64_t to, uint64_t from, uint32_t bytes, uint32_t valid);
void mirage__copy_commit(Machine *m);
/// Completes all but the newest `allowed` groups of the running thread.
void mirage__copy_wait(Machine *m, uint32_t op, uint32_t allowed);
/// At the end of a thread: nothing may be under way.
void mirage__copy_end(Machine *m);

// ---------------------------------------------------------------------------------------------------- order.c offers

Order *mirage__order_create(uint32_t num_blocks, const Buffer *workspace); // NULL: out of memory
void mirage__order_destroy(Order *order);
void mirage__order_release(Machine *m, uint32_t op, uint64_t address);
void mirage__order_acquire(Machine *m, uint32_t op, uint64_t address);
void mirage__order_barrier(Machine *m, const Block *block); // as its epoch ends
/// A plain access to the workspace, at `data` in its buffer.
void mirage__order_access(Machine *m, uint32_t op, const void *data, uint32_t bytes, bool write);

// ----------------------------------------------------------------------------------------------------- warp.c offers

float mirage__warp_shuffle_xor(Machine *m, uint32_t op, uint32_t lanes, float value, uint32_t lane_mask,
                               uint32_t clamp);
uint32_t mirage__warp_shuffle_idx(Machine *m, uint32_t op, uint32_t lanes, uint32_t value, uint32_t lane,
                                  uint32_t clamp);
uint32_t mirage__warp_vote(Machine *m, uint32_t op, uint32_t lanes, bool value); // a bit a lane
void mirage__warp_ldmatrix(Machine *m, uint32_t op, uint64_t address, uint32_t count, bool transposed, uint32_t *out);
void mirage__warp_stmatrix(Machine *m, uint32_t op, uint64_t address, uint32_t count, bool transposed,
                           const uint32_t *words);
typedef enum { MMA_F16, MMA_BF16 } MmaType;
/// operands: a0..a3, b0, b1 as registers, c0..c3 as the bits of f32.
void mirage__warp_mma(Machine *m, uint32_t op, MmaType type, const uint32_t *operands, float *out);

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
