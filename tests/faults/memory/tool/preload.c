/* Loaded before a program's libraries: request AICF_FAIL_AT of malloc and its kin that main makes
 * fails, with AICF_FAIL_STICKY every later one, too. The C library's own names of them do the work.
 * What libraries ask for before main, as protobuf's tables do, has no one to tell of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* old, size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

static long requests, fail_at;
static int sticky;

typedef int (*Main)(int, char**, char**);
static Main program;

static int RunProgram(int argc, char** argv, char** environment) {
  const char* at = getenv("AICF_FAIL_AT");
  sticky = getenv("AICF_FAIL_STICKY") != NULL;
  fail_at = at != NULL ? atol(at) : 0;
  const int code = program(argc, argv, environment);
  fail_at = 0;
  return code;
}

int __libc_start_main(Main run, int argc, char** argv, void (*begin)(void), void (*end)(void),
                      void (*loader_end)(void), void* stack) {
  typedef int (*Start)(Main, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  Start start;
  *(void**)&start = dlsym(RTLD_NEXT, "__libc_start_main");
  program = run;
  return start(RunProgram, argc, argv, begin, end, loader_end, stack);
}

static int Fails(void) {
  if (fail_at == 0) return 0;
  const long number = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
  if (sticky ? number < fail_at : number != fail_at) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t bytes) { return Fails() ? NULL : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return Fails() ? NULL : __libc_calloc(count, bytes); }
void* realloc(void* old, size_t bytes) { return Fails() ? NULL : __libc_realloc(old, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return Fails() ? NULL : __libc_memalign(alignment, bytes);
}
