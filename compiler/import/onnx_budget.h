/// A protobuf of a few megabytes can describe gigabytes of empty messages. This walk over the wire
/// format finds out before the parser allocates them.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace aicf {

/// Memory that parsing a model may take beyond the bytes of the file itself.
inline constexpr uint64_t kParseBudgetBytes = uint64_t{4} << 30;

/// Reads the file from its start and leaves the position there. Errors: kResource when the messages
/// and strings of an ONNX model in it would take more than `budget` bytes; kBadModel when it is not
/// well-formed or nested more than 100 deep; kIo.
Status CheckParseBudget(int fd, uint64_t budget = kParseBudgetBytes);

}  // namespace aicf
