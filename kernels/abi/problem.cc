#include "kernels/abi/problem.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/abi/append.h"
#include "kernels/abi/attention.h"
#include "kernels/abi/excite.h"
#include "kernels/abi/kernel.h"

namespace aicf::abi {
namespace {

struct FamilyFacts {
  std::string_view name;
  int core;
  uint8_t slots;
};

// Derives from ExprSlots so that the rows of family.def can name its bits without qualification.
struct FamilyTable : ExprSlots {
  static constexpr FamilyFacts kRows[] = {
#define AICF_FAMILY(id, text, attrs, core, slots) {text, core, slots},
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  };
};

const FamilyFacts& FactsOf(Family family) {
  return FamilyTable::kRows[static_cast<size_t>(family)];
}
bool Has(Family family, uint8_t slot) { return (FactsOf(family).slots & slot) != 0; }

constexpr std::string_view kMathNames[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "int8"};

}  // namespace

std::string_view FamilyName(Family family) { return FactsOf(family).name; }
int CoreInputs(Family family) { return FactsOf(family).core; }
bool HasPrologue(Family family) { return Has(family, ExprSlots::kPrologue); }
bool HasEpilogue(Family family) { return Has(family, ExprSlots::kEpilogue); }
bool HasScore(Family family) { return Has(family, ExprSlots::kScore); }
bool HasHidden(Family family) { return Has(family, ExprSlots::kHidden); }

std::string_view MathModeName(MathMode mode) { return kMathNames[static_cast<int>(mode)]; }

std::optional<MathMode> ParseMathMode(std::string_view name) {
  for (int i = 0; i < static_cast<int>(MathMode::kCount); ++i) {
    if (kMathNames[i] == name) return static_cast<MathMode>(i);
  }
  return std::nullopt;
}

View DenseView(DType dtype, const Dims& shape) { return {dtype, shape, RowMajorStrides(shape), 0}; }

bool IsDense(const View& view) {
  int64_t expected = 1;
  for (int i = view.shape.rank() - 1; i >= 0; --i) {
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

int64_t ElementsOf(const View& view) { return ElementCount(view.shape).value_or(0); }

namespace {

// Whether the distance is so small that its magnitude, and the sum of two such distances, do not
// overflow.
bool IsStride(int64_t distance) {
  constexpr int64_t kMost = int64_t{1} << 61;
  return -kMost <= distance && distance <= kMost;
}

}  // namespace

// Everything is checked in one walk over the axes, for speed: every view of every artifact passes
// here, most of them more than once.
Result<Extent> ExtentOf(const View& view) {
  if (view.shape.rank() != view.strides.rank()) {
    return Error(Code::kBadArtifact, "view: ", view.shape.rank(), " extents but ",
                 view.strides.rank(), " strides");
  }
  int64_t low = view.offset, high = view.offset, elements = 1;
  bool empty = false, in_range = IsStride(view.offset);
  for (int i = 0; i < view.shape.rank(); ++i) {
    const int64_t length = view.shape[i], stride = view.strides[i];
    if (length < 0 || (length > 0 && !CheckedMul(elements, length, &elements))) {
      return Error(Code::kBadArtifact, "view: illegal shape ", ToString(view.shape));
    }
    empty |= length == 0;
    // The stride is checked even where the axis has fewer than two elements, since other code takes
    // magnitudes and sums of strides whatever the extents are.
    int64_t reach = 0;
    if (!IsStride(stride) || !CheckedMul(std::max<int64_t>(length - 1, 0), stride, &reach) ||
        !(reach < 0 ? CheckedAdd(low, reach, &low) : CheckedAdd(high, reach, &high))) {
      in_range = false;  // reported below, so that an illegal shape is reported first
    }
  }
  Extent extent;
  if (!empty) {
    const int64_t bytes = DTypeBytes(view.dtype);
    in_range &= low >= 0 && CheckedMul(low, bytes, &extent.begin) &&
                CheckedAdd<int64_t>(high, 1, &high) && CheckedMul(high, bytes, &extent.end);
  }
  if (!in_range) {
    return Error(Code::kBadArtifact, "view: shape ", ToString(view.shape), " with strides ",
                 ToListString(view.strides), " and offset ", view.offset,
                 " leaves the buffer's range");
  }
  return extent;
}

int OutputInPlaceOf(const Problem& p, int input) {
  if (AppendsRows(p) && (input == 1 || input == 2)) {
    return static_cast<int>(input == 1 ? kAttentionNextKeys : kAttentionNextValues);
  }
  if (StoresDraws(p) && input == static_cast<int>(kDrawTable)) {
    return static_cast<int>(p.outputs.size()) - 1;
  }
  const bool values = p.family == Family::kAppend && input == static_cast<int>(kAppendValues);
  return values ? static_cast<int>(kNextValues) : 0;
}

int RawInputs(const Problem& problem) {
  if (problem.family == Family::kElementwise) return 0;
  return SumInputs(problem) + (SeesMoments(problem) ? 2 : 0);
}

int SumInputs(const Problem& problem) {
  if (problem.family == Family::kGemm) return problem.as<GemmAttrs>().halves == 2 ? 2 : 1;
  if (problem.family == Family::kBlockGemm) return problem.as<BlockGemmAttrs>().halves == 2 ? 2 : 1;
  return 1;
}

bool NormalizesRows(const Problem& problem) { return RowNormEpsilon(problem).stored(); }

AddedReal RowNormEpsilon(const Problem& problem) {
  if (problem.family == Family::kGemm) return problem.as<GemmAttrs>().rms_epsilon;
  if (problem.family == Family::kBlockGemm) return problem.as<BlockGemmAttrs>().rms_epsilon;
  return {};
}

std::string RefuseRowNorm(const Problem& problem) {
  return NormalizesRows(problem) ? "does not normalise rows" : "";
}

bool HasBlockScales(const Problem& problem) {
  return problem.family == Family::kGemm && problem.as<GemmAttrs>().scale_terms != 0;
}

std::string RefuseBlockScales(const Problem& problem) {
  return HasBlockScales(problem) ? "does not take scales of blocks" : "";
}

bool SeesMoments(const Problem& problem) {
  return problem.family == Family::kGemm && problem.as<GemmAttrs>().moments_epsilon.stored();
}

bool StoresMoments(const Problem& problem) {
  return SeesMoments(problem) && problem.as<GemmAttrs>().stores_moments != 0;
}

bool ReadsParts(const Problem& problem) {
  return SeesMoments(problem) && problem.as<GemmAttrs>().part_terms != 0;
}

std::string RefuseMoments(const Problem& problem) {
  return SeesMoments(problem) ? "does not tell the moments of rows" : "";
}

bool StoresParts(const Problem& problem) {
  return problem.family == Family::kGemm && problem.as<GemmAttrs>().part_columns != 0;
}

std::string RefuseStoredParts(const Problem& problem) {
  return StoresParts(problem) ? "does not store the moments of its results" : "";
}

bool StoresDraws(const Problem& problem) {
  return problem.family == Family::kCategorical && problem.as<CategoricalAttrs>().stores != 0;
}

bool AppendsRows(const Problem& problem) {
  return problem.family == Family::kAttention && problem.as<AttentionAttrs>().append_pairs != 0;
}

std::string RefuseAppending(const Problem& problem) {
  return AppendsRows(problem) ? "does not append to its keys and values" : "";
}

size_t ResultCount(const Problem& problem) {
  return problem.outputs.size() - (StoresMoments(problem) || StoresParts(problem) ? 1 : 0);
}

const Dims& DomainOf(const Problem& problem) {
  return HasPrologue(problem.family) ? problem.inputs[0].shape : problem.outputs[0].shape;
}

namespace {

double DomainCount(const Dims& shape) {
  return static_cast<double>(ElementCount(shape).value_or(0));
}

double CoreFlops(const Problem& p) {
  const double out = p.outputs.empty() ? 0 : DomainCount(p.outputs[0].shape);
  switch (p.family) {
    case Family::kGemm:
    case Family::kBlockGemm:
      return 2 * out * SumInputs(p) * static_cast<double>(p.inputs[0].shape.back());
    case Family::kConv: {
      // Every weight is multiplied once per output position (transposed: once per input position).
      const bool transposed = p.as<ConvAttrs>().transposed;
      const Dims& grid = transposed ? p.inputs[0].shape : p.outputs[0].shape;
      const Dims& w = p.inputs[1].shape;
      double taps = static_cast<double>(w[1]);
      for (int i = 2; i < w.rank(); ++i) taps *= static_cast<double>(w[i]);
      return 2 * DomainCount(grid) * taps;
    }
    case Family::kPool: {
      double window = 1;
      for (int64_t k : p.as<PoolAttrs>().kernel) window *= static_cast<double>(k);
      return out * window;
    }
    case Family::kReduce:
      return DomainCount(p.inputs[0].shape) * (1 + Flops(p.prologue));
    case Family::kNormalize:
      return DomainCount(p.inputs[0].shape) * (12 + Flops(p.prologue));
    case Family::kResize:
    case Family::kSample:
      return out * 8;
    case Family::kScan:
      return out;
    case Family::kRoi:
      return out * 32;
    case Family::kRecurrent:
      // The product h * R of every time step, then a handful of operations per gate.
      return DomainCount(p.inputs[0].shape) * (2 * static_cast<double>(p.inputs[1].shape[2]) + 12);
    case Family::kAttention: {
      // Both products, some operations of the softmax, and the score expression.
      const AttentionShape s = AttentionShapeOf(p);
      const double turned = 6 * static_cast<double>(s.batch * (s.query_heads + s.key_heads)) *
                            static_cast<double>(p.as<AttentionAttrs>().append_pairs);
      return turned +
             ScoreCount(p) * (2 * static_cast<double>(s.head + s.value_head) + 12 + Flops(p.score));
    }
    case Family::kExcite: {
      // An addition per element, two products, and what is applied to each of their results.
      const ExciteShape s = ExciteShapeOf(p);
      const auto images = static_cast<double>(s.images), hidden = static_cast<double>(s.hidden),
                 channels = static_cast<double>(s.channels);
      return out + images * (4 * hidden * channels + hidden * Flops(p.prologue) +
                             channels * (1 + Flops(p.score)));
    }
    case Family::kAppend: {
      const AppendShape s = AppendShapeOf(p);
      return 6 * static_cast<double>(s.rows) * static_cast<double>(s.heads + s.query_heads) *
             static_cast<double>(s.pairs);
    }
    default:
      return 0;
  }
}

// Bytes of the distinct elements that a view names: broadcast axes count once. Where axes overlap,
// as those of windows do, there are no more elements than lie between the first and the last one.
double DistinctBytes(const View& v) {
  double count = 1, span = 1;
  for (int i = 0; i < v.shape.rank(); ++i) {
    const auto extent = static_cast<double>(v.shape[i]);
    if (v.strides[i] != 0 || v.shape[i] == 0) count *= extent;
    span += (extent - 1) * std::abs(static_cast<double>(v.strides[i]));
  }
  return std::min(count, std::max(span, 0.0)) * static_cast<double>(DTypeBytes(v.dtype));
}

}  // namespace

double FlopCount(const Problem& p) {
  const double out = p.outputs.empty() ? 0 : DomainCount(p.outputs[0].shape);
  return CoreFlops(p) + out * Flops(p.epilogue);
}

double ByteCount(const Problem& p) {
  double bytes = 0;
  for (const View& v : p.inputs) bytes += DistinctBytes(v);
  for (const View& v : p.outputs) bytes += DistinctBytes(v);
  if (p.family == Family::kGather) {
    // Only the gathered rows of the table are read.
    bytes += DistinctBytes(p.outputs[0]) - DistinctBytes(p.inputs[0]);
  }
  if (p.family == Family::kAppend) {
    // The operands and outputs include the whole cache, of which nothing is read and only the new
    // rows are written.
    for (size_t o : {kNextKeys, kNextValues}) {
      const View& next = p.inputs[o == kNextKeys ? kAppendK : kAppendV];
      bytes -= DistinctBytes(p.inputs[kAppendKeys + o]) + DistinctBytes(p.outputs[o]);
      bytes += DomainCount(next.shape) * static_cast<double>(DTypeBytes(p.outputs[o].dtype));
    }
  }
  if (p.family == Family::kAttention && p.as<AttentionAttrs>().pages) {
    // The operands include the whole pools, of which at most the pages that the table can name are
    // read.
    const auto pool = static_cast<double>(p.inputs[1].shape[0]);
    const double named =
        DomainCount(p.inputs[static_cast<size_t>(AttentionShapeOf(p).table)].shape);
    const double unread = pool > named ? 1 - named / pool : 0;
    bytes -= unread * (DistinctBytes(p.inputs[1]) + DistinctBytes(p.inputs[2]));
  }
  if (AppendsRows(p)) {
    // Only the new rows of the pools are written.
    const AttentionShape s = AttentionShapeOf(p);
    for (size_t o : {kAttentionNextKeys, kAttentionNextValues}) {
      const auto row = static_cast<size_t>(o == kAttentionNextKeys ? s.new_keys : s.new_values);
      bytes += DistinctBytes(p.inputs[row]) - DistinctBytes(p.outputs[o]);
    }
  }
  return bytes;
}

}  // namespace aicf::abi
