// jax_ffi.c - compiled graphs as foreign functions of XLA, for mirage_mlir/jax.py.
//
//   jax_register(key, program)    a call whose attribute `program` is key computes this Program
//   jax_targets()                 capsules for jax.ffi.register_ffi_target
//
// XLA calls the handlers on threads of its own, without the GIL. On a host the graph is evaluated; on a GPU its kernels are
// launched on XLA's stream. A key is a hash of the program's text, never a number that another process might use for another
// program: XLA may keep compiled functions on disk. A program that was registered stays, as XLA's functions may live on.
#include "python.h"
#include "xla_ffi_abi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------------- programs

static struct {
  pthread_rwlock_t lock;
  struct Registered {
    int64_t key;
    PyObject *program; // owned
  } *entries;
  size_t count, room;
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static PyObject *find_program(int64_t key) {
  PyObject *program = NULL;
  pthread_rwlock_rdlock(&registry.lock);
  for (size_t i = 0; i < registry.count && !program; i++)
    if (registry.entries[i].key == key)
      program = registry.entries[i].program;
  pthread_rwlock_unlock(&registry.lock);
  return program;
}

static bool add_program(int64_t key, PyObject *program) {
  bool ok = true;
  pthread_rwlock_wrlock(&registry.lock);
  if (registry.count == registry.room) {
    size_t room = 2 * registry.room + 16;
    struct Registered *entries = realloc(registry.entries, room * sizeof *entries);
    ok = entries != NULL;
    if (ok) {
      registry.entries = entries;
      registry.room = room;
    }
  }
  if (ok)
    registry.entries[registry.count++] = (struct Registered){key, Py_NewRef(program)};
  pthread_rwlock_unlock(&registry.lock);
  return ok;
}

PyObject *mirage_py_jax_register(PyObject *module, PyObject *args) {
  long long key;
  PyObject *program;
  if (!PyArg_ParseTuple(args, "LO", &key, &program))
    return NULL;
  if (!is_program(program)) {
    PyErr_Format(PyExc_TypeError, "jax_register: expected a Program, got %R", (PyObject *)Py_TYPE(program));
    return NULL;
  }
  if (!find_program(key) && !add_program(key, program))
    return PyErr_NoMemory();
  Py_RETURN_NONE;
}

// ------------------------------------------------------------------------------------------------------------------ calls

static XlaError *fail(const XlaCall *call, int code, const char *message) {
  XlaErrorCreate create = {.struct_size = sizeof create, .message = message, .code = code};
  return call->api->error_create(&create);
}

static XlaError *fail_status(const XlaCall *call, Messages *messages, MirageStatus status) {
  char text[600];
  snprintf(text, sizeof text, "mirage_mlir: %s", messages->text ? messages->text : mirage_status_string(status));
  messages_free(messages);
  return fail(call, XLA_INTERNAL, text);
}

/// The program that the attribute names; NULL with an error.
static PyObject *program_of(const XlaCall *call, XlaError **out_error) {
  const XlaAttributes *attributes = &call->attributes;
  for (int64_t i = 0; i < attributes->size; i++) {
    const XlaSpan *name = attributes->names[i];
    const XlaScalar *scalar = attributes->values[i];
    if (name->length != 7 || memcmp(name->data, "program", 7) != 0 || attributes->types[i] != XLA_ATTRIBUTE_SCALAR ||
        scalar->dtype != XLA_S64)
      continue;
    PyObject *program = find_program(*(const int64_t *)scalar->value);
    if (!program)
      *out_error = fail(call, XLA_FAILED_PRECONDITION,
                        "mirage_mlir: this function was compiled in another process: trace it here again");
    return program;
  }
  *out_error = fail(call, XLA_INVALID_ARGUMENT, "mirage_mlir: a call without the attribute 'program'");
  return NULL;
}

/// Two int4 come as an int8, the first in its low half: XLA's own int4 lie differently on each kind of device.
static bool same_type(const XlaBuffer *buffer, const MirageType *type) {
  static const int dtypes[MIRAGE_NUM_DTYPES] = {
      [MIRAGE_F16] = XLA_F16, [MIRAGE_BF16] = XLA_BF16,         [MIRAGE_F32] = XLA_F32,
      [MIRAGE_I1] = XLA_PRED, [MIRAGE_I32] = XLA_S32,           [MIRAGE_I8] = XLA_S8,
      [MIRAGE_I4] = XLA_S8,   [MIRAGE_F8E4M3FN] = XLA_F8E4M3FN, [MIRAGE_F8E5M2] = XLA_F8E5M2}; // 0: no type of a buffer
  bool same = dtypes[type->dtype] && buffer->dtype == dtypes[type->dtype] && buffer->rank == (int64_t)type->rank;
  for (uint32_t d = 0; same && d < type->rank; d++)
    same = buffer->dims[d] == program_held_extent(type, d);
  return same;
}

enum { MOST = 256 };

/// Reads the addresses of buffers that have to be as the program says. jax.py makes such calls alone; others may be forged.
static bool read_buffers(const XlaBuffers *buffers, PyObject *program, uint32_t count,
                         const MirageType *(*type_of)(PyObject *, uint32_t), void *out[MOST]) {
  bool fit = buffers->size == (int64_t)count && count <= MOST;
  for (uint32_t i = 0; fit && i < count; i++) {
    const XlaBuffer *buffer = buffers->items[i];
    fit = buffers->types[i] == XLA_ARGUMENT_BUFFER && same_type(buffer, type_of(program, i));
    out[i] = fit ? buffer->data : NULL;
  }
  return fit;
}

static XlaError *read_call(const XlaCall *call, PyObject **out_program, void *inputs[MOST], void *outputs[MOST]) {
  XlaError *error = NULL;
  PyObject *program = program_of(call, &error);
  if (!program)
    return error;
  if (!read_buffers(&call->arguments, program, program_num_inputs(program), program_input_type, inputs) ||
      !read_buffers(&call->results, program, program_num_outputs(program), program_output_type, outputs))
    return fail(call, XLA_INVALID_ARGUMENT, "mirage_mlir: the call's tensors are not those of its program");
  *out_program = program;
  return NULL;
}

/// Answers XLA's question of what the handler is; true where it was one.
static bool answer(const XlaCall *call, uint32_t traits) {
  if (!call->extensions || call->extensions->type != XLA_EXTENSION_METADATA)
    return false;
  XlaMetadata *metadata = ((XlaMetadataExtension *)call->extensions)->metadata;
  metadata->version.major = XLA_API_MAJOR;
  metadata->version.minor = XLA_API_MINOR;
  metadata->traits = traits;
  return true;
}

static XlaError *execute_on_host(XlaCall *call) {
  void *inputs[MOST], *outputs[MOST];
  PyObject *program;
  if (answer(call, 0))
    return NULL;
  XlaError *error = read_call(call, &program, inputs, outputs);
  if (error)
    return error;
  Messages messages = {0};
  const MirageDiag diag = messages_sink(&messages);
  MirageStatus status = program_evaluate(program, inputs, outputs, &diag);
  if (status != MIRAGE_OK)
    return fail_status(call, &messages, status);
  messages_free(&messages);
  return NULL;
}

// -------------------------------------------------------------------------------------------------------------------- GPU

/// 0 where this XLA cannot say.
static XlaError *get_ordinal(const XlaCall *call, int32_t *out_ordinal) {
  XlaOrdinalGet get = {.struct_size = sizeof get, .context = call->context};
  *out_ordinal = 0;
  if (call->api->struct_size < offsetof(XlaApi, ordinal_get) + sizeof call->api->ordinal_get)
    return NULL;
  XlaError *error = call->api->ordinal_get(&get);
  *out_ordinal = get.ordinal;
  return error;
}

static XlaError *launch(XlaCall *call) {
  void *inputs[MOST], *outputs[MOST];
  PyObject *program;
  int32_t ordinal;
  XlaStreamGet get = {.struct_size = sizeof get, .context = call->context};
  XlaError *error = read_call(call, &program, inputs, outputs);
  if (!error)
    error = call->api->stream_get(&get);
  if (!error)
    error = get_ordinal(call, &ordinal);
  if (error)
    return error;
  Messages messages = {0};
  const MirageDiag diag = messages_sink(&messages);
  MirageStatus status = program_launch(program, ordinal, get.stream, inputs, outputs, &diag);
  if (status != MIRAGE_OK)
    return fail_status(call, &messages, status);
  messages_free(&messages);
  return NULL;
}

static XlaError *execute_on_gpu(XlaCall *call) { return answer(call, 0) ? NULL : launch(call); }

/// For programs without a workspace: a launch allocates nothing, so that XLA may capture it in a CUDA graph.
static XlaError *execute_captured(XlaCall *call) {
  return answer(call, XLA_COMMAND_BUFFER_COMPATIBLE) ? NULL : launch(call);
}

/// Before the first execution: loads the code, which cannot be done while a stream is captured.
static XlaError *initialize(XlaCall *call) {
  int32_t ordinal;
  XlaError *error = NULL;
  if (answer(call, XLA_COMMAND_BUFFER_COMPATIBLE))
    return NULL;
  PyObject *program = program_of(call, &error);
  if (!error)
    error = get_ordinal(call, &ordinal);
  if (error)
    return error;
  Messages messages = {0};
  const MirageDiag diag = messages_sink(&messages);
  MirageStatus status = program_load(program, ordinal, &diag);
  if (status != MIRAGE_OK)
    return fail_status(call, &messages, status);
  messages_free(&messages);
  return NULL;
}

/// {name: capsule}, each with a handler as XLA wants it: the address of a function, without a name.
PyObject *mirage_py_jax_targets(PyObject *module, PyObject *args) {
  static const struct {
    const char *name;
    XlaError *(*handler)(XlaCall *);
  } handlers[] = {
      {"host", execute_on_host}, {"gpu", execute_on_gpu}, {"captured", execute_captured}, {"initialize", initialize}};
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < sizeof handlers / sizeof *handlers; i++) {
    PyObject *capsule = PyCapsule_New((void *)handlers[i].handler, NULL, NULL);
    if (!capsule || PyDict_SetItemString(dict, handlers[i].name, capsule) != 0)
      Py_CLEAR(dict);
    Py_XDECREF(capsule);
  }
  return dict;
}
