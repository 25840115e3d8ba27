// ugraph_hash.c - a 128-bit hash of what a graph computes and how: for finding duplicates, and to tie a proof to its
// two graphs.
//
// Algorithm:  bottom-up over values (a Merkle hash), so that names, the order of nodes and unused nodes do not enter;
//             the operands of commutative operators are sorted by hash. A custom kernel's arguments hash as the
//             tensors they stand for, and a result as the set of stores to it, so that the order of operands does not
//             enter either. A loop whose carried values are read inside hashes as a whole; otherwise each carry stands
//             alone.
// Left out:   layouts, placements and launches, which follow from the rest. Grid, loop ranges, accesses and schedule
//             count; the hash of a pair leaves schedules out as well, which never change a result.
// Example:    add(exp(x), y) and add(y, exp(x)) have one hash; x/y and y/x have two.
#include "ugraph_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

typedef MirageGraphHash Hash;

typedef struct Hasher {
  const MirageUGraph *graph;
  Hash *values;   // by value id; for the output argument of a custom node: the sum of its stores
  bool *read;     // by value id: an operand of some node
  Hash scope;     // ranges of the enclosing loops
  uint32_t depth; // of regions
  bool meaning;   // leave schedules out
} Hasher;

/// Fields are gathered as words, so that padding never enters.
typedef struct Words {
  uint64_t data[256];
  uint32_t count;
  Hash chain; // of the words before, when they were more than fit
} Words;

static Hash words_finish(const Words *words) {
  XXH128_hash_t hash = XXH3_128bits_withSeed(words->data, words->count * sizeof words->data[0],
                                             words->chain.low ^ (words->chain.high << 1));
  return (Hash){hash.low64, hash.high64};
}

static void put(Words *words, uint64_t value) {
  if (words->count == 256) {
    words->chain = words_finish(words);
    words->count = 0;
  }
  words->data[words->count++] = value;
}

static void put_hash(Words *words, Hash hash) {
  put(words, hash.low);
  put(words, hash.high);
}

static void put_double(Words *words, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put(words, bits);
}

static void put_type(Words *words, const MirageType *type) {
  put(words, type->dtype);
  put(words, type->rank);
  for (uint32_t i = 0; i < type->rank; i++)
    put(words, (uint64_t)type->shape[i]);
}

static void put_access(Words *words, const MirageAccessAttrs *access) {
  for (uint32_t i = 0; i < 3; i++)
    put(words, (uint64_t)(int64_t)access->grid[i]);
  for (uint32_t i = 0; i < MIRAGE_MAX_LOOPS; i++)
    put(words, (uint64_t)(int64_t)access->loop[i]);
  put(words, access->fill);
  for (uint32_t i = 0; i < MIRAGE_MAX_RANK; i++) {
    put(words, (uint64_t)access->begin[i]);
    put(words, (uint64_t)access->end[i]);
    put(words, (uint64_t)(int64_t)access->order[i]);
  }
  for (uint32_t i = 0; i < MIRAGE_MAX_RANK; i++)
    if (access->tiles[i]) { // hashes of graphs without stay what they were
      put(words, i + 1);
      put(words, (uint64_t)access->tiles[i]);
    }
  if (access->cyclic) // as for tiles
    put(words, MIRAGE_MAX_RANK + 1);
}

static void put_schedule(Words *words, const MirageSchedule *schedule) {
  put(words, schedule != NULL);
  if (!schedule)
    return;
  int32_t numbers[MIRAGE_SCHEDULE_NUMBERS];
  uint32_t count = mirage_schedule_numbers(schedule, numbers);
  for (uint32_t i = 0; i < count; i++)
    put(words, (uint64_t)numbers[i]);
}

static void put_field(Words *words, const MirageAttrField *field, const MirageAttrs *attrs) {
  if (field->form == MIRAGE_ATTR_NUMBER)
    put_double(words, mirage_attr_number(field, attrs));
  else
    for (uint32_t i = 0; i < mirage_attr_count(field); i++)
      put(words, (uint64_t)mirage_attr_get(field, attrs, i));
}

// Hashes of graphs whose added fields are all usual stay what they were before there were such fields.
static void put_fields(Words *words, MirageAttrsKind kind, const MirageAttrs *attrs) {
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(kind, &count);
  bool added = false;
  for (uint32_t i = 0; i < count; i++)
    added |= fields[i].use == MIRAGE_ATTR_ADDED && !mirage_attr_is_usual(&fields[i], attrs);
  for (uint32_t i = 0; i < count; i++)
    if (added || fields[i].use != MIRAGE_ATTR_ADDED)
      put_field(words, &fields[i], attrs);
}

static void put_attrs(Words *words, MirageAttrsKind kind, const MirageAttrs *given) {
  const MirageAttrs none = {0}, *attrs = given ? given : &none; // a matmul may have none
  switch (kind) {
  case MIRAGE_ATTRS_AXES:
    for (uint32_t i = 0; i < 3; i++)
      put(words, attrs->axes.axis[i]);
    return;
  case MIRAGE_ATTRS_ACCESS:
    put_access(words, &attrs->access);
    return;
  case MIRAGE_ATTRS_CUSTOM: // its schedule: see hash_custom
    for (uint32_t i = 0; i < 3; i++) {
      put(words, (uint64_t)attrs->custom.grid[i]);
      put(words, (uint64_t)attrs->custom.cluster[i]);
    }
    return;
  case MIRAGE_ATTRS_LOOP: // its carries are hashed one by one, see hash_loop
    put(words, (uint64_t)attrs->loop.range);
    return;
  default: // of a shape, the result's type is hashed with every node; a permutation: see hash_plain
    put_fields(words, kind, attrs);
  }
}

// ------------------------------------------------------------------------------------------- a kernel as it was planned

// A tile's place; a fragment's is not written in text, and the registers of a tile have nothing to add.
static void put_place(Words *words, const MirageType *type) {
  const MirageLayout *layout = &type->layout;
  put(words, type->space);
  if (type->space != MIRAGE_SPACE_SHARED)
    return;
  put(words, layout->planned);
  put(words, layout->asked);
  put(words, layout->swizzle);
  put(words, (uint64_t)layout->panel);
  put(words, (uint64_t)layout->offset);
  put(words, (uint64_t)layout->stages);
  for (uint32_t i = 0; i < type->rank; i++)
    put(words, (uint64_t)layout->strides[i]);
}

static void put_region(Words *words, const MirageUGraph *graph, MirageRegion region, uint32_t first) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t n = 0; n < view.num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[n]);
    put(words, node.op);
    put_attrs(words, mirage_op_info(node.op)->attrs, node.attrs);
    for (uint32_t i = 0; mirage_op_info(node.op)->attrs == MIRAGE_ATTRS_PERM && i < MIRAGE_MAX_RANK; i++)
      put(words, (uint64_t)node.attrs->perm.perm[i]);
    for (uint32_t i = 0; node.op == MIRAGE_OP_LOOP && i < node.attrs->loop.num_carries; i++) {
      put(words, node.attrs->loop.carries[i].combine);
      put(words, (uint64_t)node.attrs->loop.carries[i].dim);
    }
    for (uint32_t i = 0; i < node.num_operands; i++)
      put(words, node.operands[i].index - first);
    if (node.region.index)
      put_region(words, graph, node.region, first);
  }
}

static void put_text(Words *words, const char *text) {
  for (; text && *text; text++)
    put(words, (unsigned char)*text);
}

MirageGraphHash mirage_ugraph_kernel_hash(const MirageUGraph *graph, MirageNode custom) {
  MirageNodeView view = mirage_ugraph_node(graph, custom);
  const MiragePlan *plan = view.attrs->custom.plan;
  Words words = {0};
  uint32_t count;
  MirageValue first = mirage_ugraph_kernel_values(graph, custom, &count);
  put_attrs(&words, MIRAGE_ATTRS_CUSTOM, view.attrs);
  put_schedule(&words, view.attrs->custom.schedule);
  for (uint32_t i = 0; i < count; i++) {
    const MirageType *type = mirage_ugraph_type(graph, (MirageValue){first.index + i});
    put_type(&words, type);
    put_place(&words, type);
  }
  put_region(&words, graph, view.region, first.index);
  for (uint32_t i = 0; plan && i < 4; i++)
    put(&words, (uint64_t)plan->partition[i]);
  put(&words, (plan && plan->in_threads) + 2 * (uint64_t)(plan && plan->paired));
  put_schedule(&words, plan ? plan->asked : NULL);
  put_text(&words, plan ? plan->target : NULL);
  put_text(&words, plan ? plan->loops : NULL);
  put_text(&words, plan ? plan->places : NULL);
  return words_finish(&words);
}

uint64_t mirage__kernel_hash(const MirageUGraph *graph, MirageNode custom) {
  uint64_t hash = mirage_ugraph_kernel_hash(graph, custom).low;
  return hash ? hash : 1;
}

bool mirage_ugraph_plan_holds(const MirageUGraph *graph, MirageNode custom) {
  const MiragePlan *plan = mirage_ugraph_node(graph, custom).attrs->custom.plan;
  return plan && plan->of == mirage__kernel_hash(graph, custom);
}

// -------------------------------------------------------------------------------------------------------- whole graphs

static bool commutes(MirageOp op) {
  return op == MIRAGE_OP_ADD || op == MIRAGE_OP_MUL || op == MIRAGE_OP_MAX || op == MIRAGE_OP_MIN ||
         op == MIRAGE_OP_EQUAL || op == MIRAGE_OP_NOT_EQUAL || op == MIRAGE_OP_AND || op == MIRAGE_OP_OR;
}

static bool less(Hash a, Hash b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

static void hash_region(Hasher *hasher, MirageRegion region);

/// A node without a region and with one result.
static void hash_plain(Hasher *hasher, const MirageNodeView *view) {
  Words words = {0};
  put(&words, view->op);
  put(&words, view->level == MIRAGE_LEVEL_THREAD ? MIRAGE_LEVEL_BLOCK : view->level); // regions of threads do not count
  put_attrs(&words, mirage_op_info(view->op)->attrs, view->attrs);
  uint32_t rank = mirage_ugraph_type(hasher->graph, view->first_result)->rank;
  for (uint32_t i = 0; mirage_op_info(view->op)->attrs == MIRAGE_ATTRS_PERM && i < rank; i++)
    put(&words, (uint64_t)view->attrs->perm.perm[i]);
  if (view->op == MIRAGE_OP_LOAD)
    put_hash(&words, hasher->scope);
  put_type(&words, mirage_ugraph_type(hasher->graph, view->first_result));
  bool swap =
      commutes(view->op) && less(hasher->values[view->operands[1].index], hasher->values[view->operands[0].index]);
  for (uint32_t i = 0; i < view->num_operands; i++)
    put_hash(&words, hasher->values[view->operands[swap ? 1 - i : i].index]);
  hasher->values[view->first_result.index] = words_finish(&words);
}

/// Adds a store to the sum of those to its output: their order does not matter.
static void hash_store(Hasher *hasher, const MirageNodeView *view) {
  Words words = {0};
  put(&words, view->op);
  put_access(&words, &view->attrs->access);
  put_hash(&words, hasher->scope);
  put_hash(&words, hasher->values[view->operands[0].index]);
  Hash store = words_finish(&words);
  Hash *output = &hasher->values[view->operands[1].index];
  output->low += store.low;
  output->high += store.high;
}

static bool has_collective(const MirageUGraph *graph, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  bool found = false;
  for (uint32_t i = 0; i < view.num_nodes && !found; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    found = mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE ||
            (node.region.index && has_collective(graph, node.region));
  }
  return found;
}

// Without a collective, a cluster only says which blocks are neighbours: a schedule, as far as meaning goes.
static void put_custom(Words *words, const Hasher *hasher, const MirageNodeView *view) {
  MirageAttrs attrs = *view->attrs;
  for (uint32_t i = 0; i < 3 && hasher->meaning && !has_collective(hasher->graph, view->region); i++)
    attrs.custom.cluster[i] = 1;
  put_attrs(words, MIRAGE_ATTRS_CUSTOM, &attrs);
  put_schedule(words, hasher->meaning ? NULL : view->attrs->custom.schedule);
}

static void hash_custom(Hasher *hasher, MirageNode node, const MirageNodeView *view) {
  for (uint32_t i = 0; i < view->num_operands; i++)
    hasher->values[mirage_ugraph_argument(hasher->graph, node, i).index] = hasher->values[view->operands[i].index];
  Hash outer = hasher->scope;
  hasher->scope = (Hash){0, 0};
  hash_region(hasher, view->region);
  hasher->scope = outer;
  for (uint32_t i = 0; i < view->num_results; i++) {
    Words words = {0};
    put(&words, view->op);
    put_custom(&words, hasher, view);
    put_type(&words, mirage_ugraph_type(hasher->graph, mirage_ugraph_result(hasher->graph, node, i)));
    put_hash(&words, hasher->values[mirage_ugraph_argument(hasher->graph, node, view->num_operands + i).index]);
    hasher->values[view->first_result.index + i] = words_finish(&words);
  }
}

static void hash_loop(Hasher *hasher, MirageNode node, const MirageNodeView *view) {
  const MirageLoopAttrs *loop = &view->attrs->loop;
  bool reads_carry = false;
  for (uint32_t i = 0; i < loop->num_carries; i++) {
    MirageValue argument = mirage_ugraph_argument(hasher->graph, node, i);
    Words words = {0};
    put(&words, view->op);
    put(&words, hasher->depth);
    put(&words, i);
    hasher->values[argument.index] = words_finish(&words);
    reads_carry |= hasher->read[argument.index];
  }
  Hash outer = hasher->scope;
  Words scope = {0};
  put_hash(&scope, outer);
  put(&scope, (uint64_t)loop->range);
  hasher->scope = words_finish(&scope);
  hash_region(hasher, view->region);
  hasher->scope = outer;

  MirageRegionView body = mirage_ugraph_region(hasher->graph, view->region);
  MirageNodeView yield = mirage_ugraph_node(hasher->graph, body.nodes[body.num_nodes - 1]);
  Words all = {0};
  uint32_t factor = loop->num_carries;
  for (uint32_t i = 0; i < loop->num_carries; i++) {
    Words words = {0};
    put(&words, view->op);
    put(&words, (uint64_t)loop->range);
    put(&words, loop->carries[i].combine);
    put(&words, loop->carries[i].combine == MIRAGE_COMBINE_CONCAT ? (uint64_t)loop->carries[i].dim : 0);
    put_hash(&words, hasher->values[view->operands[i].index]);
    put_hash(&words, hasher->values[yield.operands[i].index]);
    if (loop->carries[i].combine == MIRAGE_COMBINE_RESCALE)
      put_hash(&words, hasher->values[yield.operands[factor++].index]);
    Hash carry = words_finish(&words);
    hasher->values[view->first_result.index + i] = carry;
    put_hash(&all, carry);
  }
  if (!reads_carry)
    return;
  Hash whole = words_finish(&all);
  for (uint32_t i = 0; i < loop->num_carries; i++) {
    Words words = {0};
    put_hash(&words, whole);
    put(&words, i);
    hasher->values[view->first_result.index + i] = words_finish(&words);
  }
}

static void hash_thread(Hasher *hasher, MirageNode node, const MirageNodeView *view) {
  for (uint32_t i = 0; i < view->num_operands; i++)
    hasher->values[mirage_ugraph_argument(hasher->graph, node, i).index] = hasher->values[view->operands[i].index];
  hash_region(hasher, view->region);
  MirageRegionView body = mirage_ugraph_region(hasher->graph, view->region);
  MirageNodeView yield = mirage_ugraph_node(hasher->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < view->num_results; i++)
    hasher->values[view->first_result.index + i] = hasher->values[yield.operands[i].index];
}

static void hash_region(Hasher *hasher, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(hasher->graph, region);
  hasher->depth++;
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(hasher->graph, view.nodes[i]);
    if (node.op == MIRAGE_OP_CUSTOM)
      hash_custom(hasher, view.nodes[i], &node);
    else if (node.op == MIRAGE_OP_LOOP)
      hash_loop(hasher, view.nodes[i], &node);
    else if (node.op == MIRAGE_OP_THREAD)
      hash_thread(hasher, view.nodes[i], &node);
    else if (node.op == MIRAGE_OP_STORE)
      hash_store(hasher, &node);
    else if (node.num_results == 1)
      hash_plain(hasher, &node);
  }
  hasher->depth--;
}

static Hash hash_graph(Hasher *hasher) {
  const MirageUGraph *graph = hasher->graph;
  for (uint32_t i = 1; i <= mirage_ugraph_num_nodes(graph); i++) {
    MirageNodeView view = mirage_ugraph_node(graph, (MirageNode){i});
    for (uint32_t j = 0; j < view.num_operands; j++)
      hasher->read[view.operands[j].index] = true;
  }
  Words words = {0};
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    Words one = {0};
    put(&one, i);
    put_type(&one, mirage_ugraph_type(graph, input));
    hasher->values[input.index] = words_finish(&one);
    put_hash(&words, hasher->values[input.index]);
  }
  hash_region(hasher, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++)
    put_hash(&words, hasher->values[mirage_ugraph_get_output(graph, i).index]);
  return words_finish(&words);
}

static MirageStatus run(const MirageUGraph *graph, bool meaning, const MirageDiag *diag, Hash *out_hash) {
  size_t count = (size_t)mirage_ugraph_num_values(graph) + 1;
  Hasher hasher = {
      .graph = graph, .values = calloc(count, sizeof(Hash)), .read = calloc(count, sizeof(bool)), .meaning = meaning};
  bool ready = hasher.values && hasher.read;
  if (ready)
    *out_hash = hash_graph(&hasher);
  free(hasher.values);
  free(hasher.read);
  return ready ? MIRAGE_OK : mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "graph: out of memory");
}

MirageStatus mirage_ugraph_hash(const MirageUGraph *graph, const MirageDiag *diag, MirageGraphHash *out_hash) {
  return run(graph, false, diag, out_hash);
}

MirageStatus mirage_ugraph_pair_hash(const MirageUGraph *source, const MirageUGraph *candidate, const MirageDiag *diag,
                                     uint64_t *out_hash) {
  Hash hashes[2];
  Words words = {0};
  MIRAGE_TRY(run(source, true, diag, &hashes[0]));
  MIRAGE_TRY(run(candidate, true, diag, &hashes[1]));
  put_hash(&words, hashes[0]);
  put_hash(&words, hashes[1]);
  uint64_t hash = words_finish(&words).low;
  *out_hash = hash ? hash : 1; // 0 stands for none
  return MIRAGE_OK;
}
