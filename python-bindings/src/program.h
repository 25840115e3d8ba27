// program.h - what the files of _mirage.Program share (program.c has the story).
//
//   program.c        the type: made from a module's text, loaded on a GPU at the first call there
//   program_check.c  whether a tensor is what a program takes, and the sentences where it is not
//   program_call.c   a call: views, results, the launch
//   program_host.c   the same in host memory; and calls that hold no Python objects
//   program_time.c   what a call takes
#ifndef MIRAGE_PYTHON_PROGRAM_H
#define MIRAGE_PYTHON_PROGRAM_H

#include "dlpack_abi.h"
#include "python.h"

#include "mirage/runtime.h"

#include <pthread.h>

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
  PyObject
      *maker; // of results (program_call.c), for tensors of `maker_type` on this kind of device; None: there is none
  PyTypeObject *maker_type;
  int32_t maker_device;
  bool captured;        // a CUDA graph holds its kernels, and nobody says when that goes: it stays
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

static inline const MirageType *input_type(const Program *self, uint32_t i) {
  return mirage_ugraph_type(self->graph, mirage_ugraph_get_input(self->graph, i));
}

static inline const MirageType *output_type(const Program *self, uint32_t i) {
  return mirage_ugraph_type(self->graph, mirage_ugraph_get_output(self->graph, i));
}

static inline bool on_gpu(const Tensor *tensor) {
  return tensor->device_type == DL_CUDA || tensor->device_type == DL_CUDA_MANAGED;
}

/// The program on a GPU, loaded at the first call. NULL after a failure.
MirageStatus program_get(Program *self, int32_t ordinal, const MirageDiag *diag, MirageProgram **out_program);

/// What a message calls tensor `i`: the inputs come first, the outputs behind them.
void program_name_tensor(const Program *self, uint32_t i, char what[MAX_WHAT]);
/// False, with an exception that names tensor `i`, where it is not of this type, not dense, or not where `first` is.
bool program_check_tensor(const Program *self, uint32_t i, const MirageType *type, const Tensor *first,
                          const Tensor *tensor);
bool program_same_device(const Tensor *first, const Tensor *tensor);
/// The tensor as it lies in memory, where the program was declared to take a transposed view of that.
void program_permute(const int8_t perm[MIRAGE_MAX_RANK], uint32_t rank, Tensor *tensor);

/// Views a call's tensors and finds its stream; checked. What is viewed is released by program_release, also on failure.
bool program_view_inputs(const Program *self, PyObject *tensors, PyObject *stream, Call *call);
/// Views `out`, a tuple of tensors, or makes new ones, which the results own.
bool program_view_outputs(Program *self, PyObject *tensors, PyObject *out, Call *call);
void program_release(Call *call);
/// Device addresses of `tensors`.
void program_addresses(uint32_t count, const Tensor tensors[], uint64_t out[]);

MirageStatus program_evaluate_call(const Program *self, const Call *call, const MirageDiag *diag);
MirageStatus program_emulate_call(const Program *self, const Call *call, const MirageDiag *diag);

/// One call: a tensor, or a tuple of several. `out` and `stream` may be None.
PyObject *program_call_with(Program *self, PyObject *tensors, PyObject *out, PyObject *stream, bool emulates);

/// Methods.
PyObject *program_call(PyObject *object, PyObject *const args[], Py_ssize_t count);
PyObject *program_time(PyObject *object, PyObject *args);
PyObject *program_overhead(PyObject *object, PyObject *args);

#endif
