/// Every expansion named in composites.def. REQUIRES: the shapes of the node's inputs are known.
#pragma once

#include "base/status.h"

namespace aicf {

class Composer;

#define AICF_COMPOSITE(op, expand) Status expand(Composer&);
#include "compiler/passes/composite/composites.def"
#undef AICF_COMPOSITE

}  // namespace aicf
