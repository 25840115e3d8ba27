// search_checkpoint.h - what a search has done, in a file, so that another run goes on from there.
//
// A record belongs to one plan of one part of the search. A plan that is finished is stored whole; of one that is not,
// the tensors derived so far (a tensor's values are evaluated again, not stored) and, once block graphs are read off
// them, the branches that are left and the best graphs. Once all plans are finished, the best candidates so far.
// Records are taken where the search stands between two steps, so that a run that goes on meets the same tensors and
// graphs in the same order as one that was never stopped.
#ifndef MIRAGE_LIB_SEARCH_CHECKPOINT_H
#define MIRAGE_LIB_SEARCH_CHECKPOINT_H

#include "search_internal.h"

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

typedef struct SearchCheckpoint SearchCheckpoint;

/// Reads the file of options->control; *out is NULL where it names none. A file that does not exist begins empty.
/// Errors:  IO; BAD_ARGUMENT for a file that is damaged, or belongs to another program, other options or another
///          version: it stays as it is.
MirageStatus mirage__checkpoint_open(const MirageUGraph *program, const MirageSearchOptions *options,
                                     const MirageDiag *diag, SearchCheckpoint **out);
/// Ends a search with this status. Writes the file a last time, with a warning where that fails, unless a record made
/// no sense: then the file stays as it is, and the error is told. Whether it was written.
bool mirage__checkpoint_close(SearchCheckpoint *checkpoint, MirageStatus status, const MirageDiag *diag);

/// The record, for reading; false where there is none. The bytes are borrowed until it is put again or dropped.
bool mirage__checkpoint_find(const SearchSlot *slot, SearchRecordKind kind, SearchBytes *out);
/// Takes the bytes; writes the file when that is due.
MirageStatus mirage__checkpoint_put(const SearchSlot *slot, SearchRecordKind kind, SearchBytes *bytes);
void mirage__checkpoint_drop(const SearchSlot *slot, SearchRecordKind kind);

// search_snapshot.c: what the records hold. Reading fails with BAD_ARGUMENT where a record makes no sense.
void mirage__pass_funnel(SearchBytes *bytes, MirageFunnel *funnel);
MirageStatus mirage__pass_kept(SearchBytes *bytes, SearchKept *kept);
MirageStatus mirage__save_space(const SearchSpace *space);
/// The schedules that are chosen so far, for the block graphs of all plans.
typedef struct SearchRanking {
  const SearchStructure **structures; // in the order in which they are taken
  uint32_t num, done;                 // of them
  SearchCandidate *candidates;
  uint32_t count, room, order; // room: between two rounds; order: of the next one
  uint64_t scheduled;
} SearchRanking;
MirageStatus mirage__save_ranking(const SearchSlot *slot, const SearchRanking *ranking);
/// Brings a ranking that was not begun to where the record was taken, if there is one.
MirageStatus mirage__restore_ranking(const SearchSlot *slot, SearchRanking *ranking);
/// Brings a space that was just begun to where the record was taken, if there is one.
MirageStatus mirage__restore_space(SearchSpace *space);

#endif
