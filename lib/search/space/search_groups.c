// search_groups.c - tensors of one expression, and the pairs of expressions of which something reaches a goal.
//
// Whether a product, sum or quotient of two tensors can lie on a path to a goal is decided by their expressions, of
// which there are few hundred where there are many thousand tensors. So it is decided once for two groups: first by
// degrees (mirage_expr_may_reach), which refuse nearly all pairs and build nothing, then by the expression itself.
#include "search/space/search_tensor.h"

enum { UNASKED_SIZE = 8 }; // tensors of a group when expressions are not asked for

// MUL is the first: see try_groups.
const SearchForm mirage__search_forms[SEARCH_NUM_FORMS] = {
    {MIRAGE_OP_MUL, false}, {MIRAGE_OP_ADD, false}, {MIRAGE_OP_MAX, false}, {MIRAGE_OP_DIV, false},
    {MIRAGE_OP_DIV, true},  {MIRAGE_OP_SUB, false}, {MIRAGE_OP_SUB, true},
};

uint8_t mirage__search_allowed_forms(const SearchSpace *space) {
  uint8_t forms = 0;
  for (uint32_t i = 0; i < SEARCH_NUM_FORMS; i++) {
    uint8_t op = mirage__search_forms[i].op;
    if ((op != MIRAGE_OP_MAX && op != MIRAGE_OP_SUB) || space->program->uses[op])
      forms |= (uint8_t)(1u << i);
  }
  return forms;
}

static uint8_t swapped(uint8_t forms) {
  uint8_t kept = forms & 7, one = forms & 0x28, other = forms & 0x50;
  return (uint8_t)(kept | one << 1 | other >> 1);
}

static bool form_reaches(SearchSpace *space, const SearchGroup *mine, const SearchGroup *theirs, SearchForm form) {
  if (space->options->no_prune_expr)
    return true;
  const SearchGroup *left = form.swap ? theirs : mine, *right = form.swap ? mine : theirs;
  if (!mirage_expr_may_reach(space->exprs, (MirageOp)form.op, &left->sketch, &right->sketch))
    return false;
  MirageExpr expr = mirage_expr_apply(space->exprs, (MirageOp)form.op, left->expr, right->expr);
  return mirage__search_keeps_reach(space, expr);
}

static MirageStatus add_partner(SearchSpace *space, SearchGroup *group, uint32_t partner, uint8_t forms) {
  if (space->num_partners + 1 >= space->capacity_partners) {
    SearchPartner *grown = mirage__search_grow(space, space->partners, &space->capacity_partners, sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    space->partners = grown;
  }
  uint32_t index = ++space->num_partners;
  space->partners[index] = (SearchPartner){.group = partner, .forms = forms};
  *(group->last_partner ? &space->partners[group->last_partner].next : &group->first_partner) = index;
  group->last_partner = index;
  return MIRAGE_OK;
}

static MirageStatus find_partners(SearchSpace *space, uint32_t number) {
  SearchGroup *group = &space->groups[number];
  uint8_t allowed = mirage__search_allowed_forms(space);
  for (uint32_t i = 0; i <= number; i++) {
    uint8_t forms = 0;
    for (uint32_t f = 0; f < SEARCH_NUM_FORMS; f++)
      if (allowed >> f & 1 && form_reaches(space, group, &space->groups[i], mirage__search_forms[f]))
        forms |= (uint8_t)(1u << f);
    if (!forms)
      continue;
    MIRAGE_TRY(add_partner(space, group, i, forms));
    if (i < number)
      MIRAGE_TRY(add_partner(space, &space->groups[i], number, swapped(forms)));
  }
  return mirage_expr_status(space->exprs);
}

MirageStatus mirage__search_add_group(SearchSpace *space, MirageExpr expr) {
  if (space->num_groups == space->capacity_groups) {
    SearchGroup *grown = mirage__search_grow(space, space->groups, &space->capacity_groups, sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    space->groups = grown;
  }
  uint32_t number = space->num_groups++;
  space->groups[number] = (SearchGroup){.expr = expr};
  mirage_expr_sketch(space->exprs, expr, &space->groups[number].sketch);
  uint32_t monomials, atoms;
  mirage_expr_size(space->exprs, expr, &monomials, &atoms);
  space->grouped_monomials += monomials;
  space->pair_work += (monomials * space->num_groups + space->grouped_monomials) * space->goal_size;
  return find_partners(space, number);
}

// Where expressions cut nothing they are not asked for: groups without one hold some tensors each, and go with all.
MirageExpr mirage__search_group_expr(const SearchSpace *space, uint32_t index) {
  return space->options->no_prune_expr ? (MirageExpr){0} : space->tensors[index].expr;
}

MirageStatus mirage__search_add_to_group(SearchSpace *space, uint32_t index) {
  SearchTensor *tensor = &space->tensors[index];
  tensor->grouped = true;
  MirageExpr expr = mirage__search_group_expr(space, index);
  uint32_t group = 0;
  while (group < space->num_groups &&
         (space->groups[group].expr.index != expr.index || (!expr.index && space->groups[group].size == UNASKED_SIZE)))
    group++;
  if (group == space->num_groups)
    MIRAGE_TRY(mirage__search_add_group(space, expr));
  tensor->group = group;
  tensor->next_grouped = space->groups[group].first;
  space->groups[group].first = index;
  space->groups[group].size++;
  space->num_grouped++;
  return MIRAGE_OK;
}
