// annotation.c - reads the comments at the end of PTX that convert-mirage-to-gpu has written.
//
//   // mirage: blocks of g_k0 meet
//   // mirage: 12345 bytes of emulation follow        behind the NUL
#include "backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool mirage__annotation_meets(const char *ptx, const char *kernel) {
  static const char MARK[] = "// mirage: blocks of ";
  size_t length = strlen(kernel);
  for (const char *at = strstr(ptx, MARK); at; at = strstr(at + 1, MARK)) {
    const char *name = at + sizeof MARK - 1;
    if (strncmp(name, kernel, length) == 0 && strncmp(name + length, " meet\n", 6) == 0)
      return true;
  }
  return false;
}

// The last line alone may announce it: no comment of somebody else's that stands further up is believed.
const void *mirage__annotation_image(const char *ptx, size_t *out_bytes) {
  size_t length = strlen(ptx), begin = length;
  uint64_t bytes;
  int used = 0;
  if (length == 0 || ptx[length - 1] != '\n')
    return NULL;
  for (begin = length - 1; begin > 0 && ptx[begin - 1] != '\n';)
    begin--;
  if (sscanf(ptx + begin, "// mirage: %" SCNu64 " bytes of emulation follow%n", &bytes, &used) != 1 || used == 0 ||
      begin + (size_t)used + 1 != length)
    return NULL;
  *out_bytes = (size_t)bytes;
  return ptx + length + 1;
}
