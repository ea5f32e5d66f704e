/// How this library was built, for tests whose limits depend on it.
#pragma once

namespace aicf {

/// Whether the library is checked by a sanitizer (CMake option AICF_SANITIZE). Tests are built
/// plainly and link checked libraries, so a macro of theirs could not say.
bool IsSanitized();

}  // namespace aicf
