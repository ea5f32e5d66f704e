// QuantizeLinear and DequantizeLinear: element types by name, and the names of com.microsoft.
#include "compiler/import/onnx_rewrite_forms.h"
#include "compiler/ir/onnx_dtype.h"

namespace aicf {
namespace {

// Replaces the number of an element type by its name; 0 stands for none and is removed.
Status NameType(NodeRewrite& r, std::string_view key) {
  const auto it = r.node.attrs.find(key);
  if (it == r.node.attrs.end()) return OkStatus();
  const int64_t type = r.node.Int(key, 0);
  if (type == 0) {
    r.node.attrs.erase(it);
    return OkStatus();
  }
  auto dtype = DTypeOfOnnx(type);
  if (!dtype.ok()) return dtype.status().WithContext(StrCat("attribute '", key, "'"));
  it->second = std::string(DTypeName(*dtype));
  return OkStatus();
}

}  // namespace

Status QuantizeForms(NodeRewrite& r) {
  constexpr std::string_view kContrib = "com.microsoft.";
  if (r.node.op.starts_with(kContrib)) r.node.op.erase(0, kContrib.size());
  AICF_RETURN_IF_ERROR(NameType(r, "output_dtype"));
  return NameType(r, "precision");
}

}  // namespace aicf
