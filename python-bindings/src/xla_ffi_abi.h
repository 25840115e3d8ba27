// xla_ffi_abi.h - the part of XLA's C ABI for foreign functions, version 0.x, that the extension speaks.
//
// Source: OpenXLA, xla/ffi/api/c_api.h of jaxlib 0.10 (API 0.3). The layouts are XLA's. Every structure begins with its size,
// which grows when fields are added behind; a function of the table is there where the table's size says so.
#ifndef MIRAGE_PYTHON_XLA_FFI_ABI_H
#define MIRAGE_PYTHON_XLA_FFI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_API_MAJOR = 0, XLA_API_MINOR = 1 }; // what a handler says it was written for: the oldest that fits
enum { XLA_EXTENSION_METADATA = 1 };           // types of extensions
enum { XLA_STAGE_INITIALIZE = 2, XLA_STAGE_EXECUTE = 3 }; // stages
enum { XLA_ARGUMENT_BUFFER = 1, XLA_RESULT_BUFFER = 1 };  // types of arguments and results
enum { XLA_ATTRIBUTE_SCALAR = 3 };                        // types of attributes
enum { XLA_PRED = 1, XLA_S8 = 2, XLA_S32 = 4, XLA_S64 = 5, XLA_F16 = 10, XLA_F32 = 11, XLA_BF16 = 16 }; // element types
enum { XLA_F8E5M2 = 19, XLA_F8E4M3FN = 20 };
enum { XLA_INVALID_ARGUMENT = 3, XLA_FAILED_PRECONDITION = 9, XLA_INTERNAL = 13 };
enum { XLA_COMMAND_BUFFER_COMPATIBLE = 1 }; // traits

typedef struct XlaExtension {
  size_t struct_size;
  int type;
  struct XlaExtension *next;
} XlaExtension;

typedef struct XlaVersion {
  size_t struct_size;
  XlaExtension *extensions;
  int major, minor;
} XlaVersion;

typedef struct XlaMetadata {
  size_t struct_size;
  XlaVersion version;
  uint32_t traits;
  int64_t state_type; // 0 = no state; not there in API 0.1
} XlaMetadata;

typedef struct XlaMetadataExtension {
  XlaExtension base;
  XlaMetadata *metadata; // the handler fills it
} XlaMetadataExtension;

typedef struct XlaError XlaError;
typedef struct XlaContext XlaContext;

typedef struct XlaErrorCreate {
  size_t struct_size;
  XlaExtension *extensions;
  const char *message;
  int code;
} XlaErrorCreate;

typedef struct XlaErrorDestroy {
  size_t struct_size;
  XlaExtension *extensions;
  XlaError *error;
} XlaErrorDestroy;

typedef struct XlaStreamGet {
  size_t struct_size;
  XlaExtension *extensions;
  XlaContext *context;
  void *stream; // out
} XlaStreamGet;

typedef struct XlaOrdinalGet {
  size_t struct_size;
  XlaExtension *extensions;
  XlaContext *context;
  int32_t ordinal; // out
} XlaOrdinalGet;

typedef struct XlaApi {
  size_t struct_size;
  XlaExtension *extensions;
  XlaVersion version;
  const void *internal;
  XlaError *(*error_create)(XlaErrorCreate *);
  void (*error_message)(void *);
  void (*error_destroy)(XlaErrorDestroy *);
  void (*handler_register)(void *);
  XlaError *(*stream_get)(XlaStreamGet *);
  void (*not_used[12])(void *); // types, state, memory, threads, futures, run ids
  XlaError *(*ordinal_get)(XlaOrdinalGet *);
} XlaApi;

typedef struct XlaBuffer {
  size_t struct_size;
  XlaExtension *extensions;
  int dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} XlaBuffer;

typedef struct XlaSpan {
  const char *data;
  size_t length;
} XlaSpan;

typedef struct XlaScalar {
  int dtype;
  void *value;
} XlaScalar;

typedef struct XlaBuffers { // arguments, or results
  size_t struct_size;
  XlaExtension *extensions;
  int64_t size;
  int *types;
  void **items;
} XlaBuffers;

typedef struct XlaAttributes {
  size_t struct_size;
  XlaExtension *extensions;
  int64_t size;
  int *types;
  XlaSpan **names;
  void **values;
} XlaAttributes;

typedef struct XlaCall {
  size_t struct_size;
  XlaExtension *extensions;
  const XlaApi *api;
  XlaContext *context;
  int stage;
  XlaBuffers arguments, results;
  XlaAttributes attributes;
  void *future;
} XlaCall;

// As the compiler lays out XLA's own declarations on a machine with 64-bit addresses.
_Static_assert(sizeof(XlaExtension) == 24 && sizeof(XlaMetadata) == 48 && sizeof(XlaBuffer) == 48, "layout");
_Static_assert(sizeof(XlaBuffers) == 40 && sizeof(XlaAttributes) == 48 && sizeof(XlaCall) == 176, "layout");
_Static_assert(offsetof(XlaApi, stream_get) == 80 && offsetof(XlaApi, ordinal_get) == 184, "layout");

#endif
