// partition.h - a function that is cut into parts: shared by partition.c, which finds them, and outline.c, which makes programs
// of them. Private to lib/bridge.
#ifndef MIRAGE_BRIDGE_PARTITION_H
#define MIRAGE_BRIDGE_PARTITION_H

#include "lift.h"

enum { PART_OUTSIDE = -1, PART_SOURCE = -2 };

// An operation of the block.
typedef struct PartItem {
  MlirOperation op;
  int32_t part; // index of a part (its root by mirage__part_root), OUTSIDE or SOURCE
  uint32_t weight;
  bool tried, said;   // whether it can be said has been asked, and it can
  bool banned;        // it cannot where it stands
  bool cut;           // it begins a part
  const char *reason; // of what stays outside
} PartItem;

typedef struct Part {
  int32_t into; // merged into this one; itself otherwise
  bool closed, dropped;
  uint32_t weight, count;
} Part;

typedef struct PartPlace {
  const void *op;
  uint32_t index;
} PartPlace;

typedef struct Partition {
  MirageArena *arena;
  const MirageDiag *diag;
  const MiragePartitionOptions *options;
  MlirOperation function;
  MlirBlock module_body;
  MlirSymbolTable
      symbols; // of the module; made once, so that a thousand functions take no thousand walks for each name
  uint32_t num_items, num_parts;
  PartItem *items;
  Part *parts;
  PartPlace *places; // of the items' operations, by address
} Partition;

int32_t mirage__part_root(const Partition *p, int32_t part);
/// The part that an operation is in, or OUTSIDE.
int32_t mirage__part_of(const Partition *p, MlirOperation op);
/// The item that makes a value, or NULL: an argument, or from elsewhere.
PartItem *mirage__part_maker(const Partition *p, MlirValue value);
/// The item of the block that `op` is, or stands in.
PartItem *mirage__part_enclosing(const Partition *p, MlirOperation op);

/// Visits all values that the operation uses, and the operations inside it.
typedef void (*PartVisitor)(Partition *p, MlirValue value, void *user);
void mirage__part_each_used(Partition *p, MlirOperation op, PartVisitor visitor, void *user);

/// Binds an operand as an input of the graph, once. Numbers and sources need none. f64 only where an operation is `tried`.
bool mirage__part_bind_input(Lift *lift, MlirValue value, bool tried);

// What came of a part.
typedef struct PartOutcome {
  bool done;
  PartItem *failed; // the operation that was in the way, if one was
  bool too_many;    // because so many tensors would go in or come out
  const char *reason;
} PartOutcome;

/// Builds the part's program, and with `replaces` puts a call of it in place of the part's operations; `number` names it.
MirageStatus mirage__part_outline(Partition *p, int32_t part, uint32_t number, bool replaces, PartOutcome *out);
/// Whether nobody uses the operation's results.
bool mirage__part_is_unused(MlirOperation op);

#endif
