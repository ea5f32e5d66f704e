/// Looking tensors up by name, and checking the caller's memory for one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"

namespace aicf {

/// The tensor's position. Errors: kInvalidArgument naming the known ones; `what` is "input".
Result<size_t> FindTensor(std::string_view what, std::string_view name,
                          const std::vector<TensorInfo>& tensors);

/// The caller's memory against a tensor of this shape. Errors: kInvalidArgument.
Status CheckMemory(std::string_view what, const TensorInfo& tensor, const Dims& shape,
                   const void* data, uint64_t bytes);

}  // namespace aicf
