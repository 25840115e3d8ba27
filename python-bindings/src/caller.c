// caller.c - _mirage.Caller: the call of a UGraph, without a frame of Python's.
//
//   class UGraph(Caller):  def _callable(self): ...; self._bind(program); return program
//   u(x, w, out=y, stream=s)      ->  program_call_with(program, (x, w), (y,), s)
#include "program.h"

typedef struct Caller {
  PyObject_HEAD PyObject *program; // NULL until it is bound
} Caller;

static PyObject *bind(PyObject *object, PyObject *program) {
  Caller *self = (Caller *)object;
  if (!is_program(program))
    return PyErr_Format(PyExc_TypeError, "_bind: expected a Program, got %R", (PyObject *)Py_TYPE(program));
  PyObject *old = self->program;
  self->program = Py_NewRef(program);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

/// out= and stream=, borrowed; None where they are not given.
static bool read_keywords(PyObject *keywords, PyObject **out, PyObject **stream) {
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value);) {
    bool is_out = PyUnicode_CompareWithASCIIString(name, "out") == 0;
    if (!is_out && PyUnicode_CompareWithASCIIString(name, "stream") != 0) {
      PyErr_Format(PyExc_TypeError, "a call takes tensors in order, out= and stream=; got '%U'", name);
      return false;
    }
    *(is_out ? out : stream) = value;
  }
  return true;
}

/// `out` as a tuple, a new reference.
static PyObject *as_tuple(PyObject *out) {
  if (out == Py_None || PyTuple_Check(out))
    return Py_NewRef(out);
  return PyList_Check(out) ? PyList_AsTuple(out) : PyTuple_Pack(1, out);
}

static PyObject *call(PyObject *object, PyObject *tensors, PyObject *keywords) {
  Caller *self = (Caller *)object;
  PyObject *out = Py_None, *stream = Py_None, *result = NULL;
  if (keywords && !read_keywords(keywords, &out, &stream))
    return NULL;
  PyObject *program =
      self->program ? Py_NewRef(self->program) : PyObject_CallMethod(object, "_callable", NULL); // which binds it
  if (program && (out = as_tuple(out))) {
    if (is_program(program))
      result = program_call_with((Program *)program, tensors, out, stream, false);
    else
      PyErr_SetString(PyExc_TypeError, "_callable: expected a Program");
    Py_DECREF(out);
  }
  Py_XDECREF(program);
  return result;
}

static void dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  Py_XDECREF(((Caller *)object)->program);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyMethodDef METHODS[] = {
    {"_bind", bind, METH_O, "_bind(program): what calls run from now on"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SLOTS[] = {
    {Py_tp_doc, "Calls a Program: caller(*tensors, out=None, stream=None)."},
    {Py_tp_call, call},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, METHODS},
    {0, NULL},
};

static PyType_Spec SPEC = {"mirage_mlir._mirage.Caller", sizeof(Caller), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           SLOTS};

PyObject *caller_type_create(PyObject *module) { return PyType_FromModuleAndSpec(module, &SPEC, NULL); }
