// file.c - files that are there whole or not at all (file.h).
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700 // realpath
#include "file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *tool_file_beside(const char *path, char **out_place) {
  struct stat found;
  bool exists = stat(path, &found) == 0;
  *out_place = NULL;
  if (strcmp(path, "-") == 0 || (exists && !S_ISREG(found.st_mode)))
    return NULL;
  char *place = exists ? realpath(path, NULL) : strdup(path);
  size_t length = place ? strlen(place) : 0;
  char *beside = place ? malloc(length + sizeof ".partial") : NULL;
  if (!beside) {
    free(place);
    return NULL;
  }
  memcpy(beside, place, length);
  memcpy(beside + length, ".partial", sizeof ".partial");
  *out_place = place;
  return beside;
}

int tool_file_replace(const char *beside, const char *place) {
  struct stat old;
  if (stat(place, &old) == 0)
    chmod(beside, old.st_mode & 07777);
  return rename(beside, place) == 0 ? 0 : errno;
}

void tool_file_no_signal(void) { signal(SIGXFSZ, SIG_IGN); }

MirageStatus tool_file_begin(const char *path, const MirageDiag *diag, ToolFile *file) {
  *file = (ToolFile){0};
  file->beside = tool_file_beside(path, &file->path);
  if (!file->beside)
    file->path = strdup(path);
  file->stream = file->path ? fopen(file->beside ? file->beside : file->path, "wb") : NULL;
  if (file->stream)
    return MIRAGE_OK;
  int reason = file->path ? errno : ENOMEM;
  free(file->path);
  free(file->beside);
  *file = (ToolFile){0};
  return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: %s", path, strerror(reason));
}

MirageStatus tool_file_end(ToolFile *file, bool complete, const MirageDiag *diag) {
  bool written = !ferror(file->stream) && fflush(file->stream) == 0;
  int reason = written ? 0 : errno ? errno : EIO;
  if (written && complete && file->beside && fsync(fileno(file->stream)) != 0)
    reason = errno;
  if (fclose(file->stream) != 0 && !reason)
    reason = errno;
  if (complete && !reason && file->beside)
    reason = tool_file_replace(file->beside, file->path);
  if (file->beside && (reason || !complete))
    remove(file->beside);
  MirageStatus status = MIRAGE_OK;
  if (complete && reason)
    status = mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: cannot write: %s", file->path, strerror(reason));
  free(file->path);
  free(file->beside);
  *file = (ToolFile){0};
  return status;
}
