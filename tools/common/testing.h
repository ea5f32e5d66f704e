/// Test support: views of values that a test holds as tensors.
#pragma once

#include <span>
#include <vector>

#include "tools/common/compare.h"

namespace aicf::tools::testing {

/// The values seen as a tensor. They have to outlive the view.
template <class T>
TensorView ViewOf(DType dtype, const std::vector<T>& values) {
  return {dtype, std::as_bytes(std::span(values))};
}

}  // namespace aicf::tools::testing
