// machine.c - threads of a kernel: whose turn it is, where they meet, and what happens when they cannot.
//
// Blocks run cluster by cluster, or all at once where they wait for each other. Within such a batch every thread is a
// fibre. A fibre that waits stands in a Meeting's list; the last to come puts all of them at the end of the ready
// queue. The main stack runs when no fibre is ready: then all have ended, or some poll device memory that has changed
// since, or it is a deadlock.
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Thread_local Machine *mirage__machine;

enum { MOST_FIBRES = 1 << 16 };

// ----------------------------------------------------------------------------------------------------------- messages

const char *mirage__machine_op_name(const Machine *m, uint32_t op) {
  if (op == 0 || op > mirage_ugraph_num_nodes(m->launch->graph))
    return "custom";
  return mirage_op_info(mirage_ugraph_node(m->launch->graph, (MirageNode){op}).op)->mnemonic;
}

static void set_message(Machine *m, uint32_t op, const char *format, va_list args) {
  m->failed = true;
  m->failed_op = op;
  int n = snprintf(m->message, sizeof m->message, "%s: ", mirage__machine_op_name(m, op));
  vsnprintf(m->message + n, sizeof m->message - (size_t)n, format, args);
}

_Noreturn void mirage__machine_fail(Machine *m, uint32_t op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  set_message(m, op, format, args);
  va_end(args);
  const Fibre *self = m->self;
  const uint32_t *block = self->block->id;
  size_t n = strlen(m->message);
  snprintf(m->message + n, sizeof m->message - n, " (%s, block %u %u %u, thread %u)", m->launch->name, block[0],
           block[1], block[2], self->thread);
  mirage__stack_end(&m->self->stack, &m->main);
  abort(); // nobody switches back to a machine that failed
}

// ---------------------------------------------------------------------------------------------------------- switching

static void make_ready(Machine *m, Fibre *fibre) {
  fibre->state = READY;
  fibre->next = NULL;
  if (m->last_ready)
    m->last_ready->next = fibre;
  else
    m->first_ready = fibre;
  m->last_ready = fibre;
}

static Fibre *take_ready(Machine *m) {
  Fibre *fibre = m->first_ready;
  if (fibre)
    m->first_ready = fibre->next;
  if (!m->first_ready)
    m->last_ready = NULL;
  m->self = fibre;
  return fibre;
}

// Goes on with the next ready thread, or the main stack; returns when the running one is continued.
static void give_way(Machine *m) {
  Fibre *self = m->self, *next = take_ready(m);
  mirage__stack_switch(&self->stack, next ? &next->stack : &m->main);
}

static void fibre_main(void) {
  mirage__stack_entered();
  Machine *m = mirage__machine;
  m->launch->entry(m->pointers);
  mirage__copy_end(m);
  Fibre *self = m->self;
  self->state = ENDED;
  ++self->block->ended;
  ++m->ended;
  Fibre *next = take_ready(m);
  mirage__stack_end(&self->stack, next ? &next->stack : &m->main);
  abort(); // an ended thread is never continued
}

bool mirage__machine_meet(Machine *m, Meeting *meeting, uint32_t expected, const char *where, uint32_t op) {
  Fibre *self = m->self;
  if (meeting->arrived == 0) {
    meeting->where = where;
    meeting->op = op;
  } else if (meeting->where != where || meeting->op != op) {
    mirage__machine_fail(m, op, "%s meets threads that wait at %s of %s", where, meeting->where,
                         mirage__machine_op_name(m, meeting->op));
  }
  if (++meeting->arrived == expected)
    return true;
  self->state = WAITING;
  self->where = where;
  self->op = op;
  self->next = NULL;
  if (meeting->last)
    meeting->last->next = self;
  else
    meeting->first = self;
  meeting->last = self;
  give_way(m);
  return false;
}

void mirage__machine_release(Machine *m, Meeting *meeting) {
  for (Fibre *fibre = meeting->first, *next; fibre; fibre = next) {
    next = fibre->next;
    make_ready(m, fibre);
  }
  *meeting = (Meeting){0};
}

void mirage__machine_poll(Machine *m) {
  Fibre *self = m->self;
  self->state = POLLING;
  self->next = m->polling;
  m->polling = self;
  give_way(m);
}

// ----------------------------------------------------------------------------------------------------------- barriers

void mirage__machine_barrier(Machine *m, uint32_t number, uint32_t op) {
  Block *block = m->self->block;
  if (number >= NUM_BARRIERS)
    mirage__machine_fail(m, op, "barrier %u of %u", number, (unsigned)NUM_BARRIERS);
  if (mirage__machine_meet(m, &block->barriers[number], m->launch->threads, "a barrier", op)) {
    mirage__order_barrier(m, block);
    ++block->epoch;
    mirage__machine_release(m, &block->barriers[number]);
  }
}

void mirage__machine_cluster_arrive(Machine *m, uint32_t op) {
  Cluster *cluster = m->self->block->cluster;
  if (m->self->cluster_arrivals != cluster->phase)
    mirage__machine_fail(m, op, "arrives at a cluster barrier twice without waiting");
  ++m->self->cluster_arrivals;
  if (++cluster->arrived < cluster->size * m->launch->threads)
    return;
  cluster->arrived = 0;
  ++cluster->phase;
  ++cluster->epoch;
  for (uint32_t i = 0; i < cluster->size; ++i) {
    mirage__order_barrier(m, &cluster->blocks[i]);
    ++cluster->blocks[i].epoch;
  }
  mirage__machine_release(m, &cluster->meeting);
}

void mirage__machine_cluster_wait(Machine *m, uint32_t op) {
  Cluster *cluster = m->self->block->cluster;
  if (m->self->cluster_arrivals > cluster->phase)
    mirage__machine_meet(m, &cluster->meeting, UINT32_MAX, "a cluster barrier", op); // the last to arrive releases all
}

// ----------------------------------------------------------------------------------------------------------- batches

// One allocation holds everything that a batch of clusters needs.
typedef struct Store {
  void *stacks;
  size_t stack_bytes;
  Block *blocks;
  Meeting *warps;
  uint8_t *shared;
  Granule *granules;
} Store;

static int64_t volume(const int64_t *extent) { return extent[0] * extent[1] * extent[2]; }
static uint32_t shared_granules(const Launch *launch) { return (launch->shared_bytes + GRANULE - 1) / GRANULE; }

static MirageStatus allocate(Machine *m, uint32_t num_blocks, Store *store) {
  const Launch *launch = m->launch;
  size_t warps = launch->threads / LANES, shared = (size_t)shared_granules(launch);
  m->num_fibres = num_blocks * launch->threads;
  m->num_clusters = num_blocks / (uint32_t)volume(launch->cluster);
  *store = (Store){.stack_bytes = (size_t)m->num_fibres * STACK_BYTES};
  store->stacks = mmap(NULL, store->stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  m->fibres = calloc(m->num_fibres, sizeof *m->fibres);
  m->clusters = calloc(m->num_clusters, sizeof *m->clusters);
  m->pointers = calloc(launch->num_buffers + launch->num_maps + 1, sizeof *m->pointers);
  store->blocks = calloc(num_blocks, sizeof *store->blocks);
  store->warps = calloc(num_blocks * warps, sizeof *store->warps);
  store->shared = malloc(num_blocks * shared * GRANULE + 1);
  store->granules = malloc((num_blocks * shared + 1) * sizeof *store->granules);
  if (launch->together && launch->num_buffers) {
    m->workspace = &launch->buffers[launch->num_buffers - 1];
    m->order = mirage__order_create(num_blocks, m->workspace);
    if (!m->order)
      return mirage_diag_fail(launch->diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory for %u blocks",
                              num_blocks);
  }
  if (store->stacks == MAP_FAILED || !m->fibres || !m->clusters || !m->pointers || !store->blocks || !store->warps ||
      !store->shared || !store->granules)
    return mirage_diag_fail(launch->diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory for %u threads",
                            m->num_fibres);
  return MIRAGE_OK;
}

static void release(Machine *m, Store *store) {
  if (store->stacks && store->stacks != MAP_FAILED)
    munmap(store->stacks, store->stack_bytes);
  for (uint32_t i = 0; m->fibres && i < m->num_fibres; ++i)
    free(m->fibres[i].copies);
  mirage__order_destroy(m->order);
  free(m->fibres);
  free(m->clusters);
  free(m->pointers);
  free(store->blocks);
  free(store->warps);
  free(store->shared);
  free(store->granules);
}

// Position of cluster `number` in the grid, in blocks.
static void cluster_origin(const Launch *launch, int64_t number, int64_t *origin) {
  for (int a = 0; a < 3; ++a) {
    int64_t extent = launch->grid[a] / launch->cluster[a];
    origin[a] = number % extent * launch->cluster[a];
    number /= extent;
  }
}

static void begin_block(Machine *m, Store *store, Block *block, Cluster *cluster, uint32_t rank,
                        const int64_t *origin) {
  const Launch *launch = m->launch;
  size_t index = (size_t)(block - store->blocks), warps = launch->threads / LANES, granules = shared_granules(launch);
  *block = (Block){.cluster = cluster, .rank = rank, .epoch = 1};
  int64_t rest = rank, number = 0;
  for (int a = 0; a < 3; ++a) {
    block->id[a] = (uint32_t)(origin[a] + rest % launch->cluster[a]);
    rest /= launch->cluster[a];
  }
  for (int a = 2; a >= 0; --a)
    number = number * launch->grid[a] + block->id[a];
  block->number = (uint32_t)number;
  block->warps = store->warps + index * warps;
  block->shared = store->shared + index * granules * GRANULE;
  block->granules = store->granules + index * granules;
  memset(block->warps, 0, warps * sizeof *block->warps);
  memset(block->shared, 0xff, granules * GRANULE); // unwritten memory holds NaN
  memset(block->granules, 0, granules * sizeof *block->granules);
}

static void begin_fibre(Machine *m, Store *store, uint32_t index, Block *block, uint32_t thread) {
  Fibre *fibre = &m->fibres[index];
  Copy *copies = fibre->copies;
  uint32_t max_copies = fibre->max_copies;
  *fibre = (Fibre){.block = block, .thread = thread, .copies = copies, .max_copies = max_copies};
  mirage__stack_prepare(&fibre->stack, (char *)store->stacks + (size_t)index * STACK_BYTES, STACK_BYTES, fibre_main);
}

// Clusters [first, first + num_clusters) of the grid. With early copies the last thread begins: another order, the same
// result.
static void begin_batch(Machine *m, Store *store, int64_t first) {
  const Launch *launch = m->launch;
  uint32_t size = (uint32_t)volume(launch->cluster), fibre = 0;
  m->first_ready = m->last_ready = m->polling = NULL;
  m->ended = 0;
  for (uint32_t c = 0; c < m->num_clusters; ++c) {
    int64_t origin[3];
    cluster_origin(launch, first + c, origin);
    m->clusters[c] = (Cluster){.blocks = store->blocks + (size_t)c * size, .size = size, .epoch = 1};
    for (uint32_t r = 0; r < size; ++r) {
      begin_block(m, store, &m->clusters[c].blocks[r], &m->clusters[c], r, origin);
      for (uint32_t t = 0; t < launch->threads; ++t)
        begin_fibre(m, store, fibre++, &m->clusters[c].blocks[r], t);
    }
  }
  bool backwards = launch->copies == MIRAGE_COPIES_EARLY;
  for (uint32_t i = 0; i < fibre; ++i)
    make_ready(m, &m->fibres[backwards ? fibre - 1 - i : i]);
}

// Polling threads may look again if device memory has changed since they last did.
static bool wake_polling(Machine *m) {
  Fibre **link = &m->polling;
  bool woken = false;
  while (*link) {
    Fibre *fibre = *link;
    if (fibre->poll_progress == m->progress) {
      link = &fibre->next;
      continue;
    }
    *link = fibre->next;
    make_ready(m, fibre);
    woken = true;
  }
  return woken;
}

static void explain_deadlock(Machine *m, const char *format, ...) {
  va_list args;
  va_start(args, format);
  set_message(m, m->failed_op, format, args);
  va_end(args);
}

// Names the first thread that waits, how many wait with it, and how many wait elsewhere or have ended.
static void deadlock(Machine *m) {
  const Fibre *first = NULL;
  uint32_t same = 0, other = 0;
  for (uint32_t i = 0; i < m->num_fibres; ++i) {
    const Fibre *fibre = &m->fibres[i];
    if (fibre->state == ENDED)
      continue;
    first = first ? first : fibre;
    bool alike = fibre->where == first->where && fibre->op == first->op;
    same += alike;
    other += !alike;
  }
  m->failed_op = first->op;
  explain_deadlock(m,
                   "deadlock: %u threads wait at %s, %u elsewhere, %u have ended (%s, first: block %u %u %u, thread "
                   "%u)",
                   same, first->where, other, m->ended, m->launch->name, first->block->id[0], first->block->id[1],
                   first->block->id[2], first->thread);
}

static void run_batch(Machine *m) {
  while (!m->failed && m->ended < m->num_fibres) {
    if (!m->first_ready && !wake_polling(m)) {
      deadlock(m);
      return;
    }
    mirage__stack_switch(&m->main, &take_ready(m)->stack);
  }
}

static MirageStatus run(Machine *m, Store *store, int64_t num_blocks, uint32_t batch) {
  const Launch *launch = m->launch;
  int64_t clusters = num_blocks / volume(launch->cluster);
  MIRAGE_TRY(allocate(m, batch, store));
  for (uint32_t i = 0; i < launch->num_buffers; ++i)
    m->pointers[i] = buffer_address(i);
  for (uint32_t i = 0; i < launch->num_maps; ++i)
    m->pointers[launch->num_buffers + i] = (uintptr_t)&launch->maps[i];
  for (int64_t c = 0; c < clusters && !m->failed; c += m->num_clusters) {
    begin_batch(m, store, c);
    run_batch(m);
  }
  if (!m->failed)
    return MIRAGE_OK;
  const void *loc = NULL;
  if (m->failed_op && m->failed_op <= mirage_ugraph_num_nodes(launch->graph))
    loc = mirage_ugraph_node(launch->graph, (MirageNode){m->failed_op}).loc;
  return mirage_diag_fail(launch->diag, loc, MIRAGE_FAULT, "%s", m->message);
}

MirageStatus mirage__machine_run(const Launch *launch) {
  int64_t num_blocks = volume(launch->grid), batch = launch->together ? num_blocks : volume(launch->cluster);
  if (batch * launch->threads > MOST_FIBRES)
    return mirage_diag_fail(launch->diag, NULL, MIRAGE_LIMIT, "emulator: %lld threads at once, at most %d",
                            (long long)(batch * launch->threads), MOST_FIBRES);
  Machine m = {.launch = launch}, *outer = mirage__machine;
  Store store = {0};
  mirage__machine = &m;
  MirageStatus status = run(&m, &store, num_blocks, (uint32_t)batch);
  mirage__machine = outer;
  release(&m, &store);
  return status;
}
