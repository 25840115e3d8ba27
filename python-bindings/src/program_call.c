// program_call.c - one call of a program: its tensors viewed and checked, results made, the kernels launched.
//
// Quick: where the tensors' type has DLPack's exchange table, a call runs no Python but the allocation of the results.
//        Else `helper`, a module of Python, knows the framework: current_stream(tensor, device), empty(tensor, dtype, dims),
//        on_host() at each evaluation.
#include "program.h"

#include <string.h>

// -------------------------------------------------------------------------------------------------------------- arguments

void program_release(Call *call) {
  for (uint32_t i = 0; i < call->num_inputs; i++)
    tensor_release(&call->inputs[i]);
  for (uint32_t i = 0; i < call->num_outputs; i++)
    tensor_release(&call->outputs[i]);
}

/// The stream of a call: the one given, else the framework's current one for the device of `tensor`.
static bool find_stream(const Program *self, PyObject *given, PyObject *object, const Tensor *tensor,
                        void **out_stream) {
  void *stream = NULL;
  const DLExchange *table = tensor_exchange(object);
  if (given != Py_None) {
    stream = PyLong_AsVoidPtr(given);
  } else if (table && table->current_stream) {
    if (table->current_stream(tensor->device_type, tensor->device_id, &stream) != 0)
      return false;
  } else {
    PyObject *number = PyObject_CallMethod(self->helper, "current_stream", "Oi", object, (int)tensor->device_id);
    stream = number ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
  }
  *out_stream = stream ? stream : MIRAGE_STREAM_LEGACY; // 0 is the CUDA runtime's name of it
  return !PyErr_Occurred();
}

bool program_view_inputs(const Program *self, PyObject *tensors, PyObject *stream, Call *call) {
  Py_ssize_t count = PyTuple_Size(tensors);
  if (count != (Py_ssize_t)self->num_inputs) {
    PyErr_Format(PyExc_TypeError, "expected %u tensors, got %zd", self->num_inputs, count);
    return false;
  }
  for (uint32_t i = 0; i < self->num_inputs; i++) {
    char what[MAX_WHAT] = "";
    Tensor *tensor = &call->inputs[i];
    PyObject *object = PyTuple_GetItem(tensors, (Py_ssize_t)i);
    if (!tensor_exchange(object)) // whose views may fail
      program_name_tensor(self, i, what);
    if (!tensor_view(object, what, i && on_gpu(&call->inputs[0]) ? call->stream : NULL, tensor)) {
      if (tensor_exchange(object)) {
        program_name_tensor(self, i, what);
        tensor_refuse(what);
      }
      return false;
    }
    call->num_inputs++;
    if (self->transposes)
      program_permute(self->perms[i], input_type(self, i)->rank, tensor);
    if (!program_check_tensor(self, i, input_type(self, i), &call->inputs[0], tensor))
      return false;
    if (i == 0 && on_gpu(tensor) && !find_stream(self, stream, object, tensor, &call->stream))
      return false;
  }
  return true;
}

static void set_error(void *context, const char *kind, const char *message) {
  PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, message);
}

static PyObject *dims_tuple(const MirageType *type) {
  PyObject *dims = PyTuple_New(type->rank);
  for (uint32_t i = 0; dims && i < type->rank; i++)
    PyTuple_SetItem(dims, i, PyLong_FromLongLong(type->shape[i]));
  return dims;
}

/// A new tensor of the framework that `like` is of, on its device.
static PyObject *allocate(const Program *self, PyObject *like, const Tensor *place, const MirageType *type) {
  const DLExchange *table = tensor_exchange(like);
  if (table && table->allocate && table->managed_to_object) {
    int64_t shape[MIRAGE_MAX_RANK];
    memcpy(shape, type->shape, sizeof shape);
    DLTensor prototype = {
        .device = {place->device_type, place->device_id},
        .ndim = (int32_t)type->rank,
        .dtype = {type->dtype == MIRAGE_BF16 ? DL_BFLOAT : DL_FLOAT, (uint8_t)(8 * mirage_dtype_bytes(type->dtype)), 1},
        .shape = shape};
    DLManagedTensorVersioned *managed = NULL;
    void *object = NULL;
    if (table->allocate(&prototype, &managed, NULL, set_error) != 0 || table->managed_to_object(managed, &object) != 0)
      return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    return object;
  }
  PyObject *dims = dims_tuple(type);
  return dims ? PyObject_CallMethod(self->helper, "empty", "OsN", like, dtype_name(type->dtype), dims) : NULL;
}

static bool view_output(const Program *self, uint32_t i, PyObject *object, Call *call) {
  char what[MAX_WHAT] = "";
  Tensor *tensor = &call->outputs[i];
  if (!tensor_exchange(object))
    program_name_tensor(self, self->num_inputs + i, what);
  if (!tensor_view(object, what, on_gpu(&call->inputs[0]) ? call->stream : NULL, tensor))
    return false;
  call->num_outputs++;
  if (tensor->read_only) {
    program_name_tensor(self, self->num_inputs + i, what);
    PyErr_Format(PyExc_ValueError, "%s: the tensor is read-only", what);
    return false;
  }
  return program_check_tensor(self, self->num_inputs + i, output_type(self, i), &call->inputs[0], tensor);
}

/// Views `out`, a tuple of tensors, or makes new ones, which the results own.
bool program_view_outputs(const Program *self, PyObject *tensors, PyObject *out, Call *call) {
  if (out != Py_None && PyTuple_Size(out) != (Py_ssize_t)self->num_outputs) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "out: expected %u tensors, got %zd", self->num_outputs, PyTuple_Size(out));
    return false;
  }
  for (uint32_t i = 0; i < self->num_outputs; i++) {
    PyObject *object = out == Py_None
                           ? allocate(self, PyTuple_GetItem(tensors, 0), &call->inputs[0], output_type(self, i))
                           : Py_NewRef(PyTuple_GetItem(out, (Py_ssize_t)i));
    call->results[i] = object;
    if (!object || !view_output(self, i, object, call))
      return false;
  }
  return true;
}

// --------------------------------------------------------------------------------------------------------------- calling

void program_addresses(uint32_t count, const Tensor tensors[], uint64_t out[]) {
  for (uint32_t i = 0; i < count; i++)
    out[i] = (uint64_t)(uintptr_t)tensors[i].data;
}

static MirageStatus launch(Program *self, const Call *call, const MirageDiag *diag) {
  MirageProgram *program = NULL;
  uint64_t inputs[MAX_TENSORS], outputs[MAX_TENSORS];
  MIRAGE_TRY(program_get(self, call->inputs[0].device_id, diag, &program));
  program_addresses(self->num_inputs, call->inputs, inputs);
  program_addresses(self->num_outputs, call->outputs, outputs);
  return mirage_program_launch(program, inputs, outputs, call->stream, diag);
}

static bool execute(Program *self, Call *call, bool emulates) {
  Messages messages = {0};
  const MirageDiag diag = messages_sink(&messages);
  MirageStatus status;
  if (on_gpu(&call->inputs[0])) {
    status = launch(self, call, &diag); // under the GIL: a microsecond, but for the first
  } else {
    PyObject *told = emulates ? Py_NewRef(Py_None) : PyObject_CallMethod(self->helper, "on_host", NULL);
    if (!told)
      return false;
    Py_DECREF(told);
    Py_BEGIN_ALLOW_THREADS;
    status = emulates ? program_emulate_call(self, call, &diag) : program_evaluate_call(self, call, &diag);
    Py_END_ALLOW_THREADS;
  }
  if (status != MIRAGE_OK)
    messages_raise(&messages, status);
  messages_free(&messages);
  return status == MIRAGE_OK;
}

static PyObject *call_with(Program *self, PyObject *tensors, PyObject *out, PyObject *stream, bool emulates) {
  Call call;
  call.num_inputs = call.num_outputs = 0;
  call.stream = NULL;
  for (uint32_t i = 0; i < self->num_outputs; i++)
    call.results[i] = NULL;
  PyObject *result = NULL;
  if (program_view_inputs(self, tensors, stream, &call) && program_view_outputs(self, tensors, out, &call) &&
      execute(self, &call, emulates)) {
    if (self->num_outputs == 1) {
      result = Py_NewRef(call.results[0]);
    } else if ((result = PyTuple_New((Py_ssize_t)self->num_outputs))) {
      for (uint32_t i = 0; i < self->num_outputs; i++)
        PyTuple_SetItem(result, (Py_ssize_t)i, Py_NewRef(call.results[i]));
    }
  }
  program_release(&call);
  for (uint32_t i = 0; i < self->num_outputs; i++)
    Py_XDECREF(call.results[i]);
  return result;
}

PyObject *program_call(PyObject *object, PyObject *args) {
  PyObject *tensors, *out, *stream;
  int emulates = 0;
  if (!PyArg_ParseTuple(args, "O!OO|p", &PyTuple_Type, &tensors, &out, &stream, &emulates))
    return NULL;
  return call_with((Program *)object, tensors, out, stream, emulates);
}
