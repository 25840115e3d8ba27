// python.h - what the files of the extension share. Limited API of CPython 3.11: one binary for it and all newer versions.
//
//   module.c    the module: its types, functions and exception
//   run.c       a pipeline of passes over a module's text, interruptible, in a thread of its own
//   builder.c   a program, operator by operator
//   describe.c  a module as JSON: what its graphs are, and what they consist of
//   cache.c     compiled modules kept in the tuning database
//   context.c   what all of these need of MLIR: a context, a parsed module, an error as an exception
//   tensor.c    tensors of any framework, by DLPack
//   program.h   a compiled graph, called on tensors: program*.c; caller.c, what UGraph inherits
//   jax_ffi.c   a compiled graph, called by XLA
#ifndef MIRAGE_PYTHON_H
#define MIRAGE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

// ------------------------------------------------------------------------------------------------------------- errors

/// mirage_mlir.MirageError, a ValueError. Owned by the module.
extern PyObject *mirage_error;

/// Messages of one call, so that a failure becomes one exception.
typedef struct Messages {
  char *text; // lines; NULL = none
  size_t length;
  bool no_memory;
} Messages;
/// A sink that keeps errors, and warnings where there is no error.
MirageDiag messages_sink(Messages *messages);
/// Raises what `status` means, with the messages, and frees them. Returns NULL.
PyObject *messages_raise(Messages *messages, MirageStatus status);
void messages_free(Messages *messages);

// ---------------------------------------------------------------------------------------------------------------- MLIR

/// A context with our dialects and those that stand beside a compiled graph; single-threaded, one for a call.
MlirContext context_create(void);
/// Text as a module; errors go to the context's handlers. `name` is what locations call the text.
MlirModule module_parse(MlirContext context, const char *text, Py_ssize_t length);
MlirStringRef string_ref(const char *text);
/// Grows as MLIR prints into it. Free `data`.
typedef struct Text {
  char *data;
  size_t length, room;
  bool no_memory;
} Text;
void text_append(MlirStringRef part, void *text);
/// The symbol of an operation; empty where it has none.
MlirStringRef symbol_of(MlirOperation op);
bool op_is(MlirOperation op, const char *name);
/// The gpu.binary @<graph>_bin, its PTX (not NUL-terminated) and the chip it is for; false where there is none.
bool find_ptx(MlirModule module, MlirStringRef graph, MlirOperation *out_op, MlirStringRef *out_ptx, char out_chip[32]);

// ------------------------------------------------------------------------------------------------------------- dtypes

/// "float16", "bfloat16", "float32", as NumPy and PyTorch call them.
const char *dtype_name(MirageDType dtype);
/// The type code of DLPack.
uint8_t dtype_dlpack_code(MirageDType dtype);
/// False, with a TypeError set, for any other name.
bool dtype_find(const char *name, MirageDType *out_dtype);

// ------------------------------------------------------------------------------------------------------------- tensors

/// A caller's tensor while a call lasts. `release` gives back what holds it.
typedef struct Tensor {
  void *data; // of the first element
  int32_t device_type, device_id;
  uint8_t code, bits;
  int32_t rank;
  int64_t shape[MIRAGE_MAX_RANK], strides[MIRAGE_MAX_RANK]; // strides in elements
  bool read_only;
  void *managed; // of DLPack, released by `deleter`; or NULL
  void (*deleter)(void *managed);
} Tensor;

struct DLExchange;
/// The table of this object's type, or NULL. Never fails.
const struct DLExchange *tensor_exchange(PyObject *object);
/// Views an object's memory; the object must outlive the view. `stream` is the CUDA stream that the data must be ready on.
/// False with an exception set; `what` names the argument in it. It may be NULL where there is a table (tensor_exchange):
/// then an exception that is set is none that a caller should see.
bool tensor_view(PyObject *object, const char *what, void *stream, Tensor *out_tensor);
void tensor_release(Tensor *tensor);
/// Makes a TypeError that names the argument of the exception that a framework raised instead of a view.
void tensor_refuse(const char *what);

// --------------------------------------------------------------------------------------------------------------- types

PyObject *builder_type_create(PyObject *module);
PyObject *program_type_create(PyObject *module);
PyObject *caller_type_create(PyObject *module);

/// The extent of a tensor that holds dimension `d` of `type`: two int4 travel as an int8, since no framework has them so.
int64_t program_held_extent(const MirageType *type, uint32_t d);

/// Of a _mirage.Program; all but the first may be called without the GIL as long as somebody holds the object. At most 256 tensors of each.
bool is_program(PyObject *object);
uint32_t program_num_inputs(PyObject *program);
uint32_t program_num_outputs(PyObject *program);
const MirageType *program_input_type(PyObject *program, uint32_t i);
const MirageType *program_output_type(PyObject *program, uint32_t i);
/// In host memory.
MirageStatus program_evaluate(PyObject *program, void *const inputs[], void *const outputs[], const MirageDiag *diag);
/// Loads the code on a GPU, so that a launch there may be captured.
MirageStatus program_load(PyObject *program, int32_t ordinal, const MirageDiag *diag);
MirageStatus program_launch(PyObject *program, int32_t ordinal, void *stream, void *const inputs[],
                            void *const outputs[], const MirageDiag *diag);

PyObject *mirage_py_jax_targets(PyObject *module, PyObject *args);
PyObject *mirage_py_jax_register(PyObject *module, PyObject *args);
PyObject *mirage_py_run(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *mirage_py_interrupt(PyObject *module, PyObject *args);
PyObject *mirage_py_infer(PyObject *module, PyObject *args);
PyObject *mirage_py_describe(PyObject *module, PyObject *args);
PyObject *mirage_py_cache_find(PyObject *module, PyObject *args);
PyObject *mirage_py_cache_store(PyObject *module, PyObject *args);
PyObject *mirage_py_measured(PyObject *module, PyObject *args);

#endif
