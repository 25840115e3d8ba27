// program.c - _mirage.Program: a compiled graph, called on tensors of any framework.
//
//   p = Program(module_text, "attention_0", ("q", "k", "v"), helper);  y = p.call((q, k, v), None, None)
//
// GPU:   the code is loaded into a device's primary context, the one that frameworks use, at the first call there. A call
//        launches on the caller's current stream and waits for nothing; it may be captured in a CUDA graph.
// Host:  the graph is evaluated in its own element types (mirage/eval.h).
// Quick: where the tensors' type has DLPack's exchange table, a call runs no Python but the allocation of the results.
//        Else `helper`, a module of Python, knows the framework: current_stream(tensor, device), empty(tensor, dtype, dims),
//        on_host() at each evaluation.
#include "dlpack_abi.h"
#include "python.h"

#include "mirage/bridge.h"
#include "mirage/emulator.h"
#include "mirage/eval.h"
#include "mirage/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = 16, MAX_TENSORS = 256, MAX_WHAT = 160 };

typedef struct OnDevice {
  MirageDevice *device;
  MirageModule *module;
  MirageProgram *program; // the last that is made
} OnDevice;

typedef struct Program {
  PyObject_HEAD MirageUGraph *graph;
  char *ptx; // or NULL
  char chip[32];
  char **names;                     // of the inputs
  int8_t (*perms)[MIRAGE_MAX_RANK]; // dimension i of input n, as it lies, is dimension perms[n][i] of what is passed
  bool transposes;                  // whether some of these are no identity
  uint32_t num_inputs, num_outputs;
  PyObject *helper;
  pthread_mutex_t lock; // of loading
  OnDevice devices[MAX_DEVICES];
} Program;

// One call: views of its tensors.
typedef struct Call {
  uint32_t num_inputs, num_outputs; // viewed
  Tensor inputs[MAX_TENSORS], outputs[MAX_TENSORS];
  PyObject *results[MAX_TENSORS]; // owned; only those allocated here
  void *stream;
} Call;

static const MirageType *input_type(const Program *self, uint32_t i) {
  return mirage_ugraph_type(self->graph, mirage_ugraph_get_input(self->graph, i));
}

static const MirageType *output_type(const Program *self, uint32_t i) {
  return mirage_ugraph_type(self->graph, mirage_ugraph_get_output(self->graph, i));
}

// -------------------------------------------------------------------------------------------------------------- checking

static void format_dims(uint32_t rank, const int64_t *dims, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "[");
  for (uint32_t i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)dims[i]);
  if (used < size)
    snprintf(text + used, size - used, "]");
}

static const char *tensor_dtype(const Tensor *tensor, char text[24]) {
  if (tensor->code == DL_FLOAT)
    snprintf(text, 24, "float%u", tensor->bits);
  else if (tensor->code == DL_BFLOAT)
    snprintf(text, 24, "bfloat%u", tensor->bits);
  else if (tensor->code == DL_INT || tensor->code == DL_UINT)
    snprintf(text, 24, "%sint%u", tensor->code == DL_UINT ? "u" : "", tensor->bits);
  else
    snprintf(text, 24, "%s", tensor->code == DL_BOOL ? "bool" : "another dtype");
  return text;
}

static bool same_dtype(const Tensor *tensor, MirageDType dtype) {
  return tensor->code == (dtype == MIRAGE_BF16 ? DL_BFLOAT : DL_FLOAT) && tensor->bits == 8 * mirage_dtype_bytes(dtype);
}

static void name_tensor(const Program *self, uint32_t i, char what[MAX_WHAT]) {
  if (i >= self->num_inputs)
    snprintf(what, MAX_WHAT, "output %u", i - self->num_inputs);
  else if (self->names[i][0])
    snprintf(what, MAX_WHAT, "argument %u ('%s')", i, self->names[i]);
  else
    snprintf(what, MAX_WHAT, "argument %u", i);
}

static bool is_dense(const Tensor *tensor) {
  int64_t dense = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != dense)
      return false;
    dense *= tensor->shape[d];
  }
  return true;
}

static bool is_of_type(const MirageType *type, const Tensor *tensor) {
  bool same = same_dtype(tensor, type->dtype) && tensor->rank == (int32_t)type->rank;
  for (uint32_t d = 0; same && d < type->rank; d++)
    same = tensor->shape[d] == type->shape[d];
  return same;
}

/// Dimensions as the caller sees them, of what lies in memory as `perm` says; NULL: as it is.
static void format_passed(const int8_t *perm, uint32_t rank, const int64_t *dims, char *text, size_t size) {
  int64_t passed[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < rank; d++)
    passed[perm ? (uint32_t)perm[d] : d] = dims[d];
  format_dims(rank, passed, text, size);
}

static bool refuse(const char *what, const int8_t *perm, const MirageType *type, const Tensor *got) {
  char wanted[96], found[96], dtype[24];
  bool same_rank = got->rank == (int32_t)type->rank;
  format_passed(perm, type->rank, type->shape, wanted, sizeof wanted);
  format_passed(same_rank ? perm : NULL, (uint32_t)got->rank, got->shape, found, sizeof found);
  PyErr_Format(same_dtype(got, type->dtype) ? PyExc_ValueError : PyExc_TypeError, "%s: expected %s %s, got %s %s", what,
               dtype_name(type->dtype), wanted, tensor_dtype(got, dtype), found);
  return false;
}

static bool refuse_strides(const char *what, const int8_t *perm, const MirageType *type, const Tensor *tensor) {
  char strides[96], wanted[96];
  int64_t dense[MIRAGE_MAX_RANK];
  for (uint32_t d = type->rank; d-- > 0;)
    dense[d] = d + 1 < type->rank ? dense[d + 1] * type->shape[d + 1] : 1;
  format_passed(perm, type->rank, tensor->strides, strides, sizeof strides);
  format_passed(perm, type->rank, dense, wanted, sizeof wanted);
  PyErr_Format(
      PyExc_ValueError,
      "%s: expected strides %s, got %s: pass a copy that has them, x.contiguous(), or declare those of the tensor: "
      "new_input(..., strides=%s)",
      what, wanted, strides, strides);
  return false;
}

/// The tensor as it lies in memory, where the program was declared to take a transposed view of that.
static void permute(const int8_t perm[MIRAGE_MAX_RANK], uint32_t rank, Tensor *tensor) {
  Tensor as_passed = *tensor;
  for (uint32_t d = 0; tensor->rank == (int32_t)rank && d < rank; d++) {
    tensor->shape[d] = as_passed.shape[perm[d]];
    tensor->strides[d] = as_passed.strides[perm[d]];
  }
}

static bool on_gpu(const Tensor *tensor) {
  return tensor->device_type == DL_CUDA || tensor->device_type == DL_CUDA_MANAGED;
}

static void format_device(const Tensor *tensor, char text[32]) {
  if (on_gpu(tensor))
    snprintf(text, 32, "cuda:%d", (int)tensor->device_id);
  else
    snprintf(text, 32, tensor->device_type == DL_CPU || tensor->device_type == DL_CUDA_HOST ? "cpu" : "device type %d",
             (int)tensor->device_type);
}

static bool same_device(const Tensor *first, const Tensor *tensor) {
  return on_gpu(first) == on_gpu(tensor) && (!on_gpu(first) || first->device_id == tensor->device_id);
}

static bool refuse_device(const char *what, const Tensor *first, const Tensor *tensor) {
  char wanted[32], got[32];
  format_device(first, wanted);
  format_device(tensor, got);
  PyErr_Format(PyExc_ValueError, "%s: expected a tensor on %s, as the first, got one on %s", what, wanted, got);
  return false;
}

/// `i` < num_inputs is an input, the others are outputs. Names cost more than checks, so they are made for a failure alone.
static bool check_tensor(const Program *self, uint32_t i, const MirageType *type, const Tensor *first,
                         const Tensor *tensor) {
  char what[MAX_WHAT];
  if (is_of_type(type, tensor) && is_dense(tensor) && same_device(first, tensor))
    return true;
  name_tensor(self, i, what);
  const int8_t *perm = i < self->num_inputs && self->transposes ? self->perms[i] : NULL;
  return !is_of_type(type, tensor) ? refuse(what, perm, type, tensor)
         : !is_dense(tensor)       ? refuse_strides(what, perm, type, tensor)
                                   : refuse_device(what, first, tensor);
}

// -------------------------------------------------------------------------------------------------------------- arguments

static void call_release(Call *call) {
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

static bool view_inputs(const Program *self, PyObject *tensors, PyObject *stream, Call *call) {
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
      name_tensor(self, i, what);
    if (!tensor_view(object, what, i && on_gpu(&call->inputs[0]) ? call->stream : NULL, tensor)) {
      if (tensor_exchange(object)) {
        name_tensor(self, i, what);
        tensor_refuse(what);
      }
      return false;
    }
    call->num_inputs++;
    if (self->transposes)
      permute(self->perms[i], input_type(self, i)->rank, tensor);
    if (!check_tensor(self, i, input_type(self, i), &call->inputs[0], tensor))
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
    name_tensor(self, self->num_inputs + i, what);
  if (!tensor_view(object, what, on_gpu(&call->inputs[0]) ? call->stream : NULL, tensor))
    return false;
  call->num_outputs++;
  if (tensor->read_only) {
    name_tensor(self, self->num_inputs + i, what);
    PyErr_Format(PyExc_ValueError, "%s: the tensor is read-only", what);
    return false;
  }
  return check_tensor(self, self->num_inputs + i, output_type(self, i), &call->inputs[0], tensor);
}

/// Views `out`, a tuple of tensors, or makes new ones, which the results own.
static bool view_outputs(const Program *self, PyObject *tensors, PyObject *out, Call *call) {
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

// ------------------------------------------------------------------------------------------------------------------- GPU

static MirageStatus load(Program *self, OnDevice *place, int32_t ordinal, const MirageDiag *diag) {
  if (!self->ptx)
    return mirage_diag_fail(
        diag, NULL, MIRAGE_UNSUPPORTED,
        "the graph is not compiled: tensors on a GPU need one that is (superoptimize, or mirage-lower)");
  if (!place->device)
    MIRAGE_TRY(mirage_device_create(ordinal, diag, &place->device));
  if (!place->module)
    MIRAGE_TRY(mirage_module_load(place->device, self->ptx, diag, &place->module));
  return mirage_program_create(place->module, self->graph, diag, &place->program);
}

static MirageStatus get_program(Program *self, int32_t ordinal, const MirageDiag *diag, MirageProgram **out_program) {
  if (ordinal < 0 || ordinal >= MAX_DEVICES)
    return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT, "device %d: at most %d are supported", (int)ordinal, MAX_DEVICES);
  OnDevice *place = &self->devices[ordinal];
  MirageStatus status = MIRAGE_OK;
  MirageProgram *program = __atomic_load_n(&place->program, __ATOMIC_ACQUIRE);
  if (!program) {
    pthread_mutex_lock(&self->lock);
    if (!place->program)
      status = load(self, place, ordinal, diag);
    program = place->program;
    pthread_mutex_unlock(&self->lock);
  }
  *out_program = program;
  return status;
}

static void addresses(uint32_t count, const Tensor tensors[], uint64_t out[]) {
  for (uint32_t i = 0; i < count; i++)
    out[i] = (uint64_t)(uintptr_t)tensors[i].data;
}

static MirageStatus launch(Program *self, const Call *call, const MirageDiag *diag) {
  MirageProgram *program = NULL;
  uint64_t inputs[MAX_TENSORS], outputs[MAX_TENSORS];
  MIRAGE_TRY(get_program(self, call->inputs[0].device_id, diag, &program));
  addresses(self->num_inputs, call->inputs, inputs);
  addresses(self->num_outputs, call->outputs, outputs);
  return mirage_program_launch(program, inputs, outputs, call->stream, diag);
}

// ------------------------------------------------------------------------------------------------------------------ host

static double *unpack(const MirageType *type, const void *bytes) {
  size_t count = (size_t)mirage_type_elements(type);
  double *values = malloc((count + 1) * sizeof *values);
  for (size_t i = 0; values && i < count; i++)
    values[i] = type->dtype == MIRAGE_F32   ? (double)((const float *)bytes)[i]
                : type->dtype == MIRAGE_F16 ? mirage_f16_to_double(((const uint16_t *)bytes)[i])
                                            : mirage_bf16_to_double(((const uint16_t *)bytes)[i]);
  return values;
}

static void pack(const MirageType *type, const double *values, void *bytes) {
  size_t count = (size_t)mirage_type_elements(type);
  for (size_t i = 0; i < count; i++)
    if (type->dtype == MIRAGE_F32)
      ((float *)bytes)[i] = (float)values[i];
    else
      ((uint16_t *)bytes)[i] =
          type->dtype == MIRAGE_F16 ? mirage_f16_from_double(values[i]) : mirage_bf16_from_double(values[i]);
}

static MirageStatus evaluate_into(const Program *self, const Call *call, double **inputs, double **outputs,
                                  const MirageDiag *diag) {
  for (uint32_t i = 0; i < self->num_inputs; i++)
    if (!(inputs[i] = unpack(input_type(self, i), call->inputs[i].data)))
      return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < self->num_outputs; i++)
    if (!(outputs[i] = malloc(((size_t)mirage_type_elements(output_type(self, i)) + 1) * sizeof **outputs)))
      return MIRAGE_NO_MEMORY;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const MirageEvalOptions options = {.num_threads = cores > 0 ? (uint32_t)cores : 1};
  MIRAGE_TRY(mirage_eval(self->graph, mirage_domain_real(), (const void *const *)inputs, (void *const *)outputs,
                         &options, diag));
  for (uint32_t i = 0; i < self->num_outputs; i++)
    pack(output_type(self, i), outputs[i], call->outputs[i].data);
  return MIRAGE_OK;
}

static MirageStatus evaluate(const Program *self, const Call *call, const MirageDiag *diag) {
  double *inputs[MAX_TENSORS] = {NULL}, *outputs[MAX_TENSORS] = {NULL};
  MirageStatus status = evaluate_into(self, call, inputs, outputs, diag);
  for (uint32_t i = 0; i < self->num_inputs; i++)
    free(inputs[i]);
  for (uint32_t i = 0; i < self->num_outputs; i++)
    free(outputs[i]);
  return status;
}

static MirageStatus emulate(const Program *self, const Call *call, const MirageDiag *diag) {
  const void *inputs[MAX_TENSORS];
  void *outputs[MAX_TENSORS];
  const MirageTarget *target = self->chip[0] ? mirage_target_find(self->chip) : NULL;
  const MirageEmulationOptions options = {0};
  if (!target)
    return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED,
                            "emulator: the graph is not compiled for a GPU that is known");
  for (uint32_t i = 0; i < self->num_inputs; i++)
    inputs[i] = call->inputs[i].data;
  for (uint32_t i = 0; i < self->num_outputs; i++)
    outputs[i] = call->outputs[i].data;
  return mirage_emulate(self->graph, target, inputs, outputs, &options, diag);
}

// ---------------------------------------------------------------------------------------------------- calls without Python

static void program_dealloc(PyObject *object);

bool is_program(PyObject *object) {
  destructor dealloc = (destructor)PyType_GetSlot(Py_TYPE(object), Py_tp_dealloc);
  return dealloc == program_dealloc;
}

uint32_t program_num_inputs(PyObject *program) { return ((Program *)program)->num_inputs; }
uint32_t program_num_outputs(PyObject *program) { return ((Program *)program)->num_outputs; }
const MirageType *program_input_type(PyObject *program, uint32_t i) { return input_type((Program *)program, i); }
const MirageType *program_output_type(PyObject *program, uint32_t i) { return output_type((Program *)program, i); }

MirageStatus program_evaluate(PyObject *program, void *const inputs[], void *const outputs[], const MirageDiag *diag) {
  Program *self = (Program *)program;
  Call *call = calloc(1, sizeof *call);
  if (!call)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < self->num_inputs; i++)
    call->inputs[i].data = inputs[i];
  for (uint32_t i = 0; i < self->num_outputs; i++)
    call->outputs[i].data = outputs[i];
  MirageStatus status = evaluate(self, call, diag);
  free(call);
  return status;
}

MirageStatus program_load(PyObject *program, int32_t ordinal, const MirageDiag *diag) {
  MirageProgram *loaded;
  return get_program((Program *)program, ordinal, diag, &loaded);
}

MirageStatus program_launch(PyObject *program, int32_t ordinal, void *stream, void *const inputs[],
                            void *const outputs[], const MirageDiag *diag) {
  Program *self = (Program *)program;
  MirageProgram *loaded = NULL;
  uint64_t in[MAX_TENSORS], out[MAX_TENSORS];
  MIRAGE_TRY(get_program(self, ordinal, diag, &loaded));
  for (uint32_t i = 0; i < self->num_inputs; i++)
    in[i] = (uint64_t)(uintptr_t)inputs[i];
  for (uint32_t i = 0; i < self->num_outputs; i++)
    out[i] = (uint64_t)(uintptr_t)outputs[i];
  return mirage_program_launch(loaded, in, out, stream ? stream : MIRAGE_STREAM_LEGACY, diag);
}

// --------------------------------------------------------------------------------------------------------------- calling

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
    status = emulates ? emulate(self, call, &diag) : evaluate(self, call, &diag);
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
  if (view_inputs(self, tensors, stream, &call) && view_outputs(self, tensors, out, &call) &&
      execute(self, &call, emulates)) {
    if (self->num_outputs == 1) {
      result = Py_NewRef(call.results[0]);
    } else if ((result = PyTuple_New((Py_ssize_t)self->num_outputs))) {
      for (uint32_t i = 0; i < self->num_outputs; i++)
        PyTuple_SetItem(result, (Py_ssize_t)i, Py_NewRef(call.results[i]));
    }
  }
  call_release(&call);
  for (uint32_t i = 0; i < self->num_outputs; i++)
    Py_XDECREF(call.results[i]);
  return result;
}

static PyObject *program_call(PyObject *object, PyObject *args) {
  PyObject *tensors, *out, *stream;
  int emulates = 0;
  if (!PyArg_ParseTuple(args, "O!OO|p", &PyTuple_Type, &tensors, &out, &stream, &emulates))
    return NULL;
  return call_with((Program *)object, tensors, out, stream, emulates);
}

// ---------------------------------------------------------------------------------------------------------------- timing

enum { MAX_SETS = 4096 };

static bool view_sets(Program *self, PyObject *sets, uint64_t *inputs, Call *call) {
  for (Py_ssize_t s = 0; s < PyList_Size(sets); s++) {
    PyObject *tensors = PyList_GetItem(sets, s);
    call->num_inputs = 0;
    bool ok = PyTuple_Check(tensors) && view_inputs(self, tensors, Py_None, call);
    if (ok)
      addresses(self->num_inputs, call->inputs, inputs + (size_t)s * self->num_inputs);
    if (s == 0 && ok) // the first set's tensors say where results go
      ok = on_gpu(&call->inputs[0]) && view_outputs(self, tensors, Py_None, call);
    if (s)
      for (uint32_t i = 0; i < call->num_inputs; i++)
        tensor_release(&call->inputs[i]);
    if (!ok) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "time: expected tuples of tensors on a GPU");
      return false;
    }
  }
  return true;
}

/// time([(tensors of a call), ...]) -> (cold_us, cold_spread, warm_us, warm_spread)
static PyObject *program_time(PyObject *object, PyObject *args) {
  Program *self = (Program *)object;
  PyObject *sets;
  if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &sets))
    return NULL;
  Py_ssize_t count = PyList_Size(sets);
  if (count < 1 || count > MAX_SETS)
    return PyErr_Format(PyExc_ValueError, "time: 1 to %d sets of tensors, got %zd", MAX_SETS, count);
  uint64_t *inputs = malloc(((size_t)count * self->num_inputs + 1) * sizeof *inputs), outputs[MAX_TENSORS];
  Call *call = calloc(1, sizeof *call);
  MirageTiming timing = {0};
  PyObject *result = inputs && call ? NULL : PyErr_NoMemory();
  if (inputs && call && view_sets(self, sets, inputs, call)) {
    Messages messages = {0};
    const MirageDiag diag = messages_sink(&messages);
    MirageProgram *program = NULL;
    MirageStatus status;
    addresses(self->num_outputs, call->outputs, outputs);
    Py_BEGIN_ALLOW_THREADS;
    status = get_program(self, call->outputs[0].device_id, &diag, &program);
    if (status == MIRAGE_OK)
      status = mirage_program_time(program, (uint32_t)count, inputs, outputs, &diag, &timing);
    Py_END_ALLOW_THREADS;
    result = status == MIRAGE_OK
                 ? Py_BuildValue("(dddd)", timing.cold_us, timing.cold_spread, timing.warm_us, timing.warm_spread)
                 : messages_raise(&messages, status);
    messages_free(&messages);
  }
  for (uint32_t i = 0; call && i < call->num_outputs; i++)
    tensor_release(&call->outputs[i]);
  for (uint32_t i = 0; call && i < self->num_outputs; i++)
    Py_XDECREF(call->results[i]);
  free(call);
  free(inputs);
  return result;
}

/// overhead(tensors) -> (bare_us, launch_us): what the driver's own launches of these kernels cost the CPU, and ours.
static PyObject *program_overhead(PyObject *object, PyObject *args) {
  Program *self = (Program *)object;
  PyObject *tensors;
  Call *call = calloc(1, sizeof *call);
  if (!call)
    return PyErr_NoMemory();
  PyObject *result = NULL;
  if (PyArg_ParseTuple(args, "O!", &PyTuple_Type, &tensors) && view_inputs(self, tensors, Py_None, call) &&
      view_outputs(self, tensors, Py_None, call)) {
    Messages messages = {0};
    const MirageDiag diag = messages_sink(&messages);
    MirageLaunchOverhead overhead;
    MirageProgram *program = NULL;
    uint64_t inputs[MAX_TENSORS], outputs[MAX_TENSORS];
    addresses(self->num_inputs, call->inputs, inputs);
    addresses(self->num_outputs, call->outputs, outputs);
    MirageStatus status =
        on_gpu(&call->inputs[0]) ? get_program(self, call->inputs[0].device_id, &diag, &program) : MIRAGE_NO_DEVICE;
    if (status == MIRAGE_OK)
      status = mirage_program_launch_overhead(program, inputs, outputs, &diag, &overhead);
    result = status == MIRAGE_OK ? Py_BuildValue("(dd)", overhead.bare_us, overhead.launch_us)
                                 : messages_raise(&messages, status);
    messages_free(&messages);
  }
  call_release(call);
  for (uint32_t i = 0; i < self->num_outputs; i++)
    Py_XDECREF(call->results[i]);
  free(call);
  return result;
}

// ------------------------------------------------------------------------------------------------------------------ type

static bool copy_names(Program *self, PyObject *names) {
  self->names = calloc((size_t)self->num_inputs + 1, sizeof *self->names);
  for (uint32_t i = 0; self->names && i < self->num_inputs; i++) {
    PyObject *name = (Py_ssize_t)i < PyTuple_Size(names) ? PyTuple_GetItem(names, (Py_ssize_t)i) : NULL;
    PyObject *bytes = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    self->names[i] = strdup(bytes ? PyBytes_AsString(bytes) : "");
    Py_XDECREF(bytes);
    if (!self->names[i])
      return false;
  }
  return self->names != NULL;
}

/// perms: None, or a list with None or the order of dimensions for each input.
static bool copy_perms(Program *self, PyObject *perms) {
  self->perms = calloc((size_t)self->num_inputs + 1, sizeof *self->perms);
  for (uint32_t i = 0; self->perms && i < self->num_inputs; i++) {
    PyObject *perm = perms == Py_None ? perms : PySequence_GetItem(perms, (Py_ssize_t)i);
    uint32_t rank = input_type(self, i)->rank, seen = 0;
    for (uint32_t d = 0; perm && d < rank; d++) {
      PyObject *dim = perm == Py_None ? PyLong_FromLong((long)d) : PySequence_GetItem(perm, (Py_ssize_t)d);
      long value = dim ? PyLong_AsLong(dim) : -1;
      Py_XDECREF(dim);
      self->perms[i][d] = (int8_t)(value >= 0 && value < (long)rank ? value : 0);
      seen |= 1u << self->perms[i][d];
      self->transposes |= self->perms[i][d] != (int8_t)d;
    }
    if (perm && perms != Py_None)
      Py_DECREF(perm);
    if (!PyErr_Occurred() && seen != (1u << rank) - 1)
      PyErr_Format(PyExc_ValueError, "input %u: its order of dimensions is no permutation", i);
    if (PyErr_Occurred())
      return false;
  }
  return self->perms != NULL;
}

static MirageStatus find_graph(Program *self, MlirModule module, const char *name, const MirageDiag *diag) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!op_is(op, "mirage_kernel.graph") || !mlirStringRefEqual(symbol_of(op), string_ref(name)))
      continue;
    MlirStringRef ptx;
    MlirOperation binary;
    MIRAGE_TRY(mirage_bridge_import(op, diag, &self->graph));
    self->num_inputs = mirage_ugraph_num_inputs(self->graph);
    self->num_outputs = mirage_ugraph_num_outputs(self->graph);
    if (self->num_inputs > MAX_TENSORS || self->num_outputs > MAX_TENSORS || !self->num_inputs || !self->num_outputs)
      return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT, "@%s: %u inputs and %u outputs: 1 to %d of each can be called",
                              name, self->num_inputs, self->num_outputs, MAX_TENSORS);
    if (!find_ptx(module, symbol_of(op), &binary, &ptx, self->chip))
      return MIRAGE_OK;
    self->ptx = calloc(1, ptx.length + 1);
    if (!self->ptx)
      return MIRAGE_NO_MEMORY;
    memcpy(self->ptx, ptx.data, ptx.length);
    return MIRAGE_OK;
  }
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH, "no graph @%s in the module", name);
}

static MirageStatus read_text(Program *self, const char *text, Py_ssize_t length, const char *name,
                              const MirageDiag *diag) {
  MlirContext context = context_create();
  MlirModule module = module_parse(context, text, length);
  MirageStatus status = mlirModuleIsNull(module)
                            ? mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH, "the module cannot be read")
                            : find_graph(self, module, name, diag);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return status;
}

static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"text", "name", "names", "helper", "perms", NULL};
  const char *text, *name;
  Py_ssize_t length;
  PyObject *names, *helper, *perms = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#sO!O|O", keywords, &text, &length, &name, &PyTuple_Type, &names,
                                   &helper, &perms))
    return NULL;
  Program *self = (Program *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self)
    return NULL;
  pthread_mutex_init(&self->lock, NULL);
  self->helper = Py_NewRef(helper);
  Messages messages = {0};
  const MirageDiag diag = messages_sink(&messages);
  MirageStatus status = read_text(self, text, length, name, &diag);
  if (status == MIRAGE_OK && !copy_names(self, names))
    status = MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && !copy_perms(self, perms)) {
    Py_DECREF(self);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  if (status != MIRAGE_OK) {
    Py_DECREF(self);
    return messages_raise(&messages, status);
  }
  return (PyObject *)self;
}

static void program_dealloc(PyObject *object) {
  Program *self = (Program *)object;
  PyTypeObject *type = Py_TYPE(object);
  for (int i = 0; i < MAX_DEVICES; i++) {
    OnDevice *place = &self->devices[i];
    if (place->program) { // work that was launched may still run
      Py_BEGIN_ALLOW_THREADS;
      mirage_device_synchronize(place->device, NULL);
      mirage_program_destroy(place->program);
      Py_END_ALLOW_THREADS;
    }
    if (place->module)
      mirage_module_unload(place->module);
    if (place->device)
      mirage_device_destroy(place->device);
  }
  for (uint32_t i = 0; self->names && i < self->num_inputs; i++)
    free(self->names[i]);
  free(self->names);
  free(self->perms);
  free(self->ptx);
  mirage_ugraph_destroy(self->graph);
  pthread_mutex_destroy(&self->lock);
  Py_XDECREF(self->helper);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyMethodDef METHODS[] = {
    {"call", program_call, METH_VARARGS, "call(tensors, out, stream, emulate=False) -> a tensor, or a tuple"},
    {"overhead", program_overhead, METH_VARARGS, "overhead(tensors) -> (bare_us, launch_us) of the CPU"},
    {"time", program_time, METH_VARARGS, "time([tensors, ...]) -> (cold_us, cold_spread, warm_us, warm_spread)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SLOTS[] = {
    {Py_tp_doc, "A graph that can be called."},
    {Py_tp_new, program_new},
    {Py_tp_dealloc, program_dealloc},
    {Py_tp_methods, METHODS},
    {0, NULL},
};

static PyType_Spec SPEC = {"mirage_mlir._mirage.Program", sizeof(Program), 0, Py_TPFLAGS_DEFAULT, SLOTS};

PyObject *program_type_create(PyObject *module) { return PyType_FromModuleAndSpec(module, &SPEC, NULL); }
