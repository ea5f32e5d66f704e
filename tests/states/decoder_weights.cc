#include "tests/states/decoder_weights.h"

#include <cmath>
#include <random>

namespace aicf::states {
namespace {

// Products keep the magnitude of what they multiply; factors of norms lie around 1.
Decoder::Weight RandomWeight(std::vector<int64_t> shape, std::mt19937& random) {
  const bool factors = shape.size() == 1;
  std::normal_distribution<float> normal(
      factors ? 1.0f : 0.0f, factors ? 0.1f : 1 / std::sqrt(static_cast<float>(shape[0])));
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  Decoder::Weight weight{std::move(shape), {}};
  for (int64_t i = 0; i < count; ++i) weight.values.push_back(normal(random));
  return weight;
}

}  // namespace

Decoder::Decoder() {
  std::mt19937 random(11);
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    weights[name] = RandomWeight(std::move(shape), random);
  };
  add("embed", {kTokens, kHidden});
  for (float& x : weights["embed"].values) x *= std::sqrt(static_cast<float>(kTokens));
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const std::string in = std::to_string(layer) + ".";
    add(in + "norm1", {kHidden});
    add(in + "q", {kHidden, kHeads * kHead});
    add(in + "k", {kHidden, kGroups * kHead});
    add(in + "v", {kHidden, kGroups * kHead});
    add(in + "o", {kHeads * kHead, kHidden});
    add(in + "norm2", {kHidden});
    add(in + "gate", {kHidden, kInner});
    add(in + "up", {kHidden, kInner});
    add(in + "down", {kInner, kHidden});
  }
  add("norm", {kHidden});
  add("head", {kHidden, kTokens});
}

std::vector<double> RotaryFrequencies() {
  std::vector<double> out;
  for (int64_t i = 0; i < Decoder::kHead / 2; ++i) {
    out.push_back(std::pow(10000.0, -2.0 * static_cast<double>(i) / Decoder::kHead));
  }
  return out;
}

}  // namespace aicf::states
