#include "compiler/import/language/model.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/scanner.h"

namespace aicf::language {
namespace {

size_t RowBytes(const Weight& w) {
  return static_cast<size_t>(*BlockBytes(w.format, 1, static_cast<uint64_t>(w.shape.back())));
}

/// A matrix or vector that must be there.
Status CheckWeight(const Model& model, const std::string& role, const Dims& shape) {
  const Weight* weight = model.Find(role);
  if (weight == nullptr) return Error(Code::kBadModel, "weight ", Quote(role), " is missing");
  if (weight->shape == shape) return OkStatus();
  return Error(Code::kBadModel, "weight ", Quote(role), " has shape ", ToString(weight->shape),
               ", expected ", ToString(shape));
}

/// Like CheckWeight, for a weight that may be absent.
Status CheckOptional(const Model& model, const std::string& role, const Dims& shape) {
  return model.Find(role) == nullptr ? OkStatus() : CheckWeight(model, role, shape);
}

Status CheckNorm(const Model& model, const std::string& role, int64_t length, bool required) {
  AICF_RETURN_IF_ERROR(required ? CheckWeight(model, role, {length})
                                : CheckOptional(model, role, {length}));
  return CheckOptional(model, role + ".bias", {length});
}

Status CheckMatrix(const Model& model, const std::string& role, int64_t out, int64_t in) {
  AICF_RETURN_IF_ERROR(CheckWeight(model, role, {out, in}));
  return CheckOptional(model, role + ".bias", {out});
}

// Checks either one joint matrix for all parts, or a matrix for each part.
Status CheckParts(const Model& model, int64_t layer, std::string_view joint,
                  const std::vector<std::pair<std::string_view, int64_t>>& parts) {
  int64_t all = 0;
  for (const auto& [role, out] : parts) all += out;
  if (model.Find(LayerRole(layer, joint)) != nullptr) {
    return CheckMatrix(model, LayerRole(layer, joint), all, model.hidden);
  }
  for (const auto& [role, out] : parts) {
    AICF_RETURN_IF_ERROR(CheckMatrix(model, LayerRole(layer, role), out, model.hidden));
  }
  return OkStatus();
}

Status CheckLayer(const Model& m, int64_t layer) {
  const auto role = [&](std::string_view name) { return LayerRole(layer, name); };
  const bool before = !m.encoder;
  AICF_RETURN_IF_ERROR(CheckNorm(m, role("attn_norm"), m.hidden, before));
  AICF_RETURN_IF_ERROR(CheckNorm(m, role("ffn_norm"), m.hidden, before));
  AICF_RETURN_IF_ERROR(CheckNorm(m, role("post_attention_norm"), m.hidden, !before));
  AICF_RETURN_IF_ERROR(CheckNorm(m, role("post_ffw_norm"), m.hidden, !before));
  AICF_RETURN_IF_ERROR(CheckNorm(m, role("attn_q_norm"), m.head, false));
  AICF_RETURN_IF_ERROR(CheckNorm(m, role("attn_k_norm"), m.head, false));
  const int64_t keys = m.key_heads * m.head;
  AICF_RETURN_IF_ERROR(CheckParts(
      m, layer, "attn_qkv", {{"attn_q", m.heads * m.head}, {"attn_k", keys}, {"attn_v", keys}}));
  AICF_RETURN_IF_ERROR(CheckMatrix(m, role("attn_output"), m.hidden, m.heads * m.head));
  if (m.gated) {
    AICF_RETURN_IF_ERROR(CheckParts(m, layer, "ffn_gate_up",
                                    {{"ffn_gate", m.feed_forward}, {"ffn_up", m.feed_forward}}));
  } else {
    AICF_RETURN_IF_ERROR(CheckMatrix(m, role("ffn_up"), m.feed_forward, m.hidden));
  }
  return CheckMatrix(m, role("ffn_down"), m.hidden, m.feed_forward);
}

Status CheckRange(std::string_view what, double value, double least, double most) {
  if (value >= least && value <= most) return OkStatus();
  return Error(Code::kBadModel, "the ", what, " is ", value, ", expected ", least, " to ", most);
}

/// A weight that owns its bytes.
Weight Owned(BlockFormat format, const Dims& shape, std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {format, shape, *owner, owner};
}

Status CheckEncoder(const Model& m) {
  AICF_RETURN_IF_ERROR(CheckNorm(m, "token_embd_norm", m.hidden, true));
  const Weight* types = m.Find("token_types");
  const int64_t kinds = types != nullptr && types->shape.rank() == 2 ? types->shape[0] : 2;
  if (kinds < 1) return Status(Code::kBadModel, "weight \"token_types\" is empty");
  return CheckWeight(m, "token_types", {kinds, m.hidden});
}

}  // namespace

const Weight* Model::Find(std::string_view role) const {
  const auto found = weights.find(role);
  return found == weights.end() ? nullptr : &found->second;
}

std::string LayerRole(int64_t layer, std::string_view role) {
  return StrCat("blk.", layer, ".", role);
}

std::optional<int64_t> LayerNumber(std::string_view digits) {
  if (digits.empty() || digits.size() > 4 || (digits[0] == '0' && digits.size() > 1)) return {};
  int64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return {};
    number = 10 * number + (c - '0');
  }
  return number;
}

int64_t StretchedContext(int64_t original, double factor) {
  const double positions = std::min(static_cast<double>(original) * factor, 0x1p53);
  return positions >= 1 ? static_cast<int64_t>(positions) : 0;
}

int64_t ContextMadeFor(const Model& model) {
  int64_t most = model.trained_context;
  if (!model.ropes.empty()) most = std::max(most, model.ropes.front().stretched_context);
  return most;
}

Status CheckSizes(const Model& m) {
  constexpr int64_t kMostLayers = 4096;
  if (m.layers > 0 && m.layers <= kMostLayers && m.head > 0 && m.key_heads > 0 &&
      m.heads % m.key_heads == 0) {
    return OkStatus();
  }
  return Error(Code::kBadModel, m.layers, " layers of ", m.heads, " heads and ", m.key_heads,
               " key heads of ", m.head, " elements; expected 1 to ", kMostLayers,
               " layers, and as many heads for every key head");
}

Status CheckNumbers(const Model& m) {
  AICF_RETURN_IF_ERROR(CheckRange("epsilon of the norms", m.epsilon, 0, 1));
  AICF_RETURN_IF_ERROR(CheckRange("scale of attention", m.attention_scale, 1e-9, 1e9));
  if (m.attention_cap != 0) {
    AICF_RETURN_IF_ERROR(CheckRange("cap of attention", m.attention_cap, 1e-3, 1e9));
  }
  if (m.logit_cap != 0) AICF_RETURN_IF_ERROR(CheckRange("cap of logits", m.logit_cap, 1e-3, 1e9));
  for (const Rope& rope : m.ropes) {
    AICF_RETURN_IF_ERROR(CheckRange("magnitude of the rope", rope.magnitude, 1e-3, 1e3));
    for (const auto* frequencies : {&rope.inverse_frequencies, &rope.long_frequencies}) {
      for (const float f : *frequencies) {
        AICF_RETURN_IF_ERROR(CheckRange("frequency of the rope", double{f}, 0, 1e3));
      }
    }
  }
  return OkStatus();
}

Status CheckWeights(const Model& m) {
  AICF_RETURN_IF_ERROR(CheckWeight(m, "token_embd", {m.vocabulary, m.hidden}));
  if (m.norm == Norm::kLayer) {
    AICF_RETURN_IF_ERROR(CheckWeight(m, "position_embd", {m.trained_context, m.hidden}));
  }
  if (m.encoder) AICF_RETURN_IF_ERROR(CheckEncoder(m));
  AICF_RETURN_IF_ERROR(CheckOptional(m, "output", {m.vocabulary, m.hidden}));
  AICF_RETURN_IF_ERROR(CheckNorm(m, "output_norm", m.hidden, !m.encoder));
  for (int64_t layer = 0; layer < m.layers; ++layer) {
    AICF_RETURN_IF_ERROR(CheckLayer(m, layer));
  }
  return OkStatus();
}

Result<std::vector<float>> Decode(const Weight& weight) {
  try {
    std::vector<float> values(static_cast<size_t>(*ElementCount(weight.shape)));
    DecodeBlocks(weight.format, weight.bytes, values);
    return values;
  } catch (const std::bad_alloc&) {
    return Error(Code::kResource, "no memory for ", *ElementCount(weight.shape), " values");
  }
}

Weight JoinRows(const std::vector<const Weight*>& parts) {
  Dims shape = parts[0]->shape;
  shape[0] = 0;
  std::vector<std::byte> bytes;
  for (const Weight* part : parts) {
    shape[0] += part->shape[0];
    bytes.insert(bytes.end(), part->bytes.begin(), part->bytes.end());
  }
  return Owned(parts[0]->format, shape, std::move(bytes));
}

Weight OwnedFloats(const Dims& shape, std::vector<float> values) {
  const auto raw = std::as_bytes(std::span(values));
  return Owned(BlockFormat::kF32, shape, std::vector<std::byte>(raw.begin(), raw.end()));
}

Weight Turned(const Weight& weight) {
  const auto rows = static_cast<size_t>(weight.shape[0]);
  const auto columns = static_cast<size_t>(weight.shape[1]);
  const size_t item = InfoOf(weight.format).bytes;
  std::vector<std::byte> bytes(weight.bytes.size());
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      std::memcpy(bytes.data() + (c * rows + r) * item,
                  weight.bytes.data() + (r * columns + c) * item, item);
    }
  }
  return Owned(weight.format, {weight.shape[1], weight.shape[0]}, std::move(bytes));
}

Weight PermuteRows(const Weight& weight, const std::vector<int64_t>& order) {
  const size_t row = RowBytes(weight);
  std::vector<std::byte> bytes(weight.bytes.size());
  for (size_t i = 0; i < order.size(); ++i) {
    std::memcpy(bytes.data() + i * row, weight.bytes.data() + static_cast<size_t>(order[i]) * row,
                row);
  }
  return Owned(weight.format, weight.shape, std::move(bytes));
}

}  // namespace aicf::language
