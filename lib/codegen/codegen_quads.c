// codegen_quads.c - resident tiles are written: 16 bytes a lane.
//
// The four lanes of a quad hold a row between them, two columns of eight each (Partition). Of four such column units of
// 16-bit elements they exchange words, so that each has eight neighbours of one unit:
//
//     unit      0    1    2    3                          lane 0   lane 1   lane 2   lane 3
//     lane t    t    t    t    t     (words)      ->      unit 0   unit 1   unit 2   unit 3
//
// What is added to them from device memory, a residual or a bias, comes the same way: a lane reads eight neighbours, and the
// exchange gives it the words that it has cells for. These reads are under way for some quads before the one that is
// written, since a store waits for what it is computed from.
//
// Where accumulators leave hardly a register, some groups at a time are written: ptxas computes what all stores write side by
// side, as far as it may, and keeps in memory what then has no register.
//
// Two units at the end of a row that has no four are exchanged between neighbouring lanes, 8 bytes each; one by itself is
// written as it lies. So are rows in memory of which only 8 bytes are aligned.
#include "emit.h"

#include <string.h>

enum {
  QUAD = 4,         // lanes that share a row; column units whose words they exchange
  QUADS_AHEAD = 4,  // for which reads are under way, with the one that is written,
  QUADS_LEAST = 2,  // where accumulators leave registers for no more,
  QUADS_FIRST = 12, // and while accumulators begin, whose registers are free
  OTHERS = 32,      // registers for addresses, and for what the quad at hand is computed with
  TIGHT = 64,       // registers beside a tile, with which its groups are written
  APART = 6,        // so many at a time,
  APART_IN_TURN = 4 // where another warpgroup multiplies meanwhile
};

typedef struct WriteJob {
  MirageValue from;
  MirageDType dtype;
  uint32_t width;
  CellAddress address;
  GlobalStore store;
  void *user;
  int32_t columns;          // units of a row
  int32_t apart;            // groups that are written at a time; 0: all
  int32_t written;          // of them so far
  LLVMValueRef words[QUAD]; // of the last units: this lane's two elements of each
} WriteJob;

/// Column units whose words are exchanged: four, two or one.
typedef struct Group {
  int32_t first, size;
} Group;

// The group of a unit, of at most `most`: what is left at the end of a row is taken in halves.
static Group group_of(int32_t columns, int32_t column, int32_t most) {
  Group group = {column / most * most, most};
  while (group.first + group.size > columns) {
    group.size /= 2;
    if (column >= group.first + group.size)
      group.first += group.size;
  }
  return group;
}

static void write_at(Emit *e, const WriteJob *job, LLVMValueRef mine, const LLVMValueRef *index, LLVMValueRef value) {
  LLVMValueRef valid, address = job->address(e, index, &valid, job->user);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__and(e, mine, valid));
  job->store(&e->gpu, value, address);
  mirage__end_if(e, join);
}

static void write_piece(Emit *e, const TileCell *cell, void *user) {
  const WriteJob *job = user;
  uint32_t last = emit_type(e, mirage__block_resolve(&e->block, job->from))->rank - 1;
  uint32_t piece = cell->width < job->width ? cell->width : job->width;
  LLVMValueRef values[2], index[MIRAGE_MAX_RANK];
  mirage__element(e, job->from, cell->index, cell->width, values);
  memcpy(index, cell->index, sizeof index);
  for (uint32_t i = 0; i < cell->width; i += piece) {
    index[last] = mirage__add(e, cell->index[last], gpu_i32(&e->gpu, i));
    write_at(e, job, cell->mine, index, mirage__pack(e, values + i, piece, job->dtype));
  }
}

// ----------------------------------------------------------------------------------------------------------- exchange

static LLVMValueRef exchange(Emit *e, LLVMValueRef word, int32_t apart) {
  LLVMValueRef bits = LLVMBuildBitCast(e->gpu.builder, word, e->gpu.f32, "");
  bits = GPU(&e->gpu, SHUFFLE_XOR, gpu_i32(&e->gpu, -1), bits, gpu_i32(&e->gpu, apart), gpu_i32(&e->gpu, 31));
  return LLVMBuildBitCast(e->gpu.builder, bits, e->gpu.i32, "");
}

// Lane t has word t of each unit of a group; afterwards it has the words of unit t mod size that lanes t / size * size and up
// had, or the other way round. Blocks of 1 x 1, then of 2 x 2.
static void transpose_words(Emit *e, LLVMValueRef *words, int32_t size) {
  for (int32_t apart = 1; apart < size; apart *= 2) {
    LLVMValueRef bit = LLVMBuildAnd(e->gpu.builder, e->lane, gpu_i32(&e->gpu, apart), "");
    LLVMValueRef upper = LLVMBuildICmp(e->gpu.builder, LLVMIntNE, bit, gpu_i32(&e->gpu, 0), "");
    for (int32_t w = 0; w < size; w++) {
      if (w & apart)
        continue;
      LLVMValueRef low = words[w], high = words[w + apart];
      LLVMValueRef got = exchange(e, mirage__select(e, upper, low, high), apart);
      words[w] = mirage__select(e, upper, got, low);
      words[w + apart] = mirage__select(e, upper, high, got);
    }
  }
}

// Of the index of this lane's first column of unit `unit` of a group: that of the columns which it reads or writes.
static LLVMValueRef own_columns(Emit *e, LLVMValueRef column, int32_t unit, int32_t size) {
  LLVMValueRef t = mirage__mod(e, e->lane, size);
  return mirage__add(e, column, mirage__add(e, mirage__mul(e, t, 6), gpu_i32(&e->gpu, -8 * (int64_t)unit)));
}

static void write_quad(Emit *e, const TileCell *cell, void *user) {
  WriteJob *job = user;
  uint32_t last = emit_type(e, mirage__block_resolve(&e->block, job->from))->rank - 1;
  Group group = group_of(job->columns, cell->place.column, (int32_t)job->width / 2);
  LLVMValueRef values[2], index[MIRAGE_MAX_RANK],
      vector = LLVMGetUndef(LLVMVectorType(e->gpu.i32, (unsigned)group.size));
  mirage__element(e, job->from, cell->index, 2, values);
  int32_t unit = cell->place.column - group.first;
  job->words[unit] = mirage__pack_pair(e, job->dtype, values[0], values[1]);
  if (unit + 1 < group.size)
    return;
  transpose_words(e, job->words, group.size);
  for (int32_t i = 0; i < group.size; i++)
    vector = LLVMBuildInsertElement(e->gpu.builder, vector, job->words[i], gpu_i32(&e->gpu, i), "");
  memcpy(index, cell->index, sizeof index);
  index[last] = own_columns(e, index[last], unit, group.size);
  write_at(e, job, cell->mine, index, vector);
  if (job->apart && ++job->written % job->apart == 0)
    GPU0(&e->gpu, KEEP_ORDER);
}

// ------------------------------------------------------------------------------------------------------- reads, ahead

enum { MAX_READS = 4 };

/// What a group reads in rows of up to 16 bytes a lane, in the order in which its first unit asks for it.
struct QuadReads {
  bool playing;
  uint32_t count, next;
  LLVMValueRef column;                 // of the cell that asks
  int32_t unit, size;                  // its unit in the group, and the group's units
  LLVMValueRef slots[MAX_READS];       // variables: as read
  LLVMValueRef words[MAX_READS][QUAD]; // of each unit
};

static LLVMValueRef read_wide(Emit *e, QuadReads *reads, const Access *access, const LLVMValueRef *index) {
  uint32_t last = access->tensor->rank - 1, slot = reads->next++;
  LLVMBuilderRef b = e->gpu.builder;
  LLVMTypeRef pair = mirage__packed(e, 2, access->tensor->dtype);
  if (!reads->playing) {
    LLVMValueRef here[MIRAGE_MAX_RANK];
    memcpy(here, index, sizeof here);
    here[last] = own_columns(e, index[last], 0, reads->size);
    e->in_order = true; // else it would be moved to where it is used
    LLVMValueRef loaded = mirage__access_piece(e, access, mirage__access_address(e, access, here),
                                               mirage__access_valid(e, access, here), 2 * (uint32_t)reads->size);
    e->in_order = false;
    loaded = LLVMBuildBitCast(b, loaded, LLVMVectorType(e->gpu.i32, (unsigned)reads->size), "");
    reads->slots[slot] = mirage__variable(e, LLVMTypeOf(loaded));
    mirage__set(e, reads->slots[slot], loaded);
    reads->count = slot + 1;
    return LLVMGetUndef(pair); // nobody asks
  }
  if (reads->unit == 0) {
    LLVMValueRef loaded = mirage__get(e, reads->slots[slot]);
    for (int32_t w = 0; w < reads->size; w++)
      reads->words[slot][w] = LLVMBuildExtractElement(b, loaded, gpu_i32(&e->gpu, w), "");
    transpose_words(e, reads->words[slot], reads->size);
  }
  return LLVMBuildBitCast(b, reads->words[slot][reads->unit], pair, "");
}

bool mirage__quad_asks(const Emit *e) { return e->quad && !e->quad->playing; }

LLVMValueRef mirage__quad_read(Emit *e, const Access *access, const LLVMValueRef *index, uint32_t width) {
  QuadReads *reads = e->quad;
  if (!reads || width != 2 || access->width < 2 * (uint32_t)reads->size ||
      mirage_dtype_bytes(access->tensor->dtype) != 2 || index[access->tensor->rank - 1] != reads->column ||
      reads->next >= (reads->playing ? reads->count : MAX_READS))
    return NULL;
  return read_wide(e, reads, access, index);
}

static void read_only(Emit *e, const TileCell *cell, void *user) {
  LLVMValueRef values[2];
  mirage__element(e, ((const WriteJob *)user)->from, cell->index, 2, values);
}

/// What is done with the pieces of groups whose reads are under way.
typedef struct QuadWork {
  const MirageType *tile;
  CellBody read, work;
  void *user;
  int32_t ahead; // groups
  int32_t most;  // units of one
} QuadWork;

static void run_group(Emit *e, const QuadWork *work, int32_t row, Group group, QuadReads *reads, bool playing) {
  const MirageType *tile = work->tile;
  reads->playing = playing;
  reads->size = group.size;
  e->quad = reads;
  mirage__forget_elements(e);
  for (int32_t i = 0; i < (playing ? group.size : 1); i++) {
    CellPlace place = {.unit = row / 2, .column = group.first + i, .part = 2 * (row % 2)};
    TileCell cell = mirage__cell_at(e, tile, &place);
    reads->next = 0;
    reads->unit = i;
    reads->column = cell.index[tile->rank - 1];
    mirage__run_cell(e, &cell, playing ? work->work : work->read, work->user);
  }
  e->quad = NULL;
}

// Groups of a row, rows one after the other.
static void run_quads(Emit *e, const QuadWork *work) {
  QuadReads *ring = mirage__emit_array(e, (size_t)work->ahead, sizeof *ring);
  int32_t columns = mirage__partition_columns(&e->block.partition, work->tile), each = 0;
  Group *groups = mirage__emit_array(e, (size_t)columns, sizeof *groups);
  if (!ring || !groups)
    return;
  for (int32_t column = 0; column < columns; column += groups[each++].size)
    groups[each] = group_of(columns, column, work->most);
  int32_t count = 2 * e->block.partition.rows_each * each;
  for (int32_t q = 0; q < count + work->ahead - 1; q++) {
    int32_t due = q - (work->ahead - 1);
    if (q < count)
      run_group(e, work, q / each, groups[q % each], &ring[q % work->ahead], false);
    if (due >= 0)
      run_group(e, work, due / each, groups[due % each], &ring[due % work->ahead], true);
  }
  mirage__forget_elements(e);
}

// --------------------------------------------------------------------------------------------------------------- tiles

typedef struct LateReads {
  const Emit *e;
  bool any;
} LateReads;

static void note_read(void *user, MirageValue leaf) {
  LateReads *reads = user;
  const BlockLoad *load = mirage__block_load(&reads->e->block, leaf);
  reads->any |= load && load->by == BY_READER;
}

// Whether what is written is computed from tiles that are read from device memory meanwhile.
static bool reads_late(const Emit *e, MirageValue from) {
  LateReads reads = {.e = e};
  mirage__block_leaves(&e->block, from, note_read, &reads);
  return reads.any;
}

// Registers of a thread beside a tile's cells.
static int32_t registers_beside(const Emit *e, const MirageType *tile) {
  return mirage__team_registers(&e->block.team) - mirage__partition_cells(&e->block.partition, tile);
}

static int32_t groups_at_a_time(const Emit *e, const MirageType *tile) {
  if (registers_beside(e, tile) >= TIGHT)
    return 0;
  return mirage__team_groups(&e->block.team) > 1 ? APART_IN_TURN : APART;
}

// Groups whose reads, of a register for each unit, are under way beside a tile's cells.
static int32_t groups_ahead(const Emit *e, const MirageType *tile) {
  int32_t ahead = (registers_beside(e, tile) - OTHERS) / QUAD;
  return ahead > QUADS_AHEAD ? QUADS_AHEAD : ahead < QUADS_LEAST ? QUADS_LEAST : ahead;
}

// Whether lanes hold a tile's columns in units that words can be exchanged of.
static bool has_units(const Emit *e, const MirageType *tile) {
  const Partition *p = &e->block.partition;
  int32_t columns = mirage__partition_columns(p, tile);
  return columns && (int64_t)columns * p->by_col * 8 == tile->shape[tile->rank - 1];
}

bool mirage__cells_in_quads(Emit *e, const MirageType *tile, CellBody body, void *user) {
  const QuadWork work = {tile, body, body, user, QUADS_FIRST, QUAD};
  if (!has_units(e, tile))
    return false;
  run_quads(e, &work);
  return true;
}

void mirage__cells_write(Emit *e, MirageValue from, MirageDType dtype, uint32_t width, CellAddress address,
                         GlobalStore store, void *user) {
  const MirageType *tile = emit_type(e, mirage__block_resolve(&e->block, from));
  int32_t columns = mirage__partition_columns(&e->block.partition, tile);
  WriteJob job = {.from = from,
                  .dtype = dtype,
                  .width = width,
                  .address = address,
                  .store = store,
                  .user = user,
                  .columns = columns,
                  .apart = groups_at_a_time(e, tile)};
  const QuadWork work = {tile, read_only, write_quad, &job, groups_ahead(e, tile), (int32_t)width / 2};
  bool exchanged = mirage_dtype_bytes(dtype) == 2 && width > 2 && has_units(e, tile);
  if (exchanged && reads_late(e, from))
    run_quads(e, &work);
  else
    mirage__for_cells(e, tile, exchanged ? write_quad : write_piece, &job);
}
