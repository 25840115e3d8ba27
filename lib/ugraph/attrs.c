// attrs.c - the fields of an operator's attributes as a table, for whoever passes them on without asking what they mean.
#include "mirage/ugraph.h"

#include <stddef.h>

#define FIELD(KIND, member, name)                                                                                      \
  .kind = MIRAGE_ATTRS_##KIND, .offset = offsetof(MirageAttrs, member.name),                                           \
  .size = sizeof(((MirageAttrs *)0)->member.name)

static const MirageAttrField FIELDS[] = {
#define MIRAGE_ATTR(KIND, member, field, FORM, USE, value, words)                                                      \
  {FIELD(KIND, member, field), .name = #field, .form = MIRAGE_ATTR_##FORM,                                             \
   .use = MIRAGE_ATTR_##USE,   .usual = value, .meaning = words},
#include "mirage/attrs.def"
};
enum { NUM_FIELDS = sizeof FIELDS / sizeof *FIELDS };

const MirageAttrField *mirage_attrs_fields(MirageAttrsKind kind, uint32_t *out_count) {
  const MirageAttrField *first = FIELDS;
  while (first < FIELDS + NUM_FIELDS && first->kind != kind)
    first++;
  for (*out_count = 0; first + *out_count < FIELDS + NUM_FIELDS && first[*out_count].kind == kind;)
    ++*out_count;
  return first;
}

bool mirage_attrs_are_own(MirageAttrsKind kind) {
  switch (kind) {
#define MIRAGE_ATTRS_OWN(KIND) case MIRAGE_ATTRS_##KIND:
#include "mirage/attrs.def"
    return true;
  default:
    return false;
  }
}

int64_t mirage_attr_get(const MirageAttrField *field, const MirageAttrs *attrs, uint32_t index) {
  const char *at = (const char *)attrs + field->offset;
  switch (field->form) {
  case MIRAGE_ATTR_FLAG:
    return *(const bool *)at;
  case MIRAGE_ATTR_DIM:
    return *(const int32_t *)at;
  default:
    return ((const int64_t *)at)[index];
  }
}

bool mirage_attr_set(const MirageAttrField *field, MirageAttrs *attrs, uint32_t index, int64_t value) {
  char *at = (char *)attrs + field->offset;
  if (field->form == MIRAGE_ATTR_FLAG)
    *(bool *)at = value != 0;
  else if (field->form == MIRAGE_ATTR_DIM)
    *(int32_t *)at = (int32_t)value;
  else
    ((int64_t *)at)[index] = value;
  return field->form != MIRAGE_ATTR_DIM || (value >= INT32_MIN && value <= INT32_MAX);
}

double mirage_attr_number(const MirageAttrField *field, const MirageAttrs *attrs) {
  return *(const double *)((const char *)attrs + field->offset);
}

void mirage_attr_set_number(const MirageAttrField *field, MirageAttrs *attrs, double value) {
  *(double *)((char *)attrs + field->offset) = value;
}

uint32_t mirage_attr_count(const MirageAttrField *field) {
  return field->form == MIRAGE_ATTR_STEPS ? field->size / (uint32_t)sizeof(int64_t) : 1;
}

bool mirage_attr_is_usual(const MirageAttrField *field, const MirageAttrs *attrs) {
  if (field->form == MIRAGE_ATTR_NUMBER)
    return mirage_attr_number(field, attrs) == field->usual;
  for (uint32_t i = 0; i < mirage_attr_count(field); i++)
    if ((double)mirage_attr_get(field, attrs, i) != field->usual)
      return false;
  return true;
}
