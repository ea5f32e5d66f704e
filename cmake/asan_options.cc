// Options of AddressSanitizer for every program of a sanitised build; those in ASAN_OPTIONS come on
// top.
//
// intercept_tls_get_addr: runtimes of Clang before 17 and GCC before 14 look in front of a thread's
// dynamic storage for a header that glibc has not written since 2.25. Where that storage happens to
// begin 16 bytes into a page, they take what lies there for an address and a length, and
// LeakSanitizer dies of reading them ("Tracer caught signal 11") although nothing leaked. Without
// the interceptor it does not look. What only such storage points at would be reported as leaked;
// nothing of this project is held that way.
extern "C" __attribute__((used, visibility("default"))) const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}
