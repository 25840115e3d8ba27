// machine.c - threads of a kernel: whose turn it is, and what happens when nobody's is.
//
// Blocks run cluster by cluster, or all at once where they wait for each other. Within such a batch every thread is a
// fibre. The main stack runs when no fibre is ready: then all have ended, or a bulk copy may arrive now, which is as
// late as it can, or some poll device memory that has changed since, or it is a deadlock.
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Thread_local Machine *mirage__machine;

enum { MOST_FIBRES = 1 << 17 };

// ----------------------------------------------------------------------------------------------------------- messages

const char *mirage__machine_op_name(const Machine *m, uint32_t op) {
  bool known = op > 0 && op <= m->launch->num_operators && m->launch->operators[op].mnemonic;
  return known ? m->launch->operators[op].mnemonic : "custom";
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
  if (m->landing)
    longjmp(m->landed, 1);
  mirage__stack_end(&m->self->stack, &m->main);
  abort(); // nobody switches back to a machine that failed
}

// ---------------------------------------------------------------------------------------------------------- switching

void mirage__machine_make_ready(Machine *m, Fibre *fibre) {
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
  mirage__group_end(m);
  Fibre *self = m->self;
  self->state = ENDED;
  if (++self->block->ended == m->launch->threads)
    mirage__copy_check_end(m);
  m->ended++;
  Fibre *next = take_ready(m);
  mirage__stack_end(&self->stack, next ? &next->stack : &m->main);
  abort(); // an ended thread is never continued
}

void mirage__machine_suspend(Machine *m, const char *where, uint32_t op) {
  Fibre *self = m->self;
  self->state = WAITING;
  self->where = where;
  self->op = op;
  give_way(m);
}

void mirage__machine_poll(Machine *m) {
  Fibre *self = m->self;
  self->state = POLLING;
  self->next = m->polling;
  m->polling = self;
  give_way(m);
}

// ----------------------------------------------------------------------------------------------------------- batches

// What a batch of clusters needs, allocated once.
typedef struct Store {
  void *stacks;
  size_t stack_bytes;
  Meeting *meetings; // of warps, then of warpgroups
  uint32_t *warp_counts;
  uint16_t *warp_registers;
  uint8_t *shared;
} Store;

static int64_t volume(const int64_t *extent) { return extent[0] * extent[1] * extent[2]; }
// Shared memory of a block, so that that of the next begins as aligned.
static uint32_t shared_room(const Launch *launch) { return (launch->shared_bytes + 15) / 16 * 16; }
static uint32_t num_warps(const Launch *launch) { return (launch->threads + LANES - 1) / LANES; }
static uint32_t num_groups(const Launch *launch) { return (launch->threads + GROUP - 1) / GROUP; }

static MirageStatus no_memory(const Machine *m) {
  return mirage_diag_fail(m->launch->diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory for %u threads",
                          m->num_fibres);
}

static MirageStatus allocate_order(Machine *m) {
  const Launch *launch = m->launch;
  if (!launch->together || !launch->num_buffers)
    return MIRAGE_OK;
  m->workspace = &launch->buffers[launch->num_buffers - 1];
  m->order = mirage__order_create(m->workspace, m->granules + (size_t)m->num_blocks * shared_room(launch));
  return m->order ? MIRAGE_OK : no_memory(m);
}

static MirageStatus allocate(Machine *m, uint32_t num_blocks, Store *store) {
  const Launch *launch = m->launch;
  size_t shared = (size_t)num_blocks * shared_room(launch), warps = (size_t)num_blocks * num_warps(launch);
  m->num_fibres = num_blocks * launch->threads;
  m->num_blocks = num_blocks;
  m->num_clusters = num_blocks / (uint32_t)volume(launch->cluster);
  *store = (Store){.stack_bytes = (size_t)m->num_fibres * STACK_BYTES};
  store->stacks = mmap(NULL, store->stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  store->meetings = calloc(warps + (size_t)num_blocks * num_groups(launch), sizeof *store->meetings);
  store->warp_counts = calloc(warps, sizeof *store->warp_counts);
  store->warp_registers = calloc(warps, sizeof *store->warp_registers);
  store->shared = malloc(shared + 1);
  m->fibres = calloc(m->num_fibres, sizeof *m->fibres);
  m->clusters = calloc(m->num_clusters, sizeof *m->clusters);
  m->blocks = calloc(num_blocks, sizeof *m->blocks);
  m->pointers = calloc(launch->num_buffers + launch->num_maps + 1, sizeof *m->pointers);
  m->clocks = mirage__clocks_create(num_blocks, launch->threads);
  m->trace = mirage__trace_create();
  m->num_granules = (uint32_t)shared;
  if (launch->together && launch->num_buffers)
    m->num_granules += (uint32_t)(launch->buffers[launch->num_buffers - 1].bytes / WORKSPACE_GRANULE);
  m->granules = calloc((size_t)m->num_granules + 1, sizeof *m->granules);
  if (store->stacks == MAP_FAILED || !m->fibres || !m->clusters || !m->blocks || !m->pointers || !m->clocks ||
      !m->trace || !m->granules || !store->meetings || !store->warp_counts || !store->warp_registers || !store->shared)
    return no_memory(m);
  return allocate_order(m);
}

static void release(Machine *m, Store *store) {
  if (store->stacks && store->stacks != MAP_FAILED)
    munmap(store->stacks, store->stack_bytes);
  for (uint32_t i = 0; m->fibres && i < m->num_fibres; i++) {
    free(m->fibres[i].copies);
    mirage__group_drop(&m->fibres[i]);
  }
  mirage__copy_drop_all(m);
  if (m->order)
    mirage__order_destroy(m->order);
  mirage__trace_destroy(m->trace);
  mirage__clocks_destroy(m->clocks);
  free(m->fibres);
  free(m->clusters);
  free(m->blocks);
  free(m->granules);
  free(m->pointers);
  free(store->meetings);
  free(store->warp_counts);
  free(store->warp_registers);
  free(store->shared);
}

// Position of cluster `number` in the grid, in blocks.
static void cluster_origin(const Launch *launch, int64_t number, int64_t *origin) {
  for (int a = 0; a < 3; a++) {
    int64_t extent = launch->grid[a] / launch->cluster[a];
    origin[a] = number % extent * launch->cluster[a];
    number /= extent;
  }
}

// A meeting that nobody came to, without what the last batch left there.
static void clear_meeting(Machine *m, Meeting *meeting) {
  mirage__clock_clear(m, &meeting->channel);
  *meeting = (Meeting){0};
}

static void clear_block(Machine *m, Block *block) {
  for (uint32_t i = 0; i < NUM_BARRIERS; i++)
    clear_meeting(m, &block->barriers[i]);
  for (uint32_t i = 0; i < num_warps(m->launch) && block->warps; i++)
    clear_meeting(m, &block->warps[i]);
  for (uint32_t i = 0; i < num_groups(m->launch) && block->warpgroups; i++)
    clear_meeting(m, &block->warpgroups[i]);
  for (uint32_t i = 0; i < block->num_mbarriers; i++) {
    mirage__clock_clear(m, &block->mbarriers[i].channel);
    mirage__clock_clear(m, &block->mbarriers[i].done);
  }
}

static void begin_block(Machine *m, Store *store, Block *block, Cluster *cluster, uint32_t rank,
                        const int64_t *origin) {
  const Launch *launch = m->launch;
  size_t slot = (size_t)(block - m->blocks), warps = num_warps(launch), room = shared_room(launch);
  clear_block(m, block);
  *block = (Block){.cluster = cluster, .rank = rank, .slot = (uint32_t)slot};
  int64_t rest = rank, number = 0;
  for (int a = 0; a < 3; a++) {
    block->id[a] = (uint32_t)(origin[a] + rest % launch->cluster[a]);
    rest /= launch->cluster[a];
  }
  for (int a = 2; a >= 0; a--)
    number = number * launch->grid[a] + block->id[a];
  block->number = (uint32_t)number;
  block->warps = store->meetings + slot * warps;
  block->warpgroups = store->meetings + m->num_blocks * warps + slot * num_groups(launch);
  block->warp_counts = store->warp_counts + slot * warps;
  block->warp_registers = store->warp_registers + slot * warps;
  block->shared = store->shared + slot * room;
  block->granules = m->granules + slot * room;
  for (size_t w = 0; w < warps; w++) {
    block->warp_counts[w] = 1;
    block->warp_registers[w] = 0;
  }
  memset(block->shared, 0xff, room); // unwritten memory holds NaN
  memset(block->granules, 0, room * sizeof *block->granules);
}

static void begin_fibre(Machine *m, Store *store, uint32_t index, Block *block, uint32_t thread) {
  Fibre *fibre = &m->fibres[index];
  Copy *copies = fibre->copies;
  uint32_t max_copies = fibre->max_copies;
  mirage__clock_drop(m->clocks, fibre->base);
  mirage__clock_drop(m->clocks, fibre->fence_base);
  mirage__clock_drop(m->clocks, fibre->cluster_base);
  mirage__group_drop(fibre);
  *fibre = (Fibre){.block = block, .thread = thread, .copies = copies, .max_copies = max_copies, .count = 1};
  fibre->base = mirage__clock_origin(m->clocks);
  mirage__stack_prepare(&fibre->stack, (char *)store->stacks + (size_t)index * STACK_BYTES, STACK_BYTES, fibre_main);
}

// Clusters [first, first + num_clusters) of the grid. With early copies the last thread begins: another order, the same
// result.
static void begin_batch(Machine *m, Store *store, int64_t first) {
  const Launch *launch = m->launch;
  uint32_t size = (uint32_t)volume(launch->cluster), fibre = 0;
  m->first_ready = m->last_ready = m->polling = NULL;
  m->ended = 0;
  mirage__copy_drop_all(m);
  mirage__trace_reset(m->trace);
  for (uint32_t c = 0; c < m->num_clusters; c++) {
    int64_t origin[3];
    cluster_origin(launch, first + c, origin);
    clear_meeting(m, &m->clusters[c].meeting);
    mirage__clock_clear(m, &m->clusters[c].done);
    m->clusters[c] = (Cluster){.blocks = m->blocks + (size_t)c * size, .size = size};
    for (uint32_t r = 0; r < size; r++) {
      begin_block(m, store, &m->clusters[c].blocks[r], &m->clusters[c], r, origin);
      for (uint32_t t = 0; t < launch->threads; t++)
        begin_fibre(m, store, fibre++, &m->clusters[c].blocks[r], t);
    }
  }
  bool backwards = launch->copies == MIRAGE_COPIES_EARLY;
  for (uint32_t i = 0; i < fibre; i++)
    mirage__machine_make_ready(m, &m->fibres[backwards ? fibre - 1 - i : i]);
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
    mirage__machine_make_ready(m, fibre);
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

// What an mbarrier still lacks: "; the mbarrier at byte 0 lacks 1 of 2 arrivals and 64 bytes".
static void describe_mbarrier(const Fibre *fibre, char *text, size_t size) {
  const Mbarrier *mbarrier = fibre->waits_for;
  *text = 0;
  if (fibre->where == MIRAGE_AT_MBARRIER)
    snprintf(text, size, "; the mbarrier at byte %u lacks %u of %u arrivals and %lld bytes in its phase %u",
             mbarrier->offset, mbarrier->missing, mbarrier->expected, (long long)mbarrier->bytes, mbarrier->phase);
}

// Names the first thread that waits, how many wait with it, and how many wait elsewhere or have ended.
static void deadlock(Machine *m) {
  const Fibre *first = NULL;
  uint32_t same = 0, other = 0;
  for (uint32_t i = 0; i < m->num_fibres; i++) {
    const Fibre *fibre = &m->fibres[i];
    if (fibre->state == ENDED)
      continue;
    first = first ? first : fibre;
    bool alike = fibre->where == first->where && fibre->op == first->op && fibre->waits_for == first->waits_for;
    same += alike;
    other += !alike;
  }
  char detail[128];
  describe_mbarrier(first, detail, sizeof detail);
  m->failed_op = first->op;
  explain_deadlock(m,
                   "deadlock: %u threads wait at %s, %u elsewhere, %u have ended%s (%s, first: block %u %u %u, thread "
                   "%u)",
                   same, first->where, other, m->ended, detail, m->launch->name, first->block->id[0],
                   first->block->id[1], first->block->id[2], first->thread);
}

static void run_batch(Machine *m) {
  if (setjmp(m->landed))
    return; // a copy broke a rule on arrival
  while (!m->failed && m->ended < m->num_fibres) {
    if (m->first_ready || wake_polling(m)) {
      mirage__stack_switch(&m->main, &take_ready(m)->stack);
      continue;
    }
    m->landing = true;
    bool landed = mirage__copy_land(m);
    m->landing = false;
    if (!landed) {
      deadlock(m);
      return;
    }
  }
}

static MirageStatus run(Machine *m, Store *store, int64_t num_blocks, uint32_t batch) {
  const Launch *launch = m->launch;
  int64_t clusters = num_blocks / volume(launch->cluster);
  MIRAGE_TRY(mirage__copy_check_maps(launch));
  MIRAGE_TRY(allocate(m, batch, store));
  for (uint32_t i = 0; i < launch->num_buffers; i++)
    m->pointers[i] = buffer_address(i);
  for (uint32_t i = 0; i < launch->num_maps; i++)
    m->pointers[launch->num_buffers + i] = (uintptr_t)&launch->maps[i];
  for (int64_t c = 0; c < clusters && !m->failed; c += m->num_clusters) {
    begin_batch(m, store, c);
    run_batch(m);
  }
  if (!m->failed)
    return MIRAGE_OK;
  const void *loc = NULL;
  if (m->failed_op && m->failed_op <= launch->num_operators)
    loc = launch->operators[m->failed_op].loc;
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
