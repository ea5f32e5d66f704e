#include "compiler/import/language/gguf_model.h"

#include <cmath>

#include "compiler/import/language/architecture.h"

namespace aicf::language {
namespace {

/// No model has more of anything; a file that says so is damaged.
constexpr uint64_t kMaxNumber = uint64_t{1} << 24;

class GgufModelReader {
 public:
  explicit GgufModelReader(const gguf::GgufFile& file) : file_(file) {}

  Result<Model> Read() {
    AICF_ASSIGN_OR_RETURN(const auto name, file_.Get<std::string_view>("general.architecture"));
    prefix_ = name;
    AICF_ASSIGN_OR_RETURN(architecture_, FindArchitecture(name));
    if (architecture_.encoder) {
      return Error(Code::kUnsupported, "architecture ", name,
                   " in a GGUF file is not supported; embedding models are read from folders");
    }
    AICF_RETURN_IF_ERROR(ReadSizes());
    ApplyArchitecture(architecture_, m_);
    AICF_RETURN_IF_ERROR(ReadCaps());
    AICF_RETURN_IF_ERROR(ReadWeights());
    AICF_RETURN_IF_ERROR(CheckWeights(m_));
    AICF_RETURN_IF_ERROR(ReadRopes());
    AICF_RETURN_IF_ERROR(ReadWindows());
    AICF_RETURN_IF_ERROR(CheckNumbers(m_));
    if (architecture_.interleaved) TakePairsApart();
    return std::move(m_);
  }

 private:
  std::string Key(std::string_view name) const { return StrCat(prefix_, ".", name); }

  Result<int64_t> Number(std::string_view name, std::optional<int64_t> fallback = {}) {
    const std::string key = Key(name);
    const gguf::Value* value = file_.FindValue(key);
    if (value == nullptr && fallback) return *fallback;
    uint64_t number = 0;
    if (value != nullptr && value->is_array()) {
      // The file has one number per layer. The graphs built here have the same number in all
      // layers.
      AICF_ASSIGN_OR_RETURN(const auto all, file_.Get<std::vector<uint64_t>>(key));
      for (uint64_t n : all) {
        if (n != all[0]) {
          return Error(Code::kUnsupported, key, " differs between layers");
        }
      }
      number = all.empty() ? 0 : all[0];
    } else {
      AICF_ASSIGN_OR_RETURN(number, file_.Get<uint64_t>(key));
    }
    if (number < 1 || number > kMaxNumber) {
      return Error(Code::kBadModel, "metadata ", Quote(key), " is ", number, ", expected 1 to ",
                   kMaxNumber);
    }
    return static_cast<int64_t>(number);
  }

  Result<double> Real(std::string_view name, double fallback) {
    AICF_ASSIGN_OR_RETURN(const auto value, file_.Find<float>(Key(name)));
    if (!value) return fallback;
    if (std::isfinite(*value)) return static_cast<double>(*value);
    return Error(Code::kBadModel, "metadata ", Quote(Key(name)), " is not finite");
  }

  Status ReadSizes() {
    AICF_ASSIGN_OR_RETURN(m_.layers, Number("block_count"));
    AICF_ASSIGN_OR_RETURN(m_.hidden, Number("embedding_length"));
    AICF_ASSIGN_OR_RETURN(m_.feed_forward, Number("feed_forward_length"));
    AICF_ASSIGN_OR_RETURN(m_.heads, Number("attention.head_count"));
    AICF_ASSIGN_OR_RETURN(m_.key_heads, Number("attention.head_count_kv", m_.heads));
    AICF_ASSIGN_OR_RETURN(m_.head, Number("attention.key_length", m_.hidden / m_.heads));
    AICF_ASSIGN_OR_RETURN(const int64_t value, Number("attention.value_length", m_.head));
    AICF_ASSIGN_OR_RETURN(m_.trained_context, Number("context_length"));
    if (value != m_.head) {
      return Error(Code::kUnsupported, "keys of ", m_.head, " and values of ", value,
                   " elements per head");
    }
    AICF_RETURN_IF_ERROR(CheckSizes(m_));
    const gguf::Tensor* embedding = file_.FindTensor("token_embd.weight");
    if (embedding == nullptr || embedding->shape.rank() != 2) {
      return Error(Code::kBadModel, "weight \"token_embd\" is missing or no matrix");
    }
    m_.vocabulary = embedding->shape[0];
    AICF_ASSIGN_OR_RETURN(const double layer_epsilon, Real("attention.layer_norm_epsilon", 1e-5));
    AICF_ASSIGN_OR_RETURN(m_.epsilon, Real("attention.layer_norm_rms_epsilon", layer_epsilon));
    return OkStatus();
  }

  Status ReadCaps() {
    m_.attention_scale = 1 / std::sqrt(static_cast<double>(m_.head));
    if (prefix_ != "gemma2") return OkStatus();
    // The largest model of the family (46 layers) scales its queries by the width per head.
    constexpr int64_t kLayersOf27B = 46;
    if (m_.layers == kLayersOf27B) {
      m_.attention_scale = 1 / std::sqrt(static_cast<double>(m_.hidden / m_.heads));
    }
    AICF_ASSIGN_OR_RETURN(m_.attention_cap, Real("attn_logit_softcapping", 50));
    AICF_ASSIGN_OR_RETURN(m_.logit_cap, Real("final_logit_softcapping", 30));
    return OkStatus();
  }

  // Phi-3 calls its joint matrix of gate and up "ffn_up".
  std::string RoleOf(std::string_view name) const {
    std::string role(name);
    if (role.ends_with(".weight")) role.resize(role.size() - 7);
    const size_t up = role.find(".ffn_up");
    if (prefix_ == "phi3" && up != std::string::npos) role.insert(up + 5, "gate_");
    return role;
  }

  Status CheckLayerOf(std::string_view name) const {
    constexpr std::string_view kLayer = "blk.";
    if (!name.starts_with(kLayer)) return OkStatus();
    const std::string_view digits =
        name.substr(kLayer.size(), name.find('.', kLayer.size()) - kLayer.size());
    const auto layer = LayerNumber(digits);
    if (layer && *layer < m_.layers) return OkStatus();
    return Error(Code::kBadModel, "weight ", Quote(name), " is of no layer of ", m_.layers);
  }

  Status ReadWeights() {
    for (const gguf::Tensor& t : file_.tensors()) {
      AICF_RETURN_IF_ERROR(CheckLayerOf(t.name));
      m_.weights[RoleOf(t.name)] = {t.format, t.shape, t.bytes, file_.owner()};
    }
    return OkStatus();
  }

  // The frequencies, divided by the factors that the weight of this role holds; unchanged where
  // there is no such weight.
  Result<std::vector<float>> Divided(std::vector<float> frequencies, const char* role) {
    const Weight* weight = m_.Find(role);
    if (weight == nullptr) return frequencies;
    if (weight->shape != Dims{static_cast<int64_t>(frequencies.size())}) {
      return Error(Code::kBadModel, "weight ", Quote(role), " is not one factor for each of ",
                   frequencies.size(), " pairs");
    }
    AICF_ASSIGN_OR_RETURN(const std::vector<float> divisors, Decode(*weight));
    for (size_t i = 0; i < divisors.size(); ++i) {
      if (!(divisors[i] > 0)) {
        return Error(Code::kBadModel, "weight ", Quote(role), " has ", divisors[i],
                     ", expected factors above 0");
      }
      frequencies[i] /= divisors[i];
    }
    return frequencies;
  }

  // A model whose context was stretched has two sets of factors: one for texts up to the length for
  // which it was first trained, and one for longer texts.
  Status DivideFrequencies(Rope& rope) {
    AICF_ASSIGN_OR_RETURN(rope.inverse_frequencies,
                          Divided(std::move(rope.inverse_frequencies), "rope_freqs"));
    if (m_.Find("rope_factors_long") == nullptr) return OkStatus();
    AICF_ASSIGN_OR_RETURN(rope.short_context,
                          Number("rope.scaling.original_context_length", m_.trained_context));
    AICF_ASSIGN_OR_RETURN(rope.long_frequencies,
                          Divided(rope.inverse_frequencies, "rope_factors_long"));
    AICF_ASSIGN_OR_RETURN(rope.inverse_frequencies,
                          Divided(rope.inverse_frequencies, "rope_factors_short"));
    return OkStatus();
  }

  Status ReadRopes() {
    if (m_.norm == Norm::kLayer) return OkStatus();  // positions are learned
    AICF_ASSIGN_OR_RETURN(const int64_t size, Number("rope.dimension_count", m_.head));
    if (size > m_.head || size % 2 != 0) {
      return Error(Code::kBadModel, size, " of ", m_.head, " elements of a head turn");
    }
    AICF_ASSIGN_OR_RETURN(const double theta, Real("rope.freq_base", 10000));
    if (!(theta > 0)) return Error(Code::kBadModel, "rope.freq_base is ", theta);
    AICF_ASSIGN_OR_RETURN(const double scale, Scaling());
    Rope rope{InverseFrequencies(theta, size), 1};
    if (scale != 1) AICF_RETURN_IF_ERROR(Stretch(rope, scale));
    AICF_RETURN_IF_ERROR(DivideFrequencies(rope));
    AICF_ASSIGN_OR_RETURN(rope.magnitude, Real("rope.scaling.attn_factor", 1));
    m_.ropes = {rope};
    if (prefix_ != "gemma3") return OkStatus();
    AICF_ASSIGN_OR_RETURN(const double near, Real("rope.freq_base_swa", 10000));
    m_.ropes.push_back({InverseFrequencies(near, size), 1});
    return OkStatus();
  }

  Status Stretch(Rope& rope, double scale) {
    for (float& f : rope.inverse_frequencies) f = static_cast<float>(f / scale);
    AICF_ASSIGN_OR_RETURN(const int64_t original,
                          Number("rope.scaling.original_context_length", m_.trained_context));
    rope.stretched_context = StretchedContext(original, scale);
    return OkStatus();
  }

  Result<double> Scaling() {
    AICF_ASSIGN_OR_RETURN(const auto type, file_.Find<std::string_view>(Key("rope.scaling.type")));
    if (!type || *type == "none" || *type == "longrope") return 1;
    if (*type != "linear") {
      return Error(Code::kUnsupported, "rope scaling ", Quote(*type),
                   "; supported: linear, "
                   "longrope, and factors of frequencies");
    }
    AICF_ASSIGN_OR_RETURN(const double factor, Real("rope.scaling.factor", 1));
    if (factor > 0) return factor;
    return Error(Code::kBadModel, "rope.scaling.factor is ", factor);
  }

  Status ReadWindows() {
    int64_t window = 0;
    if (file_.FindValue(Key("attention.sliding_window")) != nullptr) {
      AICF_ASSIGN_OR_RETURN(window, Number("attention.sliding_window"));
    }
    for (int64_t layer = 0; layer < m_.layers; ++layer) {
      const bool windowed = IsWindowed(architecture_.windows, layer);
      m_.layer_numbers.push_back({windowed ? window : 0, windowed && m_.ropes.size() > 1 ? 1 : 0});
    }
    return OkStatus();
  }

  // Reorders the rows of query and key weights: row 2 i + j of a head becomes row j * pairs + i.
  // Two elements that turn together then lie half a head apart, as in all other models.
  void TakePairsApart() {
    const int64_t pairs = static_cast<int64_t>(m_.ropes[0].inverse_frequencies.size());
    for (int64_t layer = 0; layer < m_.layers; ++layer) {
      for (const auto& [role, heads] :
           {std::pair{"attn_q", m_.heads}, std::pair{"attn_k", m_.key_heads}}) {
        std::vector<int64_t> order;
        for (int64_t row = 0; row < heads * m_.head; ++row) {
          const int64_t in = row % m_.head;
          const bool turns = in < 2 * pairs;
          order.push_back(turns ? row - in + in % pairs * 2 + in / pairs : row);
        }
        for (const char* suffix : {"", ".bias"}) {
          const auto found = m_.weights.find(LayerRole(layer, role) + suffix);
          if (found != m_.weights.end()) found->second = PermuteRows(found->second, order);
        }
      }
    }
  }

  const gguf::GgufFile& file_;
  std::string prefix_;
  Architecture architecture_{};
  Model m_;
};

}  // namespace

Result<Model> ModelFromGguf(const gguf::GgufFile& file) { return GgufModelReader(file).Read(); }

}  // namespace aicf::language
