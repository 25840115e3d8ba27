// pad.h - copies of matrices with longer rows, for whoever builds products.
#ifndef MIRAGE_LIB_CANONICAL_PAD_H
#define MIRAGE_LIB_CANONICAL_PAD_H

#include "mirage/ugraph.h"

/// Whether tensor copies cannot read rows of the matrix [.., rows, columns], and could read those of a padded copy.
bool mirage__may_pad(const MirageType *matrix);
/// The type of the copy: as many columns as make whole runs of 16 bytes, or whole lines of 128 in long rows.
MirageType mirage__padded_type(const MirageType *matrix);
/// Appends a kernel that copies the matrix, with zeros behind each row; returns the copy, {0} after a builder's failure.
MirageValue mirage__pad_rows(MirageUGraph *graph, MirageValue matrix);

#endif
