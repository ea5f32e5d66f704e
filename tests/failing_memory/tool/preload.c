/* Loaded before a program's libraries: request AICF_FAIL_AT of malloc and its kin fails, with
 * AICF_FAIL_STICKY every later one, too. The C library's own names of them do the work. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* old, size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

static long requests, fail_at = -1;
static int sticky;

static int Fails(void) {
  if (fail_at < 0) {
    const char* at = getenv("AICF_FAIL_AT");
    fail_at = at != NULL ? atol(at) : 0;
    sticky = getenv("AICF_FAIL_STICKY") != NULL;
  }
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
