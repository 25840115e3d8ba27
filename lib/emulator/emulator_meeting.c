// emulator_meeting.c - barriers: of a warp, of some or all warps of a block, of a cluster; and registers handed from
// warp to warp.
//
// A thread that waits stands in a Meeting's list; the last to come makes all of them ready. A barrier is also where
// threads learn what the others did before (clock.c).
#include "machine.h"

// --------------------------------------------------------------------------------------------------------------
// meeting

static void come(Machine *m, Meeting *meeting, uint32_t expected, const char *where, uint32_t op) {
  if (meeting->arrived++ == 0) {
    meeting->where = where;
    meeting->op = op;
    meeting->expected = expected;
  } else if (meeting->where != where || meeting->op != op) {
    mirage__machine_fail(m, op, "%s meets threads that wait at %s of %s", where, meeting->where,
                         mirage__machine_op_name(m, meeting->op));
  }
}

static void stand(Machine *m, Meeting *meeting, const char *where, uint32_t op) {
  Fibre *self = m->self;
  self->next = NULL;
  if (meeting->last)
    meeting->last->next = self;
  else
    meeting->first = self;
  meeting->last = self;
  mirage__machine_suspend(m, where, op);
}

bool mirage__meeting_join(Machine *m, Meeting *meeting, uint32_t expected, const char *where, uint32_t op) {
  come(m, meeting, expected, where, op);
  if (meeting->arrived == expected)
    return true;
  stand(m, meeting, where, op);
  return false;
}

void mirage__meeting_release(Machine *m, Meeting *meeting) {
  Fibre *first = meeting->first;
  Channel channel = meeting->channel;
  *meeting = (Meeting){.channel = channel};
  for (Fibre *fibre = first, *next; fibre; fibre = next) {
    next = fibre->next;
    mirage__machine_make_ready(m, fibre);
  }
}

// All who stand there, and the running thread if it waits, know what all who came know.
static void release_with_memory(Machine *m, Meeting *meeting, bool with_self) {
  if (with_self)
    mirage__clock_take(m, m->self, &meeting->channel);
  for (Fibre *fibre = meeting->first; fibre; fibre = fibre->next)
    mirage__clock_take(m, fibre, &meeting->channel);
  mirage__clock_clear(m, &meeting->channel);
  mirage__meeting_release(m, meeting);
}

// -------------------------------------------------------------------------------------------------------------- of
// warps

void mirage__meeting_warp(Machine *m, uint32_t op, uint32_t lanes) {
  if (lanes != UINT32_MAX)
    mirage__machine_fail(m, op, "a barrier of lanes 0x%x: whole warps are emulated", lanes);
  Meeting *meeting = &m->self->block->warps[m->self->thread / LANES];
  mirage__clock_release(m, m->self, &meeting->channel);
  if (mirage__meeting_join(m, meeting, LANES, "a barrier of the warp", op))
    release_with_memory(m, meeting, true);
}

static void check_barrier(Machine *m, uint32_t op, uint32_t number, uint32_t threads) {
  if (number >= NUM_BARRIERS)
    mirage__machine_fail(m, op, "barrier %u of %u", number, (unsigned)NUM_BARRIERS);
  const Meeting *meeting = &m->self->block->barriers[number];
  if (threads == 0 || threads % LANES || threads > m->launch->threads)
    mirage__machine_fail(m, op, "barrier %u is for %u threads: not whole warps of a block of %u", number, threads,
                         m->launch->threads);
  if (meeting->arrived && meeting->expected != threads)
    mirage__machine_fail(m, op, "barrier %u is for %u threads, and for %u of %s", number, threads, meeting->expected,
                         mirage__machine_op_name(m, meeting->op));
}

void mirage__meeting_barrier(Machine *m, uint32_t op, uint32_t number, uint32_t threads, bool waits) {
  check_barrier(m, op, number, threads);
  Meeting *meeting = &m->self->block->barriers[number];
  bool all = number == 0;
  const char *where = all ? "a barrier" : "a named barrier";
  // Whole blocks come to one place in the code; roles, and groups that take turns, meet each other from several.
  come(m, meeting, threads, where, meeting->arrived && !all ? meeting->op : op);
  mirage__clock_release(m, m->self, &meeting->channel);
  if (meeting->arrived == threads)
    release_with_memory(m, meeting, waits);
  else if (waits)
    stand(m, meeting, where, op);
}

// Two answers in turn: who was the last to come may ask again before the others have read the first, but nobody a third time.
bool mirage__meeting_any(Machine *m, uint32_t op, uint32_t number, uint32_t threads, bool value) {
  check_barrier(m, op, number, threads);
  const Meeting *meeting = &m->self->block->barriers[number];
  Question *question = &m->self->block->questions[number];
  bool *any = &question->any[question->answered % 2];
  *any = value || (*any && meeting->arrived);
  question->answered += meeting->arrived + 1 == threads;
  mirage__meeting_barrier(m, op, number, threads, true);
  return *any;
}

// ------------------------------------------------------------------------------------------------------------ of
// clusters

void mirage__meeting_cluster_arrive(Machine *m, uint32_t op, bool relaxed) {
  Cluster *cluster = m->self->block->cluster;
  if (m->self->cluster_arrivals != cluster->phase)
    mirage__machine_fail(m, op, "arrives at a cluster barrier twice without waiting");
  if (relaxed && m->self->reads_peer)
    mirage__machine_fail(m, op, "arrives at a cluster barrier before what it reads of a peer has come");
  m->self->reads_peer = false;
  m->self->cluster_arrivals++;
  (relaxed ? mirage__clock_release_fenced : mirage__clock_release)(m, m->self, &cluster->meeting.channel);
  if (++cluster->arrived < cluster->size * m->launch->threads)
    return;
  cluster->arrived = 0;
  cluster->phase++;
  mirage__clock_clear(m, &cluster->done);
  cluster->done = cluster->meeting.channel;
  cluster->meeting.channel = (Channel){0};
  mirage__meeting_release(m, &cluster->meeting);
}

void mirage__meeting_cluster_wait(Machine *m, uint32_t op) {
  Cluster *cluster = m->self->block->cluster;
  if (m->self->cluster_waits++ == m->self->cluster_arrivals)
    mirage__machine_fail(m, op, "waits at a cluster barrier without having arrived");
  if (m->self->cluster_arrivals > cluster->phase) // the last to arrive makes all ready
    mirage__meeting_join(m, &cluster->meeting, UINT32_MAX, "a cluster barrier", op);
  mirage__clock_acquire(m, m->self, &cluster->done);
}

// --------------------------------------------------------------------------------------------------------- registers

static const char SETMAXNREG[] = "setmaxnreg"; // where threads wait, for their group or for registers of others
enum { REGISTER_FILE = 65536, FEWEST_REGISTERS = 24, MOST_REGISTERS = 256, REGISTER_STEP = 8 };

// What each thread begins with: as many as the file has for a block of that size.
static uint32_t registers_at_launch(const Launch *launch) {
  uint32_t count = REGISTER_FILE / launch->threads / REGISTER_STEP * REGISTER_STEP;
  return count < MOST_REGISTERS ? count : MOST_REGISTERS - REGISTER_STEP;
}

static uint32_t registers_of(const Machine *m, const Block *block, uint32_t warp) {
  return block->warp_registers[warp] ? block->warp_registers[warp] : registers_at_launch(m->launch);
}

static uint32_t registers_in_use(const Machine *m, const Block *block) {
  uint32_t sum = 0;
  for (uint32_t w = 0; w < m->launch->threads / LANES; w++)
    sum += registers_of(m, block, w) * LANES;
  return sum;
}

static void check_registers(Machine *m, uint32_t op, uint32_t count, bool more) {
  uint32_t now = registers_of(m, m->self->block, m->self->thread / LANES);
  if (count < FEWEST_REGISTERS || count > MOST_REGISTERS || count % REGISTER_STEP)
    mirage__machine_fail(m, op, "%u registers per thread: not a multiple of %u in %u .. %u", count,
                         (unsigned)REGISTER_STEP, (unsigned)FEWEST_REGISTERS, (unsigned)MOST_REGISTERS);
  if (more ? count < now : count > now)
    mirage__machine_fail(m, op, "asks for %s registers per thread than %u: %u", more ? "more" : "fewer", now, count);
}

static void set_registers(Machine *m, uint32_t op, uint32_t count, bool more) {
  Fibre *self = m->self;
  Block *block = self->block;
  uint32_t first = self->thread / GROUP * (GROUP / LANES), threads = mirage__group_threads(m, self);
  uint32_t now = registers_of(m, block, first), file = registers_at_launch(m->launch) * m->launch->threads;
  while (more && registers_in_use(m, block) + (count - now) * threads > file)
    stand(m, &block->registers, SETMAXNREG, op);
  for (uint32_t w = 0; w < threads / LANES; w++)
    block->warp_registers[first + w] = (uint16_t)count;
  mirage__meeting_release(m, &block->registers);
}

// The whole warpgroup comes with the same number, then takes it as soon as the block has so many.
void mirage__meeting_registers(Machine *m, uint32_t op, uint32_t count, bool more) {
  Fibre *self = m->self, *first = self - self->thread % GROUP;
  Meeting *group = &self->block->warpgroups[self->thread / GROUP];
  check_registers(m, op, count, more);
  self->words[0] = count;
  if (!mirage__meeting_join(m, group, mirage__group_threads(m, self), SETMAXNREG, op))
    return;
  for (uint32_t i = 0; i < mirage__group_threads(m, self); i++)
    if (first[i].words[0] != count)
      mirage__machine_fail(m, op, "asks for %u registers per thread, and thread %u of its warpgroup for %u", count,
                           first[i].thread, first[i].words[0]);
  set_registers(m, op, count, more);
  mirage__meeting_release(m, group);
}
