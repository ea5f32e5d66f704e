/// What is known about architectures in addition to what a model's files say.
#pragma once

#include <string_view>

#include "compiler/import/language/model.h"

namespace aicf::language {

enum class Windows : uint8_t { kNone, kAll, kSecond, kSixth };

struct Architecture {
  std::string_view name;
  Norm norm;
  bool gated;
  Activation activation;
  bool interleaved;
  Windows windows;
  bool scaled;
  bool encoder;
};

/// Errors: kUnsupported listing the names.
Result<Architecture> FindArchitecture(std::string_view name);

/// Whether a layer sees only a window of positions.
bool IsWindowed(Windows windows, int64_t layer);

/// Sets in `model` what follows from the architecture and from the numbers that `model` has
/// already: norm, activation, embedding scale, whether it is an encoder.
void ApplyArchitecture(const Architecture& architecture, Model& model);

/// theta^(-2 i / size), i < size / 2.
std::vector<float> InverseFrequencies(double theta, int64_t size);

}  // namespace aicf::language
