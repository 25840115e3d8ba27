// tensor.c - views of the memory of NumPy, PyTorch, JAX and CuPy arrays, without a copy.
//
// The quick way is a table of C functions that the type of a tensor may have (DLPack's exchange API; some 0.1 us a
// tensor), found once a type. Else __dlpack__, which makes an object that owns the view until it is released.
#include "dlpack_abi.h"
#include "python.h"

#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------- exchange table

static const DLExchange *table_of(PyTypeObject *type) {
  static const char *const names[] = {"__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"}; // the second: older
  const DLExchange *table = NULL;
  for (size_t i = 0; !table && i < 2; i++) {
    PyObject *object = PyObject_GetAttrString((PyObject *)type, names[i]);
    if (object && PyCapsule_IsValid(object, "dlpack_exchange_api"))
      table = PyCapsule_GetPointer(object, "dlpack_exchange_api");
    else if (object && PyLong_Check(object))
      table = PyLong_AsVoidPtr(object);
    Py_XDECREF(object);
    PyErr_Clear();
  }
  while (table && table->header.version.major > DL_MAJOR)
    table = (const DLExchange *)table->header.older;
  return table && table->header.version.major == DL_MAJOR ? table : NULL;
}

typedef struct TensorKind {
  PyTypeObject *type; // owned, so that no other type gets its address
  const DLExchange *table;
  bool may_negate; // PyTorch's: its elements may be the negatives of what is in memory
} TensorKind;

static bool has(PyObject *object, const char *name) {
  PyObject *value = PyObject_GetAttrString(object, name);
  PyErr_Clear();
  Py_XDECREF(value);
  return value != NULL;
}

/// The last types that were met are kept. No exception may stand.
static const TensorKind *kind_of(PyTypeObject *type) {
  enum { KEPT = 8 };
  static TensorKind kept[KEPT];
  static unsigned next;
  for (int i = 0; i < KEPT; i++)
    if (kept[i].type == type)
      return &kept[i];
  TensorKind *kind = &kept[next++ % KEPT];
  PyTypeObject *old = kind->type;
  kind->table = table_of(type);
  kind->may_negate = has((PyObject *)type, "is_neg");
  kind->type = (PyTypeObject *)Py_NewRef((PyObject *)type);
  Py_XDECREF((PyObject *)old);
  return kind;
}

const DLExchange *tensor_exchange(PyObject *object) { return kind_of(Py_TYPE(object))->table; }

// ----------------------------------------------------------------------------------------------------------------- views

/// Copies what is known of a tensor; false where it has too many dimensions, or elements without an address.
static bool take(const DLTensor *from, const char *what, Tensor *out) {
  if (from->ndim > MIRAGE_MAX_RANK || from->dtype.lanes != 1) {
    if (what)
      PyErr_Format(PyExc_TypeError, "%s: expected at most %d dimensions of scalars, got %d of %u lanes", what,
                   MIRAGE_MAX_RANK, (int)from->ndim, (unsigned)from->dtype.lanes);
    return false;
  }
  out->data = from->data ? (char *)from->data + from->byte_offset : NULL;
  out->device_type = from->device.type;
  out->device_id = from->device.id;
  out->code = from->dtype.code;
  out->bits = from->dtype.bits;
  out->rank = from->ndim;
  int64_t dense = 1;
  for (int32_t d = from->ndim - 1; d >= 0; d--) {
    out->shape[d] = from->shape[d];
    out->strides[d] = from->strides ? from->strides[d] : dense;
    dense *= from->shape[d];
  }
  if (!out->data && dense != 0) { // a FakeTensor, a subclass that wraps other tensors
    if (what)
      PyErr_Format(PyExc_TypeError, "%s: expected a tensor with memory of its own, got one that has none", what);
    return false;
  }
  return true;
}

static void delete_versioned(void *managed) {
  DLManagedTensorVersioned *tensor = managed;
  if (tensor->deleter)
    tensor->deleter(tensor);
}

static void delete_plain(void *managed) {
  DLManagedTensor *tensor = managed;
  if (tensor->deleter)
    tensor->deleter(tensor);
}

/// Takes a capsule's tensor over, as the protocol wants it: renamed, so that the capsule does not delete it.
static bool take_capsule(PyObject *capsule, const char *what, Tensor *out) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->version.major != DL_MAJOR) {
      PyErr_Format(PyExc_TypeError, "%s: DLPack %u is not supported, only 1", what, (unsigned)managed->version.major);
      return false;
    }
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    out->managed = managed;
    out->deleter = delete_versioned;
    out->read_only = (managed->flags & DL_READ_ONLY) != 0;
    return take(&managed->tensor, what, out);
  }
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    DLManagedTensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
    PyCapsule_SetName(capsule, "used_dltensor");
    out->managed = managed;
    out->deleter = delete_plain;
    return take(&managed->tensor, what, out);
  }
  PyErr_Format(PyExc_TypeError, "%s: __dlpack__ gave no DLPack capsule", what);
  return false;
}

void tensor_refuse(const char *what) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *text = value ? PyObject_Str(value) : NULL, *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
  const char *line = bytes ? PyBytes_AsString(bytes) : "";
  char first[256] = "";
  snprintf(first, sizeof first, "%.*s", (int)strcspn(line, "\n"), line); // PyTorch's has a C++ backtrace behind it
  PyErr_Format(PyExc_TypeError, "%s: the tensor's memory cannot be used: %s", what, first);
  Py_XDECREF(bytes);
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

/// object.__dlpack__(stream=.., max_version=(1, 1)); older producers know no max_version.
static PyObject *ask_dlpack(PyObject *object, void *stream) {
  PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *empty = PyTuple_New(0), *capsule = NULL;
  PyObject *kwargs =
      stream ? Py_BuildValue("{s:(ii),s:K}", "max_version", 1, 1, "stream", (unsigned long long)(uintptr_t)stream)
             : Py_BuildValue("{s:(ii)}", "max_version", 1, 1);
  if (method && empty && kwargs)
    capsule = PyObject_Call(method, empty, kwargs);
  if (!capsule && kwargs && method && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    PyDict_DelItemString(kwargs, "max_version");
    capsule = PyObject_Call(method, empty, kwargs);
  }
  Py_XDECREF(method);
  Py_XDECREF(empty);
  Py_XDECREF(kwargs);
  return capsule;
}

/// object.dtype.name, as NumPy's arrays have it; NULL where there is none.
static PyObject *dtype_of(PyObject *object) {
  PyObject *dtype = PyObject_GetAttrString(object, "dtype");
  PyObject *name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
  PyObject *bytes = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
  PyErr_Clear();
  Py_XDECREF(dtype);
  Py_XDECREF(name);
  return bytes;
}

static bool is_among(const char *name, const char *const names[], size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

/// The exception that stands says why there is no view of `object`; makes of it one that names the argument.
static void refuse_object(PyObject *object, const char *what) {
  static const char *const ours[] = {"float16", "bfloat16", "float32"};
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
    return; // nothing that is wrong with the tensor
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *owner = dtype_of(object);
  const char *dtype = owner ? PyBytes_AsString(owner) : "";
  if (!has(object, "__dlpack__")) {
    bool is_cuda = has(object, "__cuda_array_interface__");
    PyErr_Format(PyExc_TypeError,
                 "%s: expected a tensor (PyTorch, CuPy, JAX, NumPy: anything with __dlpack__), got %R%s", what,
                 (PyObject *)Py_TYPE(object), is_cuda ? ": pass cupy.asarray(x) or torch.as_tensor(x)" : "");
  } else if (dtype[0] && !is_among(dtype, ours, 3)) {
    PyErr_Format(PyExc_TypeError, "%s: expected float16, bfloat16 or float32, got %s", what, dtype);
  } else {
    PyErr_Restore(type, value, trace);
    type = value = trace = NULL;
    tensor_refuse(what);
  }
  Py_XDECREF(owner);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

/// Whether the exception that stands is NumPy's, who gives no view of the bfloat16 of the package ml_dtypes.
static bool is_refused_bfloat(PyObject *object) {
  if (!PyErr_ExceptionMatches(PyExc_BufferError))
    return false;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *dtype = dtype_of(object);
  bool is_bfloat = dtype && strcmp(PyBytes_AsString(dtype), "bfloat16") == 0;
  Py_XDECREF(dtype);
  PyErr_Restore(type, value, trace);
  return is_bfloat;
}

/// The capsule of integers that lie where the elements do; it holds them.
static PyObject *ask_as_integers(PyObject *object, void *stream) {
  PyErr_Clear();
  PyObject *integers = PyObject_CallMethod(object, "view", "s", "uint16");
  PyObject *capsule = integers ? ask_dlpack(integers, stream) : NULL;
  Py_XDECREF(integers);
  return capsule;
}

static bool view_by_capsule(PyObject *object, const char *what, void *stream, Tensor *out) {
  PyObject *capsule = ask_dlpack(object, stream);
  bool as_integers = !capsule && is_refused_bfloat(object);
  if (as_integers)
    capsule = ask_as_integers(object, stream);
  if (!capsule) {
    refuse_object(object, what);
    return false;
  }
  bool ok = take_capsule(capsule, what, out);
  Py_DECREF(capsule);
  if (as_integers)
    out->code = DL_BFLOAT;
  if (!ok)
    tensor_release(out);
  return ok;
}

/// Whether `object` has to be asked: on a GPU that would cost as much as all else, and the only such views which lie densely,
/// and so are not refused anyway, are those of one element: the imaginary part of a conjugate has strides of 2.
static bool may_be_negative(const TensorKind *kind, const DLTensor *tensor) {
  int64_t elements = 1;
  for (int32_t d = 0; kind->may_negate && d < tensor->ndim; d++)
    elements *= tensor->shape[d];
  return kind->may_negate && (tensor->device.type == DL_CPU || elements == 1);
}

/// Whether what is in memory are the negatives of the elements.
static bool is_negative(PyObject *object) {
  static PyObject *name;
  if (!name)
    name = PyUnicode_InternFromString("is_neg");
  PyObject *answer = name ? PyObject_CallMethodObjArgs(object, name, NULL) : NULL;
  Py_XDECREF(answer);
  return answer != Py_False;
}

static bool view_by_table(const TensorKind *kind, PyObject *object, const char *what, Tensor *out) {
  DLTensor tensor;
  if (kind->table->tensor_from_object(object, &tensor) != 0) {
    if (what)
      tensor_refuse(what);
    return false;
  }
  if (may_be_negative(kind, &tensor) && is_negative(object)) {
    if (what && !PyErr_Occurred())
      PyErr_Format(PyExc_ValueError,
                   "%s: expected elements as they are in memory, got a view of their negatives: pass x.resolve_neg()",
                   what);
    return false;
  }
  return take(&tensor, what, out);
}

bool tensor_view(PyObject *object, const char *what, void *stream, Tensor *out) {
  const TensorKind *kind = kind_of(Py_TYPE(object));
  *out = (Tensor){0};
  if (kind->table && kind->table->tensor_from_object)
    return view_by_table(kind, object, what, out);
  return view_by_capsule(object, what, stream, out);
}

void tensor_release(Tensor *tensor) {
  if (tensor->managed && tensor->deleter)
    tensor->deleter(tensor->managed);
  tensor->managed = NULL;
}
