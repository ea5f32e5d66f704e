#include "kernels/abi/instance_hash.h"

#include <bit>
#include <type_traits>
#include <vector>

#include "base/text_writer.h"
#include "kernels/abi/kernel.h"

namespace aicf::abi {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are hashed as they lie there");
static_assert(sizeof(ExprNode) == 16);

AsBytes<uint32_t> Length(size_t length) { return {static_cast<uint32_t>(length)}; }

template <class T>
struct IsAdded : std::false_type {};
template <int64_t kBefore>
struct IsAdded<AddedInt<kBefore>> : std::true_type {};
template <>
struct IsAdded<AddedReal> : std::true_type {};

// Bit mask of the added fields (AddedInt, AddedReal) that are written, as they are visited in
// order; no family has more than 32 such fields.
struct AddedFields {
  uint32_t written = 0;
  int count = 0;

  template <class T>
  void operator()(std::string_view, const T& field) {
    if constexpr (IsAdded<T>::value) written |= uint32_t{field.stored()} << count++;
  }
};

// Writes one attribute field, by its C++ type.
struct FieldWriter {
  TextWriter& out;

  void operator()(std::string_view, int64_t v) { out.Write(AsBytes{v}); }
  void operator()(std::string_view, bool v) { out.Write(AsBytes{static_cast<uint8_t>(v)}); }
  void operator()(std::string_view, double v) { out.Write(AsBytes{v}); }
  void operator()(std::string_view, const Dims& v) { out.Write(DimsAsBytes{v}); }
  void operator()(std::string_view, const std::vector<double>& v) {
    out.Write(ListAsBytes<double>(v));
  }
  void operator()(std::string_view, const std::vector<Dims>& v) {
    out.Write(Length(v.size()));
    for (const Dims& d : v) out.Write(DimsAsBytes{d});
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E v) {
    static_assert(sizeof(E) == 1);
    out.Write(AsBytes{v});
  }
  template <class T>
  requires IsAdded<T>::value void operator()(std::string_view, T v) {
    if (v.stored()) out.Write(AsBytes{v.value});
  }
};

void WriteAttributes(TextWriter& out, const Attrs& attrs) {
  std::visit(
      [&](const auto& a) {
        auto& fields = const_cast<std::remove_cvref_t<decltype(a)>&>(a);
        AddedFields added;
        fields.Visit(added);
        out.Write(AsBytes{added.written});
        FieldWriter writer{out};
        fields.Visit(writer);
      },
      attrs);
}

void WriteKernel(TextWriter& out, std::string_view kernel_key, const Parameters& parameters) {
  out.Write(AsBytes{kKernelAbiVersion}, Length(kernel_key.size()), kernel_key,
            Length(parameters.size()));
  for (const Parameter& p : parameters) out.Write(AsBytes{p.value});
}

void WriteViews(TextWriter& out, const std::vector<View>& views) {
  out.Write(Length(views.size()));
  for (const View& v : views) {
    out.Write(AsBytes{v.dtype}, DimsAsBytes{v.shape}, DimsAsBytes{v.strides}, AsBytes{v.offset});
  }
}

void WriteExpression(TextWriter& out, const Expr& e) {
  out.Write(ListAsBytes<ExprNode>(e.nodes), ListAsBytes<uint16_t>(e.results));
}

void WriteProblem(TextWriter& out, const Problem& p) {
  out.Write(AsBytes{p.family}, AsBytes{static_cast<uint8_t>(p.attrs.index())}, AsBytes{p.math});
  WriteAttributes(out, p.attrs);
  out.Write(AsBytes{static_cast<int32_t>(p.core_inputs)});
  WriteViews(out, p.inputs);
  WriteViews(out, p.outputs);
  for (const Expr* e : {&p.prologue, &p.epilogue, &p.score}) WriteExpression(out, *e);
}

}  // namespace

Hash128 InstanceHash(std::string_view kernel_key, const Problem& problem,
                     const Parameters& parameters) {
  TextWriter out;
  WriteKernel(out, kernel_key, parameters);
  WriteProblem(out, problem);
  return HashText(out.text());
}

}  // namespace aicf::abi
