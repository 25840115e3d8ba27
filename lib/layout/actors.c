// actors.c - the team of a block, and the channels of a planned one (actors.h), derived from what has been decided.
//
// Channels:  of each loop, and of what is outside loops, in the order
//              copied    loads that the copy engine brings: a mbarrier says that all tiles of an iteration have landed
//              staged    loads by cp.async
//              streamed  loads that go to registers
//              buffers   what is computed into shared memory, behind barriers
//              cells     what stays in the registers of who computed it
//            then what blocks tell each other: meetings, and the sums of side blocks. Outside loops every copied tile
//            has a channel, hence a mbarrier, to itself: it is waited for when somebody wants to read it.
// Mbarriers: numbered in the order of the channels, full before free.
#include "block.h"

typedef enum { COPIED, STAGED, STREAMED, BUFFERS, CELLS, NUM_KINDS, NOWHERE = NUM_KINDS } Kind;

typedef struct Derive {
  Block *block;
  MirageValue *next; // room for the values of channels
  ActorSet workers, producer;
} Derive;

// --------------------------------------------------------------------------------------------------------------- team

ActorSet mirage__team_all(const Team *team, ActorKind kind) {
  ActorSet set = 0;
  for (int32_t i = 0; i < team->num_actors; i++)
    set |= team->actors[i].kind == kind ? 1u << i : 0;
  return set;
}

ActorSet mirage__team_computes(const Team *team) {
  return mirage__team_all(team, ACTOR_THREADS) | mirage__team_all(team, ACTOR_CONSUMER);
}

const Actor *mirage__team_first(const Team *team, ActorKind kind) {
  for (int32_t i = 0; i < team->num_actors; i++)
    if (team->actors[i].kind == kind)
      return &team->actors[i];
  return NULL;
}

static int32_t warps_of(const Team *team, ActorSet set) {
  int32_t warps = 0;
  for (int32_t i = 0; i < team->num_actors; i++)
    warps += set >> i & 1 ? team->actors[i].warps : 0;
  return warps;
}

int32_t mirage__team_warps(const Team *team) { return warps_of(team, ~mirage__team_all(team, ACTOR_SIDE)); }

int32_t mirage__team_groups(const Team *team) { return team->groups > 1 ? team->groups : 1; }

int32_t mirage__team_workers(const Team *team) {
  return warps_of(team, mirage__team_computes(team)) / mirage__team_groups(team);
}

int32_t mirage__team_first_warp(const Team *team, const Actor *actor) {
  return warps_of(team, (1u << (actor - team->actors)) - 1);
}

void mirage__team_set_warps(Team *team, int32_t warps) {
  for (int32_t i = 0; i < team->num_actors; i++)
    if (team->actors[i].kind == ACTOR_THREADS || team->actors[i].kind == ACTOR_SIDE)
      team->actors[i].warps = warps;
}

void mirage__team_add_side(Team *team, int32_t blocks) {
  if (blocks)
    team->actors[team->num_actors++] = (Actor){.kind = ACTOR_SIDE, .warps = mirage__team_warps(team), .blocks = blocks};
}

int32_t mirage__launch_registers(int32_t warps) {
  int32_t registers = 65536 / (warps * 32) / 8 * 8;
  return registers > 255 ? 255 : registers;
}

int32_t mirage__team_registers(const Team *team) {
  int32_t launch = mirage__launch_registers(mirage__team_warps(team)), least = 255;
  for (int32_t i = 0; i < team->num_actors; i++) {
    const Actor *actor = &team->actors[i];
    int32_t registers = actor->registers ? actor->registers : launch;
    if (mirage__team_computes(team) >> i & 1 && registers < least)
      least = registers;
  }
  return least;
}

enum { OTHERS = 40 }; // registers for addresses, and for what an epilogue computes

int32_t mirage__accumulator_limit(const Team *team) {
  int32_t registers = mirage__team_registers(team);
  if (mirage__team_groups(team) > 1) // warpgroups, whose operands come from shared memory
    return registers - OTHERS;
  return registers * 9 / 16; // the rest holds operands and addresses
}

int32_t mirage__warpgroup_limit(const Team *team, bool summed) {
  if (summed)
    return mirage__team_registers(team) - OTHERS;
  int32_t limit = mirage__accumulator_limit(team);
  bool three = mirage__team_workers(team) == MIRAGE_THREE_GROUPS;
  return three && limit < MIRAGE_THREE_GROUPS_MOST ? MIRAGE_THREE_GROUPS_MOST : limit;
}

// ----------------------------------------------------------------------------------------------------------- channels

const Channel *mirage__block_channel_of(const Block *block, MirageValue tile) {
  int32_t channel = block->values[tile.index].channel;
  return channel < 0 ? NULL : &block->channels[channel];
}

const Channel *mirage__block_loop_channel(const Block *block, int32_t loop, SignalKind full) {
  for (int32_t c = 0; c < block->num_channels; c++)
    if (block->channels[c].loop == loop && block->channels[c].place == PLACE_SHARED &&
        block->channels[c].full.kind == full)
      return &block->channels[c];
  return NULL;
}

static Kind kind_of(const Block *block, MirageOp op, MirageValue value) {
  const BlockValue *v = &block->values[value.index];
  if (v->alias.index != value.index)
    return NOWHERE;
  if (op == MIRAGE_OP_LOAD)
    return mirage__block_is_copied(block, value) ? COPIED : v->shared ? STAGED : STREAMED;
  return v->shared ? BUFFERS : v->resident || v->carried ? CELLS : NOWHERE;
}

static Channel *open_channel(Derive *d, Kind kind, int32_t loop) {
  static const struct {
    ChannelPlace place;
    SignalKind full, free;
  } ARE[NUM_KINDS] = {
      [COPIED] = {PLACE_SHARED, SIGNAL_MBARRIER, SIGNAL_BARRIER},
      [STAGED] = {PLACE_SHARED, SIGNAL_COPY_GROUP, SIGNAL_BARRIER},
      [STREAMED] = {PLACE_STREAM, SIGNAL_NONE, SIGNAL_NONE},
      [BUFFERS] = {PLACE_SHARED, SIGNAL_BARRIER, SIGNAL_BARRIER},
      [CELLS] = {PLACE_CELLS, SIGNAL_NONE, SIGNAL_NONE},
  };
  Channel *channel = &d->block->channels[d->block->num_channels++];
  *channel = (Channel){.values = d->next,
                       .from = d->workers,
                       .to = d->workers,
                       .loop = loop,
                       .place = ARE[kind].place,
                       .stages = 1,
                       .full.kind = ARE[kind].full,
                       .free.kind = ARE[kind].free};
  return channel;
}

static void add_value(Derive *d, Channel *channel, MirageValue value) {
  Block *block = d->block;
  BlockValue *v = &block->values[value.index];
  *d->next++ = value;
  channel->num_values++;
  v->channel = (int32_t)(channel - block->channels);
  if (v->load < 0)
    return;
  BlockLoad *load = &block->loads[v->load];
  if (v->shared && load->loop >= 0)
    channel->stages = block->loops[load->loop].stages;
  load->multicast &= load->by == BY_TENSOR && v->shared && d->producer;
  channel->multicast |= load->multicast;
  if (channel->full.kind == SIGNAL_MBARRIER)
    channel->full.bytes += mirage__panels_bytes(&block->types[value.index]);
}

// Products that a loop lets run into its next iteration: all that it carries, as long as nothing but products changes
// their accumulators, or the loop waits for them before anything does (overlap.c).
static int32_t lag_of(const Block *block, MirageNode node) {
  MirageNodeView loop = mirage_ugraph_node(block->graph, node), yield = mirage__block_yield(block, node);
  bool ahead = block->loops[mirage__block_find_loop(block, node)].ahead;
  int32_t lag = 0;
  for (uint32_t i = 0; i < loop.num_operands; i++) {
    if (mirage__block_carry_kind(block, node, i) != CARRY_MATMUL ||
        !block->values[mirage__block_resolve(block, yield.operands[i]).index].warpgroup)
      continue;
    if (loop.attrs->loop.carries[i].combine == MIRAGE_COMBINE_RESCALE && !ahead)
      return 0;
    lag++;
  }
  return lag;
}

// Threads that copy into the place of the tile before must know that nothing reads it any more.
static bool threads_copy(const Block *block, int32_t loop) {
  for (uint32_t i = 0; i < block->num_loads; i++)
    if (block->loads[i].loop == loop && block->loads[i].by == BY_THREADS)
      return true;
  return false;
}

// A producer's copies are given back by an mbarrier in a loop, warp by warp, and by nobody outside. So are those of a
// loop whose warps meet for nothing else.
static void number_mbarriers(Derive *d, Channel *channel) {
  Block *block = d->block;
  int64_t blocks = channel->multicast ? mirage__block_cluster(block) : 1;
  channel->full.first = block->num_mbarriers;
  channel->full.arrivals = 1;
  block->num_mbarriers += channel->stages;
  if (d->producer)
    channel->from = d->producer;
  if (d->producer && channel->loop < 0)
    channel->free.kind = SIGNAL_NONE;
  if (channel->loop < 0 || !(d->producer || block->loops[channel->loop].released))
    return;
  channel->free = (Signal){.kind = SIGNAL_MBARRIER,
                           .first = block->num_mbarriers,
                           .arrivals = mirage__team_workers(&block->team) * (int32_t)blocks};
  block->num_mbarriers += channel->stages;
  // Who has one stage waits for its products, too: it is given back before the next iteration comes.
  bool waits = (threads_copy(block, channel->loop) && !block->loops[channel->loop].ahead) || channel->stages == 1;
  if (!waits && (d->producer || block->loops[channel->loop].ahead)) // who copies else waits for all that has been read
    channel->lag = lag_of(block, block->loops[channel->loop].node);
}

static void derive_kind(Derive *d, Kind kind, int32_t loop) {
  const Block *block = d->block;
  Channel *channel = NULL;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    for (uint32_t r = 0; block->steps[s].loop == loop && r < view.num_results; r++) {
      MirageValue value = {view.first_result.index + r};
      if (kind_of(block, view.op, value) != kind)
        continue;
      if (!channel)
        channel = open_channel(d, kind, loop);
      add_value(d, channel, value);
      if (kind != COPIED || loop >= 0)
        continue;
      number_mbarriers(d, channel);
      channel = NULL;
    }
  if (channel && kind == COPIED)
    number_mbarriers(d, channel);
}

// Whether a value's words can be signals of their own: numbers of which none is needed that a word of zero stands for, and
// whole words in every row.
static bool fills_words(const Block *block, MirageValue value) {
  const MirageType *type = &block->types[value.index];
  if (type->dtype == MIRAGE_F32)
    return true;
  return (type->dtype == MIRAGE_F16 || type->dtype == MIRAGE_BF16) && type->rank > 0 &&
         type->shape[type->rank - 1] % 2 == 0;
}

// Every look at words moves all that a thread needs, and they have room in its registers: so they are few, and of all
// blocks not more than L2 gives in a fraction of a microsecond. (test/bench/history/2026-11-28.md)
static bool are_few(const Block *block, const BlockMeeting *meeting) {
  enum {
    ITEM = 8,
    MOST_WORDS = 80,
    MOST_BYTES = 512 << 10
  }; // ITEM: neighbours that a thread computes at once, at most
  const int64_t *grid = mirage__block_custom(block)->grid;
  double members = 1, words = 0, bytes = 0;
  for (int a = 0; a < 3; a++)
    members *= meeting->axes[a] ? (double)grid[a] : 1;
  for (uint32_t i = 0; i < meeting->num_leaves; i++) {
    const MirageType *type = &block->types[meeting->leaves[i].index];
    int64_t row = type->rank ? type->shape[type->rank - 1] : 1;
    words += (double)(((row < ITEM ? row : ITEM) * mirage_dtype_bytes(type->dtype) + 3) / 4);
    bytes += (double)mirage_type_bytes(type);
  }
  return members * words <= MOST_WORDS && bytes * mirage__block_grid(block) <= MOST_BYTES;
}

static SignalKind signal_of_meeting(const Block *block, const BlockMeeting *meeting) {
  if (meeting->cluster)
    return SIGNAL_CLUSTER;
  bool words = meeting->loop < 0 && are_few(block, meeting);
  for (uint32_t i = 0; i < meeting->num_leaves; i++)
    words &= fills_words(block, meeting->leaves[i]);
  return words ? SIGNAL_WORDS : SIGNAL_FLAG;
}

static void derive_meeting(Derive *d, BlockMeeting *meeting) {
  SignalKind signal = signal_of_meeting(d->block, meeting);
  meeting->channel = d->block->num_channels;
  d->block->channels[d->block->num_channels++] = (Channel){
      .values = meeting->leaves,
      .num_values = meeting->num_leaves,
      .from = d->workers,
      .to = d->workers,
      .loop = meeting->loop,
      .place = meeting->cluster ? PLACE_PEER : PLACE_DEVICE,
      .stages = meeting->cluster || (meeting->loop < 0 && signal != SIGNAL_WORDS) ? 1 : 2, // in turn: codegen_grid.c
      .full.kind = signal,
      .free.kind = signal == SIGNAL_WORDS ? SIGNAL_NONE : signal}; // the slots wait for the next launch but one
}

static void derive_side(Derive *d, int32_t loop) {
  Block *block = d->block;
  DirectLoop side;
  if (!block->loops[loop].side || !mirage__direct_loop(block, loop, DIRECT_SIDE, &side))
    return;
  Channel *channel = &block->channels[block->num_channels++];
  *channel = (Channel){.values = d->next,
                       .num_values = side.num_products,
                       .from = mirage__team_all(&block->team, ACTOR_SIDE),
                       .to = d->workers,
                       .loop = block->loops[loop].parent,
                       .place = PLACE_DEVICE,
                       .stages = 1,
                       .full.kind = SIGNAL_FLAG,
                       .free.kind = SIGNAL_FLAG};
  for (uint32_t p = 0; p < side.num_products; p++)
    *d->next++ = mirage_ugraph_result(block->graph, block->loops[loop].node, side.products[p].carry);
}

// ------------------------------------------------------------------------------------------------------------- fences

// A warpgroup's operand that threads wrote.
static bool multiplies_uncopied(const Block *block, MirageValue value) {
  if (!block->values[value.index].warpgroup)
    return false;
  MirageNodeView product = mirage__block_def(block, value);
  for (uint32_t i = 0; i < 2; i++)
    if (!mirage__block_is_copied(block, mirage__matmul_operand(block, &product, i).base) &&
        !(i == 0 && mirage__block_operand_in_cells(block, &product)))
      return true;
  return false;
}

// A copied tile in memory that something else uses, too.
static bool overwrites_uncopied(const Block *block, MirageValue value) {
  if (!mirage__block_is_copied(block, value))
    return false;
  for (uint32_t other = 1; other <= mirage_ugraph_num_values(block->graph); other++)
    if (mirage__block_is_buffer(block, (MirageValue){other}) && !mirage__block_is_copied(block, (MirageValue){other}) &&
        mirage__buffers_meet(&block->types[value.index], &block->types[other]))
      return true;
  return false;
}

static bool needs_fences(const Block *block) {
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(block->graph); id++)
    if (block->values[id].inside &&
        (multiplies_uncopied(block, (MirageValue){id}) || overwrites_uncopied(block, (MirageValue){id})))
      return true;
  return false;
}

// -------------------------------------------------------------------------------------------------------------- whole

static int32_t count_copied(const Block *block, int32_t loop) {
  int32_t count = 0;
  for (uint32_t i = 0; i < block->num_loads; i++)
    count += block->loads[i].loop == loop && mirage__block_is_copied(block, block->loads[i].tile);
  return count;
}

int32_t mirage__block_count_mbarriers(const Block *block) {
  int32_t count = count_copied(block, -1);
  for (int32_t l = 0; l < block->num_loops; l++)
    if (count_copied(block, l))
      count += block->loops[l].stages * (mirage__has_producer(&block->team) || block->loops[l].released ? 2 : 1);
  return count;
}

MirageStatus mirage__block_channels(Block *block) {
  size_t kinds = NUM_KINDS * ((size_t)block->num_loops + 1), loops = (size_t)block->num_loops;
  size_t values = mirage_ugraph_num_values(block->graph);
  block->channels = mirage_arena_alloc_array(
      block->arena, kinds + block->num_loads + (size_t)block->num_meetings + loops, sizeof *block->channels);
  MirageValue *room = mirage_arena_alloc_array(block->arena, 2 * values + 1, sizeof *room);
  if (!block->channels || !room)
    return MIRAGE_NO_MEMORY;
  block->num_channels = block->num_mbarriers = 0;
  ActorSet producers = mirage__team_all(&block->team, ACTOR_PRODUCER);
  Derive d = {.block = block,
              .next = room,
              .workers = mirage__team_computes(&block->team),
              .producer = producers & (0 - producers)}; // the first of them
  for (int32_t l = 0; l <= block->num_loops; l++)
    for (int kind = 0; kind < NUM_KINDS; kind++)
      derive_kind(&d, (Kind)kind, l < block->num_loops ? l : -1);
  for (int32_t m = 0; m < block->num_meetings; m++)
    derive_meeting(&d, &block->meetings[m]);
  for (int32_t l = 0; l < block->num_loops; l++)
    derive_side(&d, l);
  block->fences = needs_fences(block);
  return MIRAGE_OK;
}
