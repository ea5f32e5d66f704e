/// The steps of an epilogue that runs in registers. Each computes what one node of the expression
/// says (kernels/abi/expr.h), with that node's rounding; only the functions' own accuracy is less
/// than exact (kernels/cpu/common/vector_functions.def).
#pragma once

#include <cstdint>

namespace aicf::cpu {

inline constexpr int kChainTableEntries = 256;
inline constexpr int kMaxChainSteps = 96;

/// v is the value that the steps change, at first the accumulator. s is a second register, for
/// expressions that use a value twice. x and y are a step's operands; a, b, lo and hi its numbers.
enum class ChainOp : uint8_t {
  kSave,      ///< s = v
  kSwap,      ///< v and s change places
  kLinear,    ///< v * a + b where a is 1 or -1, or b is -0: one rounding, whatever the instruction
              ///< set
  kFma,       ///< v * a + b, rounded once
  kDivide,    ///< v / a
  kClamp,     ///< min(max(v, lo), hi); NaN stays NaN
  kSigmoid,   ///< sigmoid(v * a + b) * lo + hi, with the two kLinear before and after it, if any
  kTanh,      ///< tanh, likewise
  kErf,       ///< erf, likewise
  kRoundF16,  ///< nearest f16 value
  kRound,     ///< nearest whole number, of two the even one
  kQuantize,  ///< kRound, kLinear by 1 and b, kClamp and kNarrow to lo and hi in one step
  kNarrow,    ///< as an integer of the range lo to hi: truncated, the ends beyond it, 0 for NaN
  kTable,     ///< TileEpilogue::table at v, a whole number of 8 bits; replaces all steps from here
  kAdd,       ///< v + x
  kMul,       ///< v * x
  kFmaValue,  ///< v * x + y, rounded once
  kFmaSum,    ///< x * y + v, rounded once
  kGate,  ///< kSave, kFma, kClamp, kMul by s and a product with x.number in one step: hard swish
  kSilu,  ///< kSave, kSigmoid and kMul by s in one step
  kMulSwapped,  ///< (s * a + b) * v: kSwap, kLinear and kMul by s in one step
};

enum class ChainSource : uint8_t {
  kNumber,
  kSaved,    ///< s
  kColumns,  ///< one value per column
  kTensor,   ///< one value per row and column
};

/// Neither this struct nor ChainStep has initialisers, because every call of a product has room for
/// many of them, which must cost nothing. Zero is a legal value of all their members.
struct ChainOperand {
  ChainSource source;
  int index;  ///< kTensor: into TileEpilogue::inputs; kColumns: into its column_inputs
  float number;
  /// kTensor: whether the operand is u8 or i8 and each value t stands for (t + shift) * scale; the
  /// sum and the product are each rounded once.
  bool dequantises;
  float shift, scale;
};

struct ChainStep {
  ChainOp op;
  float a, b, lo, hi;
  ChainOperand x, y;

  /// Whether it reads the value that a kSave before it has kept.
  bool ReadsSaved() const {
    return op == ChainOp::kSwap || op == ChainOp::kMulSwapped || x.source == ChainSource::kSaved ||
           y.source == ChainSource::kSaved;
  }
};

/// A term that is added to sums of integers: number * a * b, where a and b are operands with one
/// integer per column, or 1 where absent. All arithmetic wraps.
struct IntegerTerm {
  int32_t number = 1;  ///< includes the term's sign
  int a = -1, b = -1;  ///< indices into TileEpilogue::inputs
};
inline constexpr int kMaxIntegerTerms = 4;

/// A kLinear that leaves every number as it is.
inline constexpr float kUnitScale = 1, kUnitShift = -0.0f;

}  // namespace aicf::cpu
