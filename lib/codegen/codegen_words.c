// codegen_words.c - meetings of blocks anywhere in the grid, whose words are signals of their own.
//
// What blocks publish are numbers, and a word of device memory that is zero is none that is there: elements are stored
// inverted, and the one NaN that would come out as zero is stored as another. Whoever reads a word sees whether it has come,
// and looks again until it has. So there is no counter, no fence and no second way through L2 between what a block
// publishes and what another reads: a meeting costs one.
//
// Workspace: one word for each block, then slots that are there twice (codegen_grid.c). The word counts the launches, so the
//            blocks know which copy of the slots is this launch's: zero but for what is published now. Meanwhile each
//            clears its slots of the other copy, which nobody reads any more, for the next.
// Order:     a word is there with all its bits, and says nothing of any other word, nor needs it to. All that an item needs is
//            asked for, then computed with, and once more where a word was missing.
// Volume:    every look moves all words once more, so it is only for few of them (lib/layout/actors.c).
// Launches:  the next one finds what this one left, since it begins, or waits at its begin, until this one has ended.
#include "emit.h"

enum { WORD = 4, CLEARED = 16 };
static const uint32_t NO_ZERO = 0x80008000; // stored for 0xffffffff: a NaN of f32, two of f16 and of bf16

// --------------------------------------------------------------------------------------------------------- launches

void mirage__prepare_words(Emit *e) {
  if (e->epochs)
    return;
  int64_t bytes = (int64_t)mirage__block_grid(&e->block) * WORD;
  e->epochs = e->workspace_bytes;
  e->workspace_bytes += (bytes + CLEARED - 1) / CLEARED * CLEARED;
}

// Number of the block in the grid.
static LLVMValueRef epoch_address(Emit *e) {
  const MirageCustomAttrs *custom = mirage__block_custom(&e->block);
  LLVMValueRef block = e->block_id[2];
  for (int a = 1; a >= 0; a--)
    block = mirage__add(e, mirage__mul(e, block, custom->grid[a]), e->block_id[a]);
  return mirage__at(e, e->workspace, mirage__add(e, gpu_i32(&e->gpu, e->epochs), mirage__mul(e, block, WORD)));
}

void mirage__enter_words(Emit *e) {
  if (e->epochs)
    e->epoch = GPU(&e->gpu, LD_EPOCH, epoch_address(e));
}

// All workers know the epoch by then.
void mirage__leave_words(Emit *e) {
  mirage__barrier(e);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->thread, 0));
  mirage__gpu_store_global(&e->gpu, mirage__add(e, e->epoch, gpu_i32(&e->gpu, 1)), epoch_address(e));
  mirage__end_if(e, join);
}

LLVMValueRef mirage__words_copy(Emit *e, bool other) {
  return mirage__mod(e, other ? mirage__add(e, e->epoch, gpu_i32(&e->gpu, 1)) : e->epoch, 2);
}

// ------------------------------------------------------------------------------------------------------------ clearing

static void clear_item(Emit *e, LLVMValueRef item, void *slot) {
  LLVMValueRef zero = LLVMConstNull(LLVMVectorType(e->gpu.i32, CLEARED / WORD));
  mirage__gpu_store_global(&e->gpu, zero, mirage__at(e, slot, mirage__mul(e, item, CLEARED)));
}

void mirage__clear_words(Emit *e, LLVMValueRef slot, int64_t bytes) {
  mirage__for_items(e, bytes / CLEARED, clear_item, slot);
}

// -------------------------------------------------------------------------------------------------------------- words

void mirage__words_store(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address) {
  LLVMBuilderRef b = gpu->builder;
  LLVMTypeRef type = LLVMTypeOf(value);
  bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMTypeRef element = vector ? LLVMGetElementType(type) : type;
  uint32_t count = (vector ? LLVMGetVectorSize(type) : 1) * (element == gpu->f32 || element == gpu->i32 ? 2 : 1) / 2;
  LLVMValueRef words = LLVMBuildBitCast(b, value, LLVMVectorType(gpu->i32, count), ""), operands[5] = {address};
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef word = LLVMBuildNot(b, LLVMBuildExtractElement(b, words, gpu_i32(gpu, i), ""), "");
    LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, word, gpu_i32(gpu, 0), "");
    operands[1 + i] = LLVMBuildSelect(b, none, gpu_i32(gpu, NO_ZERO), word, "");
  }
  mirage__gpu_emit(gpu,
                   count == 1   ? MIRAGE_PRIM_ST_WORDS_4
                   : count == 2 ? MIRAGE_PRIM_ST_WORDS_8
                                : MIRAGE_PRIM_ST_WORDS_16,
                   operands);
}

LLVMValueRef mirage__words_load(Emit *e, LLVMTypeRef type, uint32_t bytes, LLVMValueRef address) {
  LLVMBuilderRef b = e->gpu.builder;
  uint32_t count = bytes / WORD;
  if (!e->awaited || e->awaited->count + count > MOST_AWAITED) {
    if (e->awaited)
      mirage__emit_fail(e, NULL, MIRAGE_LIMIT, "codegen: a thread reads more than %d words of other blocks at once",
                        MOST_AWAITED);
    else
      mirage__emit_fail(e, NULL, MIRAGE_BAD_GRAPH, "codegen: what blocks exchange is read where nobody waits for it");
    return LLVMGetUndef(type);
  }
  LLVMValueRef loaded = mirage__gpu_emit(&e->gpu,
                                         count == 1   ? MIRAGE_PRIM_LD_WORDS_4
                                         : count == 2 ? MIRAGE_PRIM_LD_WORDS_8
                                                      : MIRAGE_PRIM_LD_WORDS_16,
                                         &address);
  LLVMValueRef words = LLVMGetUndef(LLVMVectorType(e->gpu.i32, count));
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef word = count > 1 ? LLVMBuildExtractValue(b, loaded, i, "") : loaded;
    e->awaited->words[e->awaited->count++] = word;
    words = LLVMBuildInsertElement(b, words, LLVMBuildNot(b, word, ""), gpu_i32(&e->gpu, i), "");
  }
  return LLVMBuildBitCast(b, words, type, "");
}

// -------------------------------------------------------------------------------------------------------------- waiting

static bool is_exchanged(const Emit *e, MirageValue value) {
  const BlockValue *v = &e->block.values[mirage__block_resolve(&e->block, value).index];
  return v->gathered || (v->meeting >= 0 && e->meetings[v->meeting].words);
}

static LLVMValueRef is_any_missing(Emit *e, const Awaited *awaited) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef missing = LLVMConstInt(e->gpu.i1, 0, 0);
  for (uint32_t i = 0; i < awaited->count; i++)
    missing = LLVMBuildOr(b, missing, LLVMBuildICmp(b, LLVMIntEQ, awaited->words[i], gpu_i32(&e->gpu, 0), ""), "");
  return missing;
}

// Of what was remembered since there were `known`, only what was read.
static void forget_computed(Emit *e, uint32_t known) {
  uint32_t kept = known;
  for (uint32_t i = known; i < e->num_memo; i++)
    if (e->memo[i].leaf)
      e->memo[kept++] = e->memo[i];
  e->num_memo = kept;
}

void mirage__awaited_element(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  if (!e->epochs || !is_exchanged(e, value)) {
    mirage__element(e, value, index, width, out);
    return;
  }
  Awaited awaited = {.count = 0};
  uint32_t known = e->num_memo;
  LLVMBasicBlockRef spin = mirage__begin_spin(e);
  e->awaited = &awaited;
  mirage__element(e, value, index, width, out); // for its reads alone: then they are all under way at once
  forget_computed(e, known);
  mirage__element(e, value, index, width, out);
  e->awaited = NULL;
  mirage__end_spin(e, spin, is_any_missing(e, &awaited));
}
