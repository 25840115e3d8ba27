// solve_z3.c - the choice among layouts, levels and offsets as an optimisation problem for Z3. [Mirage 6]
//
// Unknown:  level y (one of), variant x of each tile (one of), offset of each tile in units of its alignment.
// Hard:     size of tile t = sum over variants and levels of its size there; two tiles alive together lie one above the
//           other; everything ends within the room of the level; at every step the tiles alive fit together (this
//           follows, but without it the solver tries orders for seconds: measured 20 ms instead of 1300 for ten tiles).
// Least:    first the level, in the order wanted, then the sum of costs: one weight each, so that one search decides.
//
// Z3 is given no time limit but a number of steps (rlimit), so its answer depends on the problem alone.
#include "solve.h"

#ifdef MIRAGE_WITH_Z3
#include <stdio.h>
#include <z3.h>

typedef struct Model {
  const SolveProblem *problem;
  const uint32_t *levels;
  uint32_t num_levels;
  Z3_context z3;
  Z3_optimize optimize;
  Z3_sort integer;
  Z3_ast *level;                         // by candidate
  Z3_ast (*variant)[SOLVE_MAX_VARIANTS]; // by tile
  Z3_ast *place, *offset, *size;         // by tile; place times the alignment is the offset, both in units
  Z3_ast top;
} Model;

static void ignore_error(Z3_context context, Z3_error_code code) {} // asked for by code where it matters

static Z3_ast number(Model *m, int64_t value) { return Z3_mk_int64(m->z3, value, m->integer); }
static Z3_ast sum(Model *m, Z3_ast a, Z3_ast b) { return Z3_mk_add(m->z3, 2, (Z3_ast[]){a, b}); }
static void hold(Model *m, Z3_ast condition) { Z3_optimize_assert(m->z3, m->optimize, condition); }

static Z3_ast unknown(Model *m, char kind, uint32_t a, uint32_t b, Z3_sort sort) {
  char name[32];
  snprintf(name, sizeof name, "%c%u.%u", kind, a, b);
  return Z3_mk_const(m->z3, Z3_mk_string_symbol(m->z3, name), sort);
}

static void one_of(Model *m, uint32_t count, const Z3_ast *conditions) {
  int ones[64];
  for (uint32_t i = 0; i < count; i++)
    ones[i] = 1;
  hold(m, Z3_mk_pbeq(m->z3, count, conditions, ones, 1));
}

static void pay(Model *m, Z3_ast condition, int64_t cost) {
  char weight[32];
  snprintf(weight, sizeof weight, "%lld", (long long)cost);
  if (cost > 0)
    Z3_optimize_assert_soft(m->z3, m->optimize, Z3_mk_not(m->z3, condition), weight,
                            Z3_mk_string_symbol(m->z3, "cost"));
}

static void add_levels(Model *m, int64_t weight) {
  Z3_ast room = number(m, 0);
  for (uint32_t i = 0; i < m->num_levels; i++) {
    m->level[i] = unknown(m, 'y', i, 0, Z3_mk_bool_sort(m->z3));
    room = Z3_mk_ite(m->z3, m->level[i], number(m, m->problem->rooms[m->levels[i]] / SOLVE_UNIT), room);
    pay(m, m->level[i], weight * i);
  }
  one_of(m, m->num_levels, m->level);
  m->top = room;
}

// Size of a tile in units, whatever is chosen.
static Z3_ast size_of(Model *m, uint32_t t) {
  const SolveTile *tile = &m->problem->tiles[t];
  Z3_ast size = number(m, 0);
  for (uint32_t v = 0; v < tile->num_variants; v++) {
    int64_t bytes = tile->variants[v].bytes / SOLVE_UNIT;
    Z3_ast here = number(m, bytes * tile->copies[m->levels[0]]);
    for (uint32_t i = 1; i < m->num_levels; i++)
      if (tile->copies[m->levels[i]] != tile->copies[m->levels[0]])
        here = Z3_mk_ite(m->z3, m->level[i], number(m, bytes * tile->copies[m->levels[i]]), here);
    size = v == 0 ? here : Z3_mk_ite(m->z3, m->variant[t][v], here, size);
  }
  return size;
}

static void add_tile(Model *m, uint32_t t) {
  const SolveTile *tile = &m->problem->tiles[t];
  for (uint32_t v = 0; v < tile->num_variants; v++) {
    m->variant[t][v] = unknown(m, 'x', t, v, Z3_mk_bool_sort(m->z3));
    pay(m, m->variant[t][v], tile->variants[v].cost);
    for (uint32_t i = 0; v >= tile->num_good && i < m->num_levels; i++)
      if (!m->problem->any_variant[m->levels[i]])
        hold(m, Z3_mk_not(m->z3, Z3_mk_and(m->z3, 2, (Z3_ast[]){m->variant[t][v], m->level[i]})));
  }
  one_of(m, tile->num_variants, m->variant[t]);
  m->size[t] = size_of(m, t);
  m->place[t] = unknown(m, 'o', t, 0, m->integer);
  Z3_ast unit = number(m, tile->alignment / SOLVE_UNIT);
  m->offset[t] = tile->alignment == SOLVE_UNIT ? m->place[t] : Z3_mk_mul(m->z3, 2, (Z3_ast[]){unit, m->place[t]});
  hold(m, Z3_mk_ge(m->z3, m->place[t], number(m, 0)));
  hold(m, Z3_mk_le(m->z3, sum(m, m->offset[t], m->size[t]), m->top));
  if (tile->offset >= 0)
    hold(m, Z3_mk_eq(m->z3, m->offset[t], number(m, tile->offset / SOLVE_UNIT)));
}

static void add_pairs(Model *m, Z3_ast *alive) {
  const SolveTile *tiles = m->problem->tiles;
  for (uint32_t t = 0; t < m->problem->num_tiles; t++) {
    uint32_t count = 0;
    for (uint32_t u = 0; u < m->problem->num_tiles; u++) {
      if (tiles[u].begin <= tiles[t].begin && tiles[t].begin <= tiles[u].end)
        alive[count++] = m->size[u];
      if (u >= t || tiles[u].begin > tiles[t].end || tiles[t].begin > tiles[u].end)
        continue;
      Z3_ast either[2] = {Z3_mk_le(m->z3, sum(m, m->offset[t], m->size[t]), m->offset[u]),
                          Z3_mk_le(m->z3, sum(m, m->offset[u], m->size[u]), m->offset[t])};
      hold(m, Z3_mk_or(m->z3, 2, either));
    }
    hold(m, Z3_mk_le(m->z3, Z3_mk_add(m->z3, count, alive), m->top));
  }
}

static int64_t value_of(Model *m, Z3_model found, Z3_ast term) {
  Z3_ast value = NULL;
  int64_t out = 0;
  if (Z3_model_eval(m->z3, found, term, true, &value) && value)
    Z3_get_numeral_int64(m->z3, value, &out);
  return out;
}

static bool is_true(Model *m, Z3_model found, Z3_ast condition) {
  Z3_ast value = NULL;
  return Z3_model_eval(m->z3, found, condition, true, &value) && value && Z3_get_bool_value(m->z3, value) == Z3_L_TRUE;
}

static void read_answer(Model *m, Z3_model found, SolveAnswer *answer) {
  for (uint32_t i = 0; i < m->num_levels; i++)
    if (is_true(m, found, m->level[i]))
      answer->level = m->levels[i];
  for (uint32_t t = 0; t < m->problem->num_tiles; t++) {
    for (uint32_t v = 0; v < m->problem->tiles[t].num_variants; v++)
      if (is_true(m, found, m->variant[t][v]))
        answer->variant[t] = v;
    answer->offset[t] = value_of(m, found, m->offset[t]) * SOLVE_UNIT;
  }
}

static bool allocate(Model *m, MirageArena *arena, Z3_ast **alive) {
  size_t tiles = (size_t)m->problem->num_tiles + 1;
  m->level = mirage_arena_alloc_array(arena, (size_t)m->num_levels + 1, sizeof *m->level);
  m->variant = mirage_arena_alloc_array(arena, tiles, sizeof *m->variant);
  m->place = mirage_arena_alloc_array(arena, tiles, sizeof *m->place);
  m->offset = mirage_arena_alloc_array(arena, tiles, sizeof *m->offset);
  m->size = mirage_arena_alloc_array(arena, tiles, sizeof *m->size);
  *alive = mirage_arena_alloc_array(arena, tiles, sizeof **alive);
  return m->level && m->variant && m->place && m->offset && m->size && *alive;
}

static Z3_context open_context(void) {
  Z3_config config = Z3_mk_config();
  Z3_context context = Z3_mk_context(config);
  Z3_del_config(config);
  if (context)
    Z3_set_error_handler(context, ignore_error);
  return context;
}

static void open_optimize(Model *m) {
  m->optimize = Z3_mk_optimize(m->z3);
  Z3_optimize_inc_ref(m->z3, m->optimize);
  Z3_params params = Z3_mk_params(m->z3);
  Z3_params_inc_ref(m->z3, params);
  Z3_params_set_uint(m->z3, params, Z3_mk_string_symbol(m->z3, "rlimit"), m->problem->rlimit);
  Z3_optimize_set_params(m->z3, m->optimize, params);
  Z3_params_dec_ref(m->z3, params);
}

bool mirage__layout_ask_solver(const SolveProblem *problem, const uint32_t *candidates, uint32_t count,
                               MirageArena *arena, SolveAnswer *answer) {
  Model m = {.problem = problem, .levels = candidates, .num_levels = count};
  Z3_ast *alive;
  int64_t worst = 1;
  if (!allocate(&m, arena, &alive) || !(m.z3 = open_context()))
    return false;
  open_optimize(&m);
  m.integer = Z3_mk_int_sort(m.z3);
  for (uint32_t t = 0; t < problem->num_tiles; t++) {
    int64_t most = 0;
    for (uint32_t v = 0; v < problem->tiles[t].num_variants; v++)
      most = problem->tiles[t].variants[v].cost > most ? problem->tiles[t].variants[v].cost : most;
    worst += most;
  }
  add_levels(&m, worst);
  for (uint32_t t = 0; t < problem->num_tiles; t++)
    add_tile(&m, t);
  add_pairs(&m, alive);
  bool found = Z3_optimize_check(m.z3, m.optimize, 0, NULL) == Z3_L_TRUE;
  if (found)
    read_answer(&m, Z3_optimize_get_model(m.z3, m.optimize), answer);
  Z3_optimize_dec_ref(m.z3, m.optimize);
  Z3_del_context(m.z3);
  return found;
}
#else
bool mirage__layout_ask_solver(const SolveProblem *problem, const uint32_t *candidates, uint32_t count,
                               MirageArena *arena, SolveAnswer *answer) {
  return false; // built without Z3: the rule decides
}
#endif
