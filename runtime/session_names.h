/// Looking tensors up by name, and checking what the caller gives for one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"

namespace aicf {

/// The position of the named tensor. `what` is what errors call such a tensor: "input", for
/// example. Errors: kInvalidArgument naming the known ones.
Result<size_t> FindTensor(std::string_view what, std::string_view name,
                          const std::vector<TensorInfo>& tensors);

/// Checks that a shape from outside has no more than kMaxRank extents. Errors: kInvalidArgument.
Status CheckRank(const Dims& shape);

/// Checks what the caller gives, to be read or written, against a tensor of the session that has
/// `shape` now: dtype, shape and size of the memory. Errors: kInvalidArgument naming expected and
/// found.
Status CheckTensor(std::string_view what, const TensorInfo& tensor, const Dims& shape,
                   const ConstTensor& given);

}  // namespace aicf
