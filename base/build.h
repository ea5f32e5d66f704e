/// How this library was built, for tests whose limits depend on it.
#pragma once

namespace aicf {

/// Whether the library was built with a sanitizer (CMake option AICF_SANITIZE). Tests ask this
/// function because they are compiled without one and only link instrumented libraries, so no macro
/// of their own could tell.
bool IsSanitized();

}  // namespace aicf
