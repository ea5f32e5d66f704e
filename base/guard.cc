#include "base/guard.h"

#include <exception>
#include <new>

namespace aicf {
namespace {

Status Unexpected(const char* what) noexcept {
  try {
    return Error(Code::kInternal, "unexpected exception: ", what);
  } catch (...) {
    return Status::OutOfMemory();
  }
}

}  // namespace

Status CaughtStatus() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  } catch (const std::exception& e) {
    return Unexpected(e.what());
  } catch (...) {
    return Unexpected("of no known type");
  }
}

}  // namespace aicf
