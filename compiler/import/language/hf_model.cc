#include "compiler/import/language/hf_model.h"

#include <algorithm>
#include <cmath>

#include "base/scanner.h"
#include "compiler/import/language/hf_model_types.h"
#include "compiler/import/language/hf_names.h"
#include "compiler/import/language/hf_pooling.h"
#include "compiler/import/language/hf_rope.h"
#include "compiler/import/language/hf_texts.h"
#include "compiler/import/safetensors/folder.h"

namespace aicf::language {
namespace {

constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh}};

BlockFormat FormatOf(DType dtype) {
  if (dtype == DType::kF32) return BlockFormat::kF32;
  return dtype == DType::kF16 ? BlockFormat::kF16 : BlockFormat::kBF16;
}

class HfModelReader {
 public:
  HfModelReader(const HfModelType& type, const safetensors::SafetensorsFile& tensors)
      : c_(type.config), tensors_(tensors), architecture_(type.architecture) {}

  Result<Model> Read() {
    AICF_RETURN_IF_ERROR(ReadSizes());
    AICF_RETURN_IF_ERROR(CheckSizes(m_));
    ApplyArchitecture(architecture_, m_);
    AICF_RETURN_IF_ERROR(ReadActivation());
    AICF_RETURN_IF_ERROR(ReadScales());
    AICF_RETURN_IF_ERROR(ReadWeights());
    AICF_RETURN_IF_ERROR(CheckWeights(m_));
    if (m_.norm == Norm::kRms) {
      AICF_RETURN_IF_ERROR(ReadRopes(c_, architecture_, m_));
    } else {
      m_.layer_numbers.assign(static_cast<size_t>(m_.layers), {});
    }
    AICF_RETURN_IF_ERROR(CheckNumbers(m_));
    return std::move(m_);
  }

 private:
  bool Gpt2() const { return architecture_.name == "gpt2"; }
  bool Gemma() const { return architecture_.name.starts_with("gemma"); }

  // A number of the configuration. GPT-2 has short keys for the same numbers.
  Result<int64_t> Size(const char* key, const char* short_key,
                       std::optional<int64_t> fallback = {}) {
    AICF_ASSIGN_OR_RETURN(const int64_t size, c_.Int(Gpt2() ? short_key : key, fallback));
    if (size > 0 && size <= (1 << 24)) return size;
    return Error(Code::kBadModel, "config.json: ", Quote(key), " is ", size);
  }

  Status ReadSizes() {
    AICF_ASSIGN_OR_RETURN(m_.layers, Size("num_hidden_layers", "n_layer"));
    AICF_ASSIGN_OR_RETURN(m_.hidden, Size("hidden_size", "n_embd"));
    AICF_ASSIGN_OR_RETURN(m_.heads, Size("num_attention_heads", "n_head"));
    AICF_ASSIGN_OR_RETURN(m_.key_heads, c_.Int("num_key_value_heads", m_.heads));
    AICF_ASSIGN_OR_RETURN(m_.head, c_.Int("head_dim", m_.hidden / m_.heads));
    AICF_ASSIGN_OR_RETURN(
        m_.feed_forward,
        Size("intermediate_size", "n_inner", Gpt2() ? std::optional(4 * m_.hidden) : std::nullopt));
    AICF_ASSIGN_OR_RETURN(m_.vocabulary, Size("vocab_size", "vocab_size"));
    AICF_ASSIGN_OR_RETURN(m_.trained_context, Size("max_position_embeddings", "n_positions"));
    const char* epsilon = Gpt2()                  ? "layer_norm_epsilon"
                          : architecture_.encoder ? "layer_norm_eps"
                                                  : "rms_norm_eps";
    AICF_ASSIGN_OR_RETURN(m_.epsilon, c_.Real(epsilon, Gpt2() ? 1e-5 : 1e-6));
    return OkStatus();
  }

  Status ReadActivation() {
    const char* key = c_.Has("hidden_activation") ? "hidden_activation"
                      : Gpt2()                    ? "activation_function"
                                                  : "hidden_act";
    if (!c_.Has(key)) return OkStatus();
    AICF_ASSIGN_OR_RETURN(const std::string name, c_.Text(key));
    for (const auto& [known, activation] : kActivations) {
      // Gemma's first configurations say "gelu" and mean its tanh approximation, which the
      // architecture has set already.
      if (known == name && !(Gemma() && name == "gelu")) {
        m_.activation = activation;
        return OkStatus();
      }
    }
    if (Gemma() && name == "gelu") return OkStatus();
    return Error(Code::kUnsupported, "config.json: activation ", Quote(name), " is not supported");
  }

  Status ReadScales() {
    AICF_ASSIGN_OR_RETURN(const double width,
                          c_.Real("query_pre_attn_scalar", static_cast<double>(m_.head)));
    if (!(width > 0)) {
      return Error(Code::kBadModel, "config.json: \"query_pre_attn_scalar\" is ", width);
    }
    m_.attention_scale = 1 / std::sqrt(width);
    const bool capped = architecture_.name == "gemma2" || architecture_.name == "gemma3";
    AICF_ASSIGN_OR_RETURN(m_.attention_cap, c_.Real("attn_logit_softcapping", 0.0));
    AICF_ASSIGN_OR_RETURN(m_.logit_cap, c_.Real("final_logit_softcapping", 0.0));
    if (!capped) m_.attention_cap = 0;
    return OkStatus();
  }

  Status ReadWeights() {
    AICF_ASSIGN_OR_RETURN(const bool tied, c_.Flag("tie_word_embeddings", false));
    for (const safetensors::NamedTensor& t : tensors_.tensors) {
      const auto role = RoleOfHfName(architecture_.name, t.name);
      if (!role) {
        return Error(Code::kUnsupported, "weight ", Quote(t.name), " is not known of architecture ",
                     architecture_.name);
      }
      if (role->layer >= m_.layers) {
        return Error(Code::kBadModel, "weight ", Quote(t.name), " is of layer ", role->layer,
                     ", the model has ", m_.layers);
      }
      if (role->role.empty() || (tied && role->role == "output")) continue;
      if (m_.Find(role->role) != nullptr) {
        return Error(Code::kBadModel, "weight ", Quote(t.name), " is there twice, as ", role->role);
      }
      AICF_RETURN_IF_ERROR(AddWeight(t, *role));
    }
    if (!tied && !m_.encoder && m_.Find("output") == nullptr) {
      return Status(Code::kBadModel,
                    "weight \"output\" is missing, and \"tie_word_embeddings\" is false");
    }
    return OkStatus();
  }

  Status AddWeight(const safetensors::NamedTensor& t, const HfRole& role) {
    const DType dtype = t.data.dtype();
    if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
      return Error(Code::kUnsupported, "weight ", Quote(t.name), " is ", DTypeName(dtype),
                   ", expected f32, f16 or bf16");
    }
    // A copy of the tensor keeps its bytes alive, through the file that all tensors share.
    auto owner = std::make_shared<const ir::Tensor>(t.data);
    Weight weight{FormatOf(dtype), t.data.shape(), t.data.bytes(), owner};
    if (role.turned) {
      if (weight.shape.rank() != 2) return Error(Code::kBadModel, t.name, " is no matrix");
      weight = Turned(weight);
    }
    if (Gemma() && role.role.ends_with("norm")) {
      AICF_ASSIGN_OR_RETURN(weight, PlusOne(weight));
    }
    m_.weights[role.role] = std::move(weight);
    return OkStatus();
  }

  // The weights plus one: Gemma's norms scale by one more than their weights.
  static Result<Weight> PlusOne(const Weight& weight) {
    AICF_ASSIGN_OR_RETURN(std::vector<float> values, Decode(weight));
    for (float& v : values) v += 1;
    return OwnedFloats(weight.shape, std::move(values));
  }

  const HfConfig& c_;
  const safetensors::SafetensorsFile& tensors_;
  const Architecture& architecture_;
  Model m_;
};

}  // namespace

Result<Model> ModelFromHfFolder(const std::string& folder, const NamedFiles& files) {
  AICF_ASSIGN_OR_RETURN(const HfTexts texts, ReadHfTexts(folder, files));
  AICF_ASSIGN_OR_RETURN(const HfConfig whole, HfConfig::Parse(texts.config, "config.json"));
  // A model for texts and images has the numbers of its text model in an object of their own.
  AICF_ASSIGN_OR_RETURN(const HfConfig inner, whole.Object("text_config"));
  const HfConfig config = whole.Has("text_config") ? inner : whole;
  AICF_ASSIGN_OR_RETURN(const HfModelType type, ReadModelType(config));
  AICF_ASSIGN_OR_RETURN(const auto tensors, safetensors::ReadFolder(folder, files));
  AICF_ASSIGN_OR_RETURN(Model model, HfModelReader(type, tensors).Read());
  if (model.encoder) AICF_RETURN_IF_ERROR(ReadPooling(texts, model));
  AICF_RETURN_IF_ERROR(AddTexts(texts, config.Over(whole), model));
  return model;
}

}  // namespace aicf::language
