// search_checkpoint.c - the file of a checkpoint: records, the key that binds it to one search, and a hash over it all.
//
//   "mirage search\n" version u32 | keys of program, options, target u64 | records: piece, plan, kind u32, size u64, bytes | hash u64 of all before
//
// It is written beside its place and renamed, so that there is always a whole file. Numbers are in the machine's order:
// on another kind of machine the version does not match.
#define _POSIX_C_SOURCE 200809L // fsync, fileno
#include "search/run/search_control.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 12 }; // goes up with every change of the search or of what is stored
static const char magic[] = "mirage search\n";
static const double default_interval = 10; // seconds between two files

typedef struct Record {
  uint32_t piece, plan, kind;
  SearchBytes bytes; // size 0: dropped
} Record;

// What a search is of, so that a file of another one can say what differs.
enum { KEY_PROGRAM, KEY_OPTIONS, KEY_TARGET, NUM_KEYS };

struct SearchCheckpoint {
  const char *path;
  uint64_t keys[NUM_KEYS];
  double interval, next_write;
  pthread_mutex_t lock; // of what follows
  Record *records;
  uint32_t num, capacity;
  int failed; // errno of the last attempt to write
};

void mirage__bytes_pass(SearchBytes *bytes, void *data, size_t size) {
  if (bytes->reading) {
    bytes->failed |= size > bytes->size - bytes->at;
    if (bytes->failed)
      memset(data, 0, size);
    else
      memcpy(data, bytes->data + bytes->at, size);
    bytes->at += bytes->failed ? 0 : size;
    return;
  }
  if (!bytes->failed && bytes->room - bytes->size < size) {
    size_t room = 2 * bytes->room + size + 256;
    uint8_t *grown = realloc(bytes->data, room);
    bytes->failed = !grown;
    bytes->data = grown ? grown : bytes->data;
    bytes->room = grown ? room : bytes->room;
  }
  if (bytes->failed)
    return;
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

MirageStatus mirage__bytes_check(const SearchBytes *bytes, bool makes_sense) {
  return bytes->failed || !makes_sense ? MIRAGE_BAD_ARGUMENT : MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- the key

static void put_type(SearchBytes *bytes, const MirageType *type) {
  int32_t dtype = type->dtype;
  uint32_t rank = type->rank;
  SEARCH_PASS(bytes, dtype);
  SEARCH_PASS(bytes, rank);
  for (uint32_t d = 0; d < rank; d++) {
    int64_t extent = type->shape[d];
    SEARCH_PASS(bytes, extent);
  }
}

// Field by field: what lies between fields is not defined. What has no fields here, the result's type says, or the search
// does not look inside.
static void put_attrs(SearchBytes *bytes, MirageAttrsKind kind, const MirageAttrs *given) {
  MirageAttrs attrs = given ? *given : (MirageAttrs){0};
  uint8_t present = given != NULL;
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(kind, &count);
  SEARCH_PASS(bytes, present);
  for (uint32_t i = 0; i < count; i++)
    mirage__bytes_pass(bytes, (char *)&attrs + fields[i].offset, fields[i].size);
  if (kind == MIRAGE_ATTRS_PERM)
    SEARCH_PASS(bytes, attrs.perm.perm);
  if (kind == MIRAGE_ATTRS_MATMUL)
    SEARCH_PASS(bytes, attrs.matmul.wide);
  if (kind == MIRAGE_ATTRS_REDUCE)
    SEARCH_PASS(bytes, attrs.reduce.wide);
}

static void put_program(SearchBytes *bytes, const MirageUGraph *program) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(program); v++)
    put_type(bytes, mirage_ugraph_type(program, (MirageValue){v}));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(program, body.nodes[i]);
    uint32_t op = node.op;
    SEARCH_PASS(bytes, op);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      uint32_t operand = node.operands[k].index;
      SEARCH_PASS(bytes, operand);
    }
    put_attrs(bytes, mirage_op_info(node.op)->attrs, node.attrs);
  }
}

static void put_list(SearchBytes *bytes, const void *data, size_t count, size_t size) {
  SEARCH_PASS(bytes, count);
  if (count)
    mirage__bytes_pass(bytes, (void *)data, count * size);
}

// Everything that decides what a search finds. Threads, watchers and budgets do not. A new option belongs here too.
static void put_options(SearchBytes *bytes, const MirageSearchOptions *given) {
  MirageSearchOptions options = *given;
  SEARCH_PASS(bytes, options.max_block_ops);
  SEARCH_PASS(bytes, options.max_loops);
  SEARCH_PASS(bytes, options.max_candidates);
  SEARCH_PASS(bytes, options.max_states);
  SEARCH_PASS(bytes, options.seed);
  SEARCH_PASS(bytes, options.no_prune_expr);
  SEARCH_PASS(bytes, options.no_prune_axis);
  SEARCH_PASS(bytes, options.no_merge);
  SEARCH_PASS(bytes, options.no_keep_products);
  SEARCH_PASS(bytes, options.no_bound_needs);
  SEARCH_PASS(bytes, options.no_prune_memory);
  SEARCH_PASS(bytes, options.no_share_pieces);
  SEARCH_PASS(bytes, options.no_second_kernel);
  SEARCH_PASS(bytes, options.optimal);
  put_list(bytes, options.griddims.data, options.griddims.size, sizeof(int64_t));
  put_list(bytes, options.grids.data, options.grids.size, sizeof(MirageTriple));
  put_list(bytes, options.blockdims.data, options.blockdims.size, sizeof(int64_t));
  put_list(bytes, options.imaps.data, options.imaps.size, sizeof(MirageTriple));
  put_list(bytes, options.omaps.data, options.omaps.size, sizeof(MirageTriple));
  put_list(bytes, options.fmaps.data, options.fmaps.size, sizeof(int64_t));
  put_list(bytes, options.franges.data, options.franges.size, sizeof(int64_t));
}
_Static_assert(sizeof(void *) != 8 || sizeof(MirageSearchOptions) == 176, "add the new option to put_options");

static void put_target(SearchBytes *bytes, const MirageTarget *target) {
  put_list(bytes, target->chip, strlen(target->chip), 1);
  put_list(bytes, target->name, strlen(target->name), 1);
}

static bool find_keys(const MirageUGraph *program, const MirageSearchOptions *options, uint64_t out_keys[NUM_KEYS]) {
  bool found = true;
  for (int i = 0; i < NUM_KEYS; i++) {
    SearchBytes bytes = {0};
    if (i == KEY_PROGRAM)
      put_program(&bytes, program);
    else if (i == KEY_OPTIONS)
      put_options(&bytes, options);
    else
      put_target(&bytes, options->target);
    found = found && !bytes.failed;
    out_keys[i] = bytes.failed ? 0 : XXH3_64bits(bytes.data, bytes.size);
    free(bytes.data);
  }
  return found;
}

// ------------------------------------------------------------------------------------------------------------- records

// Under the lock.
static Record *find(const SearchSlot *slot, SearchRecordKind kind) {
  const SearchCheckpoint *checkpoint = slot->checkpoint;
  for (uint32_t i = 0; i < checkpoint->num; i++) {
    Record *record = &checkpoint->records[i];
    if (record->piece == slot->piece && record->plan == slot->plan && record->kind == kind)
      return record;
  }
  return NULL;
}

// Under the lock.
static Record *add(SearchCheckpoint *checkpoint) {
  if (checkpoint->num == checkpoint->capacity) {
    uint32_t capacity = 2 * checkpoint->capacity + 16;
    Record *grown = realloc(checkpoint->records, capacity * sizeof *grown);
    if (!grown)
      return NULL;
    checkpoint->records = grown;
    checkpoint->capacity = capacity;
  }
  Record *record = &checkpoint->records[checkpoint->num++];
  *record = (Record){0};
  return record;
}

bool mirage__checkpoint_find(const SearchSlot *slot, SearchRecordKind kind, SearchBytes *out) {
  if (!slot->checkpoint)
    return false;
  pthread_mutex_lock(&slot->checkpoint->lock);
  const Record *record = find(slot, kind);
  bool found = record && record->bytes.size > 0;
  if (found)
    *out = (SearchBytes){.data = record->bytes.data, .size = record->bytes.size, .reading = true};
  pthread_mutex_unlock(&slot->checkpoint->lock);
  return found;
}

// ------------------------------------------------------------------------------------------------------------ the file

static MirageStatus put_file(const SearchCheckpoint *checkpoint, SearchBytes *bytes) {
  uint32_t version = VERSION;
  mirage__bytes_pass(bytes, (void *)magic, sizeof magic - 1);
  SEARCH_PASS(bytes, version);
  uint64_t keys[NUM_KEYS];
  memcpy(keys, checkpoint->keys, sizeof keys);
  SEARCH_PASS(bytes, keys);
  for (uint32_t i = 0; i < checkpoint->num; i++) {
    Record record = checkpoint->records[i];
    uint64_t size = record.bytes.size;
    if (!size)
      continue;
    SEARCH_PASS(bytes, record.piece);
    SEARCH_PASS(bytes, record.plan);
    SEARCH_PASS(bytes, record.kind);
    SEARCH_PASS(bytes, size);
    mirage__bytes_pass(bytes, record.bytes.data, record.bytes.size);
  }
  uint64_t hash = bytes->failed ? 0 : XXH3_64bits(bytes->data, bytes->size);
  SEARCH_PASS(bytes, hash);
  return bytes->failed ? MIRAGE_NO_MEMORY : MIRAGE_OK;
}

// Writes beside the file and renames; errno on failure, else 0.
static int replace_file(const char *path, const SearchBytes *bytes) {
  size_t length = strlen(path);
  char *beside = malloc(length + 5);
  if (!beside)
    return ENOMEM;
  memcpy(beside, path, length);
  memcpy(beside + length, ".tmp", 5);
  FILE *file = fopen(beside, "wb");
  bool written =
      file && fwrite(bytes->data, 1, bytes->size, file) == bytes->size && fflush(file) == 0 && fsync(fileno(file)) == 0;
  int error = written ? 0 : errno;
  if (file && fclose(file) != 0 && !error)
    error = errno;
  if (!error && rename(beside, path) != 0)
    error = errno;
  if (error && file)
    remove(beside);
  free(beside);
  return error;
}

// Under the lock.
static void write_file(SearchCheckpoint *checkpoint) {
  SearchBytes bytes = {0};
  checkpoint->failed = put_file(checkpoint, &bytes) == MIRAGE_OK ? replace_file(checkpoint->path, &bytes) : ENOMEM;
  checkpoint->next_write = mirage__search_clock() + checkpoint->interval;
  free(bytes.data);
}

MirageStatus mirage__checkpoint_put(const SearchSlot *slot, SearchRecordKind kind, SearchBytes *bytes) {
  SearchCheckpoint *checkpoint = slot->checkpoint;
  if (bytes->failed) {
    free(bytes->data);
    return MIRAGE_NO_MEMORY;
  }
  pthread_mutex_lock(&checkpoint->lock);
  Record *record = find(slot, kind);
  if (!record)
    record = add(checkpoint);
  if (record) {
    free(record->bytes.data);
    *record = (Record){slot->piece, slot->plan, kind, *bytes};
    if (mirage__search_clock() >= checkpoint->next_write)
      write_file(checkpoint);
  }
  pthread_mutex_unlock(&checkpoint->lock);
  if (!record)
    free(bytes->data);
  return record ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

void mirage__checkpoint_drop(const SearchSlot *slot, SearchRecordKind kind) {
  pthread_mutex_lock(&slot->checkpoint->lock);
  Record *record = find(slot, kind);
  if (record) {
    free(record->bytes.data);
    record->bytes = (SearchBytes){0};
  }
  pthread_mutex_unlock(&slot->checkpoint->lock);
}

static MirageStatus refuse(const SearchCheckpoint *checkpoint, const char *why, const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                          "search: checkpoint '%s' %s; remove it, or name another file", checkpoint->path, why);
}

static MirageStatus refuse_keys(const SearchCheckpoint *checkpoint, const uint64_t keys[NUM_KEYS],
                                const MirageDiag *diag) {
  static const char *const names[NUM_KEYS] = {"another program", "other options", "another target"};
  char why[96] = "is of ";
  for (int i = 0, count = 0; i < NUM_KEYS; i++)
    if (keys[i] != checkpoint->keys[i]) {
      size_t used = strlen(why);
      snprintf(why + used, sizeof why - used, "%s%s", count++ ? " and " : "", names[i]);
    }
  return refuse(checkpoint, why, diag);
}

static MirageStatus take_records(SearchCheckpoint *checkpoint, SearchBytes *file, size_t end, const MirageDiag *diag) {
  while (file->at < end) {
    Record *record = add(checkpoint);
    uint64_t size = 0;
    if (!record)
      return MIRAGE_NO_MEMORY;
    SEARCH_PASS(file, record->piece);
    SEARCH_PASS(file, record->plan);
    SEARCH_PASS(file, record->kind);
    SEARCH_PASS(file, size);
    if (file->failed || size > end - file->at)
      return refuse(checkpoint, "is damaged", diag);
    mirage__bytes_pass(&record->bytes, file->data + file->at, size);
    if (record->bytes.failed)
      return MIRAGE_NO_MEMORY;
    file->at += size;
  }
  return MIRAGE_OK;
}

static MirageStatus take_file(SearchCheckpoint *checkpoint, SearchBytes *file, const MirageDiag *diag) {
  char start[sizeof magic - 1];
  uint32_t version;
  uint64_t keys[NUM_KEYS], hash;
  SEARCH_PASS(file, start);
  if (file->failed || memcmp(start, magic, sizeof start) != 0)
    return refuse(checkpoint, "is no checkpoint of a search", diag);
  SEARCH_PASS(file, version);
  SEARCH_PASS(file, keys);
  if (file->failed || file->size - file->at < sizeof hash)
    return refuse(checkpoint, "is cut short", diag);
  size_t end = file->size - sizeof hash;
  memcpy(&hash, file->data + end, sizeof hash);
  if (version != VERSION)
    return refuse(checkpoint, "was written by another version", diag);
  if (hash != XXH3_64bits(file->data, end))
    return refuse(checkpoint, "is damaged or cut short", diag);
  if (memcmp(keys, checkpoint->keys, sizeof keys) != 0)
    return refuse_keys(checkpoint, keys, diag);
  return take_records(checkpoint, file, end, diag);
}

static MirageStatus read_file(SearchCheckpoint *checkpoint, bool must_exist, const MirageDiag *diag) {
  struct stat found;
  if (stat(checkpoint->path, &found) == 0 && !S_ISREG(found.st_mode)) // a device may have no end, a pipe no beginning
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "search: checkpoint '%s' is not a regular file", checkpoint->path);
  FILE *file = fopen(checkpoint->path, "rb");
  if (!file && errno == ENOENT && !must_exist) {
    write_file(checkpoint); // a place where nothing can be written is better known now
    return checkpoint->failed ? mirage_diag_fail(diag, NULL, MIRAGE_IO, "search: checkpoint '%s': %s", checkpoint->path,
                                                 strerror(checkpoint->failed))
                              : MIRAGE_OK;
  }
  if (!file)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "search: checkpoint '%s': %s", checkpoint->path, strerror(errno));
  SearchBytes bytes = {0};
  char chunk[65536];
  for (size_t count; (count = fread(chunk, 1, sizeof chunk, file)) > 0;)
    mirage__bytes_pass(&bytes, chunk, count);
  bool failed = ferror(file);
  fclose(file);
  MirageStatus status = bytes.failed ? MIRAGE_NO_MEMORY : MIRAGE_OK;
  if (failed)
    status = mirage_diag_fail(diag, NULL, MIRAGE_IO, "search: checkpoint '%s' cannot be read", checkpoint->path);
  bytes.reading = true;
  if (status == MIRAGE_OK)
    status = take_file(checkpoint, &bytes, diag);
  free(bytes.data);
  return status;
}

static void destroy(SearchCheckpoint *checkpoint) {
  for (uint32_t i = 0; i < checkpoint->num; i++)
    free(checkpoint->records[i].bytes.data);
  free(checkpoint->records);
  pthread_mutex_destroy(&checkpoint->lock);
  free(checkpoint);
}

MirageStatus mirage__checkpoint_open(const MirageUGraph *program, const MirageSearchOptions *options,
                                     const MirageDiag *diag, SearchCheckpoint **out) {
  const MirageSearchControl *control = options->control;
  *out = NULL;
  if (!control || !control->checkpoint || !control->checkpoint[0])
    return MIRAGE_OK;
  SearchCheckpoint *checkpoint = calloc(1, sizeof *checkpoint);
  if (!checkpoint)
    return MIRAGE_NO_MEMORY;
  if (pthread_mutex_init(&checkpoint->lock, NULL) != 0) {
    free(checkpoint);
    return MIRAGE_NO_MEMORY;
  }
  checkpoint->path = control->checkpoint;
  checkpoint->interval = control->checkpoint_interval > 0 ? control->checkpoint_interval : default_interval;
  checkpoint->next_write = mirage__search_clock() + checkpoint->interval;
  MirageStatus status = find_keys(program, options, checkpoint->keys)
                            ? read_file(checkpoint, control->must_resume, diag)
                            : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    *out = checkpoint;
  else
    destroy(checkpoint);
  return status;
}

bool mirage__checkpoint_close(SearchCheckpoint *checkpoint, MirageStatus status, const MirageDiag *diag) {
  if (!checkpoint)
    return false;
  if (status == MIRAGE_BAD_ARGUMENT)
    refuse(checkpoint, "holds what this search cannot have written", diag);
  else
    write_file(checkpoint);
  if (checkpoint->failed)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_WARNING, NULL, "search: checkpoint '%s' could not be written: %s",
                     checkpoint->path, strerror(checkpoint->failed));
  bool written = status != MIRAGE_BAD_ARGUMENT && !checkpoint->failed;
  destroy(checkpoint);
  return written;
}
