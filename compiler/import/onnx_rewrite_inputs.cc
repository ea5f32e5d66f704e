// Attributes that became inputs. An attribute is turned into a constant wherever it is found; a
// node that has it in both forms is malformed.
#include <optional>

#include "compiler/import/onnx_rewrite_forms.h"
#include "compiler/ir/legacy.h"

namespace aicf {
namespace {

// Takes an attribute off the node; nullopt when it is absent.
template <class T>
std::optional<T> Take(NodeRewrite& r, std::string_view key) {
  const auto it = r.node.attrs.find(key);
  if (it == r.node.attrs.end() || !std::holds_alternative<T>(it->second)) return std::nullopt;
  T value = std::get<T>(it->second);
  r.node.attrs.erase(it);
  return value;
}

Status CheckFree(const NodeRewrite& r, size_t input, std::string_view key) {
  if (!r.HasInput(input)) return OkStatus();
  return Error(Code::kBadModel, "has both an attribute '", key, "' and an input for it");
}

Status IntsToInput(NodeRewrite& r, std::string_view key, size_t input) {
  const auto values = Take<std::vector<int64_t>>(r, key);
  if (!values) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckFree(r, input, key));
  r.SetInput(input, r.AddInts(key, *values));
  return OkStatus();
}

// Makes a scalar attribute an input. Its dtype is that of input 0, which is not known yet, so shape
// inference sets it (kLegacyScalars).
Status ScalarToInput(NodeRewrite& r, std::string_view key, size_t input) {
  const auto value = Take<double>(r, key);
  if (!value) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckFree(r, input, key));
  r.SetInput(input, r.AddScalar(key, *value));
  auto& legacy = r.node.attrs[std::string(ir::kLegacyScalars)];
  if (!std::holds_alternative<std::vector<int64_t>>(legacy)) legacy = std::vector<int64_t>();
  std::get<std::vector<int64_t>>(legacy).push_back(static_cast<int64_t>(input));
  return OkStatus();
}

}  // namespace

Status AxesToInput(NodeRewrite& r) { return IntsToInput(r, "axes", 1); }

Status ShapeToInput(NodeRewrite& r) { return IntsToInput(r, "shape", 1); }

Status BoundsToInputs(NodeRewrite& r) {
  AICF_RETURN_IF_ERROR(IntsToInput(r, "starts", 1));
  AICF_RETURN_IF_ERROR(IntsToInput(r, "ends", 2));
  return IntsToInput(r, "axes", 3);
}

Status SplitToInput(NodeRewrite& r) { return IntsToInput(r, "split", 1); }

Status KToInput(NodeRewrite& r) {
  const auto k = Take<int64_t>(r, "k");
  if (!k) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckFree(r, 1, "k"));
  r.SetInput(1, r.AddInts("k", {*k}));
  return OkStatus();
}

Status ClipToInputs(NodeRewrite& r) {
  AICF_RETURN_IF_ERROR(ScalarToInput(r, "min", 1));
  return ScalarToInput(r, "max", 2);
}

Status PadToInputs(NodeRewrite& r) {
  AICF_RETURN_IF_ERROR(IntsToInput(r, "paddings", 1));
  AICF_RETURN_IF_ERROR(IntsToInput(r, "pads", 1));
  return ScalarToInput(r, "value", 2);
}

}  // namespace aicf
