/* A C program against the shared library: the header is C, every function is exported, and errors are
 * codes. Run by the tests with an artifact that does not exist. */
#include <stdio.h>
#include <string.h>

#include "aicf/aicf_c.h"

static int failures = 0;

static void expect(int ok, const char* what) {
  if (ok) return;
  ++failures;
  fprintf(stderr, "failed: %s (last error: %s)\n", what, aicf_last_error());
}

int main(void) {
  aicf_program program = 1;
  aicf_session session = 1;
  aicf_program_sizes sizes;
  aicf_tensor_info info;
  aicf_session_options options;
  aicf_memory_report memory;
  aicf_step_profile step;
  uint32_t count = 0;
  const char* target = NULL;
  double time = 0;
  void* pointer = NULL;
  char name[8];
  aicf_session_options_init(&options);
  expect(options.struct_bytes == sizeof(options), "options are initialised");
  expect(aicf_program_load("/nonexistent.aicf", &program) == AICF_IO, "a missing file is an I/O error");
  expect(program == 0, "a failed load gives no program");
  expect(strlen(aicf_last_error()) > 0, "a failure has a message");
  expect(strcmp(aicf_code_name(AICF_IO), "io") == 0, "codes have names");
  expect(aicf_program_from_bytes("x", 1, &program) == AICF_BAD_ARTIFACT, "one byte is no artifact");
  expect(aicf_program_load_signed("/nonexistent.aicf", "no key", &program) == AICF_INVALID_ARGUMENT,
         "a text without a key is no requirement to meet");
  expect(aicf_program_from_bytes_signed("x", 1, NULL, &program) == AICF_INVALID_ARGUMENT,
         "no keys");
  expect(aicf_session_create(0, &options, &session) == AICF_INVALID_ARGUMENT, "create");
  expect(aicf_program_get_sizes(0, &sizes) == AICF_INVALID_ARGUMENT, "sizes");
  expect(aicf_program_target(0, &target) == AICF_INVALID_ARGUMENT, "target");
  expect(aicf_program_input_count(0, &count) == AICF_INVALID_ARGUMENT, "input count");
  expect(aicf_program_output_count(0, &count) == AICF_INVALID_ARGUMENT, "output count");
  expect(aicf_program_input(0, 0, &info) == AICF_INVALID_ARGUMENT, "input");
  expect(aicf_program_output(0, 0, &info) == AICF_INVALID_ARGUMENT, "output");
  expect(aicf_program_destroy(0) == AICF_INVALID_ARGUMENT, "destroy program");
  expect(aicf_session_set_input(0, "x", "u8", NULL, 0, name, 1) == AICF_INVALID_ARGUMENT, "set input");
  expect(aicf_session_get_output(0, "y", "u8", NULL, 0, name, 1) == AICF_INVALID_ARGUMENT, "get output");
  expect(aicf_session_input_pointer(0, "x", &pointer) == AICF_INVALID_ARGUMENT, "input pointer");
  expect(aicf_session_output_pointer(0, "y", &pointer) == AICF_INVALID_ARGUMENT, "output pointer");
  expect(aicf_session_run(0) == AICF_INVALID_ARGUMENT, "run");
  expect(aicf_session_wait(0) == AICF_INVALID_ARGUMENT, "wait");
  expect(aicf_session_time_replays(0, 1, &time) == AICF_INVALID_ARGUMENT, "time");
  expect(aicf_session_profile(0, 1, &step, 1, &count) == AICF_INVALID_ARGUMENT, "profile");
  expect(aicf_session_memory(0, &memory) == AICF_INVALID_ARGUMENT, "memory");
  expect(aicf_session_device_name(0, name, sizeof(name)) == AICF_INVALID_ARGUMENT, "device name");
  expect(aicf_session_destroy(0) == AICF_INVALID_ARGUMENT, "destroy session");
  expect(aicf_set_log_sink(NULL, NULL) == AICF_OK, "log sink");
  return failures == 0 ? 0 : 1;
}
