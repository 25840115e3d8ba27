// file.h - files that are there whole or not at all.
//
// What is written stands beside its place until it is complete, and takes it then: a full disk, an error half-way or an
// interrupt leaves what was there before. A device, a pipe, and what is no regular file is written as it is.
#ifndef MIRAGE_TOOLS_FILE_H
#define MIRAGE_TOOLS_FILE_H

#include "mirage/diag.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ToolFile {
  FILE *stream;
  char *path;   // where it is to stand; owned
  char *beside; // where it is written; owned, NULL where that is `path` itself
} ToolFile;

/// Errors:  IO, with the system's reason; NO_MEMORY. `file` is empty then.
MirageStatus tool_file_begin(const char *path, const MirageDiag *diag, ToolFile *file);
/// Ends it, in its place if `complete` and everything was written; else it is removed. `file` is empty afterwards.
/// Errors:  IO, with the system's reason, where it was complete and could not be written.
MirageStatus tool_file_end(ToolFile *file, bool complete, const MirageDiag *diag);

/// "path.partial", resolved through links, where a file may be written before it takes its place; NULL where it is to
/// be written as it is (a device, a pipe, "-"), or memory is out. The caller frees both.
/// Owns:    out_place receives the place itself.
char *tool_file_beside(const char *path, char **out_place);
/// The file takes its place, with the permissions of what was there. Returns errno, or 0.
int tool_file_replace(const char *beside, const char *place);
/// Makes a write beyond the limit of a file's size (ulimit -f) an error that can be told, not the end of the process.
void tool_file_no_signal(void);

#ifdef __cplusplus
}
#endif
#endif
