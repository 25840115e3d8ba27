// builder.c - _mirage.Builder: a program, operator by operator, and then its text.
//
//   b = Builder("attention"); q = b.input("float16", (64, 128)); p = b.apply("matmul", (q, k), {"transpose_b": True})
//   b.finish((p,)) -> "mirage_kernel.graph @attention(...) ..."
//   infer("matmul", [("float16", (64, 128)), ("float16", (64, 128))], {"transpose_b": True}) -> ("float16", (64, 64))
//
// Values are ints. Every operator is checked by the core's shape rules before it is added, so that a mistake is an exception
// and the program stays as it was.
#include "python.h"

#include "mirage/bridge.h"

#include <stdlib.h>
#include <string.h>

typedef struct Builder {
  PyObject_HEAD MirageUGraph *graph;
  Messages messages;
  MirageDiag diag;
  bool finished;
} Builder;

enum { MAX_OPERANDS = 256 };

// ----------------------------------------------------------------------------------------------------------- attributes

static bool is_sized(PyObject *object, Py_ssize_t most, const char *what) {
  Py_ssize_t count = PySequence_Size(object);
  if (count < 0)
    return false;
  if (count <= most)
    return true;
  PyErr_Format(PyExc_ValueError, "%s: %zd entries, at most %zd are possible", what, count, most);
  return false;
}

/// Reads integers into `out`; -1 with an exception set.
static Py_ssize_t read_ints(PyObject *object, const char *what, int64_t out[], Py_ssize_t most) {
  if (!is_sized(object, most, what))
    return -1;
  Py_ssize_t count = PySequence_Size(object);
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = PySequence_GetItem(object, i), *index = item ? PyNumber_Index(item) : NULL;
    out[i] = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(item);
    Py_XDECREF(index);
    if (PyErr_Occurred())
      return -1;
  }
  return count;
}

static bool read_type(PyObject *dtype, PyObject *dims, MirageType *out_type) {
  int64_t shape[MIRAGE_MAX_RANK];
  PyObject *bytes = PyUnicode_Check(dtype) ? PyUnicode_AsUTF8String(dtype) : NULL;
  MirageDType found = MIRAGE_F16;
  if (!bytes && !PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "dtype must be a string: float16, bfloat16, float32, bool or int32");
  bool ok = bytes && dtype_find(PyBytes_AsString(bytes), &found);
  Py_XDECREF(bytes);
  Py_ssize_t rank = ok ? read_ints(dims, "dims", shape, MIRAGE_MAX_RANK) : -1;
  if (rank < 0)
    return false;
  for (Py_ssize_t i = 0; i < rank; i++)
    if (shape[i] < 1) {
      PyErr_Format(PyExc_ValueError, "dims: extent %lld of dimension %zd: extents are at least 1", (long long)shape[i],
                   i);
      return false;
    }
  *out_type = mirage_type_tensor(found, (uint32_t)rank, shape);
  return true;
}

static bool get_int(PyObject *dict, const char *name, int64_t fallback, int64_t *out) {
  PyObject *value = PyDict_GetItemString(dict, name);
  *out = value ? PyLong_AsLongLong(value) : fallback;
  return !PyErr_Occurred();
}

static bool get_double(PyObject *dict, const char *name, double fallback, double *out) {
  PyObject *value = PyDict_GetItemString(dict, name);
  *out = value ? PyFloat_AsDouble(value) : fallback;
  return !PyErr_Occurred();
}

static bool get_ints(PyObject *dict, const char *name, int64_t out[], Py_ssize_t *out_count) {
  PyObject *value = PyDict_GetItemString(dict, name);
  if (!value)
    PyErr_Format(PyExc_KeyError, "%s", name);
  *out_count = value ? read_ints(value, name, out, MIRAGE_MAX_RANK) : -1;
  return *out_count >= 0;
}

static bool read_shape(PyObject *dict, MirageAttrs *out) {
  int64_t shape[MIRAGE_MAX_RANK];
  Py_ssize_t rank;
  if (!get_ints(dict, "shape", shape, &rank))
    return false;
  out->shape.type = mirage_type_tensor(MIRAGE_F16, (uint32_t)rank, shape); // the operand's dtype is taken
  return true;
}

static bool read_perm(PyObject *dict, MirageAttrs *out) {
  int64_t perm[MIRAGE_MAX_RANK];
  Py_ssize_t rank;
  if (!get_ints(dict, "perm", perm, &rank))
    return false;
  for (Py_ssize_t i = 0; i < rank; i++)
    out->perm.perm[i] = (int32_t)perm[i];
  return true;
}

static bool read_typed(PyObject *dict, MirageType *out_type) {
  PyObject *dtype = PyDict_GetItemString(dict, "dtype"), *shape = PyDict_GetItemString(dict, "shape");
  PyObject *empty = PyTuple_New(0);
  bool ok = empty && dtype && read_type(dtype, shape ? shape : empty, out_type);
  if (!dtype && !PyErr_Occurred())
    PyErr_SetString(PyExc_KeyError, "dtype");
  Py_XDECREF(empty);
  return ok;
}

/// A field, or what is usual; a program has no steps from block to block.
static bool read_field(PyObject *dict, const MirageAttrField *field, MirageAttrs *out) {
  double number;
  int64_t value;
  if (field->form == MIRAGE_ATTR_STEPS)
    return true;
  if (field->form == MIRAGE_ATTR_NUMBER) {
    bool read = get_double(dict, field->name, field->usual, &number);
    if (read)
      mirage_attr_set_number(field, out, number);
    return read;
  }
  if (!get_int(dict, field->name, (int64_t)field->usual, &value))
    return false;
  if (mirage_attr_set(field, out, 0, value))
    return true;
  PyErr_Format(PyExc_ValueError, "%s: %lld is out of range", field->name, (long long)value);
  return false;
}

/// The attributes of `op` from a dictionary, by the names that the dialect's text has.
static bool read_attrs(MirageOp op, PyObject *dict, MirageAttrs *out) {
  MirageAttrsKind kind = mirage_op_info(op)->attrs;
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(kind, &count);
  memset(out, 0, sizeof *out);
  if (kind == MIRAGE_ATTRS_SHAPE)
    return op == MIRAGE_OP_CAST ? read_typed(dict, &out->shape.type) : read_shape(dict, out);
  if (kind == MIRAGE_ATTRS_PERM)
    return read_perm(dict, out);
  if (kind == MIRAGE_ATTRS_CONSTANT && !read_typed(dict, &out->constant.type))
    return false;
  if (kind == MIRAGE_ATTRS_IOTA) {
    if (!read_shape(dict, out))
      return false;
    out->iota.type = mirage_type_tensor(MIRAGE_I32, out->shape.type.rank, out->shape.type.shape);
  }
  for (uint32_t i = 0; i < count; i++)
    if (!read_field(dict, &fields[i], out))
      return false;
  return true;
}

// --------------------------------------------------------------------------------------------------------------- methods

static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"name", NULL};
  const char *name;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s", names, &name))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Builder *self = (Builder *)allocate(type, 0);
  if (!self)
    return NULL;
  self->diag = messages_sink(&self->messages);
  self->graph = mirage_ugraph_create(NULL, name, &self->diag);
  if (!self->graph) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  return (PyObject *)self;
}

static void builder_dealloc(PyObject *object) {
  Builder *self = (Builder *)object;
  PyTypeObject *type = Py_TYPE(object);
  mirage_ugraph_destroy(self->graph);
  messages_free(&self->messages);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/// What a building call gave, or what went wrong in it.
static PyObject *built(Builder *self, MirageValue value) {
  MirageStatus status = mirage_ugraph_status(self->graph);
  if (status != MIRAGE_OK)
    return messages_raise(&self->messages, status);
  return PyLong_FromUnsignedLong(value.index);
}

static bool is_open(const Builder *self) {
  if (self->finished)
    PyErr_SetString(mirage_error, "the program has its outputs already: nothing can be added to it");
  return !self->finished;
}

static PyObject *builder_input(PyObject *object, PyObject *args) {
  Builder *self = (Builder *)object;
  PyObject *dtype, *dims;
  MirageType type;
  if (!PyArg_ParseTuple(args, "OO", &dtype, &dims) || !is_open(self) || !read_type(dtype, dims, &type))
    return NULL;
  if (mirage_ugraph_num_nodes(self->graph)) {
    PyErr_SetString(mirage_error, "new_input: inputs come before the first operator");
    return NULL;
  }
  return built(self, mirage_ugraph_input(self->graph, type));
}

static Py_ssize_t read_operands(const Builder *self, PyObject *object, MirageValue values[], MirageType types[]) {
  int64_t ids[MAX_OPERANDS];
  Py_ssize_t count = read_ints(object, "operands", ids, MAX_OPERANDS);
  for (Py_ssize_t i = 0; i < count; i++) {
    if (ids[i] < 1 || ids[i] > mirage_ugraph_num_values(self->graph)) {
      PyErr_Format(PyExc_ValueError, "operand %zd: no value %lld in this program", i, (long long)ids[i]);
      return -1;
    }
    values[i].index = (uint32_t)ids[i];
    types[i] = *mirage_ugraph_type(self->graph, values[i]);
  }
  return count;
}

/// The type that a product or reduction states: that of its operands, or float32.
static bool read_result_dtype(PyObject *dict, const char *name, MirageDType operand, bool *out_wide) {
  PyObject *dtype = PyDict_GetItemString(dict, "dtype"), *empty = PyTuple_New(0);
  MirageType type;
  bool ok = empty && (!dtype || dtype == Py_None || read_type(dtype, empty, &type));
  Py_XDECREF(empty);
  if (!ok || !dtype || dtype == Py_None)
    return ok;
  *out_wide = type.dtype == MIRAGE_F32;
  if (*out_wide || type.dtype == operand)
    return true;
  PyErr_Format(mirage_error, "%s: dtype %s: a result is %s, as the operands, or float32", name, dtype_name(type.dtype),
               dtype_name(operand));
  return false;
}

/// Finds the operator, reads its attributes, checks it: the one place where a mistake of the caller's shows.
static bool check_apply(const char *name, Py_ssize_t count, const MirageType types[], PyObject *dict, MirageOp *out_op,
                        MirageAttrs *out_attrs, MirageType *out_result) {
  MirageOp op = mirage_op_find(MIRAGE_LEVEL_KERNEL, name, strlen(name));
  if (op == MIRAGE_OP_NONE || op == MIRAGE_OP_CUSTOM || op == MIRAGE_OP_RETURN) {
    PyErr_Format(mirage_error, "no operator is called '%s'", name);
    return false;
  }
  if (!read_attrs(op, dict, out_attrs))
    return false;
  if (op == MIRAGE_OP_CAST && count) { // the shape is the operand's
    MirageDType dtype = out_attrs->shape.type.dtype;
    out_attrs->shape.type = mirage_type_tensor(dtype, types[0].rank, types[0].shape);
  } else if (mirage_op_info(op)->attrs == MIRAGE_ATTRS_SHAPE && count) {
    out_attrs->shape.type.dtype = types[0].dtype;
  }
  MirageAttrsKind kind = mirage_op_info(op)->attrs;
  bool typed = count && (kind == MIRAGE_ATTRS_MATMUL || kind == MIRAGE_ATTRS_REDUCE);
  bool *wide = kind == MIRAGE_ATTRS_MATMUL ? &out_attrs->matmul.wide : &out_attrs->reduce.wide;
  if (typed && !read_result_dtype(dict, name, types[0].dtype, wide))
    return false;
  Messages messages = {0};
  const MirageDiag diag = messages_sink(&messages);
  MirageStatus status =
      mirage_op_infer(op, MIRAGE_LEVEL_KERNEL, (uint32_t)count, types, out_attrs, NULL, &diag, NULL, out_result);
  if (status != MIRAGE_OK)
    messages_raise(&messages, status);
  messages_free(&messages);
  *out_op = op;
  return status == MIRAGE_OK;
}

static PyObject *builder_apply(PyObject *object, PyObject *args) {
  Builder *self = (Builder *)object;
  const char *name;
  PyObject *operands, *dict;
  MirageValue values[MAX_OPERANDS];
  MirageType types[MAX_OPERANDS], result;
  MirageAttrs attrs;
  MirageOp op;
  if (!PyArg_ParseTuple(args, "sOO!", &name, &operands, &PyDict_Type, &dict) || !is_open(self))
    return NULL;
  Py_ssize_t count = read_operands(self, operands, values, types);
  if (count < 0 || !check_apply(name, count, types, dict, &op, &attrs, &result))
    return NULL;
  if (op == MIRAGE_OP_CONSTANT)
    return built(self, mirage_ugraph_constant(self->graph, attrs.constant.type, attrs.constant.value));
  if (op == MIRAGE_OP_CAST)
    return built(self, mirage_ugraph_cast(self->graph, values[0], attrs.shape.type.dtype));
  return built(self, mirage_ugraph_apply(self->graph, op, (uint32_t)count, values, &attrs));
}

static PyObject *type_tuple(const MirageType *type) {
  PyObject *dims = PyTuple_New(type->rank);
  for (uint32_t i = 0; dims && i < type->rank; i++)
    PyTuple_SetItem(dims, i, PyLong_FromLongLong(type->shape[i]));
  return dims ? Py_BuildValue("(sN)", dtype_name(type->dtype), dims) : NULL;
}

/// infer(operator, [(dtype, dims), ...], attributes) -> (dtype, dims)
PyObject *mirage_py_infer(PyObject *module, PyObject *args) {
  const char *name;
  PyObject *list, *dict;
  MirageType types[MAX_OPERANDS], result;
  MirageAttrs attrs;
  MirageOp op;
  if (!PyArg_ParseTuple(args, "sO!O!", &name, &PyList_Type, &list, &PyDict_Type, &dict) ||
      !is_sized(list, MAX_OPERANDS, "operands"))
    return NULL;
  Py_ssize_t count = PyList_Size(list);
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *dtype, *dims;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OO", &dtype, &dims) || !read_type(dtype, dims, &types[i]))
      return NULL;
  }
  return check_apply(name, count, types, dict, &op, &attrs, &result) ? type_tuple(&result) : NULL;
}

static PyObject *graph_text(const MirageUGraph *graph) {
  MlirContext context = context_create();
  MlirLocation loc = mlirLocationUnknownGet(context);
  MlirModule module = mlirModuleCreateEmpty(loc);
  MlirOperation op;
  Messages messages = {0};
  Text text = {0};
  const MirageDiag diag = messages_sink(&messages);
  MirageStatus status = mirage_bridge_export(graph, context, mlirModuleGetBody(module), loc, &diag, &op);
  if (status == MIRAGE_OK)
    mlirOperationPrint(mlirModuleGetOperation(module), text_append, &text);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  PyObject *result = status != MIRAGE_OK ? messages_raise(&messages, status)
                     : text.no_memory    ? PyErr_NoMemory()
                                         : PyUnicode_FromStringAndSize(text.data, (Py_ssize_t)text.length);
  messages_free(&messages);
  free(text.data);
  return result;
}

static PyObject *builder_finish(PyObject *object, PyObject *args) {
  Builder *self = (Builder *)object;
  PyObject *outputs;
  MirageValue values[MAX_OPERANDS];
  MirageType types[MAX_OPERANDS];
  if (!PyArg_ParseTuple(args, "O", &outputs) || !is_open(self))
    return NULL;
  Py_ssize_t count = read_operands(self, outputs, values, types);
  if (count < 0)
    return NULL;
  self->finished = true;
  mirage_ugraph_return(self->graph, (uint32_t)count, values);
  MirageStatus status = mirage_ugraph_finish(self->graph);
  return status == MIRAGE_OK ? graph_text(self->graph) : messages_raise(&self->messages, status);
}

// ------------------------------------------------------------------------------------------------------------------ type

static PyMethodDef METHODS[] = {
    {"input", builder_input, METH_VARARGS, "input(dtype, dims) -> value"},
    {"apply", builder_apply, METH_VARARGS, "apply(operator, values, attributes) -> value"},
    {"finish", builder_finish, METH_VARARGS, "finish(outputs) -> the module's text; nothing can be added afterwards"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SLOTS[] = {
    {Py_tp_doc, "A program that is being built; values are ints."},
    {Py_tp_new, builder_new},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_methods, METHODS},
    {0, NULL},
};

static PyType_Spec SPEC = {"mirage_mlir._mirage.Builder", sizeof(Builder), 0, Py_TPFLAGS_DEFAULT, SLOTS};

PyObject *builder_type_create(PyObject *module) { return PyType_FromModuleAndSpec(module, &SPEC, NULL); }
