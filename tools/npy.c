// npy.c - reads and writes .npy files, strictly: what is not understood is refused with what was found.
//
// Format (NumPy Enhancement Proposal 1): "\x93NUMPY", version bytes, the header's length (2 bytes in version 1, 4 in
// versions 2 and 3, little endian), the header - a Python dictionary such as
//   {'descr': '<f2', 'fortran_order': False, 'shape': (2, 4096), }
// padded with blanks and a line break - and the elements. All supported hosts are little endian, as is every type we
// read.
#include "npy.h"
#include "file.h"

#include "mirage/eval.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { MAX_HEADER = 65536, MAX_ARRAY_RANK = 16 };

typedef struct Header {
  char descr[16];
  bool fortran_order;
  uint32_t rank;
  int64_t shape[MAX_ARRAY_RANK];
} Header;

// ------------------------------------------------------------------------------------------------------ the dictionary

// Reads the dictionary from left to right; `ok` stays false once anything is unexpected.
typedef struct Scanner {
  const char *at;
  bool ok;
} Scanner;

static bool accept(Scanner *scanner, const char *token) {
  while (isspace((unsigned char)*scanner->at))
    scanner->at++;
  size_t length = strlen(token);
  if (strncmp(scanner->at, token, length) != 0)
    return false;
  scanner->at += length;
  return true;
}

static void expect(Scanner *scanner, const char *token) { scanner->ok = scanner->ok && accept(scanner, token); }

static void scan_string(Scanner *scanner, char *out, size_t size) {
  const char *quote = accept(scanner, "'") ? "'" : accept(scanner, "\"") ? "\"" : NULL;
  const char *end = quote ? strchr(scanner->at, *quote) : NULL;
  size_t length = end ? (size_t)(end - scanner->at) : 0;
  if (!end || length >= size) {
    scanner->ok = false;
    return;
  }
  memcpy(out, scanner->at, length);
  out[length] = '\0';
  scanner->at = end + 1;
}

static void scan_shape(Scanner *scanner, Header *header) {
  expect(scanner, "(");
  while (scanner->ok && !accept(scanner, ")")) {
    char *end = NULL;
    errno = 0;
    int64_t extent = strtoll(scanner->at, &end, 10);
    if (end == scanner->at || errno || extent < 0 || header->rank == MAX_ARRAY_RANK) {
      scanner->ok = false;
      return;
    }
    scanner->at = end;
    header->shape[header->rank++] = extent;
    if (!accept(scanner, ",")) {
      expect(scanner, ")");
      return;
    }
  }
}

static void scan_entry(Scanner *scanner, Header *header, unsigned *seen) {
  char key[24] = "";
  scan_string(scanner, key, sizeof key);
  expect(scanner, ":");
  if (!scanner->ok)
    return;
  if (strcmp(key, "descr") == 0) {
    scan_string(scanner, header->descr, sizeof header->descr);
    *seen |= 1;
  } else if (strcmp(key, "fortran_order") == 0) {
    header->fortran_order = accept(scanner, "True");
    scanner->ok = header->fortran_order || accept(scanner, "False");
    *seen |= 2;
  } else if (strcmp(key, "shape") == 0) {
    scan_shape(scanner, header);
    *seen |= 4;
  } else {
    scanner->ok = false;
  }
}

static bool parse_header(const char *text, Header *header) {
  Scanner scanner = {text, true};
  unsigned seen = 0;
  *header = (Header){0};
  expect(&scanner, "{");
  while (scanner.ok && !accept(&scanner, "}")) {
    scan_entry(&scanner, header, &seen);
    if (!accept(&scanner, ",")) {
      expect(&scanner, "}");
      break;
    }
  }
  accept(&scanner, "\n");
  return scanner.ok && seen == 7 && *scanner.at == '\0';
}

// ------------------------------------------------------------------------------------------------------------- reading

static const char *format_shape(uint32_t rank, const int64_t *shape, char *buffer, size_t size) {
  size_t used = (size_t)snprintf(buffer, size, "(");
  for (uint32_t i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(buffer + used, size - used, "%s%" PRId64, i ? ", " : "", shape[i]);
  if (used < size)
    snprintf(buffer + used, size - used, rank == 1 ? ",)" : ")");
  return buffer;
}

// Leaves the file at its first element.
static MirageStatus read_header(FILE *file, const char *path, const MirageDiag *diag, Header *header) {
  unsigned char start[12];
  if (fread(start, 1, 10, file) != 10 || memcmp(start, magic, sizeof magic) != 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: not a .npy file", path);
  size_t length = start[8] | (size_t)start[9] << 8;
  if (start[6] < 1 || start[6] > 3)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: .npy version %d, versions 1 to 3 are known", path, start[6]);
  if (start[6] > 1) {
    if (fread(start + 10, 1, 2, file) != 2)
      return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: the file ends inside its header", path);
    length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  }
  if (length > MAX_HEADER)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: a header of %zu bytes, at most %d are expected", path, length,
                            MAX_HEADER);
  char *text = calloc(1, length + 1);
  if (!text)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "%s: out of memory", path);
  bool complete = fread(text, 1, length, file) == length;
  bool parsed = complete && parse_header(text, header);
  free(text);
  if (!complete)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: the file ends inside its header", path);
  if (!parsed)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO,
                            "%s: the header is not a dictionary of descr, fortran_order and shape", path);
  return MIRAGE_OK;
}

static MirageStatus check_header(const Header *header, const char *path, const MirageType *type, const MirageDiag *diag,
                                 size_t *out_element_bytes) {
  const char *descr = header->descr;
  if (strcmp(descr, "<f2") != 0 && strcmp(descr, "<f4") != 0 && strcmp(descr, "<f8") != 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_TYPE,
                            "%s: elements are '%s', and '<f2', '<f4' or '<f8' is wanted for a tensor of %s "
                            "(convert with .astype('float32'))",
                            path, descr, mirage_dtype_name(type->dtype));
  if (header->fortran_order && header->rank > 1)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_TYPE,
                            "%s: elements are in Fortran (column-major) order, and row-major is wanted "
                            "(convert with numpy.ascontiguousarray)",
                            path);
  bool same = header->rank == type->rank && memcmp(header->shape, type->shape, type->rank * sizeof *type->shape) == 0;
  if (!same) {
    char found[128], wanted[128];
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_SHAPE, "%s: shape is %s, and the program wants %s", path,
                            format_shape(header->rank, header->shape, found, sizeof found),
                            format_shape(type->rank, type->shape, wanted, sizeof wanted));
  }
  *out_element_bytes = (size_t)(descr[2] - '0');
  return MIRAGE_OK;
}

static double element(const char *bytes, size_t element_bytes) {
  uint16_t half;
  float single;
  double value;
  switch (element_bytes) {
  case 2:
    memcpy(&half, bytes, sizeof half);
    return mirage_f16_to_double(half);
  case 4:
    memcpy(&single, bytes, sizeof single);
    return (double)single;
  default:
    memcpy(&value, bytes, sizeof value);
    return value;
  }
}

static MirageStatus read_elements(FILE *file, const char *path, size_t count, size_t element_bytes,
                                  const MirageDiag *diag, double *values) {
  char *bytes = malloc(count * element_bytes);
  if (!bytes)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "%s: out of memory", path);
  size_t read = fread(bytes, 1, count * element_bytes, file);
  bool longer = fgetc(file) != EOF;
  for (size_t i = 0; i < count && read == count * element_bytes; i++)
    values[i] = element(bytes + i * element_bytes, element_bytes);
  free(bytes);
  if (read != count * element_bytes)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: the file is truncated: %zu of %zu bytes of elements", path,
                            read, count * element_bytes);
  if (longer)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: the file goes on after its %zu elements", path, count);
  return MIRAGE_OK;
}

MirageStatus npy_read(const char *path, const MirageType *type, const MirageDiag *diag, double **out_values) {
  *out_values = NULL;
  FILE *file = fopen(path, "rb");
  if (!file)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: %s", path, strerror(errno));
  Header header;
  size_t element_bytes = 0, count = (size_t)mirage_type_elements(type);
  double *values = NULL;
  MirageStatus status = read_header(file, path, diag, &header);
  if (status == MIRAGE_OK)
    status = check_header(&header, path, type, diag, &element_bytes);
  if (status == MIRAGE_OK && !(values = malloc(count * sizeof *values)))
    status = mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "%s: out of memory", path);
  if (status == MIRAGE_OK)
    status = read_elements(file, path, count, element_bytes, diag, values);
  fclose(file);
  if (status != MIRAGE_OK) {
    free(values);
    return status;
  }
  *out_values = values;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- writing

static bool write_header(FILE *file, const char *descr, const MirageType *type) {
  char shape[160], header[256];
  format_shape(type->rank, type->shape, shape, sizeof shape);
  int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
  // Blanks and a line break, so that the elements start on a multiple of 64 bytes.
  int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
  unsigned char start[10] = {0, 0, 0, 0, 0, 0, 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
  memcpy(start, magic, sizeof magic);
  return fwrite(start, 1, sizeof start, file) == sizeof start && fprintf(file, "%-*s\n", padded - 1, header) == padded;
}

static bool write_element(FILE *file, size_t element_bytes, double value) {
  uint16_t half = mirage_f16_from_double(value);
  float single = (float)value;
  const void *bytes = element_bytes == 2 ? (const void *)&half : element_bytes == 4 ? (const void *)&single : &value;
  return fwrite(bytes, element_bytes, 1, file) == 1;
}

MirageStatus npy_write(const char *path, const MirageType *type, const double *values, bool exact,
                       const MirageDiag *diag) {
  ToolFile file;
  MIRAGE_TRY(tool_file_begin(path, diag, &file));
  size_t element_bytes = exact ? 8 : type->dtype == MIRAGE_F16 ? 2 : 4;
  bool ok = write_header(file.stream, element_bytes == 8 ? "<f8" : element_bytes == 4 ? "<f4" : "<f2", type);
  size_t count = (size_t)mirage_type_elements(type);
  for (size_t i = 0; i < count && ok; i++)
    ok = write_element(file.stream, element_bytes, values[i]);
  return tool_file_end(&file, true, diag);
}
