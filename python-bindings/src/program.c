// program.c - _mirage.Program: a compiled graph, called on tensors of any framework.
//
//   p = Program(module_text, "attention_0", ("q", "k", "v"), helper);  y = p.call((q, k, v), None, None)
//
// GPU:   the code is loaded into a device's primary context, the one that frameworks use, at the first call there. A call
//        launches on the caller's current stream and waits for nothing; it may be captured in a CUDA graph.
// Host:  the graph is evaluated in its own element types (mirage/eval.h).
#include "program.h"

#include "mirage/bridge.h"

#include <stdlib.h>
#include <string.h>

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

MirageStatus program_get(Program *self, int32_t ordinal, const MirageDiag *diag, MirageProgram **out_program) {
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

MirageStatus program_load(PyObject *program, int32_t ordinal, const MirageDiag *diag) {
  MirageProgram *loaded;
  return program_get((Program *)program, ordinal, diag, &loaded);
}

MirageStatus program_launch(PyObject *program, int32_t ordinal, void *stream, void *const inputs[],
                            void *const outputs[], const MirageDiag *diag) {
  Program *self = (Program *)program;
  MirageProgram *loaded = NULL;
  uint64_t in[MAX_TENSORS], out[MAX_TENSORS];
  MIRAGE_TRY(program_get(self, ordinal, diag, &loaded));
  for (uint32_t i = 0; i < self->num_inputs; i++)
    in[i] = (uint64_t)(uintptr_t)inputs[i];
  for (uint32_t i = 0; i < self->num_outputs; i++)
    out[i] = (uint64_t)(uintptr_t)outputs[i];
  return mirage_program_launch(loaded, in, out, stream ? stream : MIRAGE_STREAM_LEGACY, diag);
}

// ----------------------------------------------------------------------------------------------------------------- making

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

// ------------------------------------------------------------------------------------------------------------------- type

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
  Py_XDECREF(self->maker);
  Py_XDECREF((PyObject *)self->maker_type);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

bool is_program(PyObject *object) {
  destructor dealloc = (destructor)PyType_GetSlot(Py_TYPE(object), Py_tp_dealloc);
  return dealloc == program_dealloc;
}

uint32_t program_num_inputs(PyObject *program) { return ((Program *)program)->num_inputs; }
uint32_t program_num_outputs(PyObject *program) { return ((Program *)program)->num_outputs; }
const MirageType *program_input_type(PyObject *program, uint32_t i) { return input_type((Program *)program, i); }
const MirageType *program_output_type(PyObject *program, uint32_t i) { return output_type((Program *)program, i); }

static PyMethodDef METHODS[] = {
    {"call", (PyCFunction)(void (*)(void))program_call, METH_FASTCALL,
     "call(tensors, out, stream, emulate=False) -> a tensor, or a tuple"},
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
