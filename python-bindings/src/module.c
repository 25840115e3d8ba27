// module.c - the extension module mirage_mlir._mirage: what C does for the Python around it.
#include "python.h"

#include "mirage-c/Passes.h"
#include "mirage/runtime.h"
#include "mirage/target.h"
#include "mirage/tuning.h"
#include "tune.h"

#include <stdlib.h>
#include <string.h>

PyObject *mirage_error;

/// device(ordinal) -> {"name", "compute", "sms", "driver", "bytes"}; MirageError where there is none.
static PyObject *py_device(PyObject *module, PyObject *args) {
  int ordinal;
  MirageDeviceInfo info;
  Messages messages = {0};
  const MirageDiag diag = messages_sink(&messages);
  if (!PyArg_ParseTuple(args, "i", &ordinal))
    return NULL;
  MirageStatus status = mirage_device_probe(ordinal, &diag, &info);
  if (status != MIRAGE_OK)
    return messages_raise(&messages, status);
  messages_free(&messages);
  return Py_BuildValue("{s:s,s:(ii),s:i,s:i,s:K}", "name", info.name, "compute", (int)info.compute_major,
                       (int)info.compute_minor, "sms", (int)info.num_sms, "driver", (int)info.driver_version, "bytes",
                       (unsigned long long)info.total_bytes);
}

/// targets() -> [(name, chip, (major, minor))]
static PyObject *py_targets(PyObject *module, PyObject *args) {
  PyObject *list = PyList_New(0);
  const MirageTarget *target;
  for (size_t i = 0; list && (target = mirage_target_get(i)); i++) {
    PyObject *item =
        Py_BuildValue("(ss(ii))", target->name, target->chip, (int)target->compute_major, (int)target->compute_minor);
    if (!item || PyList_Append(list, item) != 0)
      Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

/// target(name) -> what mirage/target.h knows of it; None for a name that it does not know.
static PyObject *find_target(PyObject *module, PyObject *args) {
  const char *name;
  if (!PyArg_ParseTuple(args, "s", &name))
    return NULL;
  const MirageTarget *t = mirage_target_find(name);
  if (!t)
    Py_RETURN_NONE;
  return Py_BuildValue(
      "{s:s,s:s,s:(ii),s:i,s:i,s:i,s:i,s:i,s:d,s:d,s:d,s:d,s:d,s:d}", "name", t->name, "chip", t->chip, "compute",
      (int)t->compute_major, (int)t->compute_minor, "sms", (int)t->num_sms, "max_cluster_blocks",
      (int)t->max_cluster_blocks, "shared_bytes_per_block", (int)t->shared_bytes_per_block, "registers_per_sm",
      (int)t->registers_per_sm, "max_threads_per_block", (int)t->max_threads_per_block, "dram_bytes_per_us",
      t->dram_bytes_per_us, "l2_bytes_per_us", t->l2_bytes_per_us, "matmul_flops_per_us", t->matmul_flops_per_us,
      "fma_flops_per_us", t->fma_flops_per_us, "exp_per_us", t->exp_per_us, "launch_us", t->launch_us);
}

/// The strings of a list as file names, which `bytes` own. False with an exception, `what` where there are none or too many.
static bool take_texts(PyObject *list, Py_ssize_t most, PyObject **bytes, const char **texts, const char *what) {
  Py_ssize_t count = PyList_Size(list);
  if (count < 1 || count > most) {
    PyErr_SetString(PyExc_ValueError, what);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    bytes[i] = PyUnicode_EncodeFSDefault(PyList_GetItem(list, i));
    texts[i] = bytes[i] ? PyBytes_AsString(bytes[i]) : NULL;
    if (!texts[i])
      return false;
  }
  return true;
}

/// tune_measure(path, paths, timeout): what `mirage-tune --measure` does, in this process; prints its results and does not return.
static PyObject *py_tune_measure(PyObject *module, PyObject *args) {
  enum { MOST = 256 };
  PyObject *list, *bytes[MOST] = {NULL};
  const char *path, *paths[MOST];
  double timeout;
  if (!PyArg_ParseTuple(args, "sO!d", &path, &PyList_Type, &list, &timeout))
    return NULL;
  if (take_texts(list, MOST, bytes, paths, "tune_measure: 1 to 256 paths"))
    tune_measure(path, (uint32_t)PyList_Size(list), paths, timeout);
  return NULL;
}

/// set_measure_command([program, argument, ...])
static PyObject *set_measure_command(PyObject *module, PyObject *args) {
  enum { MOST = 16 };
  PyObject *list, *bytes[MOST] = {NULL};
  const char *texts[MOST];
  if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &list))
    return NULL;
  bool ok = take_texts(list, MOST, bytes, texts, "set_measure_command: 1 to 16 strings");
  if (ok && !mirageSetMeasureCommand(PyList_Size(list), texts)) {
    PyErr_NoMemory();
    ok = false;
  }
  for (Py_ssize_t i = 0; i < MOST; i++)
    Py_XDECREF(bytes[i]);
  if (ok)
    Py_RETURN_NONE;
  return NULL;
}

static PyObject *tuning_path(PyObject *module, PyObject *args) {
  char *path = mirage_tuning_path();
  PyObject *result = path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
  free(path);
  return result;
}

static PyMethodDef METHODS[] = {
    {"run", (PyCFunction)(void (*)(void))mirage_py_run, METH_VARARGS | METH_KEYWORDS,
     "run(text, pipeline, progress=None) -> (ok, text, [(severity, line, column, message)], interrupted)"},
    {"describe", mirage_py_describe, METH_VARARGS, "describe(text) -> JSON of the module's graphs"},
    {"infer", mirage_py_infer, METH_VARARGS, "infer(operator, [(dtype, dims), ...], attributes) -> (dtype, dims)"},
    {"device", py_device, METH_VARARGS, "device(ordinal) -> what this GPU is"},
    {"targets", py_targets, METH_NOARGS, "targets() -> [(name, chip, compute)]"},
    {"target", find_target, METH_VARARGS, "target(name) -> numbers of a GPU that is compiled for, or None"},
    {"cache_find", mirage_py_cache_find, METH_VARARGS,
     "cache_find(graph, target, options, gpu, driver) -> (text or None, what was wrong or None)"},
    {"cache_store", mirage_py_cache_store, METH_VARARGS,
     "cache_store(graph, target, options, gpu, driver, text) -> what was wrong, or None"},
    {"measured", mirage_py_measured, METH_VARARGS, "measured(graph, target) -> whether measurements of it are known"},
    {"jax_targets", mirage_py_jax_targets, METH_NOARGS, "jax_targets() -> {name: capsule with a handler}"},
    {"jax_register", mirage_py_jax_register, METH_VARARGS, "jax_register(key, program): what calls with this key mean"},
    {"interrupt", mirage_py_interrupt, METH_NOARGS, "interrupt() -> whether passes run, which will end early"},
    {"tuning_path", tuning_path, METH_NOARGS, "tuning_path() -> where the tuning database is, or None"},
    {"set_measure_command", set_measure_command, METH_VARARGS, "set_measure_command([program, argument, ...])"},
    {"tune_measure", py_tune_measure, METH_VARARGS,
     "tune_measure(path, paths, timeout): measurements; does not return"},
    {NULL, NULL, 0, NULL},
};

static bool add(PyObject *module, const char *name, PyObject *object) {
  bool ok = object && PyModule_AddObjectRef(module, name, object) == 0;
  Py_XDECREF(object);
  return ok;
}

static int fill(PyObject *module) {
  static bool registered; // a second import of the module, in a subinterpreter, must not register again
  if (!registered)
    mirageRegisterAllPasses();
  registered = true;
  mirage_error = PyErr_NewExceptionWithDoc("mirage_mlir.MirageError", "What Mirage-MLIR refused, and why.",
                                           PyExc_ValueError, NULL);
  return mirage_error && PyModule_AddObjectRef(module, "MirageError", mirage_error) == 0 &&
                 add(module, "Builder", builder_type_create(module)) &&
                 add(module, "Program", program_type_create(module)) &&
                 add(module, "Caller", caller_type_create(module))
             ? 0
             : -1;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};
static PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_mirage", "Mirage-MLIR's C side.", 0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__mirage(void);
PyMODINIT_FUNC PyInit__mirage(void) { return PyModuleDef_Init(&MODULE); }
