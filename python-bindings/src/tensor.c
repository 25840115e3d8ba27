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

const DLExchange *tensor_exchange(PyObject *object) {
  enum { KEPT = 8 };
  static struct {
    PyTypeObject *type; // owned, so that no other type gets its address
    const DLExchange *table;
  } kept[KEPT];
  PyTypeObject *type = Py_TYPE(object);
  for (int i = 0; i < KEPT && kept[i].type; i++)
    if (kept[i].type == type)
      return kept[i].table;
  const DLExchange *table = table_of(type);
  for (int i = 0; i < KEPT; i++)
    if (!kept[i].type) {
      kept[i].table = table;
      kept[i].type = (PyTypeObject *)Py_NewRef((PyObject *)type);
      break;
    }
  return table;
}

// ----------------------------------------------------------------------------------------------------------------- views

/// Copies what is known of a tensor; false where it has too many dimensions.
static bool take(const DLTensor *from, const char *what, Tensor *out) {
  if (from->ndim > MIRAGE_MAX_RANK || from->dtype.lanes != 1) {
    PyErr_Format(PyExc_TypeError, "%s: %d dimensions of %u lanes: at most %d dimensions of 1 are supported", what,
                 (int)from->ndim, (unsigned)from->dtype.lanes, MIRAGE_MAX_RANK);
    return false;
  }
  out->data = (char *)from->data + from->byte_offset;
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

bool tensor_view(PyObject *object, const char *what, void *stream, Tensor *out) {
  *out = (Tensor){0};
  const DLExchange *table = tensor_exchange(object);
  if (table && table->tensor_from_object) {
    DLTensor tensor;
    return table->tensor_from_object(object, &tensor) == 0 && take(&tensor, what, out);
  }
  PyObject *capsule = ask_dlpack(object, stream);
  if (!capsule) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError,
                   "%s: expected a tensor (PyTorch, CuPy, JAX, NumPy: anything with __dlpack__), got %R", what,
                   (PyObject *)Py_TYPE(object));
    } else {
      tensor_refuse(what);
    }
    return false;
  }
  bool ok = take_capsule(capsule, what, out);
  Py_DECREF(capsule);
  if (!ok)
    tensor_release(out);
  return ok;
}

void tensor_release(Tensor *tensor) {
  if (tensor->managed && tensor->deleter)
    tensor->deleter(tensor->managed);
  tensor->managed = NULL;
}
