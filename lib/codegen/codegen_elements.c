// codegen_elements.c - element-wise block graphs, whose threads finish their elements by themselves (lib/layout/elements.c).
//
// Thread t is number t % across in a row and takes rows t / across, + teams, .. . For some pieces of columns it loads
// what depends on the column only; then, some rows at a time, everything else, so that all of that is in flight at once;
// then it computes and stores piece by piece. What is known of a row is forgotten with it.
#include "emit.h"

enum { MAX_PLACES = 8 };

typedef struct Elements {
  Emit *e;
  const ThreadRows *items;
  LLVMValueRef row, across;        // of the thread: its first row, its number in it
  LLVMValueRef column[MAX_PLACES]; // of each piece at hand; 0 where it lies beyond the row
  LLVMValueRef inside[MAX_PLACES]; // and whether it does not, and the thread has a row; NULL = always
} Elements;

/// Where the thread is: an index into the common shape, made valid by 0 in place of what lies beyond.
typedef struct Place {
  LLVMValueRef index[MIRAGE_MAX_RANK];
  LLVMValueRef valid; // NULL = always
} Place;

static int64_t columns_of(const ThreadRows *items) { return items->shape.shape[items->shape.rank - 1]; }

static Place place_of(const Elements *el, int32_t piece, LLVMValueRef row, bool ragged) {
  Emit *e = el->e;
  const MirageType *shape = &el->items->shape;
  Place place = {.valid = el->inside[piece]};
  if (ragged)
    place.valid = mirage__and(e, place.valid, mirage__less_than(e, row, el->items->rows));
  if (place.valid)
    row = mirage__select(e, place.valid, row, gpu_i32(&e->gpu, 0));
  mirage__delinearize(e, row, shape->rank - 1, shape->shape, place.index);
  place.index[shape->rank - 1] = el->column[piece];
  return place;
}

// One element, or one a column.
static bool is_same_in_rows(const MirageType *type) {
  return type->rank == 0 || mirage_type_elements(type) == type->shape[type->rank - 1];
}

static bool is_narrow(const MirageType *type) { return type->rank == 0 || type->shape[type->rank - 1] == 1; }

static void load_all(const Elements *el, const Place *place, bool same_in_rows) {
  Emit *e = el->e;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&e->block, &s, &view);) {
    const MirageType *type = view.op == MIRAGE_OP_LOAD ? emit_type(e, view.first_result) : NULL;
    if (!type || is_same_in_rows(type) != same_in_rows)
      continue;
    LLVMValueRef at[MIRAGE_MAX_RANK], values[MAX_WIDTH];
    mirage__broadcast_index(e, type, &el->items->shape, place->index, at);
    mirage__element(e, view.first_result, at, is_narrow(type) ? 1 : el->items->width, values);
  }
}

static void store(const Elements *el, MirageNode node, const MirageNodeView *view, const Place *place) {
  Emit *e = el->e;
  Access access = mirage__access(e, node, view->operands[1], emit_type(e, view->operands[0]), NULL);
  uint32_t width = el->items->width, step = access.width < width ? access.width : width;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  for (uint32_t d = 0; d < access.tile->rank; d++)
    index[d] = place->index[d];
  mirage__element(e, view->operands[0], index, width, values);
  for (uint32_t at = 0; at < width; at += step) {
    index[access.tile->rank - 1] = mirage__add(e, place->index[access.tile->rank - 1], gpu_i32(&e->gpu, at));
    LLVMValueRef valid = mirage__and(e, place->valid, mirage__access_valid(e, &access, index));
    LLVMBasicBlockRef join = mirage__begin_if(e, valid);
    mirage__gpu_store_global(&e->gpu, mirage__pack(e, values + at, step, access.tensor->dtype),
                             mirage__access_address(e, &access, index));
    mirage__end_if(e, join);
  }
}

static void store_all(const Elements *el, const Place *place) {
  Emit *e = el->e;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&e->block, &s, &view);) {
    e->gpu.op = e->block.steps[s].node.index;
    if (view.op == MIRAGE_OP_STORE)
      store(el, e->block.steps[s].node, &view, place);
  }
}

static void rows_of_pieces(const Elements *el) {
  Emit *e = el->e;
  const ThreadRows *items = el->items;
  int32_t each = items->together * items->teams, count = items->together * items->abreast;
  Place places[MAX_PLACES];
  Repeat repeat = mirage__begin_repeat(e, (items->rows + each - 1) / each);
  LLVMValueRef first = mirage__add(e, el->row, mirage__mul(e, repeat.index, each));
  uint32_t known = e->num_memo;
  for (int32_t i = 0; i < count; i++) {
    LLVMValueRef row = mirage__add(e, first, gpu_i32(&e->gpu, (int64_t)(i / items->abreast) * items->teams));
    places[i] = place_of(el, i % items->abreast, row, items->rows % each != 0);
    load_all(el, &places[i], false);
  }
  uint32_t loaded = e->num_memo;
  for (int32_t i = 0; i < count; i++) {
    store_all(el, &places[i]);
    e->num_memo = loaded;
  }
  mirage__end_repeat(e, &repeat);
  e->num_memo = known;
}

static void begin_piece(Elements *el, int32_t piece, LLVMValueRef number) {
  Emit *e = el->e;
  const ThreadRows *items = el->items;
  LLVMValueRef item = mirage__add(e, el->across, mirage__mul(e, number, items->across)), inside = NULL;
  int64_t vectors = columns_of(items) / items->width, turns = (items->pieces + items->abreast - 1) / items->abreast;
  if (turns * items->abreast * items->across > vectors)
    inside = mirage__less_than(e, item, vectors);
  if (items->teams > 1 && (int64_t)items->across * items->teams < e->threads)
    inside = mirage__and(e, inside, mirage__less_than(e, el->row, items->teams));
  el->inside[piece] = inside;
  el->column[piece] =
      mirage__mul(e, inside ? mirage__select(e, inside, item, gpu_i32(&e->gpu, 0)) : item, items->width);
}

void mirage__emit_elements(Emit *e) {
  const ThreadRows *items = &e->block.items;
  Elements el = {.e = e, .items = items, .row = gpu_i32(&e->gpu, 0), .across = e->thread};
  if (items->teams > 1) {
    el.row = mirage__div(e, e->thread, items->across);
    el.across = mirage__mod(e, e->thread, items->across);
  }
  e->keep_elements = true;
  Repeat repeat = mirage__begin_repeat(e, (items->pieces + items->abreast - 1) / items->abreast);
  for (int32_t i = 0; i < items->abreast; i++) {
    LLVMValueRef number = mirage__add(e, mirage__mul(e, repeat.index, items->abreast), gpu_i32(&e->gpu, i));
    begin_piece(&el, i, number);
    Place anywhere = place_of(&el, i, gpu_i32(&e->gpu, 0), false);
    load_all(&el, &anywhere, true);
  }
  rows_of_pieces(&el);
  mirage__end_repeat(e, &repeat);
  e->keep_elements = false;
  mirage__forget_elements(e);
}
