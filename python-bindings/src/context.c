// context.c - MLIR contexts, parsed modules, and errors as exceptions.
#include "dlpack_abi.h"
#include "python.h"

#include "mirage-c/Dialects.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Tensor.h"
#include "mlir-c/Dialect/Tosa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_OBJECT_ASSEMBLY = 2 }; // gpu::CompilationTarget::Assembly: PTX text

// ------------------------------------------------------------------------------------------------------------- messages

static void append_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Messages *messages = user;
  size_t length = strlen(message), break_length = messages->length ? 1 : 0;
  if (severity != MIRAGE_SEVERITY_ERROR)
    return;
  char *text = realloc(messages->text, messages->length + break_length + length + 1);
  if (!text) {
    messages->no_memory = true;
    return;
  }
  if (break_length)
    text[messages->length] = '\n';
  memcpy(text + messages->length + break_length, message, length + 1);
  messages->text = text;
  messages->length += break_length + length;
}

MirageDiag messages_sink(Messages *messages) { return (MirageDiag){append_message, messages}; }

void messages_free(Messages *messages) {
  free(messages->text);
  *messages = (Messages){0};
}

PyObject *messages_raise(Messages *messages, MirageStatus status) {
  if (status == MIRAGE_NO_MEMORY || messages->no_memory)
    PyErr_NoMemory();
  else
    PyErr_SetString(mirage_error, messages->text ? messages->text : mirage_status_string(status));
  messages_free(messages);
  return NULL;
}

// ----------------------------------------------------------------------------------------------------------------- MLIR

MlirStringRef string_ref(const char *text) { return mlirStringRefCreateFromCString(text); }

void text_append(MlirStringRef part, void *user) {
  Text *text = user;
  if (text->length + part.length + 1 > text->room) {
    size_t room = 2 * text->room + part.length + 256;
    char *data = text->no_memory ? NULL : realloc(text->data, room);
    if (!data) {
      text->no_memory = true;
      return;
    }
    text->data = data;
    text->room = room;
  }
  memcpy(text->data + text->length, part.data, part.length);
  text->length += part.length;
  text->data[text->length] = '\0';
}

MlirContext context_create(void) {
  MlirDialectHandle handles[] = {
      mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),     mlirGetDialectHandle__func__(),
      mlirGetDialectHandle__gpu__(),   mlirGetDialectHandle__linalg__(), mlirGetDialectHandle__llvm__(),
      mlirGetDialectHandle__math__(),  mlirGetDialectHandle__memref__(), mlirGetDialectHandle__nvvm__(),
      mlirGetDialectHandle__scf__(),   mlirGetDialectHandle__tensor__(), mlirGetDialectHandle__tosa__(),
  };
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mirageRegisterDialects(registry);
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
    mlirDialectHandleInsertDialect(handles[i], registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  static const char *const built[] = {"mirage_kernel", "mirage_block", "mirage_thread"}; // operations of these are made
  for (size_t i = 0; i < sizeof built / sizeof *built; i++)
    mlirContextGetOrLoadDialect(context, string_ref(built[i]));
  return context;
}

MlirModule module_parse(MlirContext context, const char *text, Py_ssize_t length) {
  return mlirModuleCreateParse(context, mlirStringRefCreate(text, (size_t)length));
}

bool op_is(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), string_ref(name));
}

MlirStringRef symbol_of(MlirOperation op) {
  MlirAttribute name = mlirOperationGetAttributeByName(op, string_ref("sym_name"));
  return mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) ? string_ref("") : mlirStringAttrGetValue(name);
}

static bool is_binary_of(MlirStringRef graph, MlirStringRef symbol) {
  return symbol.length == graph.length + 4 && !memcmp(symbol.data, graph.data, graph.length) &&
         !memcmp(symbol.data + graph.length, "_bin", 4);
}

// The target is an attribute of NVVM's, which has no C API; a chip that is the default is not printed.
static void read_chip(MlirAttribute target, char out_chip[32]) {
  Text text = {0};
  mlirAttributePrint(target, text_append, &text);
  const char *chip = text.data ? strstr(text.data, "chip = \"") : NULL;
  if (!chip || sscanf(chip, "chip = \"%31[^\"]", out_chip) != 1)
    strcpy(out_chip, "");
  free(text.data);
}

bool find_ptx(MlirModule module, MlirStringRef graph, MlirOperation *out_op, MlirStringRef *out_ptx,
              char out_chip[32]) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!op_is(op, "gpu.binary") || !is_binary_of(graph, symbol_of(op)))
      continue;
    MlirAttribute objects = mlirOperationGetAttributeByName(op, string_ref("objects"));
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(objects); i++) {
      MlirAttribute object = mlirArrayAttrGetElement(objects, i);
      if (!mlirAttributeIsAGPUObjectAttr(object) || mlirGPUObjectAttrGetFormat(object) != GPU_OBJECT_ASSEMBLY)
        continue;
      *out_op = op;
      *out_ptx = mlirGPUObjectAttrGetObject(object);
      read_chip(mlirGPUObjectAttrGetTarget(object), out_chip);
      return true;
    }
  }
  return false;
}

// --------------------------------------------------------------------------------------------------------------- dtypes

static const char *const DTYPES[MIRAGE_NUM_DTYPES] = {[MIRAGE_F16] = "float16",
                                                      [MIRAGE_BF16] = "bfloat16",
                                                      [MIRAGE_F32] = "float32",
                                                      [MIRAGE_I8] = "int8",
                                                      [MIRAGE_I4] = "int4",
                                                      [MIRAGE_F8E4M3FN] = "float8_e4m3fn",
                                                      [MIRAGE_F8E5M2] = "float8_e5m2",
                                                      [MIRAGE_I1] = "bool",
                                                      [MIRAGE_I32] = "int32"};

const char *dtype_name(MirageDType dtype) { return DTYPES[dtype]; }

uint8_t dtype_dlpack_code(MirageDType dtype) {
  static const uint8_t CODES[MIRAGE_NUM_DTYPES] = {
      [MIRAGE_F16] = DL_FLOAT,
      [MIRAGE_BF16] = DL_BFLOAT,
      [MIRAGE_F32] = DL_FLOAT,
      [MIRAGE_I8] = DL_INT,
      [MIRAGE_I4] = DL_INT, // two travel as an int8, since no framework has them
      [MIRAGE_F8E4M3FN] = DL_FLOAT8_E4M3FN,
      [MIRAGE_F8E5M2] = DL_FLOAT8_E5M2,
      [MIRAGE_I1] = DL_BOOL,
      [MIRAGE_I32] = DL_INT,
  };
  return CODES[dtype];
}

bool dtype_find(const char *name, MirageDType *out_dtype) {
  for (int i = 0; i < MIRAGE_NUM_DTYPES; i++)
    if (strcmp(name, DTYPES[i]) == 0) {
      *out_dtype = (MirageDType)i;
      return true;
    }
  PyErr_Format(
      PyExc_TypeError,
      "dtype '%s' is not supported: use float16, bfloat16, float32, or stored: int8, int4, float8_e4m3fn, float8_e5m2",
      name);
  return false;
}
