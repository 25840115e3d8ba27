// check_report.c - what mirage-check found out, for people and for machines.
//
// Text is a line a graph, then what nobody looked at, then a line that sums up:
//   ok        @p_0 = @p: proven again, a wrong graph passes with probability below 2^-92.3 (2 trials, at full size)
//   refused   @p_1: its proof was made for other graphs; one of the two has been changed since
//   no proof  @p_2
// JSON is one object on one line.
#include "check.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

static const char *outcome_name(CheckOutcome outcome) {
  static const char *const names[] = {"not looked at", "no proof", "ok", "refused"}; // by CheckOutcome
  return names[outcome];
}

CheckCounts check_count(const CheckModule *module) {
  CheckCounts counts = {0};
  for (uint32_t i = 0; i < module->num_entries; i++) {
    CheckOutcome outcome = module->entries[i].answer.outcome;
    counts.ok += outcome == CHECK_OK;
    counts.refused += outcome == CHECK_REFUSED;
    counts.without_proof += outcome == CHECK_NO_PROOF;
    counts.not_looked_at += outcome == CHECK_NOT_LOOKED_AT;
  }
  return counts;
}

// ---------------------------------------------------------------------------------------------------------------- text

static void print_proof(const MirageProof *proof, FILE *file) {
  fprintf(file, "2^%.1f (%u trial%s, %s", proof->log2_bound, proof->trials, proof->trials == 1 ? "" : "s",
          proof->shrunken ? "on a smaller instance" : "at full size");
  if (proof->pieces)
    fprintf(file, ", in %u piece%s", proof->pieces, proof->pieces == 1 ? "" : "s");
  fprintf(file, "%s)", proof->free_exp ? ", with free exponentials" : "");
}

static void print_ok(const CheckEntry *entry, FILE *file) {
  const CheckAnswer *answer = &entry->answer;
  fprintf(file, "@%s = @%s: proven %s, a wrong graph passes with probability below ", entry->name, entry->source,
          answer->stored.present ? "again" : "here");
  print_proof(&answer->fresh, file);
  if (answer->stored.present) {
    fputs("; stored ", file);
    print_proof(&answer->stored, file);
  } else {
    fputs("; it has no stored proof", file);
  }
  if (answer->fresh_guard.present)
    fprintf(file, "; relative error %.2e, the program's own %.2e; stored %.2e, %.2e",
            answer->fresh_guard.candidate_relative, answer->fresh_guard.program_relative,
            answer->stored_guard.candidate_relative, answer->stored_guard.program_relative);
  fputc('\n', file);
}

static void print_entry(const CheckEntry *entry, FILE *file) {
  fprintf(file, "%-13s ", outcome_name(entry->answer.outcome));
  switch (entry->answer.outcome) {
  case CHECK_OK:
    print_ok(entry, file);
    return;
  case CHECK_REFUSED:
    fprintf(file, "@%s: %s\n", entry->name, entry->answer.reason);
    return;
  case CHECK_NO_PROOF:
    fprintf(file, "@%s%s\n", entry->name, entry->selected ? ", which is selected (--all proves it here)" : "");
    return;
  case CHECK_NOT_LOOKED_AT:
    fprintf(file, "@%s\n", entry->name);
    return;
  }
}

static void print_sum(const CheckModule *module, FILE *file) {
  CheckCounts counts = check_count(module);
  fprintf(file, "%s: %u graph%s, %u proof%s: %u ok, %u refused", module->path, module->num_graphs,
          module->num_graphs == 1 ? "" : "s", module->num_proofs, module->num_proofs == 1 ? "" : "s", counts.ok,
          counts.refused);
  if (counts.without_proof)
    fprintf(file, "; %u candidate%s without a proof", counts.without_proof, counts.without_proof == 1 ? "" : "s");
  if (counts.not_looked_at)
    fprintf(file, "; %u not looked at after the interrupt", counts.not_looked_at);
  fputc('\n', file);
}

void check_report_text(const CheckModule *module, const CheckOptions *options, FILE *file) {
  fprintf(file, "seed          %" PRIu64 "\n", options->settings.seed);
  for (uint32_t i = 0; i < module->num_entries; i++)
    print_entry(&module->entries[i], file);
  for (uint32_t i = 0; i < module->num_codes; i++)
    fprintf(file, "not checked   gpu.binary @%s: machine code; the proof is of the graph that it was made from\n",
            module->codes[i]);
  if (!module->num_proofs)
    fprintf(file, "no proof      in this module; mirage-mlir-opt --mirage-verify writes proofs%s\n",
            module->num_entries && !options->all ? ", --all proves its candidates here" : "");
  print_sum(module, file);
}

// ---------------------------------------------------------------------------------------------------------------- JSON

static json_t *json_proof(const MirageProof *proof) {
  if (!proof->present)
    return json_null();
  return json_pack("{s:f, s:I, s:b, s:I, s:b, s:I, s:I, s:I}", "log2_bound", proof->log2_bound, "trials",
                   (json_int_t)proof->trials, "shrunken", (int)proof->shrunken, "pieces", (json_int_t)proof->pieces,
                   "free_exp", (int)proof->free_exp, "degree", (json_int_t)proof->degree, "calls",
                   (json_int_t)proof->calls, "log2_terms", (json_int_t)proof->log2_terms);
}

static json_t *json_guard(const MirageGuard *guard) {
  if (!guard->present)
    return json_null();
  return json_pack("{s:f, s:f, s:f, s:f}", "program_relative", guard->program_relative, "candidate_relative",
                   guard->candidate_relative, "program_max", guard->program_max, "candidate_max", guard->candidate_max);
}

static json_t *json_entry(const CheckEntry *entry) {
  const CheckAnswer *answer = &entry->answer;
  return json_pack("{s:s, s:s?, s:s, s:s?, s:b, s:o, s:o, s:o, s:o}", "name", entry->name, "source", entry->source,
                   "outcome", outcome_name(answer->outcome), "reason", answer->reason[0] ? answer->reason : NULL,
                   "selected", (int)entry->selected, "stored", json_proof(&answer->stored), "fresh",
                   json_proof(&answer->fresh), "stored_guard", json_guard(&answer->stored_guard), "fresh_guard",
                   json_guard(&answer->fresh_guard));
}

static json_t *json_module(const CheckModule *module, const CheckOptions *options) {
  CheckCounts counts = check_count(module);
  json_t *graphs = json_array(), *codes = json_array();
  bool ok = graphs && codes;
  for (uint32_t i = 0; i < module->num_entries; i++)
    ok = ok && json_array_append_new(graphs, json_entry(&module->entries[i])) == 0;
  for (uint32_t i = 0; i < module->num_codes; i++)
    ok = ok && json_array_append_new(codes, json_string(module->codes[i])) == 0;
  json_t *root = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "module", module->path, "seed",
                           (json_int_t)options->settings.seed, "num_graphs", (json_int_t)module->num_graphs,
                           "num_proofs", (json_int_t)module->num_proofs, "ok", (json_int_t)counts.ok, "refused",
                           (json_int_t)counts.refused, "without_proof", (json_int_t)counts.without_proof,
                           "not_looked_at", (json_int_t)counts.not_looked_at, "graphs", graphs, "not_checked", codes);
  if (ok)
    return root;
  json_decref(root);
  return NULL;
}

static MirageStatus print_json(json_t *root, FILE *file) {
  char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
  if (text)
    fprintf(file, "%s\n", text);
  free(text);
  json_decref(root);
  return text ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

void check_report_unread(const char *path, const char *why, const CheckOptions *options, FILE *file) {
  if (options->json)
    print_json(json_pack("{s:s, s:s}", "module", path, "error", why), file);
  else
    fprintf(file, "%s: %s\n", path, why);
}

MirageStatus check_report_json(const CheckModule *module, const CheckOptions *options, FILE *file) {
  return print_json(json_module(module, options), file);
}
