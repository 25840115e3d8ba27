// program_time.c - what a call of a program takes: on the GPU by replays of CUDA graphs, on the CPU by its launches.
#include "program.h"

#include <stdlib.h>

enum { MAX_SETS = 4096 };

static bool view_sets(Program *self, PyObject *sets, uint64_t *inputs, Call *call) {
  for (Py_ssize_t s = 0; s < PyList_Size(sets); s++) {
    PyObject *tensors = PyList_GetItem(sets, s);
    call->num_inputs = 0;
    bool ok = PyTuple_Check(tensors) && program_view_inputs(self, tensors, Py_None, call);
    if (ok)
      program_addresses(self->num_inputs, call->inputs, inputs + (size_t)s * self->num_inputs);
    if (s == 0 && ok) // the first set's tensors say where results go
      ok = on_gpu(&call->inputs[0]) && program_view_outputs(self, tensors, Py_None, call);
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
PyObject *program_time(PyObject *object, PyObject *args) {
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
    program_addresses(self->num_outputs, call->outputs, outputs);
    Py_BEGIN_ALLOW_THREADS;
    status = program_get(self, call->outputs[0].device_id, &diag, &program);
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
PyObject *program_overhead(PyObject *object, PyObject *args) {
  Program *self = (Program *)object;
  PyObject *tensors;
  Call *call = calloc(1, sizeof *call);
  if (!call)
    return PyErr_NoMemory();
  PyObject *result = NULL;
  if (PyArg_ParseTuple(args, "O!", &PyTuple_Type, &tensors) && program_view_inputs(self, tensors, Py_None, call) &&
      program_view_outputs(self, tensors, Py_None, call)) {
    Messages messages = {0};
    const MirageDiag diag = messages_sink(&messages);
    MirageLaunchOverhead overhead;
    MirageProgram *program = NULL;
    uint64_t inputs[MAX_TENSORS], outputs[MAX_TENSORS];
    program_addresses(self->num_inputs, call->inputs, inputs);
    program_addresses(self->num_outputs, call->outputs, outputs);
    MirageStatus status =
        on_gpu(&call->inputs[0]) ? program_get(self, call->inputs[0].device_id, &diag, &program) : MIRAGE_NO_DEVICE;
    if (status == MIRAGE_OK)
      status = mirage_program_launch_overhead(program, inputs, outputs, &diag, &overhead);
    result = status == MIRAGE_OK ? Py_BuildValue("(dd)", overhead.bare_us, overhead.launch_us)
                                 : messages_raise(&messages, status);
    messages_free(&messages);
  }
  program_release(call);
  for (uint32_t i = 0; i < self->num_outputs; i++)
    Py_XDECREF(call->results[i]);
  free(call);
  return result;
}
