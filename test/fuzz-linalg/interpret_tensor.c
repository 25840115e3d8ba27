// interpret_tensor.c - tensor, memref, and arith and math on tensors and scalars.
#include "interpret.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <string.h>

static MlirType result_type(MlirOperation op) { return mlirValueGetType(mlirOperationGetResult(op, 0)); }

static bool bind_first(Interpreter *in, MlirOperation op, Tensor *tensor) {
  return bind(in, mlirOperationGetResult(op, 0), tensor);
}

// --------------------------------------------------------------------------------------------------------------- elements

/// The next place in a tensor of this shape; false behind the last.
static bool next_place(int rank, const int64_t *shape, int64_t *place) {
  for (int d = rank; d-- > 0; place[d] = 0)
    if (++place[d] < shape[d])
      return true;
  return false;
}

static int64_t offset_of(const Tensor *tensor, const int64_t *place) {
  int64_t at = 0;
  for (int d = 0; d < tensor->rank; d++)
    at = at * tensor->shape[d] + place[d];
  return at;
}

static bool element_wise(Interpreter *in, MlirOperation op, const ScalarOp *scalar) {
  Tensor *operands[3];
  Elem elem;
  for (int i = 0; i < scalar->operands; i++)
    if (!(operands[i] = operand_at(in, op, i)))
      return false;
  const Tensor *widest = operands[scalar->operands - 1]; // of a select, the condition may be a scalar
  if (!elem_of(result_type(op), &elem))
    return give_up(in, "an element type");
  Tensor *result = tensor_like(in, elem, widest->rank, widest->shape);
  int predicate = predicate_of(op);
  for (int64_t i = 0; i < result->count; i++) {
    Scalar x[3];
    for (int k = 0; k < scalar->operands; k++)
      x[k] = operands[k]->data[operands[k]->count == 1 ? 0 : i];
    result->data[i] = scalar_apply(in, scalar, elem, operands[0]->elem, predicate, x);
  }
  return bind_first(in, op, result);
}

// --------------------------------------------------------------------------------------------------------------- reshapes

/// The same elements in another shape; open extents of it are those of an operand that has as many dimensions.
static bool reshape(Interpreter *in, MlirOperation op) {
  Tensor *x = operand_at(in, op, 0);
  MlirType type = result_type(op);
  int64_t shape[TENSOR_RANK], count = 1;
  int rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; x && d < rank; d++) {
    if (mlirShapedTypeIsDynamicDim(type, d) && rank != x->rank)
      return give_up(in, "a reshape to open extents");
    count *= shape[d] = mlirShapedTypeIsDynamicDim(type, d) ? x->shape[d] : mlirShapedTypeGetDimSize(type, d);
  }
  if (!x || count != x->count)
    return give_up(in, "a reshape that does not fit");
  Tensor *result = tensor_like(in, x->elem, rank, shape);
  memcpy(result->data, x->data, (size_t)count * sizeof *x->data);
  return bind_first(in, op, result);
}

// ----------------------------------------------------------------------------------------------------------------- slices

typedef struct Box {
  int64_t offsets[TENSOR_RANK], sizes[TENSOR_RANK], strides[TENSOR_RANK];
} Box;

/// One list of a box: known numbers, and operands from `*at` on for the others.
static bool read_list(Interpreter *in, MlirOperation op, const char *name, int rank, intptr_t *at, int64_t *out) {
  MlirAttribute list = attribute_of(op, name);
  for (int d = 0; d < rank; d++) {
    out[d] = mlirDenseI64ArrayGetElement(list, d);
    if (out[d] != INT64_MIN)
      continue;
    Tensor *number = operand_at(in, op, (*at)++);
    if (!number)
      return false;
    out[d] = number->data[0].i;
  }
  return true;
}

static bool read_box(Interpreter *in, MlirOperation op, const Tensor *whole, intptr_t first, Box *box) {
  if (!read_list(in, op, "static_offsets", whole->rank, &first, box->offsets) ||
      !read_list(in, op, "static_sizes", whole->rank, &first, box->sizes) ||
      !read_list(in, op, "static_strides", whole->rank, &first, box->strides))
    return false;
  for (int d = 0; d < whole->rank; d++)
    if (box->sizes[d] > 0 &&
        (box->offsets[d] < 0 || box->offsets[d] + (box->sizes[d] - 1) * box->strides[d] >= whole->shape[d]))
      return give_up(in, "a slice that leaves its tensor");
  return true;
}

/// Copies the box's elements, in order, to or from `dense`.
static void copy_box(Tensor *whole, const Box *box, Scalar *dense, bool into) {
  int64_t place[TENSOR_RANK] = {0}, count = 1, n = 0;
  for (int d = 0; d < whole->rank; d++)
    count *= box->sizes[d];
  if (count == 0)
    return;
  do {
    int64_t at[TENSOR_RANK];
    for (int d = 0; d < whole->rank; d++)
      at[d] = box->offsets[d] + place[d] * box->strides[d];
    Scalar *element = &whole->data[offset_of(whole, at)];
    if (into)
      *element = dense[n++];
    else
      dense[n++] = *element;
  } while (next_place(whole->rank, box->sizes, place));
}

static bool extract_slice(Interpreter *in, MlirOperation op) {
  Tensor *x = operand_at(in, op, 0), *result = tensor_create(in, result_type(op), 0);
  Box box;
  if (!x || !result || !read_box(in, op, x, 1, &box))
    return false;
  copy_box(x, &box, result->data, false);
  return bind_first(in, op, result);
}

static bool insert_slice(Interpreter *in, MlirOperation op) {
  Tensor *x = operand_at(in, op, 0), *into = operand_at(in, op, 1);
  Box box;
  if (!x || !into || !read_box(in, op, into, 2, &box))
    return false;
  into = tensor_copy(in, into);
  copy_box(into, &box, x->data, true);
  return bind_first(in, op, into);
}

static bool concat(Interpreter *in, MlirOperation op) {
  Tensor *result = tensor_create(in, result_type(op), 0);
  int dim = (int)mlirIntegerAttrGetValueInt(attribute_of(op, "dim"));
  Box box = {{0}, {0}, {0}};
  for (intptr_t i = 0; result && i < mlirOperationGetNumOperands(op); i++) {
    Tensor *x = operand_at(in, op, i);
    if (!x)
      return false;
    for (int d = 0; d < x->rank; d++) {
      box.sizes[d] = x->shape[d];
      box.strides[d] = 1;
    }
    copy_box(result, &box, x->data, true);
    box.offsets[dim] += x->shape[dim];
  }
  return bind_first(in, op, result);
}

static bool pad(Interpreter *in, MlirOperation op) {
  Tensor *x = operand_at(in, op, 0), *result = tensor_create(in, result_type(op), 0);
  Body body;
  Box box;
  intptr_t at = 1;
  if (!x || !result || !body_compile(in, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), &body) ||
      !read_list(in, op, "static_low", x->rank, &at, box.offsets))
    return false;
  for (int d = 0; d < x->rank; d++) {
    box.sizes[d] = x->shape[d];
    box.strides[d] = 1;
  }
  for (int64_t i = 0; i < result->count; i++)
    result->data[i] = body.slots[body.yields[0]];
  copy_box(result, &box, x->data, true);
  return bind_first(in, op, result);
}

static bool generate(Interpreter *in, MlirOperation op) {
  Tensor *result = tensor_create(in, result_type(op), 0);
  Body body;
  int64_t place[TENSOR_RANK] = {0};
  if (!result || !body_compile(in, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), &body))
    return false;
  for (int64_t i = 0; i < result->count; i++) {
    for (int d = 0; d < result->rank; d++)
      body.slots[d].i = place[d];
    body_run(in, &body, place);
    result->data[i] = body.slots[body.yields[0]];
    next_place(result->rank, result->shape, place);
  }
  return bind_first(in, op, result);
}

/// e^(x - most) over their sum, along a dimension: linalg.softmax has no body.
static bool softmax(Interpreter *in, MlirOperation op) {
  Tensor *x = operand_at(in, op, 0);
  if (!x)
    return false;
  int dim = (int)mlirIntegerAttrGetValueInt(attribute_of(op, "dimension"));
  Tensor *result = tensor_copy(in, x);
  int64_t inner = 1, n = x->shape[dim];
  for (int d = dim + 1; d < x->rank; d++)
    inner *= x->shape[d];
  for (int64_t at = 0; at < x->count; at++) {
    if (at / inner % n)
      continue; // not the first of a row
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
      most = fmax(most, x->data[at + i * inner].f);
    for (int64_t i = 0; i < n; i++)
      sum += exp(x->data[at + i * inner].f - most);
    for (int64_t i = 0; i < n; i++)
      result->data[at + i * inner].f =
          round_to(in->arithmetic.rounds ? x->elem : F64, exp(x->data[at + i * inner].f - most) / sum);
  }
  return bind_first(in, op, result);
}

// --------------------------------------------------------------------------------------------------------------- elements

static bool empty(Interpreter *in, MlirOperation op) {
  Tensor *result = tensor_create(in, result_type(op), 0);
  MlirType type = result_type(op);
  int64_t shape[TENSOR_RANK];
  intptr_t at = 0;
  for (int d = 0; result && d < result->rank; d++) {
    shape[d] = result->shape[d];
    if (!mlirShapedTypeIsDynamicDim(type, d))
      continue;
    Tensor *size = operand_at(in, op, at++);
    if (!size)
      return false;
    shape[d] = size->data[0].i;
  }
  return result && bind_first(in, op, tensor_like(in, result->elem, result->rank, shape));
}

static bool splat(Interpreter *in, MlirOperation op) {
  Tensor *number = operand_at(in, op, 0), *result = tensor_create(in, result_type(op), 0);
  for (int64_t i = 0; number && result && i < result->count; i++)
    result->data[i] = number->data[0];
  return number && bind_first(in, op, result);
}

static bool from_elements(Interpreter *in, MlirOperation op) {
  Tensor *result = tensor_create(in, result_type(op), 0);
  for (int64_t i = 0; result && i < result->count; i++) {
    Tensor *number = operand_at(in, op, i);
    if (!number)
      return false;
    result->data[i] = number->data[0];
  }
  return bind_first(in, op, result);
}

/// The element of operand `which` that the indices behind it name; null with a reason.
static Scalar *element_at(Interpreter *in, MlirOperation op, intptr_t which) {
  Tensor *x = operand_at(in, op, which);
  int64_t place[TENSOR_RANK];
  for (int d = 0; x && d < x->rank; d++) {
    Tensor *index = operand_at(in, op, which + 1 + d);
    if (!index)
      return NULL;
    place[d] = index->data[0].i;
    if (place[d] < 0 || place[d] >= x->shape[d])
      return give_up(in, "an index that leaves its tensor"), NULL;
  }
  return x ? &x->data[offset_of(x, place)] : NULL;
}

static bool load(Interpreter *in, MlirOperation op) {
  Scalar *element = element_at(in, op, 0);
  Tensor *result = tensor_create(in, result_type(op), 0);
  if (!element || !result)
    return false;
  result->data[0] = *element;
  return bind_first(in, op, result);
}

static bool store(Interpreter *in, MlirOperation op) {
  Tensor *value = operand_at(in, op, 0);
  Scalar *element = element_at(in, op, 1);
  if (value && element)
    *element = value->data[0];
  return value && element;
}

static bool alloc(Interpreter *in, MlirOperation op) {
  return bind_first(in, op, tensor_create(in, result_type(op), 0));
}
static bool nothing(Interpreter *in, MlirOperation op) { return !in->reason[0] && !mlirOperationIsNull(op); }
static bool constant(Interpreter *in, MlirOperation op) {
  return bind_first(in, op, constant_of(in, attribute_of(op, "value"), result_type(op)));
}

bool interpret_tensor(Interpreter *in, MlirOperation op, bool *out_known) {
  static const struct {
    const char *name;
    bool (*run)(Interpreter *in, MlirOperation op);
  } rows[] = {{"arith.constant", constant},
              {"tensor.empty", empty},
              {"tensor.splat", splat},
              {"tensor.expand_shape", reshape},
              {"tensor.collapse_shape", reshape},
              {"tensor.reshape", reshape},
              {"tensor.cast", reshape},
              {"tensor.extract_slice", extract_slice},
              {"tensor.insert_slice", insert_slice},
              {"tensor.concat", concat},
              {"tensor.pad", pad},
              {"tensor.generate", generate},
              {"tensor.extract", load},
              {"tensor.from_elements", from_elements},
              {"memref.alloc", alloc},
              {"memref.dealloc", nothing},
              {"memref.load", load},
              {"memref.store", store},
              {"linalg.softmax", softmax}};
  ScalarOp scalar;
  *out_known = true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_named(op, rows[i].name))
      return rows[i].run(in, op);
  if (scalar_op(op, &scalar))
    return element_wise(in, op, &scalar);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  *out_known = name.length > 7 && !memcmp(name.data, "linalg.", 7);
  return *out_known && interpret_structured(in, op);
}
