#include "runtime/guard.h"

#include <new>

namespace aicf {

Status CaughtStatus() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  } catch (...) {
  }
  try {
    return Status(Code::kInternal, "exception");
  } catch (...) {
    return Status::OutOfMemory();
  }
}

}  // namespace aicf
