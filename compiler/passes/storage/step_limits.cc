#include "compiler/passes/storage/step_limits.h"

#include <numeric>

#include "kernels/abi/append.h"

namespace aicf::storage {
namespace {

std::vector<int> UpTo(size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

int MultipliedOperands(const abi::Problem& p) {
  switch (p.family) {
    case abi::Family::kGemm:
    case abi::Family::kConv:
      return 2;
    case abi::Family::kAttention:
      return 3;
    default:
      return 0;
  }
}

Tied TiedValues(const abi::Problem& p) {
  switch (p.family) {
    case abi::Family::kCopy:
      return {UpTo(p.inputs.size()), {0}};
    case abi::Family::kScatter:
      return {{0, 2}, {0}};
    case abi::Family::kAppend:
      return {{abi::kAppendKeys, abi::kAppendValues}, {abi::kNextKeys, abi::kNextValues}};
    case abi::Family::kTopK:
    case abi::Family::kScan:
    case abi::Family::kSample:
      return {{0}, {0}};
    case abi::Family::kRoi:
      return {{0, 1}, {0}};
    case abi::Family::kNms:
    case abi::Family::kRecurrent:
      return {UpTo(p.inputs.size()), UpTo(p.outputs.size())};
    default:
      return {};
  }
}

}  // namespace aicf::storage
