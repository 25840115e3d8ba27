// written.c - what a kernel leaves behind: every byte of its results written, its counters zero.
#include "machine.h"

static MirageStatus check_counters(const Launch *launch, const Buffer *workspace, const void *loc) {
  for (uint64_t i = 0; i < workspace->bytes && i < MIRAGE_WORKSPACE_COUNTERS; i++)
    if (workspace->data[i])
      return mirage_diag_fail(launch->diag, loc, MIRAGE_FAULT,
                              "custom: byte %llu of the workspace is not left zero (%s)", (unsigned long long)i,
                              launch->name);
  return MIRAGE_OK;
}

MirageStatus mirage__check_written(const Launch *launch, const void *loc) {
  for (uint32_t b = 0; b < launch->num_buffers; b++) {
    const Buffer *buffer = &launch->buffers[b];
    for (uint64_t i = 0; buffer->writer && i < buffer->bytes; i++)
      if (!buffer->writer[i])
        return mirage_diag_fail(launch->diag, loc, MIRAGE_FAULT, "custom: byte %llu of result %u is never written (%s)",
                                (unsigned long long)i, buffer->number, launch->name);
    if (buffer->writable && !buffer->writer)
      MIRAGE_TRY(check_counters(launch, buffer, loc));
  }
  return MIRAGE_OK;
}
