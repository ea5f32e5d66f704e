/// Problem: everything a kernel needs to know about one step except addresses.
///
/// The same type describes a step in the compiler, in an artifact and in the runtime; a kernel's
/// host functions (supports, workspace, launch, footprint) are pure functions of it.
///
/// Operands: inputs[0 .. core_inputs) are the core operands of the family (family.def); inputs
/// after them are epilogue extras. Expressions see:
///   - elementwise: epilogue input k = inputs[k]; core_inputs == inputs.size(); prologue empty.
///   - families with a prologue (HasPrologue): prologue input k = inputs[k], k < core_inputs. An
///     empty prologue gives inputs[0].
///   - families with an epilogue: epilogue input 0 = the family's raw result (f32 for float data),
///     input k = inputs[core_inputs + k - 1]. An empty epilogue gives the raw result. A gemm or
///     blockgemm of two halves has two raw results, inputs 0 and 1. A gemm whose epilogue sees the
///     moments of A's rows has these two as raw inputs after its sums. In both cases the extras
///     begin at input RawInputs.
///   - attention: score input 0 = the scaled product, input k = inputs[core_inputs + k - 1], on the
///     domain [B, Hq, Tq, Tk] (AttentionAttrs). An empty score gives the scaled product.
///   - excite: the prologue is applied to hidden units and the score makes gates, each with
///     operands of its own among the core ones (ExciteAttrs). If empty, they give the product.
///   - other families without an epilogue (HasEpilogue): no expressions.
/// Epilogue extras have the shape of outputs[0]; axes along which they broadcast have stride 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "base/scanner.h"
#include "base/status.h"
#include "kernels/abi/attrs.h"
#include "kernels/abi/expr.h"

namespace aicf::abi {

enum class Family : uint8_t {
#define AICF_FAMILY(id, text, attrs, core, slots) id,
#include "kernels/abi/family.def"
#undef AICF_FAMILY
};

inline constexpr int kFamilyCount = std::variant_size_v<Attrs>;
inline bool IsValid(Family f) { return static_cast<int>(f) < kFamilyCount; }
std::string_view FamilyName(Family family);

/// The family of that name at compile time, e.g. FamilyNamed("conv"). There must be one.
consteval Family FamilyNamed(std::string_view name) {
#define AICF_FAMILY(id, text, attrs, core, slots) \
  if (name == text) return Family::id;
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  throw "no family has that name";
}

/// Bits that say which expressions a family applies; family.def combines them.
struct ExprSlots {
  static constexpr uint8_t kNone = 0, kPrologue = 1, kEpilogue = 2, kScore = 4, kHidden = 8;
};
/// True for families that read their core operands, all of one shape, through a prologue.
bool HasPrologue(Family family);
/// False for families whose outputs are stored as the family defines them: no expression is
/// applied, and outputs may differ in shape.
bool HasEpilogue(Family family);
/// True for families with a score expression.
bool HasScore(Family family);
/// True for families whose prologue is applied to hidden units instead of the operands that are
/// read.
bool HasHidden(Family family);
/// Number of core operands, those with a fixed meaning; -1: any number.
int CoreInputs(Family family);

/// How the products of gemm and conv are formed. Sums of floats accumulate in f32 in every mode,
/// those of integers below 32 bits in i32. kInt8 is a mode of blockgemm alone (BlockGemmAttrs).
enum class MathMode : uint8_t { kFp32, kTf32, kFp16, kBf16, kFp8, kInt8, kCount };
std::string_view MathModeName(MathMode mode);
std::optional<MathMode> ParseMathMode(std::string_view name);

/// A strided window of a buffer. strides and offset count elements; stride 0 repeats an element,
/// negative strides walk backwards. Element [i..] is at offset + sum(i * stride).
struct View {
  DType dtype = DType::kF32;
  Dims shape;
  Dims strides;
  int64_t offset = 0;

  friend bool operator==(const View&, const View&) = default;
};

/// A dense row-major view of a whole buffer.
View DenseView(DType dtype, const Dims& shape);
/// True when the view is row-major without gaps and starts at its offset.
bool IsDense(const View& view);
/// Elements in the view. REQUIRES: a validated view.
int64_t ElementsOf(const View& view);

/// Bytes [begin, end) that the view can touch, relative to the buffer; {0, 0} for an empty view.
/// Errors: kBadArtifact when the rank, an extent, a stride (beyond 2^61, whatever the extent), or
/// any partial sum is out of range or negative.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
};
Result<Extent> ExtentOf(const View& view);

struct Problem {
  Family family = Family::kElementwise;
  MathMode math = MathMode::kFp32;
  Attrs attrs;
  std::vector<View> inputs;
  std::vector<View> outputs;
  int core_inputs = 0;
  Expr prologue;
  Expr epilogue;
  Expr score;  ///< HasScore families only

  int extra_inputs() const { return static_cast<int>(inputs.size()) - core_inputs; }
  template <class T>
  const T& as() const {
    return std::get<T>(attrs);
  }
};

/// The output whose bytes inputs[input] may occupy where a kernel allows that
/// (KernelInfo::in_place). It is the first output, except in families that update several operands.
int OutputInPlaceOf(const Problem& problem, int input);

/// Number of epilogue inputs that are raw results; the extras follow them. 0 for elementwise steps,
/// otherwise SumInputs, and two more for a gemm that sees moments.
int RawInputs(const Problem& problem);
/// Number of sums that a gemm, a blockgemm or a conv forms for each of its results: 2 for a product
/// of two halves, otherwise 1. They come first among the raw inputs.
int SumInputs(const Problem& problem);

/// True for a gemm whose operands have a scale for every block (GemmAttrs::scale_terms). It has
/// four core operands; kernels take it only where they say so.
bool HasBlockScales(const Problem& problem);
/// The refusal of a kernel that does not take block scales; empty where the problem has none.
std::string RefuseBlockScales(const Problem& problem);

/// True for a gemm or blockgemm that normalises the rows of A as it reads them
/// (GemmAttrs::rms_epsilon). It has three core operands; kernels take it only where they say so.
bool NormalizesRows(const Problem& problem);
/// The epsilon of that norm; absent where the problem does not normalise rows.
AddedReal RowNormEpsilon(const Problem& problem);
/// The refusal of a kernel that does not normalise rows; empty where the problem does not ask for
/// it.
std::string RefuseRowNorm(const Problem& problem);

/// True for a gemm whose epilogue sees the moments of A's rows (GemmAttrs::moments_epsilon), after
/// the sums: the mean, then the scale. Kernels take it only where they say so.
bool SeesMoments(const Problem& problem);
/// Whether a gemm that sees moments also stores them. They are then its last output, which is not a
/// result of the epilogue.
bool StoresMoments(const Problem& problem);
/// Whether a gemm that sees moments makes them from moments of parts of the rows
/// (GemmAttrs::part_terms), which are core operand 2, instead of from the rows themselves.
bool ReadsParts(const Problem& problem);
/// The refusal of a kernel that does not make moments; empty where the problem does not see them.
std::string RefuseMoments(const Problem& problem);

/// True for a gemm that stores the moments of parts of its first result's rows
/// (GemmAttrs::part_columns). They are its last output, which is not a result of the epilogue.
/// Kernels take it only where they say so.
bool StoresParts(const Problem& problem);
/// The refusal of a kernel that does not store such moments; empty where the problem does not ask
/// for it.
std::string RefuseStoredParts(const Problem& problem);

/// True for an attention that appends rows to its pools first (AttentionAttrs::append_pairs).
/// Kernels take it only where they say so.
bool AppendsRows(const Problem& problem);
/// The refusal of a kernel that does not append; empty where the problem does not ask for it.
std::string RefuseAppending(const Problem& problem);

/// True for draws that are also stored in a table (CategoricalAttrs::stores). Its operands are
/// kDrawTable and kDrawPlaces, and the table with the draws in it is the last output.
bool StoresDraws(const Problem& problem);
inline constexpr size_t kDrawTable = 7, kDrawPlaces = 8;

/// Number of outputs that are results of the epilogue: all but stored moments and parts.
size_t ResultCount(const Problem& problem);

/// The iteration domain: the shape of the core operands for a family with a prologue, which is
/// evaluated there; otherwise the shape of the outputs.
const Dims& DomainOf(const Problem& problem);

/// Checks a problem from first principles: operand counts, dtypes, ranks, shapes against
/// attributes, expressions, extents. Says nothing about buffers (the program verifier does) nor
/// about what a kernel supports. Errors: kBadArtifact, naming operand and rule.
Status ValidateProblem(const Problem& problem);

/// Canonical text: equal problems give equal text, and it parses back
/// (kernels/abi/problem_text.cc). e.g. "conv math=fp32 strides=[1, 1] ... in(f32 1x3x48x320 [46080,
/// 15360, 320, 1]+0, ...) ..."
std::string ToString(const Problem& problem);
Result<Problem> ParseProblem(std::string_view text);
/// Parses a problem at the scanner's position, for the IRs' text forms, which embed problems.
Result<Problem> ParseProblemFrom(Scanner& in);

/// Floating-point operations and bytes moved (each distinct element once), for rooflines.
double FlopCount(const Problem& problem);
double ByteCount(const Problem& problem);

}  // namespace aicf::abi
