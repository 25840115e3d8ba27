// test_passes.c - the pass table keeps its own rules, and passes can be built and run from C.
#include "../../passes/passes.h"

#include "mirage-c/Passes.h"
#include "mlir-c/Pass.h"
#include "mlir_context.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// A fallback must parse, and lie in the option's own range.
static void check_fallback(const MiragePassInfo *pass, const MiragePassOption *option) {
  char *end = NULL;
  double value = 0;
  switch (option->kind) {
  case MIRAGE_OPTION_BOOL:
    assert_true(!strcmp(option->fallback, "true") || !strcmp(option->fallback, "false"));
    return;
  case MIRAGE_OPTION_INT:
  case MIRAGE_OPTION_DOUBLE:
    value = strtod(option->fallback, &end);
    if (*end || end == option->fallback || value < option->min || value > option->max)
      fail_msg("%s: default %s of %s is not in its range", pass->argument, option->fallback, option->name);
    return;
  case MIRAGE_OPTION_CHOICE:
    assert_non_null(strstr(option->choices, option->fallback));
    return;
  case MIRAGE_OPTION_TARGET:
    assert_non_null(mirage_target_find(option->fallback));
    return;
  case MIRAGE_OPTION_STRING:
  case MIRAGE_OPTION_TUPLES:
    assert_string_equal(option->fallback, "");
    return;
  }
  fail_msg("%s: option %s has no kind", pass->argument, option->name);
}

static void rows_are_complete(void **state) {
  for (size_t i = 0; i < MIRAGE_NUM_PASSES; i++) {
    const MiragePassInfo *pass = &MIRAGE_PASSES[i];
    assert_ptr_equal(mirage__pass_find(pass->argument, strlen(pass->argument)), pass); // no argument occurs twice
    if (strncmp(pass->argument, "convert-", 8) != 0) { // conversions are called as MLIR's are
      assert_int_equal(strncmp(pass->argument, "mirage-", 7), 0);
      assert_string_equal(pass->argument + 7, pass->stage);
    }
    assert_true(strlen(pass->summary) > 10);
    assert_string_equal(pass->anchor, "builtin.module");
    assert_non_null(pass->run);
    for (size_t j = 0; j < pass->num_options; j++) {
      assert_true(pass->options[j].offset < pass->options_bytes);
      assert_true(strlen(pass->options[j].help) > 5);
      check_fallback(pass, &pass->options[j]);
      for (size_t k = 0; k < j; k++)
        assert_string_not_equal(pass->options[j].name, pass->options[k].name);
    }
  }
}

// A pipeline forwards by name, so one name must be one kind of option, with one default.
static void options_of_one_name_agree(void **state) {
  for (size_t p = 0; p < MIRAGE_NUM_PASSES; p++)
    for (size_t q = 0; q < p; q++)
      for (size_t i = 0; i < MIRAGE_PASSES[p].num_options; i++)
        for (size_t j = 0; j < MIRAGE_PASSES[q].num_options; j++) {
          const MiragePassOption *a = &MIRAGE_PASSES[p].options[i], *b = &MIRAGE_PASSES[q].options[j];
          if (strcmp(a->name, b->name) != 0)
            continue;
          assert_int_equal(a->kind, b->kind);
          assert_string_equal(a->fallback, b->fallback);
        }
}

static void pipelines_name_passes(void **state) {
  for (size_t i = 0; i < MIRAGE_NUM_PIPELINES; i++)
    for (size_t j = 0; j < MIRAGE_PIPELINES[i].num_passes; j++) {
      const char *argument = MIRAGE_PIPELINES[i].passes[j];
      assert_non_null(mirage__pass_find(argument, strlen(argument)));
    }
}

static const char PAIR[] = "mirage_kernel.graph @p(%x: tensor<4xf16>) -> tensor<4xf16> {\n"
                           "  %y = square %x : tensor<4xf16>\n"
                           "  return %y : tensor<4xf16>\n}\n"
                           "mirage_kernel.graph @c(%x: tensor<4xf16>) -> tensor<4xf16> attributes {source = @p} {\n"
                           "  %y = mul %x, %x : tensor<4xf16>, tensor<4xf16>\n"
                           "  return %y : tensor<4xf16>\n}\n";

static bool run_pass(MlirContext context, MlirModule module, MlirPass pass) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  mlirPassManagerAddOwnedPass(manager, pass);
  bool fine = mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(manager);
  return fine;
}

static void a_pass_runs_from_c(void **state) {
  MlirContext context = {*state};
  MlirModule module = mlirModuleCreateParse(context, str(PAIR));
  assert_false(mlirModuleIsNull(module));
  MlirPass pass = mirageCreatePass(str("mirage-verify"), str("seed=3 num-threads=1"));
  assert_non_null(pass.ptr);
  assert_true(run_pass(context, module, pass));
  MlirOperation c = mlirOperationGetNextInBlock(mlirBlockGetFirstOperation(mlirModuleGetBody(module)));
  assert_false(mlirAttributeIsNull(mlirOperationGetAttributeByName(c, str("proof"))));
  mlirModuleDestroy(module);
}

static void a_pass_refuses_a_value_out_of_range(void **state) {
  MlirContext context = {*state};
  MlirModule module = mlirModuleCreateParse(context, str(PAIR));
  MlirPass pass = mirageCreatePass(str("mirage-verify"), str("seed=-3"));
  assert_non_null(pass.ptr);
  assert_false(run_pass(context, module, pass));
  MlirOperation c = mlirOperationGetNextInBlock(mlirBlockGetFirstOperation(mlirModuleGetBody(module)));
  assert_true(mlirAttributeIsNull(mlirOperationGetAttributeByName(c, str("proof"))));
  mlirModuleDestroy(module);
}

static void unknown_passes_and_options_give_none(void **state) {
  assert_null(mirageCreatePass(str("mirage-nothing"), str("")).ptr);
  assert_null(mirageCreatePass(str("mirage-verify"), str("speed=3")).ptr);
  assert_null(mirageCreatePass(str("mirage-verify"), str("seed=many")).ptr);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_complete),
      cmocka_unit_test(options_of_one_name_agree),
      cmocka_unit_test(pipelines_name_passes),
      cmocka_unit_test_setup_teardown(a_pass_runs_from_c, mlir_context_set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(a_pass_refuses_a_value_out_of_range, mlir_context_set_up, mlir_context_tear_down),
      cmocka_unit_test(unknown_passes_and_options_give_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
