// exchange.c - records as JSON, for other machines.
//
//   {"format": "mirage-tuning", "schema": 2, "records": [{"graph": "0123...", "target": "h200", ...}, ...]}
//
// Schema 1 had no "code", which is read as unknown.
//
// A file from elsewhere is not trusted: every field is checked before anything is stored, all is stored or nothing.
// What a record says of times can only be believed; what its graph computes is proven where it is used.
#define _XOPEN_SOURCE 700 // fsync
#include "tuning_internal.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCHEMA = 2 };
static const char FORMAT[] = "mirage-tuning";

// -------------------------------------------------------------------------------------------------------------- export

static MirageStatus add_record(void *user, const MirageTuningRecord *record) {
  json_error_t error;
  json_t *measured = json_loads(record->measured, 0, &error);
  json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:o, s:s, s:s}",
                             "graph", record->graph, "target", record->target, "options", record->options, "version",
                             record->version, "gpu", record->gpu, "driver", record->driver, "choice", record->choice,
                             "hash", record->hash, "text", record->text, "time_us", record->time_us, "spread",
                             record->spread, "own_us", record->own_us, "own_spread", record->own_spread, "measured",
                             measured ? measured : json_array(), "date", record->date, "code", record->code);
  return object && json_array_append_new(user, object) == 0 ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

static bool dump(const json_t *root, FILE *file) {
  return json_dumpf(root, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER) == 0 && fputc('\n', file) != EOF &&
         fflush(file) == 0;
}

// To a name beside it first, so that a full disk leaves no half file.
static MirageStatus write_file(const json_t *root, const char *path, const MirageDiag *diag) {
  size_t bytes = strlen(path) + 32;
  char *part = malloc(bytes);
  if (!part)
    return MIRAGE_NO_MEMORY;
  snprintf(part, bytes, "%s.part%ld", path, (long)getpid());
  FILE *file = fopen(part, "wb");
  bool ok = file && dump(root, file) && fsync(fileno(file)) == 0;
  int reason = errno;
  if (file && fclose(file) != 0 && ok) {
    reason = errno;
    ok = false;
  }
  if (ok && rename(part, path) != 0) {
    reason = errno;
    ok = false;
  }
  if (!ok && file)
    remove(part);
  free(part);
  return ok ? MIRAGE_OK : mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: cannot write: %s", path, strerror(reason));
}

static MirageStatus write_all(const json_t *root, const char *path, const MirageDiag *diag) {
  if (strcmp(path, "-") != 0)
    return write_file(root, path, diag);
  return dump(root, stdout)
             ? MIRAGE_OK
             : mirage_diag_fail(diag, NULL, MIRAGE_IO, "standard output: cannot write: %s", strerror(errno));
}

MirageStatus mirage_tuning_export(MirageTuning *tuning, const char *path, const MirageDiag *diag,
                                  uint32_t *out_records) {
  json_t *records = json_array();
  MirageStatus status = records ? mirage_tuning_each(tuning, "", diag, add_record, records) : MIRAGE_NO_MEMORY;
  uint32_t count = (uint32_t)json_array_size(records);
  json_t *root = json_pack("{s:s, s:i, s:o}", "format", FORMAT, "schema", SCHEMA, "records", records);
  if (status == MIRAGE_OK && !root)
    status = MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = write_all(root, path, diag);
  json_decref(root);
  if (status == MIRAGE_OK)
    *out_records = count;
  return status;
}

// -------------------------------------------------------------------------------------------------------------- import

typedef struct Reader {
  const char *path;
  size_t index; // of the record
  int schema;   // of the file
  const MirageDiag *diag;
} Reader;

static MirageStatus refuse(const Reader *reader, const char *field, const char *wanted) {
  return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: record %zu: %s: %s is wanted", reader->path,
                          reader->index, field, wanted);
}

static MirageStatus read_text(const Reader *reader, const json_t *object, const char *field, bool may_be_empty,
                              const char **out) {
  const json_t *value = json_object_get(object, field);
  if (!json_is_string(value) || (!may_be_empty && !json_string_length(value)) ||
      strlen(json_string_value(value)) != json_string_length(value))
    return refuse(reader, field, may_be_empty ? "a string" : "a string that is not empty");
  *out = json_string_value(value);
  return MIRAGE_OK;
}

static MirageStatus read_hash(const Reader *reader, const json_t *object, const char *field, bool may_be_empty,
                              const char **out) {
  MIRAGE_TRY(read_text(reader, object, field, may_be_empty, out));
  if (may_be_empty && !**out)
    return MIRAGE_OK;
  return strlen(*out) == 32 && strspn(*out, "0123456789abcdef") == 32 ? MIRAGE_OK
                                                                      : refuse(reader, field, "32 hexadecimal digits");
}

static MirageStatus read_number(const Reader *reader, const json_t *object, const char *field, bool positive,
                                double *out) {
  const json_t *value = json_object_get(object, field);
  double number = json_is_number(value) ? json_number_value(value) : NAN;
  if (!isfinite(number) || number < 0 || number > 1e12 || (positive && number == 0))
    return refuse(reader, field, positive ? "a number above 0" : "a number of at least 0");
  *out = number;
  return MIRAGE_OK;
}

static bool is_date(const char *text) {
  static const char form[] = "0000-00-00T00:00:00Z";
  if (strlen(text) != sizeof form - 1)
    return false;
  for (size_t i = 0; form[i]; i++)
    if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
      return false;
  return true;
}

static MirageStatus read_record(const Reader *reader, const json_t *object, MirageTuningRecord *record) {
  if (!json_is_object(object))
    return refuse(reader, "it", "an object");
  MIRAGE_TRY(read_hash(reader, object, "graph", false, &record->graph));
  MIRAGE_TRY(read_text(reader, object, "target", false, &record->target));
  MIRAGE_TRY(read_text(reader, object, "options", true, &record->options));
  MIRAGE_TRY(read_text(reader, object, "version", false, &record->version));
  MIRAGE_TRY(read_text(reader, object, "gpu", false, &record->gpu));
  const json_t *driver = json_object_get(object, "driver");
  if (!json_is_integer(driver) || json_integer_value(driver) < 1 || json_integer_value(driver) > 1000000)
    return refuse(reader, "driver", "a number from 1 to 1000000 (13000 = 13.0)");
  record->driver = (int32_t)json_integer_value(driver);
  MIRAGE_TRY(read_text(reader, object, "choice", true, &record->choice));
  MIRAGE_TRY(read_hash(reader, object, "hash", true, &record->hash));
  MIRAGE_TRY(read_text(reader, object, "text", true, &record->text));
  record->code = "";
  if (reader->schema > 1)
    MIRAGE_TRY(read_hash(reader, object, "code", true, &record->code));
  if (!*record->choice != !*record->hash || !*record->hash != !*record->text)
    return refuse(reader, "choice, hash and text", "all three, or none for the own lowering,");
  MIRAGE_TRY(read_number(reader, object, "time_us", true, &record->time_us));
  MIRAGE_TRY(read_number(reader, object, "spread", false, &record->spread));
  MIRAGE_TRY(read_number(reader, object, "own_us", true, &record->own_us));
  MIRAGE_TRY(read_number(reader, object, "own_spread", false, &record->own_spread));
  MIRAGE_TRY(read_text(reader, object, "date", false, &record->date));
  return is_date(record->date) ? MIRAGE_OK : refuse(reader, "date", "a time as 2026-11-22T17:05:09Z");
}

static MirageStatus import_record(MirageTuning *tuning, const Reader *reader, const json_t *object) {
  MirageTuningRecord record;
  const json_t *measured = json_object_get(object, "measured");
  if (json_is_object(object) && !json_is_array(measured))
    return refuse(reader, "measured", "an array");
  MIRAGE_TRY(read_record(reader, object, &record));
  char *text = json_dumps(measured, JSON_COMPACT | JSON_PRESERVE_ORDER);
  if (!text)
    return MIRAGE_NO_MEMORY;
  record.measured = text;
  MirageStatus status = mirage__tuning_put(tuning, &record, true, reader->diag);
  free(text);
  return status;
}

static MirageStatus import_all(MirageTuning *tuning, Reader *reader, const json_t *root) {
  const json_t *records = json_object_get(root, "records"), *record;
  const char *format = json_string_value(json_object_get(root, "format"));
  json_int_t schema = json_integer_value(json_object_get(root, "schema"));
  if (!format || strcmp(format, FORMAT) != 0 || !json_is_array(records))
    return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "%s: it is no export of a tuning database: {\"format\": \"%s\", \"records\": [...]} is "
                            "wanted",
                            reader->path, FORMAT);
  if (schema < 1 || schema > SCHEMA)
    return mirage_diag_fail(reader->diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: schema %lld, this version knows 1 to %d",
                            reader->path, (long long)schema, SCHEMA);
  reader->schema = (int)schema;
  json_array_foreach(records, reader->index, record) MIRAGE_TRY(import_record(tuning, reader, record));
  return MIRAGE_OK;
}

MirageStatus mirage_tuning_import(MirageTuning *tuning, const char *path, const MirageDiag *diag,
                                  uint32_t *out_records) {
  json_error_t error;
  Reader reader = {.path = path, .diag = diag};
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: %s", path, strerror(errno));
  json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
  if (file != stdin)
    fclose(file);
  if (!root)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s:%d: no JSON: %s", path, error.line, error.text);
  MirageStatus status = mirage__tuning_begin(tuning, diag);
  if (status == MIRAGE_OK) {
    status = import_all(tuning, &reader, root);
    if (status == MIRAGE_OK)
      status = mirage__tuning_commit(tuning, diag);
    else
      mirage__tuning_rollback(tuning);
  }
  if (status == MIRAGE_OK)
    *out_records = (uint32_t)json_array_size(json_object_get(root, "records"));
  json_decref(root);
  return status;
}
