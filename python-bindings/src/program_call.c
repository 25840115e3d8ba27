// program_call.c - one call of a program: its tensors viewed and checked, results made, the kernels launched.
//
// Quick:  where the tensors' type has DLPack's exchange table, a call runs no code in Python.
// Helper: a module of Python that knows frameworks: current_stream(tensor, device); empty(tensor, dtype, dims); on_host() at
//         each evaluation; maker(tensor, outputs), once for tensors of a type and device, a C function that makes a tensor
//         quicker than the table, and its arguments for each output.
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

/// A tensor of a call by its number (program_name_tensor). Names cost more than views, so they are made for a failure.
static bool view(const Program *self, uint32_t i, PyObject *object, void *stream, Tensor *out) {
  char what[MAX_WHAT];
  if (tensor_exchange(object)) {
    if (tensor_view(object, NULL, stream, out))
      return true;
    PyErr_Clear();
  }
  program_name_tensor(self, i, what);
  return tensor_view(object, what, stream, out);
}

bool program_view_inputs(const Program *self, PyObject *tensors, PyObject *stream, Call *call) {
  Py_ssize_t count = PyTuple_Size(tensors);
  if (count != (Py_ssize_t)self->num_inputs) {
    PyErr_Format(PyExc_TypeError, "expected %u tensors, got %zd", self->num_inputs, count);
    return false;
  }
  for (uint32_t i = 0; i < self->num_inputs; i++) {
    Tensor *tensor = &call->inputs[i];
    PyObject *object = PyTuple_GetItem(tensors, (Py_ssize_t)i);
    if (!view(self, i, object, i && on_gpu(&call->inputs[0]) ? call->stream : NULL, tensor))
      return false;
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

// ---------------------------------------------------------------------------------------------------------------- results

static void set_error(void *context, const char *kind, const char *message) {
  PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, message);
}

static PyObject *dims_tuple(const MirageType *type) {
  PyObject *dims = PyTuple_New(type->rank);
  for (uint32_t i = 0; dims && i < type->rank; i++)
    PyTuple_SetItem(dims, i, PyLong_FromLongLong(type->shape[i]));
  return dims;
}

static PyObject *allocate_by_table(const DLExchange *table, const Tensor *place, const MirageType *type) {
  int64_t shape[MIRAGE_MAX_RANK];
  memcpy(shape, type->shape, sizeof shape);
  DLTensor prototype = {.device = {place->device_type, place->device_id},
                        .ndim = (int32_t)type->rank,
                        .dtype = {dtype_dlpack_code(type->dtype), (uint8_t)(8 * mirage_dtype_bytes(type->dtype)), 1},
                        .shape = shape};
  DLManagedTensorVersioned *managed = NULL;
  void *object = NULL;
  if (table->allocate(&prototype, &managed, NULL, set_error) != 0 || table->managed_to_object(managed, &object) != 0)
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  return object;
}

/// A new tensor of the framework that `like` is of, on its device.
static PyObject *allocate(const Program *self, PyObject *like, const Tensor *place, const MirageType *type) {
  const DLExchange *table = tensor_exchange(like);
  if (table && table->allocate && table->managed_to_object)
    return allocate_by_table(table, place, type);
  PyObject *dims = dims_tuple(type);
  return dims ? PyObject_CallMethod(self->helper, "empty", "OsN", like, dtype_name(type->dtype), dims) : NULL;
}

/// helper.maker(like, ((dtype, dims), ...)) -> (function, (its arguments for an output, ...)), or None.
static bool ask_maker(Program *self, PyObject *like, int32_t device_type) {
  PyObject *outputs = PyTuple_New((Py_ssize_t)self->num_outputs), *found = NULL;
  for (uint32_t i = 0; outputs && i < self->num_outputs; i++) {
    const MirageType *type = output_type(self, i);
    PyTuple_SetItem(outputs, (Py_ssize_t)i, Py_BuildValue("sN", dtype_name(type->dtype), dims_tuple(type)));
  }
  if (outputs && !PyErr_Occurred())
    found = PyObject_CallMethod(self->helper, "maker", "OO", like, outputs);
  Py_XDECREF(outputs);
  if (!found)
    return false;
  PyObject *old = self->maker, *old_type = (PyObject *)self->maker_type;
  self->maker = found;
  self->maker_type = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(like));
  self->maker_device = device_type;
  Py_XDECREF(old);
  Py_XDECREF(old_type);
  return true;
}

/// Output `i` by the maker, viewed; false where there is none, it failed, or made one on another device.
static bool make_quickly(Program *self, uint32_t i, PyObject *like, Call *call) {
  const Tensor *place = &call->inputs[0];
  if ((self->maker_type != Py_TYPE(like) || self->maker_device != place->device_type) &&
      !ask_maker(self, like, place->device_type))
    return false;
  if (self->maker == Py_None)
    return false;
  PyObject *function = PyTuple_GetItem(self->maker, 0), *arguments = PyTuple_GetItem(self->maker, 1);
  PyObject *object = PyObject_Call(function, PyTuple_GetItem(arguments, (Py_ssize_t)i), NULL);
  if (object && view(self, self->num_inputs + i, object, call->stream, &call->outputs[i]) &&
      program_same_device(place, &call->outputs[i])) {
    call->results[i] = object;
    call->num_outputs++;
    return true;
  }
  Py_XDECREF(object);
  return false;
}

/// JAX's arrays do not change, but their views do not say so.
static bool is_of_jax(PyObject *object) {
  PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__");
  PyObject *bytes = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8String(module) : NULL;
  bool is = bytes && strncmp(PyBytes_AsString(bytes), "jax", 3) == 0;
  PyErr_Clear();
  Py_XDECREF(module);
  Py_XDECREF(bytes);
  return is;
}

static bool view_output(const Program *self, uint32_t i, PyObject *object, Call *call) {
  Tensor *tensor = &call->outputs[i];
  if (!view(self, self->num_inputs + i, object, on_gpu(&call->inputs[0]) ? call->stream : NULL, tensor))
    return false;
  call->num_outputs++;
  if (tensor->read_only || (!tensor_exchange(object) && is_of_jax(object))) {
    char what[MAX_WHAT];
    program_name_tensor(self, self->num_inputs + i, what);
    PyErr_Format(PyExc_ValueError, "%s: the tensor is read-only", what);
    return false;
  }
  return program_check_tensor(self, self->num_inputs + i, output_type(self, i), &call->inputs[0], tensor);
}

static bool view_new(Program *self, PyObject *like, Call *call) {
  for (uint32_t i = 0; i < self->num_outputs; i++) {
    if (make_quickly(self, i, like, call))
      continue;
    if (PyErr_Occurred())
      return false;
    call->results[i] = allocate(self, like, &call->inputs[0], output_type(self, i));
    if (!call->results[i] || !view_output(self, i, call->results[i], call))
      return false;
  }
  return true;
}

/// Kernels may write a result before they have read all of an input.
static bool check_overlaps(const Program *self, uint32_t i, const Call *call) {
  const char *begin = call->outputs[i].data, *end = begin + mirage_type_bytes(output_type(self, i));
  for (uint32_t j = 0; j < self->num_inputs + i; j++) {
    bool is_input = j < self->num_inputs;
    const MirageType *type = is_input ? input_type(self, j) : output_type(self, j - self->num_inputs);
    const char *other = is_input ? call->inputs[j].data : call->outputs[j - self->num_inputs].data;
    if (begin >= other + mirage_type_bytes(type) || other >= end)
      continue;
    char what[MAX_WHAT], with[MAX_WHAT];
    program_name_tensor(self, self->num_inputs + i, what);
    program_name_tensor(self, j, with);
    PyErr_Format(PyExc_ValueError, "%s: expected memory of its own, got some of %s", what, with);
    return false;
  }
  return true;
}

static bool view_given(Program *self, PyObject *out, Call *call) {
  if (PyTuple_Size(out) != (Py_ssize_t)self->num_outputs) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "out: expected %u tensors, got %zd", self->num_outputs, PyTuple_Size(out));
    return false;
  }
  for (uint32_t i = 0; i < self->num_outputs; i++) {
    call->results[i] = Py_NewRef(PyTuple_GetItem(out, (Py_ssize_t)i));
    if (!view_output(self, i, call->results[i], call) || !check_overlaps(self, i, call))
      return false;
  }
  return true;
}

bool program_view_outputs(Program *self, PyObject *tensors, PyObject *out, Call *call) {
  return out == Py_None ? view_new(self, PyTuple_GetItem(tensors, 0), call) : view_given(self, out, call);
}

// --------------------------------------------------------------------------------------------------------------- calling

void program_addresses(uint32_t count, const Tensor tensors[], uint64_t out[]) {
  for (uint32_t i = 0; i < count; i++)
    out[i] = (uint64_t)(uintptr_t)tensors[i].data;
}

// Code that a CUDA graph launches must not be unloaded: replays would take the process down.
static void stay_if_captured(Program *self, const MirageProgram *program, void *stream) {
  if (self->captured || !mirage_program_is_captured(program, stream))
    return;
  self->captured = true;
  Py_INCREF((PyObject *)self);
}

static MirageStatus launch(Program *self, const Call *call, const MirageDiag *diag) {
  MirageProgram *program = NULL;
  uint64_t inputs[MAX_TENSORS], outputs[MAX_TENSORS];
  MIRAGE_TRY(program_get(self, call->inputs[0].device_id, diag, &program));
  program_addresses(self->num_inputs, call->inputs, inputs);
  program_addresses(self->num_outputs, call->outputs, outputs);
  stay_if_captured(self, program, call->stream);
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

static PyObject *results_of(const Program *self, const Call *call) {
  if (self->num_outputs == 1)
    return Py_NewRef(call->results[0]);
  PyObject *result = PyTuple_New((Py_ssize_t)self->num_outputs);
  for (uint32_t i = 0; result && i < self->num_outputs; i++)
    PyTuple_SetItem(result, (Py_ssize_t)i, Py_NewRef(call->results[i]));
  return result;
}

static bool check_stream(PyObject *stream) {
  if (stream == Py_None)
    return true;
  if (!PyLong_Check(stream)) {
    PyErr_Format(
        PyExc_TypeError,
        "stream: expected the address of a CUDA stream, an integer (PyTorch's s.cuda_stream, CuPy's s.ptr), got %R",
        (PyObject *)Py_TYPE(stream));
    return false;
  }
  if (PyLong_AsSize_t(stream) == (size_t)-1 && PyErr_Occurred()) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "stream: expected the address of a CUDA stream, got %R", stream);
    return false;
  }
  return true;
}

PyObject *program_call_with(Program *self, PyObject *tensors, PyObject *out, PyObject *stream, bool emulates) {
  Call call;
  call.num_inputs = call.num_outputs = 0;
  call.stream = NULL;
  for (uint32_t i = 0; i < self->num_outputs; i++)
    call.results[i] = NULL;
  PyObject *result = NULL;
  if (check_stream(stream) && program_view_inputs(self, tensors, stream, &call) &&
      program_view_outputs(self, tensors, out, &call) && execute(self, &call, emulates))
    result = results_of(self, &call);
  program_release(&call);
  for (uint32_t i = 0; i < self->num_outputs; i++)
    Py_XDECREF(call.results[i]);
  return result;
}

PyObject *program_call(PyObject *object, PyObject *const args[], Py_ssize_t count) {
  if (count < 3 || count > 4 || !PyTuple_Check(args[0]) || !(args[1] == Py_None || PyTuple_Check(args[1])))
    return PyErr_Format(PyExc_TypeError, "call: expected (tensors, out or None, stream or None, emulate=False)");
  int emulates = count == 4 ? PyObject_IsTrue(args[3]) : 0;
  return emulates < 0 ? NULL : program_call_with((Program *)object, args[0], args[1], args[2], emulates);
}
