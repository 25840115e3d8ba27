// search_core.h - a program without its views, as search_peel.c makes it and search_wrap.c undoes it.
#ifndef MIRAGE_LIB_SEARCH_CORE_H
#define MIRAGE_LIB_SEARCH_CORE_H

#include "search/views/search_factors.h"
#include "search/views/search_view.h"
#include "search/views/search_views.h"

enum { MAX_PARTS = 32 };

/// An input of the core: what of which input of the program, with its last two dimensions swapped or not. What is read
/// along different axes has a name for each.
typedef struct Part {
  MirageValue input;
  uint32_t name;
  View view;
  bool swapped;
  MirageValue core, value; // the core's input, and what it is in the core's operators
} Part;

typedef struct Window { // of each dimension [begin, end); end 0 = all of it
  int64_t begin[MIRAGE_MAX_RANK], end[MIRAGE_MAX_RANK];
} Window;

/// An output of the core: the program's value `root`, or the part of it from `begin` to `end` along `dim` where `dim`
/// is not -1, stands for what `view` sees of the program's output. The parts of a root follow one another.
typedef struct Result {
  MirageValue root;
  int32_t dim;
  int64_t begin, end;
  uint32_t output;
  View view;
} Result;

struct SearchViews {
  MirageUGraph *program; // of elementary operators; owned
  MirageUGraph *core;    // owned
  uint32_t *uses;        // by value
  MirageValue *input_of; // by value: the input of which it is a view, or none
  View *view_of;         // by value
  bool *peeled;          // by value: a view of an input, or what only an output is made of, out of its results
  uint32_t *concat;      // by value: the concatenation behind it, once asked for (search_peel.c)
  Factors *factors;      // by value and dimension
  MirageValue *whole;    // by value: what it is in the core, once built
  bool building;         // the first walk only lists the parts, since inputs come before operators
  bool failed;
  Part parts[MAX_PARTS]; // the core's inputs, in order
  uint32_t num_parts;
  uint32_t names[MAX_PARTS]; // of the reads of inputs, in order
  uint32_t num_reads;
  bool apart;                // every read has its own name
  Result results[MAX_PARTS]; // the core's outputs, in order
  uint32_t num_results;
};

// search_windows.c
MirageNodeView mirage__views_def(const SearchViews *views, MirageValue value); // op NONE: an input
const Factors *mirage__views_factors(const SearchViews *views, MirageValue value, uint32_t dim);
bool mirage__window_is_whole(const Window *window);
/// A window of what is seen through another.
Window mirage__window_inside(const Window *outer, const Window *inner);
Window mirage__window_of_slice(const MirageNodeView *node);
/// What operand `index` of an operator is seen through when its result is seen through `of`; false when the operator
/// does not admit that.
bool mirage__window_of_operand(const SearchViews *views, const MirageNodeView *node, uint32_t index, const Window *of,
                               Window *out);
/// The one part of a concatenation that a window shows, and through which window; false where it shows several.
bool mirage__window_of_part(const SearchViews *views, const MirageNodeView *node, const Window *of, uint32_t *out_part,
                            Window *out);
/// Whether `value` can be seen through a window without computing all of it, or anything twice.
bool mirage__window_admitted(const SearchViews *views, MirageValue value, const Window *window);

#endif
