// symbols.c - the symbols of a module, so that a free one is found without a walk through the module.
//
// Listed once, at the first question, and kept up to date by whoever adds or removes an operation (graphs.c, lower.c).
// A table of open addresses; a name that is gone keeps its place with no operation left, since it may come again.
#include "passes.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

typedef struct Symbol {
  const char *name;          // in the arena; NULL = free
  uint32_t binaries, others; // operations that have it
} Symbol;

struct MirageSymbols {
  Symbol *slots;
  uint32_t num, capacity; // a power of two
};

enum { FIRST_CAPACITY = 64 };

static uint64_t hash_name(MlirStringRef name) { // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < name.length; i++)
    hash = (hash ^ (unsigned char)name.data[i]) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

static Symbol *find_slot(MirageSymbols *symbols, MlirStringRef name) {
  for (uint64_t at = hash_name(name);; at++) {
    Symbol *slot = &symbols->slots[at & (symbols->capacity - 1)];
    if (!slot->name || (strlen(slot->name) == name.length && memcmp(slot->name, name.data, name.length) == 0))
      return slot;
  }
}

static MirageStatus grow(MirageModuleGraphs *graphs, MirageSymbols *symbols) {
  MirageSymbols larger = *symbols;
  larger.capacity = symbols->capacity ? 2 * symbols->capacity : FIRST_CAPACITY;
  larger.slots = mirage_arena_alloc_array(&graphs->arena, larger.capacity, sizeof *larger.slots);
  if (!larger.slots)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < symbols->capacity; i++)
    if (symbols->slots[i].name)
      *find_slot(&larger, mlirStringRefCreateFromCString(symbols->slots[i].name)) = symbols->slots[i];
  *symbols = larger;
  return MIRAGE_OK;
}

static MirageStatus count(MirageModuleGraphs *graphs, MlirOperation op, bool added) {
  MirageSymbols *symbols = graphs->symbols;
  MlirAttribute attribute = mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString("sym_name"));
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute))
    return MIRAGE_OK;
  if (2 * (symbols->num + 1) > symbols->capacity)
    MIRAGE_TRY(grow(graphs, symbols));
  MlirStringRef name = mlirStringAttrGetValue(attribute);
  Symbol *slot = find_slot(symbols, name);
  if (!slot->name) {
    char *copy = mirage_arena_alloc(&graphs->arena, name.length + 1); // zeroed, so terminated
    if (!copy)
      return MIRAGE_NO_MEMORY;
    memcpy(copy, name.data, name.length);
    slot->name = copy;
    symbols->num++;
  }
  bool binary =
      mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), mlirStringRefCreateFromCString("gpu.binary"));
  uint32_t *operations = binary ? &slot->binaries : &slot->others;
  *operations += added ? 1u : UINT32_MAX;
  return MIRAGE_OK;
}

static MirageStatus list(MirageModuleGraphs *graphs) {
  MirageSymbols *symbols = mirage_arena_alloc(&graphs->arena, sizeof *symbols);
  if (!symbols)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(grow(graphs, symbols));
  graphs->symbols = symbols;
  for (MlirOperation op = mlirBlockGetFirstOperation(graphs->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    MIRAGE_TRY(count(graphs, op, true));
  return MIRAGE_OK;
}

MirageStatus mirage__symbols_taken(MirageModuleGraphs *graphs, const char *name, MirageSymbolUse *out_use) {
  if (!graphs->symbols)
    MIRAGE_TRY(list(graphs));
  const Symbol *slot = find_slot(graphs->symbols, mlirStringRefCreateFromCString(name));
  *out_use = (MirageSymbolUse){.binary = slot->name && slot->binaries, .other = slot->name && slot->others};
  return MIRAGE_OK;
}

MirageStatus mirage__symbols_add(MirageModuleGraphs *graphs, MlirOperation op) {
  return graphs->symbols ? count(graphs, op, true) : MIRAGE_OK;
}

void mirage__symbols_remove(MirageModuleGraphs *graphs, MlirOperation op) {
  if (graphs->symbols)
    (void)count(graphs, op, false); // it is there, so nothing is allocated but at most a larger table
}
