#include "compiler/import/language/hf_rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/scanner.h"

namespace aicf::language {
namespace {

/// What a configuration says of one kind of rotary positions.
struct RopeSource {
  double theta = 10000;
  HfConfig scaling;  ///< has "rope_type", or "type" in older files, where there is any scaling
};

Status DivideAll(Rope& rope, double by) {
  if (!(by > 0)) return Error(Code::kBadModel, "config.json: a rope factor of ", by);
  for (float& f : rope.inverse_frequencies) f = static_cast<float>(f / by);
  return OkStatus();
}

// Long waves are stretched by the factor, short ones stay, and those between are mixed.
Status ScaleLlama3(const HfConfig& c, Rope& rope) {
  AICF_ASSIGN_OR_RETURN(const double factor, c.Real("factor"));
  AICF_ASSIGN_OR_RETURN(const double low, c.Real("low_freq_factor"));
  AICF_ASSIGN_OR_RETURN(const double high, c.Real("high_freq_factor"));
  AICF_ASSIGN_OR_RETURN(const double context, c.Real("original_max_position_embeddings"));
  if (!(factor > 0) || !(low > 0) || !(high > low) || !(context > 0)) {
    return Status(Code::kBadModel, "config.json: rope scaling has impossible factors");
  }
  for (float& f : rope.inverse_frequencies) {
    const double wave = 2 * std::numbers::pi / f;
    const double smooth = (context / wave - low) / (high - low);
    const double kept = std::min(1.0, std::max(0.0, smooth));
    f = static_cast<float>((1 - kept) * f / factor + kept * f);
  }
  return OkStatus();
}

// Frequencies, each divided by the factor that the list `key` has for its pair.
Result<std::vector<float>> Divided(const std::vector<float>& frequencies, const HfConfig& scaling,
                                   const char* key) {
  AICF_ASSIGN_OR_RETURN(const std::vector<double> factors, scaling.Reals(key));
  if (factors.size() != frequencies.size()) {
    return Error(Code::kBadModel, "config.json: ", factors.size(), " numbers in ", Quote(key),
                 " for ", frequencies.size(), " pairs");
  }
  std::vector<float> out;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!(factors[i] > 0)) {
      return Error(Code::kBadModel, "config.json: ", Quote(key), " has ", factors[i],
                   ", expected factors above 0");
    }
    out.push_back(static_cast<float>(frequencies[i] / factors[i]));
  }
  return out;
}

// Reads two lists of factors: one for texts up to the length for which the model was first trained,
// and one for longer texts. Sine and cosine are multiplied by a number that grows with how much
// longer texts may be; it applies to short texts as well.
Status ScaleLong(const HfConfig& c, const HfConfig& scaling, const Model& m, Rope& rope) {
  const char* const key = "original_max_position_embeddings";
  const HfConfig& where = scaling.Has(key) ? scaling : c;
  AICF_ASSIGN_OR_RETURN(rope.short_context, where.Int(key, m.trained_context));
  if (rope.short_context < 2) {
    return Error(Code::kBadModel, "config.json: ", Quote(key), " is ", rope.short_context);
  }
  AICF_ASSIGN_OR_RETURN(rope.long_frequencies,
                        Divided(rope.inverse_frequencies, scaling, "long_factor"));
  AICF_ASSIGN_OR_RETURN(rope.inverse_frequencies,
                        Divided(rope.inverse_frequencies, scaling, "short_factor"));
  const auto first = static_cast<double>(rope.short_context);
  const double ratio = static_cast<double>(m.trained_context) / first;
  AICF_ASSIGN_OR_RETURN(const double factor, scaling.Real("factor", ratio));
  const double grown = factor > 1 ? std::sqrt(1 + std::log(factor) / std::log(first)) : 1;
  AICF_ASSIGN_OR_RETURN(rope.magnitude, scaling.Real("attention_factor", grown));
  return OkStatus();
}

Result<Rope> RopeOf(const HfConfig& c, const RopeSource& source, const Model& m) {
  AICF_ASSIGN_OR_RETURN(const double flat, c.Real("partial_rotary_factor", 1.0));
  AICF_ASSIGN_OR_RETURN(const double part, source.scaling.Real("partial_rotary_factor", flat));
  const auto size = static_cast<int64_t>(static_cast<double>(m.head) * std::clamp(part, 0.0, 1.0));
  if (!(part > 0 && part <= 1) || size < 2 || size % 2 != 0) {
    return Error(Code::kBadModel, "config.json: ", part, " of ", m.head,
                 " elements of a head turn, expected an even number");
  }
  if (!(source.theta >= 1)) {
    return Error(Code::kBadModel, "config.json: rope_theta is ", source.theta,
                 ", expected at least 1");
  }
  Rope rope{InverseFrequencies(source.theta, size), 1};
  const char* key = source.scaling.Has("rope_type") ? "rope_type" : "type";
  AICF_ASSIGN_OR_RETURN(const std::string type, source.scaling.Text(key, "default"));
  if (type == "default") return rope;
  if (type == "linear") {
    AICF_ASSIGN_OR_RETURN(const double factor, source.scaling.Real("factor"));
    AICF_RETURN_IF_ERROR(DivideAll(rope, factor));
    AICF_ASSIGN_OR_RETURN(
        const int64_t original,
        source.scaling.Int("original_max_position_embeddings", m.trained_context));
    rope.stretched_context = StretchedContext(original, factor);
  } else if (type == "llama3") {
    AICF_RETURN_IF_ERROR(ScaleLlama3(source.scaling, rope));
  } else if (type == "longrope" || type == "su") {
    AICF_RETURN_IF_ERROR(ScaleLong(c, source.scaling, m, rope));
  } else {
    return Error(Code::kUnsupported, "config.json: rope scaling ", Quote(type),
                 " is not supported; supported: linear, llama3, longrope");
  }
  return rope;
}

/// What the configuration says of how layers of a kind ("full_attention", "sliding_attention")
/// turn.
Result<RopeSource> SourceOf(const HfConfig& c, const char* kind, bool local) {
  AICF_ASSIGN_OR_RETURN(double theta, c.Real("rope_theta", 10000.0));
  if (c.Has("rope_parameters")) {
    AICF_ASSIGN_OR_RETURN(HfConfig own, c.Object("rope_parameters"));
    if (own.Has(kind)) {
      AICF_ASSIGN_OR_RETURN(own, own.Object(kind));
    }
    AICF_ASSIGN_OR_RETURN(theta, own.Real("rope_theta", theta));
    return RopeSource{theta, own};
  }
  if (local) {
    AICF_ASSIGN_OR_RETURN(theta, c.Real("rope_local_base_freq", 10000.0));
    AICF_ASSIGN_OR_RETURN(const HfConfig none, HfConfig::Parse("{}", "config.json"));
    return RopeSource{theta, none};
  }
  AICF_ASSIGN_OR_RETURN(const HfConfig scaling, c.Object("rope_scaling"));
  return RopeSource{theta, scaling};
}

// Which layers see a window only, as "layer_types" says it.
Result<std::vector<bool>> ListedLayers(const HfConfig& c, const Model& m) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> types, c.Texts("layer_types"));
  if (static_cast<int64_t>(types.size()) != m.layers) {
    return Error(Code::kBadModel, "config.json: ", types.size(), " layer_types for ", m.layers,
                 " layers");
  }
  std::vector<bool> windowed;
  for (const std::string& type : types) {
    if (type != "full_attention" && type != "sliding_attention") {
      return Error(Code::kUnsupported, "config.json: layers of type ", Quote(type),
                   " are not supported");
    }
    windowed.push_back(type == "sliding_attention");
  }
  return windowed;
}

// Which layers see a window only, by the numbers that older versions wrote.
Result<std::vector<bool>> NumberedLayers(const HfConfig& c, const Architecture& architecture,
                                         const Model& m) {
  AICF_ASSIGN_OR_RETURN(const bool used, c.Flag("use_sliding_window", false));
  AICF_ASSIGN_OR_RETURN(const int64_t first, c.Int("max_window_layers", 0));
  AICF_ASSIGN_OR_RETURN(const int64_t pattern, c.Int("sliding_window_pattern", 6));
  if (pattern < 1) return Status(Code::kBadModel, "config.json: sliding_window_pattern is 0");
  std::vector<bool> windowed;
  for (int64_t layer = 0; layer < m.layers; ++layer) {
    if (architecture.name.starts_with("qwen")) {
      windowed.push_back(used && layer >= first);
    } else if (architecture.windows == Windows::kSixth) {
      windowed.push_back((layer + 1) % pattern != 0);
    } else {
      windowed.push_back(IsWindowed(architecture.windows, layer));
    }
  }
  return windowed;
}

/// The window of every layer.
Result<std::vector<int64_t>> WindowsOf(const HfConfig& c, const Architecture& architecture,
                                       const Model& m) {
  AICF_ASSIGN_OR_RETURN(const std::vector<bool> windowed, c.Has("layer_types")
                                                              ? ListedLayers(c, m)
                                                              : NumberedLayers(c, architecture, m));
  AICF_ASSIGN_OR_RETURN(const int64_t window, c.Int("sliding_window", 0));
  // If the layers are listed, a missing window is an error, and does not mean that no layer has
  // one.
  const bool needed = c.Has("sliding_window") || c.Has("layer_types");
  std::vector<int64_t> windows;
  for (const bool local : windowed) {
    if (local && needed && window == 0) {
      return Status(Code::kBadModel,
                    "config.json: layers see a window, but \"sliding_window\" is 0");
    }
    windows.push_back(local ? window : 0);
  }
  return windows;
}

}  // namespace

Status ReadRopes(const HfConfig& c, const Architecture& architecture, Model& m) {
  AICF_ASSIGN_OR_RETURN(const RopeSource full, SourceOf(c, "full_attention", false));
  AICF_ASSIGN_OR_RETURN(const Rope rope, RopeOf(c, full, m));
  m.ropes = {rope};
  AICF_ASSIGN_OR_RETURN(const HfConfig parameters, c.Object("rope_parameters"));
  const bool two = architecture.name == "gemma3" || parameters.Has("sliding_attention");
  if (two) {
    AICF_ASSIGN_OR_RETURN(const RopeSource local, SourceOf(c, "sliding_attention", true));
    AICF_ASSIGN_OR_RETURN(const Rope near, RopeOf(c, local, m));
    m.ropes.push_back(near);
  }
  AICF_ASSIGN_OR_RETURN(const std::vector<int64_t> windows, WindowsOf(c, architecture, m));
  for (const int64_t window : windows) {
    m.layer_numbers.push_back({window, two && window > 0 ? 1 : 0});
  }
  return OkStatus();
}

}  // namespace aicf::language
