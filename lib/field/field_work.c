// field_work.c - a field for several threads: children that remember for themselves.
//
// A child has the field's primes and random functions, and tables of its own. It knows all that its parent knew when it
// was made, and nothing of its siblings: of work that runs beside other work none reads what the other writes. What a
// child has met is forgotten at the end of each piece of work, except what stands in elements that others will read;
// the parent takes that over when all have ended. Tables are found by content, so nothing depends on who comes first.
#include "field_internal.h"

#include <stdlib.h>

MirageStatus mirage__field_fork(const MirageDomain *self, const MirageDomain **out_child) {
  const MirageField *parent = (const MirageField *)self;
  MirageField *child = malloc(sizeof *child);
  if (!child)
    return MIRAGE_NO_MEMORY;
  *child = *parent;
  child->parent = parent;
  child->product = NULL;
  child->maxima = child->kept_maxima = (MaxTable){.most_members = parent->maxima.most_members};
  child->shifts = child->kept_shifts = (ShiftTable){0};
  child->building = (MaxBuilding){0};
  *out_child = &child->domain;
  return MIRAGE_OK;
}

MirageStatus mirage__field_keep(const MirageDomain *self, size_t n, const void *elements, bool maxima) {
  MirageField *child = (MirageField *)self;
  const MirageResidue *values = elements;
  maxima = maxima && child->maxima.used;
  if (!maxima && !child->shifts.count)
    return MIRAGE_OK;
  for (size_t i = 0; i < n; i++) {
    if (maxima)
      MIRAGE_TRY(mirage__field_max_keep(child, values[i].p));
    if (values[i].role & ROLE_DIFFERENCE &&
        (!i || values[i].q != values[i - 1].q || values[i].role != values[i - 1].role))
      MIRAGE_TRY(mirage__field_shift_keep(child, &values[i]));
  }
  return MIRAGE_OK;
}

void mirage__field_end(const MirageDomain *self) {
  MirageField *child = (MirageField *)self;
  mirage__field_max_clear(&child->maxima);
  mirage__field_shift_clear(&child->shifts);
}

MirageStatus mirage__field_join(const MirageDomain *self, const MirageDomain *other, bool take) {
  MirageField *parent = (MirageField *)self, *child = (MirageField *)other;
  MirageStatus status = MIRAGE_OK;
  if (take)
    status = mirage__field_max_take_all(&parent->maxima, &child->kept_maxima);
  if (take && status == MIRAGE_OK)
    status = mirage__field_shift_take_all(&parent->shifts, &child->kept_shifts);
  mirage__field_max_deinit(&child->maxima);
  mirage__field_max_deinit(&child->kept_maxima);
  mirage__field_shift_deinit(&child->shifts);
  mirage__field_shift_deinit(&child->kept_shifts);
  mirage__field_max_building_deinit(&child->building);
  free(child->product);
  free(child);
  return status;
}
