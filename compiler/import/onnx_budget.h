/// A protobuf of a few megabytes can describe gigabytes of empty messages. This walk over the wire
/// format finds out before the parser allocates them.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "compiler/ir/budgets.h"

namespace aicf {

/// Reads the file from its start and leaves the position there. Errors: kResource when the messages
/// and strings of an ONNX model in it would take more than Budget::kModelBytes beyond the file
/// itself; kBadModel when it is not well-formed or nested more than 100 deep; kIo.
Status CheckParseBudget(int fd, const Budgets& budgets = {});

}  // namespace aicf
