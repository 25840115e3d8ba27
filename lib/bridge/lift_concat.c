// lift_concat.c - concatenations: as tensor.concat, and as exporters write them.
//
//   tensor.insert_slice   one after the other into a tensor.empty; what is not yet whole is kept as pieces. Into a tensor that
//                         is there, it is that tensor with a piece exchanged: a concatenation with what lies around the box.
//   linalg.generic        without inputs, whose body asks by scf.if in which piece an index lies, and reads there
// Example: insert a into empty[0, 0] [4, 8], b into that[0, 8] [4, 8], the whole 4x16   is   concat a, b {dim = 1}
#include "lift.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

enum { MOST_PIECES = 64 };

typedef struct LiftPiece Piece;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static MirageValue concat(Lift *lift, uint32_t dim, uint32_t count, const MirageValue *parts) {
  MirageAttrs attrs = {.dim = {(int32_t)dim}};
  return count == 1 ? parts[0] : mirage_ugraph_apply(lift->graph, MIRAGE_OP_CONCAT, count, parts, &attrs);
}

bool mirage__lift_concat(Lift *lift, MlirOperation op) {
  MirageValue parts[MOST_PIECES];
  MirageType type;
  double dim;
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirValue result = mlirOperationGetResult(op, 0);
  if (count > MOST_PIECES)
    return mirage__lift_fail(lift, "it puts %d tensors together, %d are possible", (int)count, MOST_PIECES);
  if (!mirage__lift_number(mlirOperationGetAttributeByName(op, str("dim")), &dim))
    return mirage__lift_fail(lift, "its dimension is not known");
  if (!mirage__lift_result_type(lift, op, &type))
    return false;
  if (mlirShapedTypeGetRank(mlirValueGetType(result)) != (intptr_t)type.rank)
    return mirage__lift_fail(lift, "it has more than %d dimensions", MIRAGE_MAX_RANK);
  for (intptr_t i = 0; i < count; i++) {
    parts[i] = mirage__lift_value(lift, mlirOperationGetOperand(op, i));
    if (!parts[i].index)
      return false;
  }
  return mirage__lift_bind(lift, result, concat(lift, (uint32_t)dim, (uint32_t)count, parts));
}

// ---------------------------------------------------------------------------------------------------------------- pieces

/// Puts a piece where it belongs by order; false where another lies there.
static bool add_piece(Lift *lift, LiftPieces *pieces, Piece piece) {
  uint32_t at = pieces->count;
  if (pieces->count == MOST_PIECES)
    return mirage__lift_fail(lift, "a tensor is written in more than %d pieces", MOST_PIECES);
  while (at > 0 && pieces->pieces[at - 1].begin > piece.begin)
    at--;
  bool covered = (at > 0 && pieces->pieces[at - 1].end > piece.begin) ||
                 (at < pieces->count && pieces->pieces[at].begin < piece.end);
  if (covered)
    return mirage__lift_fail(lift, "it writes over what another has written");
  memmove(&pieces->pieces[at + 1], &pieces->pieces[at], (pieces->count - at) * sizeof *pieces->pieces);
  pieces->pieces[at] = piece;
  pieces->count++;
  return true;
}

/// Pieces that leave no gap, as one tensor; {0} where there are gaps.
static MirageValue whole(Lift *lift, const LiftPieces *pieces, int64_t extent) {
  MirageValue parts[MOST_PIECES];
  int64_t written = 0;
  for (uint32_t i = 0; i < pieces->count; i++) {
    written += pieces->pieces[i].end - pieces->pieces[i].begin;
    parts[i] = pieces->pieces[i].value;
  }
  return written == extent ? concat(lift, pieces->dim, pieces->count, parts) : (MirageValue){0};
}

/// The only dimension along which the box is not all of the tensor; the first one where it is all of it; -1: several.
static int32_t box_dim(const MirageType *type, const LiftSlice *box) {
  int32_t found = -1;
  for (uint32_t d = 0; d < type->rank; d++) {
    if (box->sizes[d] == type->shape[d])
      continue;
    if (found >= 0)
      return -1;
    found = (int32_t)d;
  }
  return found >= 0 ? found : 0;
}

/// A box in a tensor of which nothing, or some pieces, have been written.
static bool insert_piece(Lift *lift, MlirOperation op, const MirageType *type, const LiftSlice *box,
                         const LiftPieces *before, MirageValue source) {
  MlirValue result = mlirOperationGetResult(op, 0);
  LiftPieces *pieces = mirage_arena_alloc(lift->arena, sizeof *pieces);
  int32_t dim = box_dim(type, box);
  if (!pieces)
    return mirage__lift_fail(lift, "out of memory");
  if (dim < 0 || (before && before->dim != (uint32_t)dim))
    return mirage__lift_fail(lift, "it writes a box that is no slice along one dimension");
  if (before)
    *pieces = *before;
  else
    *pieces = (LiftPieces){.dim = (uint32_t)dim};
  if (!add_piece(lift, pieces, (Piece){box->offsets[dim], box->offsets[dim] + box->sizes[dim], source}))
    return false;
  MirageValue value = whole(lift, pieces, type->shape[dim]);
  return value.index ? mirage__lift_bind(lift, result, value) : mirage__lift_bind_pieces(lift, result, pieces);
}

/// What lies on one side of the box along `dim`: of the dimensions before it the box, of those behind it all.
static MirageValue beside(Lift *lift, MlirValue dest, const MirageType *type, const LiftSlice *box, uint32_t dim,
                          int64_t begin, int64_t end) {
  MirageType part = *type;
  double number;
  for (uint32_t d = 0; d <= dim; d++)
    part.shape[d] = d == dim ? end - begin : box->sizes[d];
  if (mirage__lift_splat(dest, &number))
    return mirage_ugraph_constant(lift->graph, part, number);
  MirageValue value = mirage__lift_value(lift, dest);
  for (uint32_t d = 0; value.index && d < dim; d++)
    value = mirage__lift_slice(lift, value, d, box->offsets[d], box->offsets[d] + box->sizes[d]);
  return value.index ? mirage__lift_slice(lift, value, dim, begin, end) : value;
}

/// A box exchanged in a tensor that is there: from the last dimension on, what lies around it is put to it.
static bool exchange(Lift *lift, MlirOperation op, MlirValue dest, const MirageType *type, const LiftSlice *box,
                     MirageValue value) {
  for (uint32_t dim = type->rank; dim-- > 0;) {
    MirageValue parts[3];
    uint32_t count = 0;
    int64_t end = box->offsets[dim] + box->sizes[dim];
    if (box->offsets[dim] > 0)
      parts[count++] = beside(lift, dest, type, box, dim, 0, box->offsets[dim]);
    parts[count++] = value;
    if (end < type->shape[dim])
      parts[count++] = beside(lift, dest, type, box, dim, end, type->shape[dim]);
    for (uint32_t i = 0; i < count; i++)
      if (!parts[i].index)
        return false;
    value = concat(lift, dim, count, parts);
  }
  return mirage__lift_bind(lift, mlirOperationGetResult(op, 0), value);
}

bool mirage__lift_insert(Lift *lift, MlirOperation op) {
  MirageType type;
  LiftSlice box;
  MlirValue dest = mlirOperationGetOperand(op, 1);
  if (!mirage__lift_result_type(lift, op, &type) || !mirage__lift_read_slice(lift, op, &type, &box))
    return false;
  MirageValue source = mirage__lift_value(lift, mlirOperationGetOperand(op, 0));
  if (!source.index)
    return false;
  source = mirage__lift_reshape(lift, source, box.rank, box.sizes);
  const LiftValue *bound = mirage__lift_find(lift, dest);
  const LiftPieces *pieces = bound ? bound->pieces : NULL;
  if (pieces || mirage__lift_is_empty(dest))
    return insert_piece(lift, op, &type, &box, pieces, source);
  return exchange(lift, op, dest, &type, &box, source);
}

// -------------------------------------------------------------------------------------------------------------- by index

/// linalg.index of `dim` minus `start`; a constant where dim is -1.
typedef struct Index {
  int32_t dim;
  int64_t start;
} Index;

// A body that reads pieces by index.
typedef struct Indexed {
  Lift *lift;
  MirageType type; // of the result
  LiftPieces pieces;
  bool has_dim;
} Indexed;

bool mirage__lift_is_indexed_concat(MlirOperation op) {
  if (!mirage__lift_named(op, "linalg.generic") || mlirOperationGetNumResults(op) != 1)
    return false;
  MlirOperation yield = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  MlirValue yielded = mlirOperationGetOperand(yield, 0);
  return mlirValueIsAOpResult(yielded) && mirage__lift_named(mlirOpResultGetOwner(yielded), "scf.if");
}

static bool fail_index(Indexed *indexed) {
  return mirage__lift_fail(indexed->lift, "its body chooses by index, and puts no tensors together");
}

static bool read_index(MlirValue value, Index *out) {
  double number;
  if (!mlirValueIsAOpResult(value))
    return false;
  MlirOperation op = mlirOpResultGetOwner(value);
  if (mirage__lift_named(op, "linalg.index") || mirage__lift_named(op, "arith.constant")) {
    bool constant = mirage__lift_named(op, "arith.constant");
    if (!mirage__lift_number(mlirOperationGetAttributeByName(op, str(constant ? "value" : "dim")), &number))
      return false;
    *out = constant ? (Index){-1, -(int64_t)number} : (Index){(int32_t)number, 0};
    return true;
  }
  bool less = mirage__lift_named(op, "arith.subi");
  Index by;
  if ((!less && !mirage__lift_named(op, "arith.addi")) || !read_index(mlirOperationGetOperand(op, 0), out) ||
      !read_index(mlirOperationGetOperand(op, 1), &by) || by.dim >= 0)
    return false;
  out->start += less ? -by.start : by.start;
  return true;
}

/// An element of a tensor, for the indices [begin, end) along the concatenation's dimension: a slice of that tensor.
static bool read_extract(Indexed *indexed, MlirOperation op, int64_t begin, int64_t end) {
  Lift *lift = indexed->lift;
  uint32_t dim = indexed->pieces.dim;
  int64_t start = 0;
  MirageValue value = mirage__lift_value(lift, mlirOperationGetOperand(op, 0));
  if (!value.index)
    return false;
  const MirageType *type = mirage_ugraph_type(lift->graph, value);
  if (mlirOperationGetNumOperands(op) != 1 + (intptr_t)indexed->type.rank || type->rank != indexed->type.rank)
    return fail_index(indexed);
  for (uint32_t d = 0; d < type->rank; d++) {
    Index index;
    if (!read_index(mlirOperationGetOperand(op, 1 + (intptr_t)d), &index))
      return fail_index(indexed);
    bool straight = index.dim == (int32_t)d && index.start == 0;
    bool only = index.dim < 0 && index.start == 0 && indexed->type.shape[d] == 1;
    if (d == dim ? index.dim != (int32_t)d : (!straight && !only) || type->shape[d] != indexed->type.shape[d])
      return fail_index(indexed);
    start = d == dim ? index.start : start;
  }
  if (begin < start || end - start > type->shape[dim])
    return fail_index(indexed);
  return add_piece(lift, &indexed->pieces,
                   (Piece){begin, end, mirage__lift_slice(lift, value, dim, begin - start, end - start)});
}

static bool read_piece(Indexed *indexed, MlirValue value, int64_t begin, int64_t end);

/// if index - start < bound: one piece, else others.
static bool read_if(Indexed *indexed, MlirOperation op, int64_t begin, int64_t end) {
  enum { SIGNED_LESS = 2, UNSIGNED_LESS = 6 }; // of arith.cmpi
  MlirValue condition = mlirOperationGetOperand(op, 0);
  Index index, bound;
  double predicate;
  if (!mlirValueIsAOpResult(condition) || !mirage__lift_named(mlirOpResultGetOwner(condition), "arith.cmpi") ||
      mlirOperationGetNumResults(op) != 1 || mlirRegionIsNull(mlirOperationGetRegion(op, 1)))
    return fail_index(indexed);
  MlirOperation compare = mlirOpResultGetOwner(condition);
  bool known = read_index(mlirOperationGetOperand(compare, 0), &index) &&
               read_index(mlirOperationGetOperand(compare, 1), &bound) && index.dim >= 0 && bound.dim < 0 &&
               mirage__lift_number(mlirOperationGetAttributeByName(compare, str("predicate")), &predicate) &&
               (predicate == SIGNED_LESS || (predicate == UNSIGNED_LESS && index.start <= begin && bound.start <= 0));
  if (!known || (indexed->has_dim && indexed->pieces.dim != (uint32_t)index.dim))
    return fail_index(indexed);
  if (!indexed->has_dim)
    end = indexed->type.shape[index.dim];
  indexed->pieces.dim = (uint32_t)index.dim;
  indexed->has_dim = true;
  int64_t border = index.start - bound.start;
  border = border < begin ? begin : border > end ? end : border;
  MlirValue yielded[2];
  for (intptr_t i = 0; i < 2; i++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
    yielded[i] = mlirOperationGetOperand(mlirBlockGetTerminator(block), 0);
  }
  return read_piece(indexed, yielded[0], begin, border) && read_piece(indexed, yielded[1], border, end);
}

static bool read_piece(Indexed *indexed, MlirValue value, int64_t begin, int64_t end) {
  if (!mlirValueIsAOpResult(value))
    return fail_index(indexed);
  MlirOperation op = mlirOpResultGetOwner(value);
  if (mirage__lift_named(op, "scf.if"))
    return read_if(indexed, op, begin, end);
  if (begin == end)
    return true;
  return mirage__lift_named(op, "tensor.extract") ? read_extract(indexed, op, begin, end) : fail_index(indexed);
}

/// Whether the result walks the iteration space dimension by dimension.
static bool is_straight(MlirOperation op) {
  MlirAttribute maps = mlirOperationGetAttributeByName(op, str("indexing_maps"));
  intptr_t last = mlirArrayAttrGetNumElements(maps) - 1;
  return mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, last)));
}

bool mirage__lift_indexed_concat(Lift *lift, MlirOperation op) {
  Indexed indexed = {.lift = lift};
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  if (!mirage__lift_result_type(lift, op, &indexed.type))
    return false;
  if (!is_straight(op) || mlirShapedTypeGetRank(mlirValueGetType(result)) != (intptr_t)indexed.type.rank)
    return fail_index(&indexed);
  if (!read_piece(&indexed, mlirOperationGetOperand(yield, 0), 0, 0))
    return false;
  MirageValue value = whole(lift, &indexed.pieces, indexed.type.shape[indexed.pieces.dim]);
  return value.index ? mirage__lift_bind(lift, result, value) : fail_index(&indexed);
}
