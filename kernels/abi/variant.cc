#include "kernels/abi/variant.h"

#include "base/hash.h"
#include "kernels/abi/write_text.h"
#include "kernels/abi/kernel.h"

namespace aicf::abi {
namespace {

std::string Text(const LaunchConfig& l) {
  return StrCat("grid ", ExtentText(l.grid), " block ", ExtentText(l.block), " cluster ",
                ExtentText(l.cluster), " shared ", l.dynamic_shared_bytes);
}

std::string Text(const std::vector<int64_t>& list) {
  std::string out;
  for (int64_t v : list) out += StrCat(out.empty() ? "" : " ", v);
  return out;
}

std::string Text(const TensorMap& m) {
  return StrCat(" map ", m.operand, " [", Text(m.extents), "] [", Text(m.strides), "] [",
                Text(m.box), "] [", Text(m.steps), "] ", m.offset, " ", static_cast<int>(m.swizzle),
                " ", static_cast<int>(m.fill), m.tf32 ? " tf32" : "");
}

}  // namespace

std::string ExtentText(const uint32_t (&extent)[3]) {
  return StrCat(extent[0], "x", extent[1], "x", extent[2]);
}

std::string VariantName(std::string_view kernel_key, const Parameters& parameters) {
  if (parameters.empty()) return std::string(kernel_key);
  return StrCat(kernel_key, "{", ToString(parameters), "}");
}

std::string InstanceSymbol(std::string_view kernel_key, const Problem& problem,
                           const Variant& variant) {
  std::string symbol = "aicf_";
  for (char c : kernel_key) symbol.push_back(c == '.' ? '_' : c);
  std::string text = StrCat("abi ", kKernelAbiVersion, " ",
                            VariantName(kernel_key, variant.parameters), " ", Text(variant.launch));
  text.reserve(1024);  // a problem has some hundred characters
  for (const TensorMap& m : variant.tensor_maps) text += Text(m);
  text += ' ';
  AppendTo(text, problem);
  return symbol + "_" + ToHex(HashText(text));
}

}  // namespace aicf::abi
