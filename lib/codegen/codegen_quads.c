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
#include "emit.h"

#include <string.h>

enum {
  QUAD = 4,        // lanes that share a row; column units whose words they exchange
  QUADS_AHEAD = 4, // for which reads are under way, with the one that is written,
  QUADS_FIRST = 12 // and while accumulators begin, whose registers are free
};

typedef struct WriteJob {
  MirageValue from;
  MirageDType dtype;
  uint32_t width;
  CellAddress address;
  void *user;
  LLVMValueRef words[QUAD]; // of the last units: this lane's two elements of each
} WriteJob;

static void write_at(Emit *e, const WriteJob *job, LLVMValueRef mine, const LLVMValueRef *index, LLVMValueRef value) {
  LLVMValueRef valid, address = job->address(e, index, &valid, job->user);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__and(e, mine, valid));
  mirage__gpu_store_global(&e->gpu, value, address);
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

// Lane t has word t of four units; afterwards it has the four words of unit t, or the other way round. Blocks of 2 x 2, then
// of 1 x 1.
static void transpose_words(Emit *e, LLVMValueRef *words) {
  for (int32_t apart = 1; apart < QUAD; apart *= 2) {
    LLVMValueRef bit = LLVMBuildAnd(e->gpu.builder, e->lane, gpu_i32(&e->gpu, apart), "");
    LLVMValueRef upper = LLVMBuildICmp(e->gpu.builder, LLVMIntNE, bit, gpu_i32(&e->gpu, 0), "");
    for (int32_t w = 0; w < QUAD; w++) {
      if (w & apart)
        continue;
      LLVMValueRef low = words[w], high = words[w + apart];
      LLVMValueRef got = exchange(e, mirage__select(e, upper, low, high), apart);
      words[w] = mirage__select(e, upper, got, low);
      words[w + apart] = mirage__select(e, upper, high, got);
    }
  }
}

// Of the index of this lane's first column of unit `unit` of a quad: that of the eight columns which it reads or writes.
static LLVMValueRef own_columns(Emit *e, LLVMValueRef column, int32_t unit) {
  LLVMValueRef t = mirage__mod(e, e->lane, 4);
  return mirage__add(e, column, mirage__add(e, mirage__mul(e, t, 6), gpu_i32(&e->gpu, -8 * (int64_t)unit)));
}

static void write_quad(Emit *e, const TileCell *cell, void *user) {
  WriteJob *job = user;
  uint32_t last = emit_type(e, mirage__block_resolve(&e->block, job->from))->rank - 1;
  LLVMValueRef values[2], index[MIRAGE_MAX_RANK], vector = LLVMGetUndef(LLVMVectorType(e->gpu.i32, QUAD));
  mirage__element(e, job->from, cell->index, 2, values);
  int32_t unit = cell->place.column % QUAD;
  job->words[unit] = mirage__pack_pair(e, job->dtype, values[0], values[1]);
  if (unit + 1 < QUAD)
    return;
  transpose_words(e, job->words);
  for (int32_t i = 0; i < QUAD; i++)
    vector = LLVMBuildInsertElement(e->gpu.builder, vector, job->words[i], gpu_i32(&e->gpu, i), "");
  memcpy(index, cell->index, sizeof index);
  index[last] = own_columns(e, index[last], unit);
  write_at(e, job, cell->mine, index, vector);
}

// ------------------------------------------------------------------------------------------------------- reads, ahead

enum { MAX_READS = 4 };

/// What a quad reads in rows of 16 bytes a lane, in the order in which its first unit asks for it.
struct QuadReads {
  bool playing;
  uint32_t count, next;
  LLVMValueRef column; // of the cell that asks
  int32_t unit;
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
    here[last] = own_columns(e, index[last], 0);
    e->in_order = true; // else it would be moved to where it is used
    LLVMValueRef loaded = mirage__access_piece(e, access, mirage__access_address(e, access, here),
                                               mirage__access_valid(e, access, here), 8);
    e->in_order = false;
    loaded = LLVMBuildBitCast(b, loaded, LLVMVectorType(e->gpu.i32, QUAD), "");
    reads->slots[slot] = mirage__variable(e, LLVMTypeOf(loaded));
    mirage__set(e, reads->slots[slot], loaded);
    reads->count = slot + 1;
    return LLVMGetUndef(pair); // nobody asks
  }
  if (reads->unit == 0) {
    LLVMValueRef loaded = mirage__get(e, reads->slots[slot]);
    for (int32_t w = 0; w < QUAD; w++)
      reads->words[slot][w] = LLVMBuildExtractElement(b, loaded, gpu_i32(&e->gpu, w), "");
    transpose_words(e, reads->words[slot]);
  }
  return LLVMBuildBitCast(b, reads->words[slot][reads->unit], pair, "");
}

LLVMValueRef mirage__quad_read(Emit *e, const Access *access, const LLVMValueRef *index, uint32_t width) {
  QuadReads *reads = e->quad;
  if (!reads || width != 2 || access->width < 8 || mirage_dtype_bytes(access->tensor->dtype) != 2 ||
      index[access->tensor->rank - 1] != reads->column || reads->next >= (reads->playing ? reads->count : MAX_READS))
    return NULL;
  return read_wide(e, reads, access, index);
}

static void read_only(Emit *e, const TileCell *cell, void *user) {
  LLVMValueRef values[2];
  mirage__element(e, ((const WriteJob *)user)->from, cell->index, 2, values);
}

/// What is done with the pieces of quads whose reads are under way.
typedef struct QuadWork {
  const MirageType *tile;
  CellBody read, work;
  void *user;
  int32_t ahead; // quads
} QuadWork;

// Column units 4 q .. 4 q + 3 of a row, rows one after the other; or what they read.
static void run_quad(Emit *e, const QuadWork *work, int32_t q, QuadReads *reads, bool playing) {
  const MirageType *tile = work->tile;
  int32_t each = mirage__partition_columns(&e->block.partition, tile) / QUAD, row = q / each;
  reads->playing = playing;
  e->quad = reads;
  mirage__forget_elements(e);
  for (int32_t i = 0; i < (playing ? QUAD : 1); i++) {
    CellPlace place = {.unit = row / 2, .column = q % each * QUAD + i, .part = 2 * (row % 2)};
    TileCell cell = mirage__cell_at(e, tile, &place);
    reads->next = 0;
    reads->unit = i;
    reads->column = cell.index[tile->rank - 1];
    mirage__run_cell(e, &cell, playing ? work->work : work->read, work->user);
  }
  e->quad = NULL;
}

static void run_quads(Emit *e, const QuadWork *work) {
  QuadReads *ring = mirage__emit_array(e, (size_t)work->ahead, sizeof *ring);
  int32_t count = 2 * e->block.partition.rows_each * mirage__partition_columns(&e->block.partition, work->tile) / QUAD;
  for (int32_t q = 0; ring && q < count + work->ahead - 1; q++) {
    int32_t due = q - (work->ahead - 1);
    if (q < count)
      run_quad(e, work, q, &ring[q % work->ahead], false);
    if (due >= 0)
      run_quad(e, work, due, &ring[due % work->ahead], true);
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

// Whether lanes hold whole quads of a tile's columns.
static bool has_quads(const Emit *e, const MirageType *tile) {
  const Partition *p = &e->block.partition;
  int32_t columns = mirage__partition_columns(p, tile);
  return columns && columns % QUAD == 0 && (int64_t)columns * p->by_col * 8 == tile->shape[tile->rank - 1];
}

bool mirage__cells_in_quads(Emit *e, const MirageType *tile, CellBody body, void *user) {
  const QuadWork work = {tile, body, body, user, QUADS_FIRST};
  if (!has_quads(e, tile))
    return false;
  run_quads(e, &work);
  return true;
}

void mirage__cells_write(Emit *e, MirageValue from, MirageDType dtype, uint32_t width, CellAddress address,
                         void *user) {
  const MirageType *tile = emit_type(e, mirage__block_resolve(&e->block, from));
  WriteJob job = {.from = from, .dtype = dtype, .width = width, .address = address, .user = user};
  const QuadWork work = {tile, read_only, write_quad, &job, QUADS_AHEAD};
  bool quads = width * mirage_dtype_bytes(dtype) == 16 && width == 8 && has_quads(e, tile);
  if (quads && reads_late(e, from))
    run_quads(e, &work);
  else
    mirage__for_cells(e, tile, quads ? write_quad : write_piece, &job);
}
