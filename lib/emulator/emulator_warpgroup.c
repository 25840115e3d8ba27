// emulator_warpgroup.c - the matrix instructions of four warps: operands from shared memory by descriptors, and
// results that must be waited for.
//
// Operands: a descriptor says where element (row, k) of a 16-bit matrix [rows, 16] begins [PTX ISA, wgmma: matrix
//           descriptor, strides, canonical layouts]. Bytes [rows, 32] lie like pairs of them, with k innermost. With W the bytes of the swizzle, L and S the leading and stride
//           offsets, all before the swizzle of address bits:
//             k innermost,  no swizzle   (row % 8) 16 + (row / 8) S + (k / 8) L + (k % 8) 2
//             k innermost,  swizzle      (row % 8) W + (row / 8) S + k 2
//             row innermost, no swizzle  (row % 8) 2 + (row / 8) S + (k % 8) 16 + (k / 8) L
//             row innermost, swizzle     (row % (W/2)) 2 + (row / (W/2)) L + (k % 8) W + (k / 8) S
// Results:  the product is computed at once, but its cells leave as marks: NaNs that say which accumulator of which
//           product they are. A later product takes them on; after the wait they become values. A mark that reaches
//           memory is an accumulator read too early. Operands count as read by the group until the wait.
#include "machine.h"

#include "codegen/host.h"
#include <stdlib.h>
#include <string.h>

enum {
  ROWS = 64,
  DEPTH = 16,
  MOST_DEPTH = 32,
  MOST_COLUMNS = 256,
  MOST_CELLS = MOST_COLUMNS / 2,
  MOST_SETS = 32,
  PIECE = 16
};

/// Accumulators of one thread.
typedef struct Set {
  bool live;
  uint32_t count, left; // cells; of which not given back
  uint32_t commit;      // that their last product belongs to, from 1
  uint32_t op;
  uint32_t values[MOST_CELLS]; // bits of f32, or i32
} Set;

struct Products {
  Set sets[MOST_SETS];
  uint32_t commits, done;
  bool fenced;
  const GroupProduct *asked; // of the instruction that the group comes to
  Set *set;
};

// --------------------------------------------------------------------------------------------------------------- marks

#define MARK 0x7feb0000u // quiet NaN whose upper mantissa bits survive rounding to 16 bits: bf16 7feb, f16 7f58 ..
enum { MARK_BF16 = 0x7feb, MARK_F16 = 0x7f58 };

static bool is_mark(uint32_t cell) { return (cell & 0xffff0000u) == MARK; }
static uint32_t mark_set(uint32_t cell) { return cell >> 8 & 0xff; }
static uint32_t mark_index(uint32_t cell) { return cell & 0xff; }
static uint32_t mark(uint32_t set, uint32_t index) { return MARK | set << 8 | index; }

static bool is_half_mark(uint16_t half) {
  half &= 0x7fff;
  return half == MARK_BF16 || (half & 0xfff8) == MARK_F16;
}

// Words hold an f32, whose lower half may look like anything, or two halves that both came from marks.
void mirage__group_check_store(Machine *m, uint32_t op, const void *value, uint32_t bytes) {
  bool found = false;
  uint16_t halves[2];
  for (uint32_t i = 0; m->self->products && i + 2 <= bytes; i += sizeof halves) {
    uint32_t count = bytes - i < sizeof halves ? 1 : 2;
    memcpy(halves, (const char *)value + i, count * sizeof *halves);
    bool upper = is_half_mark(halves[count - 1]);
    found |= upper && (is_half_mark(halves[0]) || (halves[1] & 0x7fff) == MARK_BF16);
  }
  if (found)
    mirage__machine_fail(m, op, "stores an accumulator of a warpgroup's product before waiting for it");
}

// ---------------------------------------------------------------------------------------------------------------- sets

static Products *products_of(Machine *m, uint32_t op) {
  Fibre *self = m->self;
  if (!self->products)
    self->products = calloc(1, sizeof *self->products);
  if (!self->products)
    mirage__machine_fail(m, op, "out of memory");
  return self->products;
}

void mirage__group_drop(Fibre *fibre) {
  free(fibre->products);
  fibre->products = NULL;
}

uint32_t mirage__group_done(const Fibre *fibre) { return fibre->products ? fibre->products->done : 0; }

// Cells of a product that runs on: all of one, in their order.
static Set *continued_set(Machine *m, uint32_t op, Products *products, uint32_t count, const uint32_t *cells) {
  Set *set = &products->sets[mark_set(cells[0]) % MOST_SETS];
  for (uint32_t i = 0; i < count; i++)
    if (!is_mark(cells[i]) || mark_set(cells[i]) != mark_set(cells[0]) || mark_index(cells[i]) != i)
      mirage__machine_fail(m, op, "adds to accumulators some of which belong to another product under way");
  if (!set->live || set->count != count)
    mirage__machine_fail(m, op, "adds to %u accumulators of a product under way that has %u", count, set->count);
  return set;
}

static Set *new_set(Machine *m, uint32_t op, Products *products, uint32_t count, const uint32_t *cells) {
  if (!products->fenced)
    mirage__machine_fail(m, op, "a warpgroup's product takes accumulators with no wgmma.fence before it");
  Set *set = NULL;
  for (uint32_t i = 0; i < MOST_SETS && !set; i++)
    set = products->sets[i].live ? NULL : &products->sets[i];
  if (!set)
    mirage__machine_fail(m, op, "more than %u products with accumulators of their own under way", (unsigned)MOST_SETS);
  for (uint32_t i = 0; i < count; i++)
    if (is_mark(cells[i]))
      mirage__machine_fail(m, op, "adds to accumulators some of which belong to another product under way");
  *set = (Set){.live = true, .count = count, .left = count, .op = op};
  memcpy(set->values, cells, count * sizeof *cells);
  return set;
}

// ------------------------------------------------------------------------------------------------------------ operands

typedef struct Descriptor {
  uint32_t start, leading, stride, swizzle; // bytes; the swizzle as MirageTensorMap's
  bool row_innermost;
} Descriptor;

static Descriptor decode(Machine *m, uint32_t op, uint64_t bits, bool row_innermost) {
  uint32_t mode = (uint32_t)(bits >> 62);
  if (bits >> 49 & 7)
    mirage__machine_fail(m, op, "a matrix descriptor with base offset %u: not emulated", (uint32_t)(bits >> 49 & 7));
  return (Descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                      .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                      .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                      .swizzle = mode ? 4 - mode : 0,
                      .row_innermost = row_innermost};
}

// Where the 16 bytes begin that hold elements (row, k .. k + 7), or (row .. row + 7, k).
static uint32_t piece_offset(const Descriptor *d, uint32_t row, uint32_t k) {
  uint32_t width = PIECE << d->swizzle, offset;
  if (!d->row_innermost)
    offset = row % 8 * width + row / 8 * d->stride + (d->swizzle ? k * 2 : k / 8 * d->leading);
  else if (d->swizzle == 0)
    offset = row / 8 * d->stride + k % 8 * PIECE + k / 8 * d->leading;
  else
    offset = row % (width / 2) * 2 + row / (width / 2) * d->leading + k % 8 * width + k / 8 * d->stride;
  return swizzled(d->start + offset, d->swizzle);
}

// All threads of the group know of the writes there.
static void read_piece(Machine *m, uint32_t op, Fibre *group, uint32_t offset, MmaType type, float *out) {
  Place place = mirage__memory_place(m, op, MIRAGE_HOST_SHARED_BASE + offset, PIECE, PIECE, "reads");
  Ground ground = mirage__memory_ground(place.block);
  const Granule *g = &place.block->granules[place.offset];
  if (!g->pending && g->write_count == 0)
    mirage__machine_fail(m, op, "reads byte %u of shared memory for a warpgroup's product, which nobody wrote",
                         place.offset);
  Access access = {.op = op, .actor = mirage__clock_group(m, group), .alike = true, .async = true};
  access.count = group->products->commits + 1;
  for (uint32_t i = 0; i < GROUP; i++) {
    if (i > 0 && group[i].base == group[i - 1].base && group[i].fence_base == group[i - 1].fence_base)
      continue;
    access.fibre = &group[i];
    mirage__trace_read(m, &access, &ground, place.offset, PIECE);
  }
  const uint8_t *bytes = place.block->shared + place.offset;
  for (uint32_t i = 0; i < PIECE / 4; i++) {
    uint32_t word;
    memcpy(&word, bytes + 4 * i, sizeof word);
    mirage__warp_unpack(type, word, out + i * mirage__mma_per_word(type));
  }
}

// out[k * rows + row]
static void read_matrix(Machine *m, uint32_t op, Fibre *group, const Descriptor *d, uint32_t rows, MmaType type,
                        float *out) {
  float piece[PIECE];
  uint32_t count = 4 * mirage__mma_per_word(type); // elements of a piece
  for (uint32_t row = 0; row < rows; row += d->row_innermost ? 8 : 1)
    for (uint32_t k = 0; k < DEPTH; k += d->row_innermost ? 1 : 8) { // counts pairs of bytes
      read_piece(m, op, group, piece_offset(d, row, k), type, piece);
      for (uint32_t i = 0; i < count; i++)
        out[d->row_innermost ? k * rows + row + i : (k * count / 8 + i) * rows + row] = piece[i];
    }
}

// a[k][64] from the registers of the threads, as the matrix instruction of a warp has them.
static void gather_registers(const Fibre *group, MmaType type, float *out) {
  float values[4];
  uint32_t per = mirage__mma_per_word(type);
  for (uint32_t i = 0; i < GROUP; i++)
    for (uint32_t r = 0; r < 4; r++) {
      uint32_t row = i / LANES * 16 + i % LANES / 4 + r % 2 * 8, k = (i % 4 + r / 2 * 4) * per;
      mirage__warp_unpack(type, group[i].words[r], values);
      for (uint32_t e = 0; e < per; e++)
        out[(k + e) * ROWS + row] = values[e];
    }
}

// ------------------------------------------------------------------------------------------------------------- product

// Threads and cells of a row: unit u of row r lies in lanes 4 (r % 8) .. + 3 of warp r / 16, cells 4 u + 2 (r / 8 % 2).
static uint32_t *cell_of(Fibre *group, uint32_t row, uint32_t column) {
  Fibre *lane = &group[row / 16 * LANES + row % 8 * 4 + column % 8 / 2];
  return &lane->products->set->values[column / 8 * 4 + row / 8 % 2 * 2 + column % 2];
}

static void multiply(Fibre *group, MmaType type, uint32_t n, const float *a, const float *b) {
  uint32_t sums[MOST_COLUMNS];
  for (uint32_t row = 0; row < ROWS; row++) {
    for (uint32_t j = 0; j < n; j++)
      sums[j] = *cell_of(group, row, j);
    for (uint32_t k = 0; k < 8 * mirage__mma_per_word(type); k++)
      for (uint32_t j = 0; j < n; j++)
        sums[j] = mirage__mma_add(type, sums[j], a[k * ROWS + row], b[k * n + j]);
    for (uint32_t j = 0; j < n; j++)
      *cell_of(group, row, j) = sums[j];
  }
}

static bool same_product(const GroupProduct *a, const GroupProduct *b) {
  return a->type == b->type && a->b_type == b->b_type && a->n == b->n && a->a_mn_major == b->a_mn_major &&
         a->b_mn_major == b->b_mn_major && a->a == b->a && a->b == b->b && !a->a_regs == !b->a_regs;
}

static void compute(Machine *m, uint32_t op, Fibre *group, const GroupProduct *product) {
  float a[MOST_DEPTH * ROWS], b[MOST_DEPTH * MOST_COLUMNS];
  for (uint32_t i = 0; i < GROUP; i++)
    if (!same_product(product, group[i].products->asked))
      mirage__machine_fail(m, op, "a warpgroup's product of which thread %u has other operands or another shape",
                           group[i].thread);
  if (product->a_regs) {
    gather_registers(group, product->type, a);
  } else {
    Descriptor d = decode(m, op, product->a, product->a_mn_major);
    read_matrix(m, op, group, &d, ROWS, product->type, a);
  }
  Descriptor d = decode(m, op, product->b, product->b_mn_major);
  read_matrix(m, op, group, &d, product->n, product->b_type, b);
  multiply(group, product->type, product->n, a, b);
}

void mirage__group_product(Machine *m, uint32_t op, const GroupProduct *product, uint32_t *cells) {
  Fibre *self = m->self;
  Products *products = products_of(m, op);
  uint32_t count = product->n / 2;
  if (product->type >= MMA_S8 && (product->a_mn_major || product->b_mn_major))
    mirage__machine_fail(m, op, "a warpgroup's product of bytes reads an operand with the contraction outermost");
  if (product->type == MMA_S8 && product->n > 32 && product->n % 16)
    mirage__machine_fail(m, op, "a warpgroup's product of i8 has %u columns: beyond 32 a multiple of 16", product->n);
  if (mirage__group_threads(m, self) < GROUP)
    mirage__machine_fail(m, op, "a warpgroup's product by %u threads", mirage__group_threads(m, self));
  Set *set = is_mark(cells[0]) ? continued_set(m, op, products, count, cells) : new_set(m, op, products, count, cells);
  set->commit = products->commits + 1;
  products->set = set;
  products->asked = product;
  if (product->a_regs)
    memcpy(self->words, product->a_regs, 4 * sizeof *self->words);
  Meeting *meeting = &self->block->warpgroups[self->thread / GROUP];
  if (mirage__meeting_join(m, meeting, GROUP, "wgmma", op)) {
    compute(m, op, self - self->thread % GROUP, product);
    mirage__meeting_release(m, meeting);
  }
  for (uint32_t i = 0; i < count; i++)
    cells[i] = mark((uint32_t)(set - products->sets), i);
}

void mirage__group_fence(Machine *m, uint32_t op) { products_of(m, op)->fenced = true; }
void mirage__group_commit(Machine *m, uint32_t op) { products_of(m, op)->commits++; }

// Registers are the thread's own again, so that the next product needs a fence.
void mirage__group_wait(Machine *m, uint32_t op, uint32_t allowed) {
  Products *products = products_of(m, op);
  if (products->commits > allowed && products->commits - allowed > products->done)
    products->done = products->commits - allowed;
  products->fenced = false;
}

void mirage__group_results(Machine *m, uint32_t op, uint32_t count, uint32_t *cells) {
  Products *products = products_of(m, op);
  for (uint32_t i = 0; i < count; i++) {
    Set *set = &products->sets[mark_set(cells[i]) % MOST_SETS];
    if (!is_mark(cells[i]) || !set->live || set->commit > products->done)
      continue;
    cells[i] = set->values[mark_index(cells[i]) % MOST_CELLS];
    set->live = --set->left > 0;
  }
}

void mirage__group_end(Machine *m) {
  const Products *products = m->self->products;
  for (uint32_t i = 0; products && i < MOST_SETS; i++)
    if (products->sets[i].live && products->sets[i].commit > products->done)
      mirage__machine_fail(m, products->sets[i].op, "ends with a warpgroup's product under way");
}
