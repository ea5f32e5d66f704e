/// Test support: tensors of values that a test holds.
#pragma once

#include <span>
#include <vector>

#include "tools/common/compare.h"

namespace aicf::tools::testing {

/// The values as a tensor's bytes; they have to outlive it.
template <class T>
TensorView ViewOf(DType dtype, const std::vector<T>& values) {
  return {dtype, std::as_bytes(std::span(values))};
}

}  // namespace aicf::tools::testing
