#include "kernels/abi/variant.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/hash.h"
#include "base/short_text.h"
#include "kernels/abi/instance_hash.h"
#include "kernels/abi/instance_symbol.h"
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

void WriteNumbers(TextWriter& out, const Dims& list) {
  out.Write(" [");
  for (int i = 0; i < list.rank(); ++i) {
    if (i > 0) out.Write(' ');
    out.Write(list[i]);
  }
  out.Write(']');
}

void Write(TextWriter& out, const TensorMap& m) {
  out.Write(" map ", m.operand);
  for (const Dims* list : {&m.extents, &m.strides, &m.box, &m.steps}) {
    WriteNumbers(out, *list);
  }
  out.Write(' ', m.offset, ' ', static_cast<int>(m.swizzle), ' ', static_cast<int>(m.fill),
            m.tf32 ? " tf32" : "");
}

void WriteName(TextWriter& out, std::string_view kernel_key, const Parameters& parameters) {
  out.Write(kernel_key);
  char before = '{';
  for (const Parameter& p : parameters) {
    out.Write(before, p.name, '=', p.value);
    before = ',';
  }
  if (!parameters.empty()) out.Write('}');
}

// The hash in symbols with kTextSymbolPrefix.
Hash128 InstanceTextHash(std::string_view kernel_key, const Problem& problem,
                         const VariantRef& variant) {
  TextWriter text;
  text.Write("abi ", kKernelAbiVersion, ' ');
  WriteName(text, kernel_key, variant.parameters);
  text.Write(' ');
  Write(text, variant.launch);
  for (const TensorMap& m : variant.tensor_maps) Write(text, m);
  text.Write(' ');
  Write(text, problem);
  return HashText(text.text());
}

char InSymbol(char of_key) { return of_key == '.' ? '_' : of_key; }

// Whether the symbol is the prefix, the key, '_' and the hash.
bool ConsistsOf(std::string_view symbol, std::string_view prefix, std::string_view kernel_key,
                const Hash128& hash) {
  const std::array<char, 32> digits = HexDigits(hash);
  const size_t name_end = prefix.size() + kernel_key.size();
  if (symbol.size() != name_end + 1 + digits.size()) return false;
  return SameText(symbol.substr(0, prefix.size()), prefix) &&
         std::ranges::equal(symbol.substr(prefix.size(), kernel_key.size()), kernel_key, {}, {},
                            InSymbol) &&
         symbol[name_end] == '_' &&
         std::memcmp(symbol.data() + name_end + 1, digits.data(), digits.size()) == 0;
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
                           const VariantRef& variant) {
  std::string symbol(kSymbolPrefix);
  for (char c : kernel_key) symbol += InSymbol(c);
  return symbol + '_' + ToHex(InstanceHash(kernel_key, problem, variant.parameters));
}

bool IsInstanceSymbol(std::string_view symbol, std::string_view kernel_key, const Problem& problem,
                      const VariantRef& variant) {
  if (symbol.starts_with(kTextSymbolPrefix)) {
    return ConsistsOf(symbol, kTextSymbolPrefix, kernel_key,
                      InstanceTextHash(kernel_key, problem, variant));
  }
  return ConsistsOf(symbol, kSymbolPrefix, kernel_key,
                    InstanceHash(kernel_key, problem, variant.parameters));
}

}  // namespace aicf::abi
