// forms.c - the forms in which a block can be carried out: a row each, in the order in which they are tried.
//
// A form looks at what the ones before it left open. Where it fits it is taken: it decides landings, warps, places or
// roles; else it leaves the plan as it is and says why. mirage-layout=explain shows these sentences, and what a person
// asked for and cannot have is refused with the same one. What no row decides is left to the last: copies by cp.async
// into shared memory, some iterations ahead.
//
// To add a form: a row here, a function in a file of its own, a test; and its code, where it has a kind of actor or
// channel that there was none of before (actors.h).
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>

static bool meets(const Plan *plan, bool cluster) {
  for (int32_t i = 0; i < plan->block.num_meetings; i++)
    if (plan->block.meetings[i].cluster == cluster)
      return true;
  return false;
}

// Both were found with the steps (meeting.c): which values blocks exchange is no choice.
static MirageStatus meet_in_cluster(Plan *plan, const char **out_why) {
  if (!meets(plan, true))
    *out_why = plan->target->has_cluster ? "nothing is summed over the blocks of a cluster" : "the GPU has no clusters";
  return MIRAGE_OK;
}

static MirageStatus meet_in_grid(Plan *plan, const char **out_why) {
  if (!meets(plan, false))
    *out_why = "nothing is summed over blocks of the grid";
  return MIRAGE_OK;
}

enum {
  ASK = 1,   // of a plan that is made twice, the first says whether it is taken: the second is asked for what it chose
  WARPS = 2, // they are counted before it, where no form has said how many there are
};

typedef struct Form {
  const char *name;
  MirageStatus (*take)(Plan *plan, const char **out_why);
  PlanStage done; // promises that are kept from here on
  uint32_t flags;
} Form;

static const Form FORMS[] = {
    {"copies as asked", mirage__plan_landings, PLAN_BEGUN, ASK},
    {"roles as asked", mirage__plan_roles, PLAN_LANDED, ASK},
    {"meetings in a cluster", meet_in_cluster, PLAN_LANDED, 0},
    {"meetings in the grid", meet_in_grid, PLAN_LANDED, 0},
    {"streamed weights", mirage__plan_direct, PLAN_LANDED, 0},
    {"side blocks", mirage__plan_side, PLAN_LANDED, 0},
    {"rows in threads", mirage__plan_items, PLAN_LANDED, 0},
    {"elements in threads", mirage__plan_elements, PLAN_LANDED, 0},
    {"tiles in registers", mirage__plan_resident, PLAN_LANDED, WARPS},
    {"warpgroup products", mirage__plan_warpgroups, PLAN_LANDED, 0},
    {"tensor copies", mirage__plan_own_copies, PLAN_DIVIDED, ASK},
    {"producer", mirage__plan_own_producer, PLAN_DIVIDED, 0},
    {"staged loops", mirage__plan_places, PLAN_PLACED, 0},
    {"tiles in turn", mirage__plan_persistent, PLAN_PLACED, 0},
    {"tiles given back", mirage__plan_release, PLAN_PLACED, 0},
    {"products ahead", mirage__plan_ahead, PLAN_PLACED, 0},
    {"turns", mirage__plan_turns, PLAN_PLACED, 0},
    {"masked tiles left out", mirage__plan_bounds, PLAN_PLACED, 0},
    {"longest blocks first", mirage__plan_order, PLAN_PLACED, 0},
    {"first maxima kept", mirage__plan_maxima, PLAN_PLACED, 0},
};
enum { NUM_FORMS = sizeof FORMS / sizeof *FORMS };
_Static_assert((int)NUM_FORMS <= (int)MAX_FORMS, "a plan has room for what each form says");

const char *mirage__form_name(uint32_t index) { return index < NUM_FORMS ? FORMS[index].name : NULL; }

const char *mirage__plan_say(const Plan *plan, const char *format, ...) {
  enum { SENTENCE = 200 };
  char *text = mirage_arena_alloc(plan->block.arena, SENTENCE);
  va_list args;
  va_start(args, format);
  if (text)
    vsnprintf(text, SENTENCE, format, args);
  va_end(args);
  return text ? text : "memory is short";
}

// Between the steps of planning; the whole plan is checked in any case.
static MirageStatus check_step(const Plan *plan, PlanStage stage) {
#ifdef NDEBUG
  (void)plan, (void)stage;
  return MIRAGE_OK;
#else
  return mirage__plan_check(plan, stage);
#endif
}

MirageStatus mirage__plan_forms(Plan *plan) {
  for (uint32_t i = 0; i < NUM_FORMS; i++) {
    if (FORMS[i].flags & WARPS)
      mirage__plan_warps(plan);
    MIRAGE_TRY(FORMS[i].take(plan, &plan->why[i]));
    MIRAGE_TRY(check_step(plan, FORMS[i].done));
  }
  return MIRAGE_OK;
}

void mirage__forms_asked(Plan *second, const Plan *first) {
  for (uint32_t i = 0; i < NUM_FORMS; i++)
    if (FORMS[i].flags & ASK)
      second->why[i] = first->why[i];
}
