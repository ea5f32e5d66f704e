#include <type_traits>

#include "base/scanner.h"
#include "base/text_writer.h"
#include "kernels/abi/write_text.h"

namespace aicf::abi {
namespace {

// Printing and parsing of one attribute field, by its C++ type.
struct AttrPrinter {
  TextWriter& out;

  void operator()(std::string_view name, const Dims& v) { Field(name, AsList{v}); }
  void operator()(std::string_view name, bool v) { Field(name, v ? '1' : '0'); }
  void operator()(std::string_view name, int64_t v) { Field(name, v); }
  void operator()(std::string_view name, double v) { Field(name, FormatDouble(v)); }
  template <int64_t kBefore>
  void operator()(std::string_view name, AddedInt<kBefore> v) {
    if (v.stored()) Field(name, v.value);
  }
  void operator()(std::string_view name, AddedReal v) {
    if (v.stored()) Field(name, FormatDouble(v.value));
  }
  void operator()(std::string_view name, const std::vector<Dims>& v) {
    Field(name, '{');
    for (const Dims& d : v) out.Write(AsList{d});
    out.Write('}');
  }
  void operator()(std::string_view name, const std::vector<double>& v) {
    Field(name, '{');
    for (size_t i = 0; i < v.size(); ++i) out.Write(i > 0 ? " " : "", FormatDouble(v[i]));
    out.Write('}');
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view name, E v) { Field(name, static_cast<int>(v)); }

  template <class T>
  void Field(std::string_view name, const T& value) {
    out.Write(' ', name, '=', value);
  }
};

struct AttrParser {
  Scanner& in;
  Status status;

  template <class T>
  void operator()(std::string_view name, T& v) {
    if (!status.ok()) return;
    status = in.Expect(StrCat(name, "="));
    if (status.ok()) status = Read(v);
  }

  template <int64_t kBefore>
  void operator()(std::string_view name, AddedInt<kBefore>& v) {
    if (!status.ok() || !in.Accept(StrCat(name, "="))) return;
    status = Read(v.value);
  }
  void operator()(std::string_view name, AddedReal& v) {
    if (!status.ok() || !in.Accept(StrCat(name, "="))) return;
    status = Read(v.value);
  }

  template <class T>
  Status Take(Result<T> r, T& v) {
    if (!r.ok()) return r.status();
    v = *std::move(r);
    return OkStatus();
  }
  Status Read(Dims& v) { return Take(in.List(), v); }
  Status Read(int64_t& v) { return Take(in.Int(), v); }
  Status Read(double& v) { return Take(in.Double(), v); }
  Status Read(bool& v) {
    int64_t i = 0;
    AICF_RETURN_IF_ERROR(Read(i));
    v = i != 0;
    return OkStatus();
  }
  template <class E>
  requires std::is_enum_v<E> Status Read(E& v) {
    int64_t i = 0;
    AICF_RETURN_IF_ERROR(Read(i));
    if (i < 0 || i >= static_cast<int64_t>(E::kCount)) return in.Fail("a smaller enum value");
    v = static_cast<E>(i);
    return OkStatus();
  }
  template <class T>
  Status Read(std::vector<T>& v) {
    AICF_RETURN_IF_ERROR(in.Expect("{"));
    while (!in.Accept("}")) {
      T item{};
      AICF_RETURN_IF_ERROR(Read(item));
      v.push_back(item);
    }
    return OkStatus();
  }
};

void Write(TextWriter& out, const View& v) {
  out.Write(DTypeName(v.dtype), ' ', AsShape{v.shape}, ' ', AsList{v.strides}, '+', v.offset);
}

void Write(TextWriter& out, const std::vector<View>& views) {
  out.Write('(');
  for (size_t i = 0; i < views.size(); ++i) {
    if (i > 0) out.Write(", ");
    Write(out, views[i]);
  }
  out.Write(')');
}

Result<View> ParseView(Scanner& in) {
  View v;
  AICF_ASSIGN_OR_RETURN(const std::string_view name, in.Word());
  const std::optional<DType> dtype = ParseDType(name);
  if (!dtype) return in.Fail("a dtype");
  v.dtype = *dtype;
  AICF_ASSIGN_OR_RETURN(v.shape, in.Shape());
  AICF_ASSIGN_OR_RETURN(v.strides, in.List());
  AICF_RETURN_IF_ERROR(in.Expect("+"));
  AICF_ASSIGN_OR_RETURN(v.offset, in.Int());
  return v;
}

Result<std::vector<View>> ParseViews(Scanner& in) {
  std::vector<View> views;
  AICF_RETURN_IF_ERROR(in.Expect("("));
  if (in.Accept(")")) return views;
  do {
    AICF_ASSIGN_OR_RETURN(View v, ParseView(in));
    views.push_back(v);
  } while (in.Accept(","));
  AICF_RETURN_IF_ERROR(in.Expect(")"));
  return views;
}

Result<Attrs> EmptyAttrs(Family family) {
  switch (family) {
#define AICF_FAMILY(id, text, attrs, core, slots) \
  case Family::id:                                \
    return Attrs(attrs{});
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  }
  return Error(Code::kInternal, "unknown family");
}

Result<Family> ParseFamily(Scanner& in) {
  AICF_ASSIGN_OR_RETURN(const std::string_view name, in.Word());
  for (int i = 0; i < kFamilyCount; ++i) {
    if (FamilyName(static_cast<Family>(i)) == name) return static_cast<Family>(i);
  }
  return Error(Code::kInvalidArgument, "line ", in.line(), ": unknown step family '", name, "'");
}

}  // namespace

std::string ToString(const Problem& p) {
  TextWriter out;
  Write(out, p);
  return out.ToString();
}

void Write(TextWriter& out, const Problem& p) {
  out.Write(FamilyName(p.family), " math=", MathModeName(p.math));
  AttrPrinter attrs{out};
  std::visit([&](const auto& a) { const_cast<std::remove_cvref_t<decltype(a)>&>(a).Visit(attrs); },
             p.attrs);
  out.Write(" core=", p.core_inputs, " in");
  Write(out, p.inputs);
  out.Write(" out");
  Write(out, p.outputs);
  out.Write(" pro ");
  Write(out, p.prologue);
  out.Write(" epi ");
  Write(out, p.epilogue);
  if (!HasScore(p.family)) return;
  out.Write(" score ");
  Write(out, p.score);
}

Result<Problem> ParseProblemFrom(Scanner& in) {
  Problem p;
  AICF_ASSIGN_OR_RETURN(p.family, ParseFamily(in));
  AICF_RETURN_IF_ERROR(in.Expect("math="));
  AICF_ASSIGN_OR_RETURN(const std::string_view math, in.Word());
  const std::optional<MathMode> mode = ParseMathMode(math);
  if (!mode) return in.Fail("a math mode");
  p.math = *mode;
  AICF_ASSIGN_OR_RETURN(p.attrs, EmptyAttrs(p.family));
  AttrParser parser{in, {}};
  std::visit([&](auto& a) { a.Visit(parser); }, p.attrs);
  AICF_RETURN_IF_ERROR(parser.status);
  AICF_RETURN_IF_ERROR(in.Expect("core="));
  AICF_ASSIGN_OR_RETURN(const int64_t core, in.Int());
  p.core_inputs = static_cast<int>(core);
  AICF_RETURN_IF_ERROR(in.Expect("in"));
  AICF_ASSIGN_OR_RETURN(p.inputs, ParseViews(in));
  AICF_RETURN_IF_ERROR(in.Expect("out"));
  AICF_ASSIGN_OR_RETURN(p.outputs, ParseViews(in));
  AICF_RETURN_IF_ERROR(in.Expect("pro"));
  AICF_ASSIGN_OR_RETURN(p.prologue, ParseExprFrom(in));
  AICF_RETURN_IF_ERROR(in.Expect("epi"));
  AICF_ASSIGN_OR_RETURN(p.epilogue, ParseExprFrom(in));
  if (HasScore(p.family)) {
    AICF_RETURN_IF_ERROR(in.Expect("score"));
    AICF_ASSIGN_OR_RETURN(p.score, ParseExprFrom(in));
  }
  return p;
}

Result<Problem> ParseProblem(std::string_view text) {
  Scanner in(text);
  AICF_ASSIGN_OR_RETURN(Problem p, ParseProblemFrom(in));
  if (!in.AtEnd()) return in.Fail("end of problem");
  return p;
}

}  // namespace aicf::abi
