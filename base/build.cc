#include "base/build.h"

namespace aicf {

bool IsSanitized() {
#if defined(AICF_SANITIZED)
  return true;
#else
  return false;
#endif
}

}  // namespace aicf
