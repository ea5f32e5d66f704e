#include "kernels/abi/discontinuous.h"

namespace aicf::abi {

bool IsDiscontinuous(const ExprNode& node) {
  switch (node.op) {
    case ExprOp::kCast:
    case ExprOp::kMod:
    case ExprOp::kFmod:
    case ExprOp::kSign:
    case ExprOp::kEq:
    case ExprOp::kLt:
    case ExprOp::kLe:
    case ExprOp::kFloor:
    case ExprOp::kCeil:
    case ExprOp::kRound:
    case ExprOp::kTrunc:
      return true;
    default:
      return false;
  }
}

}  // namespace aicf::abi
