// codegen_grid.c - meetings of blocks anywhere in the grid, through device memory.
//
// Every block writes its leaves to slots of its own in the workspace. Where their words are signals (codegen_words.c), that is
// all. Otherwise - many of them, in loops, or no floats - it adds one to the counter of its group, and waits
// until all members have; the addition releases the slots and the read that sees the last one acquires them.
//
// Workspace: counters in the first MIRAGE_WORKSPACE_COUNTERS bytes, then slots. A counter is zero before and after: it
//            goes up once for each arrival and once for each departure, and the last of the 2 * members steps takes it
//            back to zero (an increment that wraps). Nobody misses the meeting, since the counter stays at or above the
//            number of members until the last has left. These slots are written before they are read, so they need no
//            cleaning.
// Loops:     counters and slots are there twice, and taken in turn. Who arrives at one meeting has left the one before
//            and read all it wanted of it, so at the next but one both are free again.
// Residence: blocks that wait for each other must all be resident. More than one for each multiprocessor are only
//            allowed where shared memory and threads certainly admit them, and the assembler is told their number so
//            that registers do too.
#include "emit.h"

enum { SLOT_ALIGNMENT = 16, SHARED_BYTES_OF_SYSTEM = 1024, MOST_BLOCKS_PER_SM = 16 };

static int64_t slot_bytes(const MirageType *type) {
  int64_t bytes = mirage_type_bytes(type);
  return (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

// Blocks of this kernel that are resident at once whatever happens.
static int64_t certain_blocks(const Emit *e, int32_t per_sm) {
  return mirage__certain_sms(e->target, mirage__block_cluster(&e->block)) * per_sm;
}

static int32_t most_per_sm(const Emit *e) {
  int64_t most = e->target->max_threads_per_sm / e->threads;
  int64_t fit = e->target->shared_bytes_per_sm / (e->shared_bytes + SHARED_BYTES_OF_SYSTEM);
  most = fit < most ? fit : most;
  return (int32_t)(most < MOST_BLOCKS_PER_SM ? most : MOST_BLOCKS_PER_SM);
}

static void check_residence(Emit *e, const MirageNodeView *view) {
  double blocks = mirage__block_grid(&e->block);
  int32_t most = most_per_sm(e), per_sm = 1;
  while (per_sm < most && (double)certain_blocks(e, per_sm) < blocks)
    per_sm++;
  if ((double)certain_blocks(e, per_sm) < blocks)
    mirage__emit_fail(e, view->loc, MIRAGE_LIMIT,
                      "%s: %.0f blocks wait for each other, %s holds %lld at once for certain, %d on a multiprocessor",
                      mirage_op_info(view->op)->mnemonic, blocks, e->target->name, (long long)certain_blocks(e, per_sm),
                      per_sm);
  else if (per_sm > 1)
    e->blocks_per_sm = per_sm;
}

void mirage__prepare_grid_meeting(Emit *e, Meeting *m) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, e->block.steps[m->plan->first].node);
  check_residence(e, &view);
  const Channel *channel = &e->block.channels[m->plan->channel];
  m->copies = channel->stages;
  m->words = channel->full.kind == SIGNAL_WORDS;
  m->counters = e->num_counters * 4;
  e->num_counters += m->words ? 0 : m->groups * m->copies;
  if (e->num_counters * 4 > MIRAGE_WORKSPACE_COUNTERS)
    mirage__emit_fail(e, view.loc, MIRAGE_LIMIT, "%s: %lld groups of blocks meet, there are counters for %d",
                      mirage_op_info(view.op)->mnemonic, (long long)e->num_counters, MIRAGE_WORKSPACE_COUNTERS / 4);
  m->slots = mirage__emit_array(e, m->plan->num_leaves, sizeof *m->slots);
  if (!m->slots)
    return;
  if (e->workspace_bytes == 0)
    e->workspace_bytes = MIRAGE_WORKSPACE_COUNTERS;
  if (m->words)
    mirage__prepare_words(e);
  for (uint32_t i = 0; i < m->plan->num_leaves; i++) {
    m->slots[i] = e->workspace_bytes;
    e->workspace_bytes += m->groups * m->copies * m->members * slot_bytes(emit_type(e, m->plan->leaves[i]));
  }
  if (e->workspace_bytes > INT32_MAX)
    mirage__emit_fail(e, view.loc, MIRAGE_LIMIT, "%s: the blocks exchange %lld bytes, at most %d are possible",
                      mirage_op_info(view.op)->mnemonic, (long long)e->workspace_bytes, INT32_MAX);
}

// Which copy of counters and slots this iteration, or this launch, uses.
static LLVMValueRef copy_of(Emit *e, const Meeting *m) {
  return m->words ? mirage__words_copy(e, false) : mirage__mod(e, mirage__iteration(e, m->plan->loop), m->copies);
}

// Its number after those of the groups before.
static LLVMValueRef copy_of_group(Emit *e, const Meeting *m, LLVMValueRef copy) {
  return mirage__add(e, mirage__mul(e, m->group, m->copies), copy);
}

// Offset in the workspace of a member's slot of a leaf.
static LLVMValueRef slot_offset(Emit *e, const Meeting *m, uint32_t leaf, LLVMValueRef copy, LLVMValueRef member) {
  const MirageType *type = emit_type(e, m->plan->leaves[leaf]);
  LLVMValueRef slot = mirage__add(e, mirage__mul(e, copy_of_group(e, m, copy), m->members), member);
  return mirage__add(e, gpu_i32(&e->gpu, m->slots[leaf]), mirage__mul(e, slot, slot_bytes(type)));
}

// Address of element `linear` of a leaf of member `member`.
static LLVMValueRef slot_address(Emit *e, const Meeting *m, uint32_t leaf, LLVMValueRef member, LLVMValueRef linear) {
  const MirageType *type = emit_type(e, m->plan->leaves[leaf]);
  LLVMValueRef offset = slot_offset(e, m, leaf, copy_of(e, m), member);
  return mirage__at(e, e->workspace, mirage__add(e, offset, mirage__mul(e, linear, mirage_dtype_bytes(type->dtype))));
}

// Neighbouring elements that move at once: at most 16 bytes, and never of two rows.
static uint32_t slot_width(const MirageType *type) {
  uint32_t width = 16 / mirage_dtype_bytes(type->dtype);
  width = width > MAX_WIDTH ? MAX_WIDTH : width;
  while (width > 1 && (type->rank == 0 || type->shape[type->rank - 1] % width))
    width /= 2;
  return width;
}

// --------------------------------------------------------------------------------------------------------- publishing

typedef struct Publish {
  const Meeting *meeting;
  uint32_t leaf, width;
  GlobalStore store;
} Publish;

static void publish_item(Emit *e, LLVMValueRef item, void *user) {
  const Publish *job = user;
  MirageValue leaf = job->meeting->plan->leaves[job->leaf];
  const MirageType *type = emit_type(e, leaf);
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  mirage__item_index(e, type, job->width, item, index);
  mirage__element(e, leaf, index, job->width, values);
  LLVMValueRef linear = mirage__mul(e, item, job->width);
  job->store(&e->gpu, mirage__pack(e, values, job->width, type->dtype),
             slot_address(e, job->meeting, job->leaf, job->meeting->member, linear));
}

static LLVMValueRef cell_address(Emit *e, const LLVMValueRef *index, LLVMValueRef *out_valid, void *user) {
  const Publish *job = user;
  const MirageType *type = emit_type(e, job->meeting->plan->leaves[job->leaf]);
  *out_valid = NULL;
  return slot_address(e, job->meeting, job->leaf, job->meeting->member,
                      mirage__linearize(e, type->rank, type->shape, index));
}

static void publish(Emit *e, const Meeting *m) {
  mirage__begin_operation(e);
  for (uint32_t i = 0; i < m->plan->num_leaves; i++)
    mirage__will_read(e, m->plan->leaves[i]);
  for (uint32_t i = 0; i < m->plan->num_leaves; i++) {
    const MirageType *type = emit_type(e, m->plan->leaves[i]);
    Publish job = {m, i, mirage__useful_width(mirage_type_elements(type), slot_width(type), e->threads),
                   m->words ? mirage__words_store : mirage__gpu_store_global};
    if (m->words && job.width * mirage_dtype_bytes(type->dtype) < 4)
      job.width = 2;
    if (mirage__in_cells(e, m->plan->leaves[i]))
      mirage__cells_write(e, m->plan->leaves[i], type->dtype, slot_width(type), cell_address, job.store, &job);
    else
      mirage__for_items(e, mirage_type_elements(type) / job.width, publish_item, &job);
  }
}

// Thread 0 announces the block and waits for the others; the barriers around it spread both to all threads.
static void wait_for_members(Emit *e, LLVMValueRef counter, int64_t members) {
  mirage__barrier(e);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->thread, 0));
  GPU(&e->gpu, RED_RELEASE, counter, gpu_i32(&e->gpu, 1));
  LLVMBasicBlockRef spin = mirage__begin_spin(e);
  LLVMValueRef seen = GPU(&e->gpu, LD_ACQUIRE, counter);
  mirage__end_spin(e, spin, mirage__less_than(e, seen, members));
  GPU(&e->gpu, RED_INC, counter, gpu_i32(&e->gpu, 2 * members - 1));
  mirage__end_if(e, join);
  mirage__barrier(e);
}

void mirage__clear_slots(Emit *e, const Meeting *m) {
  for (uint32_t i = 0; m->words && i < m->plan->num_leaves; i++) {
    LLVMValueRef slot = slot_offset(e, m, i, mirage__words_copy(e, true), m->member);
    mirage__clear_words(e, mirage__at(e, e->workspace, slot), slot_bytes(emit_type(e, m->plan->leaves[i])));
  }
}

void mirage__grid_meet(Emit *e, const Meeting *m) {
  publish(e, m);
  if (m->words) {
    if (!mirage__has_producer(&e->block.team))
      mirage__clear_slots(e, m);
    return;
  }
  LLVMValueRef copy = mirage__mul(e, copy_of_group(e, m, copy_of(e, m)), 4);
  LLVMValueRef counter = mirage__add(e, gpu_i32(&e->gpu, m->counters), copy);
  wait_for_members(e, mirage__at(e, e->workspace, counter), m->members);
}

// An element of 16 bits is read with its neighbour.
static LLVMValueRef read_half_word(Emit *e, const MirageType *type, LLVMValueRef address, LLVMValueRef linear) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef odd = mirage__mod(e, linear, 2);
  address = mirage__at(e, address, mirage__mul(e, odd, -2));
  LLVMValueRef word = mirage__words_load(e, e->gpu.i32, 4, address);
  word = LLVMBuildLShr(b, word, mirage__mul(e, odd, 16), "");
  return LLVMBuildBitCast(b, LLVMBuildTrunc(b, word, e->gpu.i16, ""), mirage__packed(e, 1, type->dtype), "");
}

static LLVMValueRef read_slot(Emit *e, const Meeting *m, uint32_t leaf, LLVMValueRef linear, uint32_t width) {
  const MirageType *type = emit_type(e, m->plan->leaves[leaf]);
  LLVMTypeRef packed = mirage__packed(e, width, type->dtype);
  LLVMValueRef address = slot_address(e, m, leaf, e->member, linear);
  uint32_t bytes = width * mirage_dtype_bytes(type->dtype);
  if (!m->words)
    return mirage__gpu_load_global(&e->gpu, packed, address, MIRAGE_GLOBAL_PLAIN);
  return bytes < 4 ? read_half_word(e, type, address, linear) : mirage__words_load(e, packed, bytes, address);
}

void mirage__read_grid_leaf(Emit *e, const Meeting *m, uint32_t leaf, const LLVMValueRef *index, uint32_t width,
                            LLVMValueRef *out) {
  const MirageType *type = emit_type(e, m->plan->leaves[leaf]);
  LLVMValueRef linear = mirage__linearize(e, type->rank, type->shape, index);
  uint32_t piece = slot_width(type);
  piece = piece > width ? width : piece;
  for (uint32_t at = 0; at < width; at += piece) {
    LLVMValueRef loaded = read_slot(e, m, leaf, mirage__add(e, linear, gpu_i32(&e->gpu, at)), piece);
    mirage__unpack(e, loaded, piece, type->dtype, out + at);
  }
}
