#include "compiler/import/language/architecture.h"

#include <cmath>

#include "base/scanner.h"

namespace aicf::language {
namespace {

constexpr Architecture kArchitectures[] = {
#define AICF_ARCHITECTURE(name, norm, gated, activation, interleaved, windows, scaled, encoder) \
  {name, Norm::norm, gated, Activation::activation, interleaved, Windows::windows, scaled, encoder},
#include "compiler/import/language/architectures.def"
#undef AICF_ARCHITECTURE
};

}  // namespace

Result<Architecture> FindArchitecture(std::string_view name) {
  std::string known;
  for (const Architecture& a : kArchitectures) {
    if (a.name == name) return a;
    known += StrCat(known.empty() ? "" : ", ", a.name);
  }
  return Error(Code::kUnsupported, "architecture ", Quote(name),
               " is not supported; supported: ", known);
}

bool IsWindowed(Windows windows, int64_t layer) {
  switch (windows) {
    case Windows::kNone:
      return false;
    case Windows::kAll:
      return true;
    case Windows::kSecond:
      return layer % 2 == 0;
    case Windows::kSixth:
      return layer % 6 != 5;
  }
  return false;
}

void ApplyArchitecture(const Architecture& architecture, Model& model) {
  model.architecture = architecture.name;
  model.norm = architecture.norm;
  model.gated = architecture.gated;
  model.activation = architecture.activation;
  model.encoder = architecture.encoder;
  if (architecture.scaled) model.embedding_scale = std::sqrt(static_cast<double>(model.hidden));
}

std::vector<float> InverseFrequencies(double theta, int64_t size) {
  std::vector<float> out;
  for (int64_t i = 0; i < size / 2; ++i) {
    out.push_back(static_cast<float>(
        std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(size))));
  }
  return out;
}

}  // namespace aicf::language
