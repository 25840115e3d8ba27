// search_checkpoint.h - what a search has done, in a file, so that another run goes on from there.
//
// A record belongs to one plan of one part of the search. A plan that is finished is stored whole; of one that is not,
// the tensors derived so far (a tensor's values are evaluated again, not stored) and, once block graphs are read off
// them, the branches that are left and the best graphs. Once all plans are finished, the best candidates so far.
// Records are taken where the search stands between two steps, so that a run that goes on meets the same tensors and
// graphs in the same order as one that was never stopped.
#ifndef MIRAGE_LIB_SEARCH_CHECKPOINT_H
#define MIRAGE_LIB_SEARCH_CHECKPOINT_H

#include "mirage/search.h"

typedef enum { SEARCH_RECORD_PLAN, SEARCH_RECORD_SPACE, SEARCH_RECORD_WALK, SEARCH_RECORD_RANKING } SearchRecordKind;

/// Bytes that are being written or read. A failure - memory is out, the end is met - sticks.
typedef struct SearchBytes {
  uint8_t *data;
  size_t size, room; // room: written, owned
  size_t at;         // read
  bool reading, failed;
} SearchBytes;

/// Writes `size` bytes from `data`, or reads them into it.
void mirage__bytes_pass(SearchBytes *bytes, void *data, size_t size);
#define SEARCH_PASS(bytes, lvalue) mirage__bytes_pass(bytes, &(lvalue), sizeof(lvalue))

/// BAD_ARGUMENT where what was read makes no sense, or ended too early.
MirageStatus mirage__bytes_check(const SearchBytes *bytes, bool makes_sense);

typedef struct SearchCheckpoint SearchCheckpoint;

/// Reads the file of options->control; *out is NULL where it names none. A file that does not exist begins empty.
/// Errors:  IO; BAD_ARGUMENT for a file that is damaged, or belongs to another program, other options or another
///          version: it stays as it is.
MirageStatus mirage__checkpoint_open(const MirageUGraph *program, const MirageSearchOptions *options,
                                     const MirageDiag *diag, SearchCheckpoint **out);
/// Ends a search with this status. Writes the file a last time, with a warning where that fails, unless a record made
/// no sense: then the file stays as it is, and the error is told. Whether it was written.
bool mirage__checkpoint_close(SearchCheckpoint *checkpoint, MirageStatus status, const MirageDiag *diag);

/// Whose records these are in a checkpoint (search_checkpoint.h); none where checkpoint is NULL.
typedef struct SearchSlot {
  struct SearchCheckpoint *checkpoint;
  uint32_t piece, plan;
} SearchSlot;

/// The record, for reading; false where there is none. The bytes are borrowed until it is put again or dropped.
bool mirage__checkpoint_find(const SearchSlot *slot, SearchRecordKind kind, SearchBytes *out);
/// Takes the bytes; writes the file when that is due.
MirageStatus mirage__checkpoint_put(const SearchSlot *slot, SearchRecordKind kind, SearchBytes *bytes);
void mirage__checkpoint_drop(const SearchSlot *slot, SearchRecordKind kind);

#endif
