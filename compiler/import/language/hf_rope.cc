#include "compiler/import/language/hf_rope.h"

#include <cmath>
#include <numbers>

#include "base/scanner.h"

namespace aicf::language {
namespace {

/// One kind of rotary positions as a configuration says it.
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

// A divisor for every pair, of the list for texts of the length that the model is made for.
Status ScaleLong(const HfConfig& c, const HfConfig& scaling, const Model& m, Rope& rope) {
  const HfConfig& where = scaling.Has("original_max_position_embeddings") ? scaling : c;
  AICF_ASSIGN_OR_RETURN(const int64_t original,
                        where.Int("original_max_position_embeddings", m.trained_context));
  const bool stretched = m.trained_context > original;
  AICF_ASSIGN_OR_RETURN(const std::vector<double> factors,
                        scaling.Reals(stretched ? "long_factor" : "short_factor"));
  if (factors.size() != rope.inverse_frequencies.size()) {
    return Error(Code::kBadModel, "config.json: ", factors.size(), " rope factors for ",
                 rope.inverse_frequencies.size(), " pairs");
  }
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!(factors[i] > 0)) return Error(Code::kBadModel, "config.json: a rope factor is not > 0");
    rope.inverse_frequencies[i] = static_cast<float>(rope.inverse_frequencies[i] / factors[i]);
  }
  const double ratio = static_cast<double>(m.trained_context) / static_cast<double>(original);
  const double grown =
      stretched ? std::sqrt(1 + std::log(ratio) / std::log(static_cast<double>(original))) : 1;
  AICF_ASSIGN_OR_RETURN(rope.magnitude, scaling.Real("attention_factor", grown));
  return OkStatus();
}

Result<Rope> RopeOf(const HfConfig& c, const RopeSource& source, const Model& m) {
  AICF_ASSIGN_OR_RETURN(const double flat, c.Real("partial_rotary_factor", 1.0));
  AICF_ASSIGN_OR_RETURN(const double part, source.scaling.Real("partial_rotary_factor", flat));
  const auto size = static_cast<int64_t>(static_cast<double>(m.head) * part);
  if (size < 2 || size > m.head || size % 2 != 0 || !(source.theta > 0)) {
    return Error(Code::kBadModel, "config.json: ", size, " of ", m.head,
                 " elements of a head turn, by ", source.theta);
  }
  Rope rope{InverseFrequencies(source.theta, size), 1};
  const char* key = source.scaling.Has("rope_type") ? "rope_type" : "type";
  AICF_ASSIGN_OR_RETURN(const std::string type, source.scaling.Text(key, "default"));
  if (type == "default") return rope;
  if (type == "linear") {
    AICF_ASSIGN_OR_RETURN(const double factor, source.scaling.Real("factor"));
    AICF_RETURN_IF_ERROR(DivideAll(rope, factor));
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

/// Where the configuration says how layers of a kind ("full_attention", "sliding_attention") turn.
Result<RopeSource> SourceOf(const HfConfig& c, const char* kind, bool local) {
  AICF_ASSIGN_OR_RETURN(const HfConfig none, HfConfig::Parse("{}", "config.json"));
  AICF_ASSIGN_OR_RETURN(double theta, c.Real("rope_theta", 10000.0));
  if (c.Has("rope_parameters")) {
    const HfConfig all = c.Child("rope_parameters");
    const HfConfig own = all.Has(kind) ? all.Child(kind) : all;
    AICF_ASSIGN_OR_RETURN(theta, own.Real("rope_theta", theta));
    return RopeSource{theta, own};
  }
  if (local) {
    AICF_ASSIGN_OR_RETURN(theta, c.Real("rope_local_base_freq", 10000.0));
    return RopeSource{theta, none};
  }
  return RopeSource{theta, c.Has("rope_scaling") ? c.Child("rope_scaling") : none};
}

// Which layers see a window only.
Result<std::vector<bool>> WindowedLayers(const HfConfig& c, const Architecture& architecture,
                                         const Model& m) {
  std::vector<bool> windowed;
  if (c.Has("layer_types")) {
    AICF_ASSIGN_OR_RETURN(const std::vector<std::string> types, c.Texts("layer_types"));
    if (static_cast<int64_t>(types.size()) != m.layers) {
      return Error(Code::kBadModel, "config.json: ", types.size(), " layer_types for ", m.layers,
                   " layers");
    }
    for (const std::string& type : types) {
      if (type != "full_attention" && type != "sliding_attention") {
        return Error(Code::kUnsupported, "config.json: layers of type ", Quote(type));
      }
      windowed.push_back(type == "sliding_attention");
    }
    return windowed;
  }
  AICF_ASSIGN_OR_RETURN(const bool used, c.Flag("use_sliding_window", false));
  AICF_ASSIGN_OR_RETURN(const int64_t first, c.Int("max_window_layers", 0));
  for (int64_t layer = 0; layer < m.layers; ++layer) {
    const bool qwen = architecture.name.starts_with("qwen");
    windowed.push_back(qwen ? used && layer >= first : IsWindowed(architecture.windows, layer));
  }
  return windowed;
}

}  // namespace

Status ReadRopes(const HfConfig& c, const Architecture& architecture, Model& m) {
  AICF_ASSIGN_OR_RETURN(const RopeSource full, SourceOf(c, "full_attention", false));
  AICF_ASSIGN_OR_RETURN(const Rope rope, RopeOf(c, full, m));
  m.ropes = {rope};
  const bool two = architecture.name == "gemma3";
  if (two) {
    AICF_ASSIGN_OR_RETURN(const RopeSource local, SourceOf(c, "sliding_attention", true));
    AICF_ASSIGN_OR_RETURN(const Rope near, RopeOf(c, local, m));
    m.ropes.push_back(near);
  }
  AICF_ASSIGN_OR_RETURN(const int64_t window, c.Int("sliding_window", 0));
  AICF_ASSIGN_OR_RETURN(const std::vector<bool> windowed, WindowedLayers(c, architecture, m));
  for (const bool local : windowed) {
    m.layer_numbers.push_back({local ? window : 0, two && local ? 1 : 0});
  }
  return OkStatus();
}

}  // namespace aicf::language
