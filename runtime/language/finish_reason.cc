#include "aicf/generator.h"

namespace aicf {

std::string_view FinishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kNone:
      return "none";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kContext:
      return "context";
    case FinishReason::kEndToken:
      return "end-token";
    case FinishReason::kStopToken:
      return "stop-token";
    case FinishReason::kStopText:
      return "stop-text";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "none";
}

}  // namespace aicf
