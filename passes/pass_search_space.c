// pass_search_space.c - what mirage-enumerate hands to the search: its options, and those of a search-space file.
//
// A search-space file is a JSON object whose keys are names of options with underscores; an option given on the
// command line wins. Its lists hold numbers, or lists of numbers where an entry is one for each of x, y and z:
//
//   {"griddims": [[128, 1, 1], [64, 2, 1]], "imaps": [[0, -1, -1]], "franges": [4, 8], "max_states": 100000}
//
// Rows of the pass table say how many numbers an entry has and where they must lie, for both.
#include "mirage/search.h"
#include "passes.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
  const MirageEnumerateOptions *options;
  MirageArena *arena;
  const MirageDiag *diag;
  const char *text; // of the file; NULL while the command line is read
} Reader;

/// A list of tuples under way.
typedef struct Tuples {
  MiragePassTuple *data;
  size_t size;
} Tuples;

// -------------------------------------------------------------------------------------------------------------- tuples

bool mirage__parse_tuple(const char *text, MiragePassTuple *out) {
  *out = (MiragePassTuple){0};
  for (;;) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno || out->count == 3)
      return false;
    out->numbers[out->count++] = number;
    if (!*end)
      return true;
    if (*end != 'x' && *end != ':')
      return false;
    text = end + 1;
  }
}

MirageStatus mirage__check_tuple(const MiragePassOption *row, const char *where, const MiragePassTuple *tuple,
                                 const MirageDiag *diag) {
  if (tuple->count < row->least || tuple->count > row->most)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s has an entry of %u number%s, %s are wanted", where,
                            tuple->count, tuple->count == 1 ? "" : "s",
                            row->most == 1    ? "entries of one"
                            : row->least == 3 ? "3 (for x, y and z)"
                                              : "1 to 3 (for x, y and z)");
  for (uint32_t i = 0; i < tuple->count; i++)
    if ((double)tuple->numbers[i] < row->min || (double)tuple->numbers[i] > row->max)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s must lie between %.15g and %.15g, got %lld", where,
                              row->min, row->max, (long long)tuple->numbers[i]);
  return MIRAGE_OK;
}

static const MiragePassOption *find_row(const char *name, uint32_t *out_index) {
  const MiragePassInfo *pass = mirage__pass_find("mirage-enumerate", strlen("mirage-enumerate"));
  for (uint32_t i = 0; i < pass->num_options; i++)
    if (!strcmp(pass->options[i].name, name)) {
      *out_index = i;
      return &pass->options[i];
    }
  return NULL;
}

static bool is_given(const Reader *reader, uint32_t index) { return reader->options->given >> index & 1; }

// Of an option, from the command line, where it was checked already.
static MirageStatus tuples_of(const Reader *reader, const MiragePassTextList *list, Tuples *out) {
  out->data = mirage_arena_alloc_array(reader->arena, list->size, sizeof *out->data);
  if (!out->data)
    return MIRAGE_NO_MEMORY;
  out->size = list->size;
  for (size_t i = 0; i < list->size; i++)
    if (!mirage__parse_tuple(list->data[i], &out->data[i]))
      return MIRAGE_BAD_ARGUMENT;
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------------------- file

// The line of a key of the outermost object. No value holds a colon after a string, so the first such text is the key.
static int line_of(const char *text, const char *key) {
  int line = 1;
  size_t length = strlen(key);
  for (const char *c = text; *c; c++) {
    line += *c == '\n';
    if (*c != '"' || strncmp(c + 1, key, length) || c[length + 1] != '"')
      continue;
    if (c[length + 2 + strspn(c + length + 2, " \t\r\n")] == ':')
      return line;
  }
  return 1;
}

static void place(const Reader *reader, const char *key, char *out, size_t size) {
  snprintf(out, size, "%s:%d: %s", reader->options->search_space, line_of(reader->text, key), key);
}

static MirageStatus wrong_kind(const Reader *reader, const char *key, const char *wanted) {
  char where[512];
  place(reader, key, where, sizeof where);
  return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: %s is wanted", where, wanted);
}

static MirageStatus read_entry(const Reader *reader, const MiragePassOption *row, const char *key, const json_t *entry,
                               MiragePassTuple *out) {
  *out = (MiragePassTuple){0};
  size_t count = json_is_array(entry) ? json_array_size(entry) : 1;
  for (size_t i = 0; i < count; i++) {
    const json_t *number = json_is_array(entry) ? json_array_get(entry, i) : entry;
    if (!json_is_integer(number))
      return wrong_kind(reader, key, "a list of integers, or of lists of integers,");
    if (i < 3)
      out->numbers[i] = json_integer_value(number);
  }
  out->count = (uint32_t)count;
  char where[512];
  place(reader, key, where, sizeof where);
  return mirage__check_tuple(row, where, out, reader->diag);
}

static MirageStatus read_list(const Reader *reader, const MiragePassOption *row, const char *key, const json_t *value,
                              Tuples *out) {
  if (!json_is_array(value))
    return wrong_kind(reader, key, "a list");
  out->data = mirage_arena_alloc_array(reader->arena, json_array_size(value), sizeof *out->data);
  if (!out->data)
    return MIRAGE_NO_MEMORY;
  for (out->size = 0; out->size < json_array_size(value); out->size++)
    MIRAGE_TRY(read_entry(reader, row, key, json_array_get(value, out->size), &out->data[out->size]));
  return MIRAGE_OK;
}

static MirageStatus read_number(const Reader *reader, const MiragePassOption *row, const char *key, const json_t *value,
                                MirageEnumerateOptions *merged) {
  if (!json_is_integer(value))
    return wrong_kind(reader, key, "an integer");
  double number = (double)json_integer_value(value);
  char where[512];
  place(reader, key, where, sizeof where);
  if (number < row->min || number > row->max)
    return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "%s must lie between %.15g and %.15g, got %lld",
                            where, row->min, row->max, (long long)json_integer_value(value));
  *(int64_t *)((char *)merged + row->offset) = json_integer_value(value);
  return MIRAGE_OK;
}

/// The lists among the options, in the order of `lists` below.
enum { GRIDDIMS, BLOCKDIMS, IMAPS, OMAPS, FMAPS, FRANGES, NUM_LISTS };
static const char *const LISTS[NUM_LISTS] = {"griddims", "blockdims", "imaps", "omaps", "fmaps", "franges"};
static const char *const NUMBERS[] = {"max-block-ops", "max-candidates", "max-states"};

static void with_underscores(const char *name, char *out, size_t size) {
  snprintf(out, size, "%s", name);
  for (char *c = out; *c; c++)
    *c = *c == '-' ? '_' : *c;
}

static MirageStatus unknown_key(const Reader *reader, const char *key) {
  char where[512], known[512] = "", name[64];
  place(reader, key, where, sizeof where);
  for (size_t i = 0; i < NUM_LISTS + sizeof NUMBERS / sizeof *NUMBERS; i++) {
    with_underscores(i < NUM_LISTS ? LISTS[i] : NUMBERS[i - NUM_LISTS], name, sizeof name);
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", name);
  }
  return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "%s is no key of a search space; known are %s",
                          where, known);
}

static MirageStatus read_key(const Reader *reader, const char *key, const json_t *value, Tuples *lists,
                             MirageEnumerateOptions *merged) {
  uint32_t index = 0;
  for (size_t i = 0; i < NUM_LISTS; i++)
    if (!strcmp(key, LISTS[i])) {
      const MiragePassOption *row = find_row(LISTS[i], &index);
      Tuples list; // checked also where the command line wins
      MIRAGE_TRY(read_list(reader, row, key, value, &list));
      if (!is_given(reader, index))
        lists[i] = list;
      return MIRAGE_OK;
    }
  for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
    char name[64];
    with_underscores(NUMBERS[i], name, sizeof name);
    if (strcmp(key, name))
      continue;
    const MiragePassOption *row = find_row(NUMBERS[i], &index);
    MirageEnumerateOptions scratch = *merged;
    return read_number(reader, row, key, value, is_given(reader, index) ? &scratch : merged);
  }
  return unknown_key(reader, key);
}

static MirageStatus read_text(Reader *reader, char **out_text) {
  const char *path = reader->options->search_space;
  FILE *file = fopen(path, "rb");
  if (!file)
    return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "mirage-enumerate: option search-space: cannot open '%s': %s", path, strerror(errno));
  enum { MOST_BYTES = 1 << 20 };
  char *text = mirage_arena_alloc(reader->arena, MOST_BYTES + 1);
  size_t size = text ? fread(text, 1, MOST_BYTES, file) : 0;
  bool failed = ferror(file) != 0, more = fgetc(file) != EOF;
  fclose(file);
  if (!text)
    return MIRAGE_NO_MEMORY;
  if (failed || more)
    return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "mirage-enumerate: option search-space: '%s' %s",
                            path, failed ? "cannot be read" : "has more than 1048576 bytes");
  text[size] = 0;
  *out_text = text;
  return MIRAGE_OK;
}

static MirageStatus read_file(Reader *reader, Tuples *lists, MirageEnumerateOptions *merged) {
  char *text;
  MIRAGE_TRY(read_text(reader, &text));
  reader->text = text;
  json_error_t error;
  json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  if (!root)
    return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "%s:%d:%d: %s", reader->options->search_space,
                            error.line, error.column, error.text);
  MirageStatus status = MIRAGE_OK;
  if (!json_is_object(root))
    status = mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "%s:1: an object of keys and values is wanted",
                              reader->options->search_space);
  const char *key;
  json_t *value;
  json_object_foreach(root, key, value) {
    if (status == MIRAGE_OK)
      status = read_key(reader, key, value, lists, merged);
  }
  json_decref(root);
  return status;
}

// ------------------------------------------------------------------------------------------------------ for the search

// The entries of one number, or of more.
static MirageStatus numbers_of(const Reader *reader, const Tuples *tuples, MirageInt64List *out) {
  int64_t *data = mirage_arena_alloc_array(reader->arena, tuples->size, sizeof *data);
  if (!data)
    return MIRAGE_NO_MEMORY;
  *out = (MirageInt64List){data, 0};
  for (size_t i = 0; i < tuples->size; i++)
    if (tuples->data[i].count == 1)
      data[out->size++] = tuples->data[i].numbers[0];
  return MIRAGE_OK;
}

static MirageStatus triples_of(const Reader *reader, const Tuples *tuples, MirageTripleList *out) {
  MirageTriple *data = mirage_arena_alloc_array(reader->arena, tuples->size, sizeof *data);
  if (!data)
    return MIRAGE_NO_MEMORY;
  *out = (MirageTripleList){data, 0};
  for (size_t i = 0; i < tuples->size; i++) {
    const MiragePassTuple *tuple = &tuples->data[i];
    if (tuple->count > 1)
      data[out->size++] =
          (MirageTriple){{tuple->numbers[0], tuple->numbers[1], tuple->count > 2 ? tuple->numbers[2] : 1}};
  }
  return MIRAGE_OK;
}

MirageStatus mirage__search_options(const MirageEnumerateOptions *options, MirageArena *arena, const MirageDiag *diag,
                                    MirageSearchOptions *out) {
  Reader reader = {.options = options, .arena = arena, .diag = diag};
  MirageEnumerateOptions merged = *options;
  const MiragePassTextList *given[NUM_LISTS] = {&options->griddims, &options->blockdims, &options->imaps,
                                                &options->omaps,    &options->fmaps,     &options->franges};
  Tuples lists[NUM_LISTS];
  for (size_t i = 0; i < NUM_LISTS; i++)
    MIRAGE_TRY(tuples_of(&reader, given[i], &lists[i]));
  if (options->search_space[0])
    MIRAGE_TRY(read_file(&reader, lists, &merged));
  bool prune = options->prune;
  MirageTarget *target = mirage_arena_alloc(arena, sizeof *target);
  if (!target)
    return MIRAGE_NO_MEMORY;
  *target = mirage__pass_target(options->target, options->tensor_maps);
  *out = (MirageSearchOptions){
      .max_block_ops = (uint32_t)merged.max_block_ops,
      .max_loops = (uint32_t)options->max_loops,
      .max_candidates = (uint32_t)merged.max_candidates,
      .max_states = (uint64_t)merged.max_states,
      .seed = (uint64_t)options->seed,
      .num_threads = (uint32_t)options->num_threads,
      .no_prune_expr = !prune || !options->prune_expr,
      .no_prune_axis = !prune || !options->prune_axis,
      .no_keep_products = !prune || !options->keep_products,
      .optimal = options->optimal,
      .no_merge = !prune || !options->merge,
      .no_bound_needs = !options->bound_needs,
      .no_prune_memory = !options->prune_memory,
      .no_share_pieces = !options->share_pieces,
      .target = target,
  };
  MIRAGE_TRY(numbers_of(&reader, &lists[GRIDDIMS], &out->griddims));
  MIRAGE_TRY(triples_of(&reader, &lists[GRIDDIMS], &out->grids));
  MIRAGE_TRY(numbers_of(&reader, &lists[BLOCKDIMS], &out->blockdims));
  MIRAGE_TRY(triples_of(&reader, &lists[IMAPS], &out->imaps));
  MIRAGE_TRY(triples_of(&reader, &lists[OMAPS], &out->omaps));
  MIRAGE_TRY(numbers_of(&reader, &lists[FMAPS], &out->fmaps));
  return numbers_of(&reader, &lists[FRANGES], &out->franges);
}

MirageStatus mirage__check_search_options(const void *options, const MirageDiag *diag) {
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  MirageSearchOptions search;
  MirageStatus status = mirage__search_options(options, &arena, diag, &search);
  if (status == MIRAGE_OK)
    status = mirage_search_check_options(&search, diag);
  mirage_arena_deinit(&arena);
  return status;
}
