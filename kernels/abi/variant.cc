#include "kernels/abi/variant.h"

#include <algorithm>

#include "base/hash.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/write_text.h"

namespace aicf::abi {
namespace {

void Write(TextWriter& out, const uint32_t (&extent)[3]) {
  out.Write(extent[0], 'x', extent[1], 'x', extent[2]);
}

void Write(TextWriter& out, const LaunchConfig& l) {
  out.Write("grid ");
  Write(out, l.grid);
  out.Write(" block ");
  Write(out, l.block);
  out.Write(" cluster ");
  Write(out, l.cluster);
  out.Write(" shared ", l.dynamic_shared_bytes);
}

void WriteNumbers(TextWriter& out, const std::vector<int64_t>& list) {
  out.Write(" [");
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out.Write(' ');
    out.Write(list[i]);
  }
  out.Write(']');
}

void Write(TextWriter& out, const TensorMap& m) {
  out.Write(" map ", m.operand);
  for (const std::vector<int64_t>* list : {&m.extents, &m.strides, &m.box, &m.steps}) {
    WriteNumbers(out, *list);
  }
  out.Write(' ', m.offset, ' ', static_cast<int>(m.swizzle), ' ', static_cast<int>(m.fill),
            m.tf32 ? " tf32" : "");
}

void WriteName(TextWriter& out, std::string_view kernel_key, const Parameters& parameters) {
  out.Write(kernel_key);
  std::string_view before = "{";
  for (const Parameter& p : parameters) {
    out.Write(before, p.name, '=', p.value);
    before = ",";
  }
  if (!parameters.empty()) out.Write('}');
}

}  // namespace

std::string ExtentText(const uint32_t (&extent)[3]) {
  TextWriter out;
  Write(out, extent);
  return out.ToString();
}

std::string VariantName(std::string_view kernel_key, const Parameters& parameters) {
  TextWriter out;
  WriteName(out, kernel_key, parameters);
  return out.ToString();
}

std::string InstanceSymbol(std::string_view kernel_key, const Problem& problem,
                           const Variant& variant) {
  TextWriter text;
  text.Write("abi ", kKernelAbiVersion, ' ');
  WriteName(text, kernel_key, variant.parameters);
  text.Write(' ');
  Write(text, variant.launch);
  for (const TensorMap& m : variant.tensor_maps) Write(text, m);
  text.Write(' ');
  Write(text, problem);
  TextWriter symbol;
  symbol.Write("aicf_", kernel_key, '_', ToHex(HashText(text.text())));
  std::string out = symbol.ToString();
  std::replace(out.begin(), out.end(), '.', '_');
  return out;
}

}  // namespace aicf::abi
