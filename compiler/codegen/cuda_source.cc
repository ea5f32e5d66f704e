#include "compiler/codegen/cuda_source.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "base/scanner.h"
#include "compiler/codegen/access_source.h"
#include "compiler/codegen/excite_source.h"
#include "compiler/codegen/expr_forms.h"
#include "compiler/codegen/expr_source.h"
#include "compiler/codegen/score_source.h"
#include "kernels/abi/discontinuous.h"
#include "kernels/abi/raw_dtype.h"
#include "kernels/cuda/common/space.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::Family;
using abi::Problem;
using abi::View;

// Attributes as device constants, by the C++ type of the field.
struct AttrWriter {
  std::string out;

  void operator()(std::string_view name, int64_t v) { Scalar("i64", name, std::to_string(v)); }
  template <int64_t kBefore>
  void operator()(std::string_view name, abi::AddedInt<kBefore> v) {
    Scalar("i64", name, std::to_string(v.value));
  }
  void operator()(std::string_view name, abi::AddedReal v) {
    Scalar("double", name, DoubleText(v.value));
  }
  void operator()(std::string_view name, bool v) { Scalar("bool", name, v ? "true" : "false"); }
  void operator()(std::string_view name, double v) { Scalar("double", name, DoubleText(v)); }
  void operator()(std::string_view name, const Dims& v) {
    Scalar("int", StrCat(name, "_count"), std::to_string(v.rank()));
    out += ListFunction("i64", StrCat("attr_", name), v);
  }
  void operator()(std::string_view name, const std::vector<double>& v) {
    std::string body;
    for (size_t d = 0; d < v.size(); ++d)
      body += StrCat("d == ", d, " ? ", DoubleText(v[d]), " : ");
    out +=
        StrCat("AICF_DEVICE constexpr double attr_", name, "(int d) { return ", body, "0.0; }\n");
  }
  void operator()(std::string_view name, const std::vector<Dims>& v) {
    for (size_t p = 0; p < v.size(); ++p) {
      out += ListFunction("i64", StrCat("attr_", name, "_", p), v[p]);
    }
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view name, E v) {
    Scalar("int", name, std::to_string(static_cast<int>(v)));
  }

  void Scalar(std::string_view type, std::string_view name, std::string_view value) {
    out += StrCat("constexpr ", type, " attr_", name, " = ", value, ";\n");
  }
  // Infinities and NaN have no literal, and NVRTC has no builtin for them, so their bits are
  // written.
  static std::string DoubleText(double v) {
    if (!std::isfinite(v)) {
      return StrCat("__builtin_bit_cast(double, ", std::to_string(abi::FloatBits(v)), "ull)");
    }
    const std::string text = FormatDouble(v);
    return text.find_first_of("xp.") == std::string::npos ? text + ".0" : text;
  }
};

std::string Constant(std::string_view type, std::string_view name, int64_t value) {
  return StrCat("constexpr ", type, " ", name, " = ", value, ";\n");
}

std::string LaunchConstants(const abi::LaunchConfig& launch) {
  std::string out;
  constexpr std::string_view kAxes[] = {"X", "Y", "Z"};
  for (int a = 0; a < 3; ++a) {
    out += Constant("int", StrCat("kBlock", kAxes[a]), launch.block[a]);
    out += Constant("index_t", StrCat("kGrid", kAxes[a]), launch.grid[a]);
    out += Constant("int", StrCat("kCluster", kAxes[a]), launch.cluster[a]);
  }
  return out + Constant("int", "kDynamicShared", launch.dynamic_shared_bytes);
}

// The variant's numbers, under names that the device source knows.
std::string ParameterConstants(const abi::Parameters& parameters) {
  std::string out;
  for (const abi::Parameter& p : parameters) {
    const bool narrow = p.value >= INT32_MIN && p.value <= INT32_MAX;
    out += Constant(narrow ? "int" : "i64", abi::ConstantName(p.name), p.value);
  }
  return out;
}

// Whether wrong last digits of the expressions' values do not show in the results: all results are
// floats stored in 16 or 8 bits, and no operator turns a difference of one unit in the last place
// into a large one.
bool HasShortResults(const Problem& p) {
  const auto is_short = [](const View& v) {
    return v.dtype == DType::kF16 || v.dtype == DType::kBF16 || v.dtype == DType::kF8E4M3FN ||
           v.dtype == DType::kF8E5M2;
  };
  const auto jumps = [](const Expr& e) {
    return std::ranges::any_of(e.nodes, abi::IsDiscontinuous);
  };
  return std::all_of(p.outputs.begin(), p.outputs.begin() + ResultCount(p), is_short) &&
         !jumps(p.prologue) && !jumps(p.epilogue) && !jumps(p.score);
}

// Writes one instance; the members are what every part of the text needs to know.
class SourceWriter {
 public:
  SourceWriter(const abi::KernelInfo& kernel, const Problem& p, const abi::Variant& variant)
      : kernel_(kernel), p_(p), variant_(variant), spaces_(cuda::SpacesOf(kernel.key, p)) {}

  std::string Write() {
    const bool wide = cuda::NeedsWideIndex(p_);
    out_ = StrCat("// ", abi::VariantName(kernel_.key, variant_.parameters), "\n// ", ToString(p_),
                  "\n");
    out_ += StrCat("namespace aicf {\ntypedef ", wide ? "long long" : "int", " index_t;\ntypedef ",
                   wide ? "unsigned long long" : "unsigned", " uindex_t;\n",
                   Constant("bool", "kShortResults", HasShortResults(p_) ? 1 : 0), "}\n");
    out_ += "#include \"common/ops.cuh\"\nnamespace aicf {\n";
    Constants();
    Views();
    out_ += PointFunction("Output", spaces_.output);
    if (!spaces_.domain.groups.empty()) out_ += PointFunction("Domain", spaces_.domain);
    Prologue();
    Epilogue();
    if (p_.family == Family::kAttention) out_ += ScoreSource(p_);
    if (p_.family == Family::kExcite) out_ += ExciteSource(p_);
    out_ += "}  // namespace aicf\n";
    if (abi::SeesMoments(p_)) out_ += "#define AICF_SEES_MOMENTS 1\n";
    if (abi::ReadsParts(p_)) out_ += "#define AICF_READS_PARTS 1\n";
    if (abi::StoresParts(p_)) out_ += "#define AICF_STORES_PARTS 1\n";
    out_ += StrCat("#include \"", kernel_.source, "\"\n");
    KernelFunction();
    return std::move(out_);
  }

 private:
  void Constants() {
    out_ += LaunchConstants(variant_.launch);
    out_ += ParameterConstants(abi::Completed(variant_.parameters, kernel_.parameters));
    out_ += Constant("int", "kMath", static_cast<int>(p_.math));
    out_ += Constant("int", "kInputs", static_cast<int64_t>(p_.inputs.size()));
    out_ += Constant("int", "kOutputs", static_cast<int64_t>(p_.outputs.size()));
    out_ += Constant("int", "kCoreInputs", p_.core_inputs);
    if (p_.family == Family::kGemm || p_.family == Family::kBlockGemm ||
        p_.family == Family::kConv) {
      out_ += Constant("bool", "kRowsInner", cuda::RowsInner(p_) ? 1 : 0);
      out_ += Constant("int", "kProductHalves", abi::SumInputs(p_));
    }
    for (size_t g = 0; g < 3; ++g) {
      out_ += Constant("index_t", StrCat("kOutputCount", g), spaces_.output.Count(g));
      out_ += Constant("index_t", StrCat("kDomainCount", g), spaces_.domain.Count(g));
    }
    AttrWriter attrs;
    std::visit(
        [&](const auto& a) { const_cast<std::remove_cvref_t<decltype(a)>&>(a).Visit(attrs); },
        p_.attrs);
    out_ += attrs.out;
    out_ += StrCat("struct Args { const void* in[", std::max<size_t>(1, p_.inputs.size()),
                   "]; void* out[", p_.outputs.size(), "]; void* workspace; const TensorMap* map[",
                   std::max<size_t>(1, variant_.tensor_maps.size()), "]; };\n");
  }

  void Views() {
    for (size_t k = 0; k < p_.inputs.size(); ++k) {
      out_ += ViewStruct(StrCat("In", k), p_.inputs[k]);
    }
    for (size_t k = 0; k < p_.outputs.size(); ++k) {
      out_ += ViewStruct(StrCat("Out", k), p_.outputs[k]);
    }
    if (p_.family == Family::kGemm || p_.family == Family::kBlockGemm) out_ += GainView();
    if (p_.family == Family::kGemm) out_ += ScaleViews();
    if (abi::SeesMoments(p_))
      out_ += StrCat("typedef Out", p_.outputs.size() - 1, " MomentsView;\n");
    if (abi::StoresParts(p_)) out_ += StrCat("typedef Out", p_.outputs.size() - 1, " PartsView;\n");
    if (p_.family == Family::kCopy) out_ += PieceAccesses(p_, variant_.parameters);
    const Dims& inner = spaces_.output.groups[0];
    out_ += Constant("int", "kInnerAxis", inner.empty() ? -1 : inner.back());
  }

  // Where there is no gain, GainView is the view of A, so that device code that names it compiles.
  std::string GainView() const {
    const int input = abi::NormalizesRows(p_) ? 2 : 0;
    return StrCat("typedef In", input, " GainView;\n") + Constant("int", "kGainInput", input) +
           Constant("bool", "kNormalizesRows", input != 0 ? 1 : 0);
  }

  // Where there are no scales, the names stand for the views of A and B, so that device code that
  // uses them compiles.
  std::string ScaleViews() const {
    const int first = abi::HasBlockScales(p_) ? 2 : 0;
    return StrCat("typedef In", first, " ScalesOfA;\ntypedef In", first + 1, " ScalesOfB;\n") +
           Constant("int", "kScalesInput", first);
  }

  // Families whose kernels load and store single places of a line and apply no expression.
  bool WalksLines() const { return p_.family == Family::kTopK || p_.family == Family::kScan; }

  void Prologue() {
    if (!abi::HasPrologue(p_.family) && !WalksLines()) return;
    for (int k = 0; k < p_.core_inputs; ++k) {
      out_ += AccessStruct(StrCat("Core", k), p_.inputs[static_cast<size_t>(k)], spaces_.domain);
    }
    std::vector<const View*> cores;
    for (int k = 0; k < p_.core_inputs; ++k) cores.push_back(&p_.inputs[static_cast<size_t>(k)]);
    out_ += Constant("int", "kDomainVector", cuda::VectorOf(cores, spaces_.domain));
    out_ += StrCat("typedef ", ComputeTypeName(PrologueDType()), " element_t;\n");
    out_ +=
        "struct Prologue {\n  template <int V>\n  static AICF_DEVICE void Load(const Args& args, "
        "element_t (&dst)[V], index_t i0, index_t i1) {\n";
    for (int k = 0; k < p_.core_inputs; ++k) {
      Loaded(StrCat("Core", k), k, StrCat("x", k), ", i0, i1");
    }
    out_ += "#pragma unroll\n    for (int j = 0; j < V; ++j) {\n";
    if (UsesIndex(p_.prologue)) out_ += "      const Point point = DomainPoint(i0 + j, i1);\n";
    Evaluate(p_.prologue, 0);
    out_ += StrCat("      dst[j] = ", ResultText(p_.prologue, 0, 0), ";\n    }\n  }\n};\n");
  }

  void Epilogue() {
    if (p_.family == Family::kCopy && p_.epilogue.empty()) return;
    const int raw = abi::RawInputs(p_);
    if (raw > 0) out_ += StrCat("typedef ", ComputeTypeName(abi::RawDType(p_)), " raw_t;\n");
    // Without an epilogue a kernel stores through its views; outputs may differ in shape.
    if (!abi::HasEpilogue(p_.family) && !WalksLines()) return;
    const int first = raw > 0 ? p_.core_inputs : 0;
    for (int k = first; k < static_cast<int>(p_.inputs.size()); ++k) {
      out_ += AccessStruct(StrCat("Extra", k), p_.inputs[static_cast<size_t>(k)], spaces_.output);
    }
    const size_t results = abi::ResultCount(p_);
    for (size_t r = 0; r < results; ++r) {
      out_ += AccessStruct(StrCat("Result", r), p_.outputs[r], spaces_.output);
    }
    if (WalksLines()) return;
    const std::string at = Indices();
    const std::string values = raw > 1   ? StrCat("const raw_t (&raw)[", raw, " * V], ")
                               : raw > 0 ? "const raw_t (&raw)[V], "
                                         : "";
    // `kept` receives the results as the first output holds them: a product that stores moments of
    // parts (GemmAttrs::part_columns) computes them from these values.
    const bool keeps = abi::StoresParts(p_);
    const std::string_view kept = keeps ? ", float (&kept)[V]" : "", keep = keeps ? ", kept" : "";
    EpilogueOperands(first, at);
    const std::string_view raw_value = raw > 0 ? "raw, " : "";
    out_ += StrCat("  template <int V>\n  static AICF_DEVICE void Store(const Args& args, ", values,
                   "index_t i0, index_t i1 = 0, index_t i2 = 0) {\n    Operands<V> operands;\n",
                   keeps ? "    float kept[V];\n" : "",
                   "    operands.Load(args, i0, i1, i2);\n    Store<V>(args, ", raw_value,
                   "operands, i0, i1, i2", keep, ");\n  }\n");
    out_ += StrCat("  template <int V>\n  static AICF_DEVICE void Store(const Args& args, ", values,
                   "const Operands<V>& operands, index_t i0, index_t i1, index_t i2", kept,
                   ", bool stores = true) {\n    Store<V>(args, ", raw_value,
                   "operands, operands, i0, i1, i2", keep, ", stores);\n  }\n");
    // With `stores` false everything but the store is done. Where only the run tells whether to
    // store, this puts the branch around the store alone and not around the whole computation.
    out_ += StrCat("  template <int V>\n  static AICF_DEVICE void Store(const Args& args, ", values,
                   "const OfAllLines<V>& all, const OfLine<V>& own, index_t i0, index_t i1, "
                   "index_t i2",
                   kept, ", bool stores = true) {\n");
    for (int k = first; k < static_cast<int>(p_.inputs.size()); ++k) {
      const int x = k - first + raw;
      const DType dtype = p_.inputs[static_cast<size_t>(k)].dtype;
      const bool wide = IsByteInteger(dtype);
      out_ +=
          StrCat("    ", wide ? "WideCode<" : "", ComputeTypeName(dtype), wide ? ">" : "", " x", x,
                 "[V];\n    ", IsOfAllLines(k) ? "all" : "own", ".extra", k, ".To(x", x, ");\n");
    }
    for (size_t r = 0; r < results; ++r) {
      out_ += StrCat("    ", HeldResultType(r, raw), " y", r, "[V];\n");
    }
    out_ += "#pragma unroll\n    for (int j = 0; j < V; ++j) {\n";
    if (UsesIndex(p_.epilogue)) out_ += "      const Point point = OutputPoint(i0 + j, i1, i2);\n";
    Evaluate(p_.epilogue, raw);
    for (size_t r = 0; r < results; ++r) {
      out_ += StrCat("      y", r, "[j] = ", ResultText(p_.epilogue, r, raw), ";\n");
    }
    out_ += "    }\n";
    for (size_t r = 0; r < results; ++r) {
      out_ += StrCat("    if (stores) StoreRun<Result", r, ">(args.out[", r, "], y", r, at, ");\n");
    }
    if (keeps) {
      out_ +=
          "#pragma unroll\n    for (int j = 0; j < V; ++j)\n"
          "      kept[j] = Widen(Narrow<Out0::S>::Of(y0[j]));\n";
    }
    out_ += "  }\n};\n";
  }

  // The type in which the epilogue holds values of result r: of codes the form in which they are
  // packed, as the expression gives it or as ByteCode, which any code can be held in.
  std::string HeldResultType(size_t r, int raw_inputs) const {
    const DType dtype = p_.outputs[r].dtype;
    const std::string plain(ComputeTypeName(dtype));
    if (!IsByteInteger(dtype)) return plain;
    if (!p_.epilogue.empty()) {
      const ExprForms forms(p_.epilogue, [&](int k) { return InputText(k, raw_inputs); });
      const std::string& type = forms.TypeOf(p_.epilogue.results[r]);
      if (type != plain) return type;
    }
    return StrCat("ByteCode<", plain, ">");
  }

  // Whether an operand of the epilogue is the same for all lines of the output.
  bool IsOfAllLines(int k) const {
    const std::vector<Dims>& groups = spaces_.output.groups;
    for (size_t g = 1; g < groups.size(); ++g) {
      const cuda::Walk walk = cuda::WalkOf(p_.inputs[static_cast<size_t>(k)], groups[g]);
      if (std::ranges::any_of(walk.strides, [](int64_t stride) { return stride != 0; }))
        return false;
    }
    return true;
  }

  // Begins the struct Epilogue with the operands from number `first` on.
  void EpilogueOperands(int first, std::string_view at) {
    out_ += "struct Epilogue {\n";
    for (const bool all : {true, false}) {
      std::string members, loads, prefetches;
      int64_t widest = 1;
      for (int k = first; k < static_cast<int>(p_.inputs.size()); ++k) {
        if (IsOfAllLines(k) != all) continue;
        members += StrCat("    HeldRun<Extra", k, ", V> extra", k, ";\n");
        loads += StrCat("      extra", k, ".Load(args.in[", k, "]", all ? ", i0" : at, ");\n");
        prefetches +=
            StrCat("      HeldRun<Extra", k, ", V>::Prefetch(args.in[", k, "]", at, ");\n");
        widest = std::max(widest, DTypeBytes(p_.inputs[static_cast<size_t>(k)].dtype));
      }
      out_ += StrCat("  template <int V>\n  struct ", all ? "OfAllLines" : "OfLine",
                     " {\n    static constexpr bool kEmpty = ", members.empty() ? "true" : "false",
                     ";\n", members, "    AICF_DEVICE void Load(const Args& args, index_t i0",
                     all ? "" : ", index_t i1, index_t i2", ") {\n", loads, "    }\n");
      // Only operands that differ from line to line are worth prefetching before their line is
      // computed.
      if (!all) {
        out_ += StrCat("    static constexpr int kWidest = ", widest,
                       ";  ///< bytes of an element\n    static AICF_DEVICE void Prefetch(const "
                       "Args& args, index_t i0, index_t i1, index_t i2) {\n",
                       prefetches, "    }\n");
      }
      out_ += "  };\n";
    }
    out_ +=
        "  template <int V>\n  struct Operands : OfAllLines<V>, OfLine<V> {\n"
        "    AICF_DEVICE void Load(const Args& args, index_t i0, index_t i1, index_t i2) {\n"
        "      OfAllLines<V>::Load(args, i0);\n      OfLine<V>::Load(args, i0, i1, i2);\n"
        "    }\n  };\n";
  }

  std::string Indices() const {
    std::string at;
    for (size_t g = 0; g < spaces_.output.groups.size(); ++g) at += StrCat(", i", g);
    return at;
  }

  void Loaded(std::string_view access, int operand, std::string_view name, std::string_view at) {
    const View& v = p_.inputs[static_cast<size_t>(operand)];
    out_ += StrCat("    ", ComputeTypeName(v.dtype), " ", name, "[V];\n    LoadRun<", access,
                   ">(args.in[", operand, "], ", name, at, ");\n");
  }

  // The text of expression input k at element j. The first `raw_inputs` inputs are raw results,
  // which the array `raw` holds one after the other, V values of each; the others are arrays x<k>.
  static std::string InputText(int k, int raw_inputs) {
    if (k >= raw_inputs) return StrCat("x", k, "[j]");
    return k == 0 ? "raw[j]" : k == 1 ? "raw[V + j]" : StrCat("raw[", k, " * V + j]");
  }

  void Evaluate(const Expr& expr, int raw_inputs) {
    out_ += ExprStatements(
        expr, "      ", [&](int k) { return InputText(k, raw_inputs); },
        [](int axis) { return StrCat("static_cast<i64>(point.c[", axis, "])"); });
  }

  static std::string ResultText(const Expr& expr, size_t r, int raw_inputs) {
    if (expr.empty()) return InputText(0, raw_inputs);
    return StrCat("t", static_cast<int>(expr.results[r]));
  }

  DType PrologueDType() const {
    return p_.prologue.empty() ? abi::ComputeDType(p_.inputs[0].dtype)
                               : p_.prologue.nodes[p_.prologue.results[0]].dtype;
  }

  void KernelFunction() {
    const abi::LaunchConfig& launch = variant_.launch;
    const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    out_ += "#if !defined(AICF_MIN_BLOCKS)\n#define AICF_MIN_BLOCKS 1\n#endif\n";
    out_ += StrCat("extern \"C\" __global__ void __launch_bounds__(", threads,
                   ", AICF_MIN_BLOCKS) ", abi::InstanceSymbol(kernel_.key, p_, variant_), "(");
    std::string values = "{{";
    for (size_t k = 0; k < p_.inputs.size(); ++k) {
      out_ += StrCat("const void* in", k, ", ");
      values += StrCat(k == 0 ? "" : ", ", "in", k);
    }
    values += "}, {";
    for (size_t k = 0; k < p_.outputs.size(); ++k) {
      out_ += StrCat("void* out", k, ", ");
      values += StrCat(k == 0 ? "" : ", ", "out", k);
    }
    out_ += "void* workspace";
    values += "}, workspace, {";
    for (size_t m = 0; m < variant_.tensor_maps.size(); ++m) {
      out_ += StrCat(", const __grid_constant__ aicf::TensorMap map", m);
      values += StrCat(m == 0 ? "" : ", ", "&map", m);
    }
    // The wait comes before anything that reads or writes memory (abi::KernelInfo::waits_first).
    // The next kernel may start after it, so that at most one kernel of a stream waits on the
    // device at a time. A device source that has something to prepare first defines
    // AICF_KERNEL_WAITS and does both itself.
    out_ += StrCat(") {\n#if !defined(AICF_KERNEL_WAITS)\n  aicf::WaitForPredecessors();\n",
                   "  aicf::LetSuccessorsStart();\n#endif\n  const aicf::Args args = ", values,
                   "}};\n  aicf::Kernel(args);\n}\n");
  }

  const abi::KernelInfo& kernel_;
  const Problem& p_;
  const abi::Variant& variant_;
  const cuda::Spaces spaces_;
  std::string out_;
};

}  // namespace

std::string WriteCudaSource(const abi::KernelInfo& kernel, const Problem& problem,
                            const abi::Variant& variant) {
  return SourceWriter(kernel, problem, variant).Write();
}

}  // namespace aicf
