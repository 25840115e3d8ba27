// generate_internal.h - what the files of the generator share.
//
//   generate.c           modules and functions
//   generate_values.c    values in scope; making one of a type that is asked for
//   generate_body.c      bodies of structured operations
//   generate_generic.c   linalg.generic: element-wise, reductions, contractions, several results
//   generate_named.c     named operations of linalg
//   generate_tensor.c    tensor, and arith and math on tensors
//   generate_flow.c      calls, memory, scf, blocks
//   generate_idiom.c     what exporters print: norms, softmax, masks, argmax
//
// Everything is text at once. The function's arguments are known at its end, so that whoever needs a value that is not there
// may ask for an argument.
#ifndef FUZZ_LINALG_GENERATE_INTERNAL_H
#define FUZZ_LINALG_GENERATE_INTERNAL_H

#include "element.h"
#include "generate.h"

enum { MOST_RANK = 6, MOST_VALUES = 256, MOST_ARGS = 40, MOST_FUNCTIONS = 8, MOST_SIGNATURE = 24 };

typedef struct GenType {
  Elem elem;
  bool is_tensor;
  int rank;
  int shape[MOST_RANK];
  unsigned open; // bit d: dimension d is printed as `?`; its extent is as `shape` says
} GenType;

typedef struct GenValue {
  int id, part; // `part`: one more than its number among several results; 0: the only one
  GenType type;
  bool unwritten; // tensor.empty: only an output that is not read
} GenValue;

// A function that may be called.
typedef struct GenFunction {
  char name[24];
  bool external;
  int num_inputs, num_results;
  GenType inputs[MOST_ARGS], results[MOST_SIGNATURE];
} GenFunction;

typedef struct Gen {
  Draw draw;
  const GenerateOptions *options;
  Text *out;
  Text body; // of the function that is being made
  int num_values;
  GenValue values[MOST_VALUES]; // in scope, oldest first
  int num_args;
  GenValue args[MOST_ARGS];
  int next_id, depth;
  int extents[4];
  Elem floats[3];
  int num_functions;
  GenFunction functions[MOST_FUNCTIONS];
  int next_text;
  char texts[16][160]; // of types and names, in turn
} Gen;

// Text of a type, of a value; valid until some more were asked for.
const char *type_text(Gen *g, GenType type);
const char *name_text(Gen *g, GenValue value);

GenType scalar_of(Elem elem);
GenType tensor_of(Elem elem, int rank, const int *shape);
bool same_type(GenType a, GenType b);
bool is_static(GenType type);
long size_of_type(GenType type);

/// A new name for a result of this type; it comes into scope by `define`.
GenValue new_value(Gen *g, GenType type);
void define(Gen *g, GenValue value);

/// A value in scope of exactly this type; makes one where there is none, or now and then.
GenValue value_of(Gen *g, GenType type);
/// A tensor in scope, with all extents known and at least one element, with elements of float if `floats`. False if none.
bool some_tensor(Gen *g, bool floats, GenValue *out);
/// Like it, but there is one: an argument of a random shape otherwise.
GenValue any_tensor(Gen *g, bool floats);
/// A scalar constant; `number` as MLIR prints it for the type.
GenValue scalar_constant(Gen *g, Elem elem, double number);
GenValue index_constant(Gen *g, int number);
/// What an operation writes to. `read`: its body reads what was there, so that somebody has to have written it.
GenValue output_of(Gen *g, GenType type, bool read);
GenValue filled(Gen *g, GenType type, double number);
GenValue empty_tensor(Gen *g, GenType type);

Elem some_float(Gen *g);
int some_extent(Gen *g);
GenType some_type(Gen *g, int least_rank, int most_rank);

// A map over `rank` dimensions: each result walks a dimension, or is the constant 0 where it is -1.
typedef struct GenMap {
  int rank, count;
  int results[MOST_RANK];
} GenMap;
const char *map_text(Gen *g, const GenMap *map);
void shuffle(Gen *g, int *numbers, int count);

/// Scalars that a body may use.
typedef struct GenBody {
  int count;
  GenValue values[64];
  int indices; // linalg.index may name that many dimensions; 0 outside of linalg.generic
} GenBody;
void body_add(GenBody *body, GenValue value);
/// A scalar of the type made of what the body has, in some operators.
GenValue body_expression(Gen *g, GenBody *body, Elem elem, int operators);
/// The value in another type.
GenValue body_cast(Gen *g, GenValue value, Elem elem);

// Operations: each appends itself, or nothing where it does not fit.
typedef void (*GenOperation)(Gen *g);
void make_structured(Gen *g);
void make_named(Gen *g);
void make_tensor(Gen *g);
void make_flow(Gen *g);
void make_idiom(Gen *g);
/// Some operations, one after the other, in the scope that is open.
void make_operations(Gen *g, int count);

/// Two successors and a block where they meet; false where nothing fits. The rest goes on in the last block.
bool make_blocks(Gen *g);

#define LINE(g, ...) text_add(&(g)->body, __VA_ARGS__)

#endif
