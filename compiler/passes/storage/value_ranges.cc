#include "compiler/passes/storage/value_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "compiler/passes/lower/lower.h"

namespace aicf::storage {
namespace {

bool IsPast(const ir::Lowered& lowered, ir::BufferId b) {
  return std::ranges::any_of(lowered.states,
                             [b](const ir::LoweredState& s) { return s.past == b; });
}

// The sample's tensor as the input's dtype: files hold bf16 and smaller types as their bits.
std::optional<ir::Tensor> InputFrom(const NamedTensors& sample, const ir::LoweredBuffer& input) {
  const auto given = sample.find(input.name);
  if (given == sample.end() || given->second.shape() != input.shape) return std::nullopt;
  const ir::Tensor& t = given->second;
  if (t.bytes().size() != ir::BytesOf(input)) return std::nullopt;
  return ir::Tensor::Own(input.dtype, input.shape, {t.bytes().begin(), t.bytes().end()});
}

std::optional<std::vector<ir::Tensor>> InputsFrom(const NamedTensors& sample,
                                                  const ir::Lowered& lowered) {
  std::vector<ir::Tensor> inputs;
  for (ir::BufferId b : lowered.inputs) {
    const ir::LoweredBuffer& input = lowered.buffers[b];
    std::optional<ir::Tensor> tensor = InputFrom(sample, input);
    if (!tensor && IsPast(lowered, b)) {
      tensor =
          ir::Tensor::Own(input.dtype, input.shape, std::vector<std::byte>(ir::BytesOf(input)));
    }
    if (!tensor) return std::nullopt;
    inputs.push_back(*std::move(tensor));
  }
  return inputs;
}

double LargestOf(std::span<const std::byte> bytes) {
  double largest = 0;
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float value;
    std::memcpy(&value, bytes.data() + at, sizeof(float));
    if (std::isfinite(value)) largest = std::max(largest, static_cast<double>(std::fabs(value)));
  }
  return largest;
}

}  // namespace

Result<std::vector<double>> LargestValues(const ir::Lowered& lowered,
                                          const std::vector<NamedTensors>& samples) {
  std::vector<double> largest;
  for (const NamedTensors& sample : samples) {
    const auto inputs = InputsFrom(sample, lowered);
    if (!inputs) continue;
    largest.resize(lowered.buffers.size(), 0);
    const auto note = [&](ir::BufferId b, std::span<const std::byte> bytes) {
      if (lowered.buffers[b].dtype == DType::kF32) {
        largest[b] = std::max(largest[b], LargestOf(bytes));
      }
    };
    for (size_t i = 0; i < inputs->size(); ++i) note(lowered.inputs[i], (*inputs)[i].bytes());
    AICF_RETURN_IF_ERROR(Interpret(lowered, *inputs, note).status());
  }
  return largest;
}

}  // namespace aicf::storage
