/* y = x + x of a small artifact, through the installed C interface. */
#include <aicf/aicf_c.h>
#include <stdio.h>
#include <string.h>

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, aicf_last_error());
  return 1;
}

int main(int argc, char** argv) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  float y[6];
  const int64_t shape[2] = {2, 3}, turned[2] = {3, 2};
  aicf_program program;
  aicf_session session;
  aicf_session_options options;
  int i;
  if (aicf_program_load(argc > 1 ? argv[1] : "", &program) != AICF_OK) return fail("load");
  aicf_session_options_init(&options);
  options.device = "cpu";
  if (aicf_session_create(program, &options, &session) != AICF_OK) return fail("create");
  if (aicf_session_set_input(session, "x", "f32", turned, 2, x, sizeof(x)) == AICF_OK) return 1;
  if (strstr(aicf_last_error(), "expected f32 2x3, got f32 3x2") == NULL) return fail("turned");
  if (aicf_session_set_input(session, "x", "f32", shape, 2, x, sizeof(x)) != AICF_OK) {
    return fail("set_input");
  }
  if (aicf_session_run(session) != AICF_OK) return fail("run");
  if (aicf_session_get_output(session, "y", "f32", shape, 2, y, sizeof(y)) != AICF_OK) {
    return fail("get_output");
  }
  for (i = 0; i < 6; ++i) {
    if (y[i] != 2 * x[i]) return fail("value");
  }
  aicf_session_destroy(session);
  aicf_program_destroy(program);
  return 0;
}
