/// Typed expression DAGs: the unit of fusion.
///
/// An Expr is evaluated once per point of a step's iteration domain. Node i may refer only to nodes
/// before it, so one forward pass evaluates it. Inputs are loaded from operands (f16 and bf16 are
/// widened to f32 at the load and rounded at the store, so no node has dtype f16 or bf16);
/// results are stored to the step's outputs in order.
///
/// Text form, which parses back:  (%0 = in 0 : f32; %1 = const 3 : f32; %2 = add %0 %1 : f32) -> %2
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/scanner.h"
#include "base/status.h"

namespace aicf::abi {

enum class ExprOp : uint8_t {
#define AICF_EXPR(id, text, arity, cls, flops) id,
#include "kernels/abi/expr_ops.def"
#undef AICF_EXPR
};

inline constexpr int kExprOpCount = 0
#define AICF_EXPR(id, text, arity, cls, flops) +1
#include "kernels/abi/expr_ops.def"
#undef AICF_EXPR
    ;

inline bool IsValid(ExprOp op) { return static_cast<int>(op) < kExprOpCount; }
std::string_view ExprOpName(ExprOp op);
int ExprOpArity(ExprOp op);
double ExprOpFlops(ExprOp op);

/// Limits that every backend supports; fusion stops at them and the verifier enforces them.
inline constexpr int kMaxExprNodes = 96;
inline constexpr int kMaxExprInputs = 12;
inline constexpr int kMaxExprResults = 4;

struct ExprNode {
  ExprOp op = ExprOp::kConst;
  DType dtype = DType::kF32;     ///< dtype of this node's value
  uint16_t args[3] = {0, 0, 0};  ///< indices of earlier nodes; the first `arity` are used
  uint64_t imm = 0;              ///< input index, domain axis, or constant bits (see ConstBits)

  friend bool operator==(const ExprNode&, const ExprNode&) = default;
};

struct Expr {
  std::vector<ExprNode> nodes;
  std::vector<uint16_t> results;  ///< node stored to output r

  bool empty() const { return nodes.empty(); }  ///< an empty expression gives input 0 unchanged
  friend bool operator==(const Expr&, const Expr&) = default;
};

/// The dtype that an operand of dtype `storage` has inside an expression once it is loaded: floats
/// below 32 bits become f32, integers below 8 bits become i8 or u8, all others stay. A store into
/// an integer below 8 bits keeps the low bits. A store into a float below 32 bits rounds to nearest
/// even; overflow becomes infinity, or NaN where the type has no infinity.
inline DType ComputeDType(DType storage) {
  if (storage == DType::kF16 || storage == DType::kBF16) return DType::kF32;
  if (!IsStorageOnly(storage)) return storage;
  if (IsFloat(storage)) return DType::kF32;
  return KindOf(storage) == DTypeKind::kSigned ? DType::kI8 : DType::kU8;
}

/// Constant bits: floats are stored as the bits of a double, everything else as an int64.
uint64_t FloatBits(double value);
double BitsToFloat(uint64_t bits);

/// Number of distinct operand slots: 1 + the largest input index, 0 without inputs.
int InputCount(const Expr& expr);

/// Total cost of one evaluation, from the table.
double Flops(const Expr& expr);

/// Checks every rule above: operator and dtype legality, argument order, limits, input indices
/// below `input_dtypes.size()` and dtypes equal to ComputeDType(input_dtypes[k]).
/// Errors: kBadArtifact with the node's number. The compiler calls it too: there it is an internal
/// bug.
Status ValidateExpr(const Expr& expr, std::span<const DType> input_dtypes, int domain_rank);
inline Status ValidateExpr(const Expr& expr, std::initializer_list<DType> input_dtypes,
                           int domain_rank) {
  return ValidateExpr(expr, std::span(input_dtypes.begin(), input_dtypes.size()), domain_rank);
}

/// The DAG as one line of text; "id" for an empty expression.
std::string ToString(const Expr& expr);
Result<Expr> ParseExpr(std::string_view text);
/// Parses an expression at the scanner's position, for text formats that embed one.
Result<Expr> ParseExprFrom(Scanner& in);

/// Builds expressions with value numbering: asking twice for the same node gives the same index.
/// Mul followed by Add is kept as written; fma is made by a pass, as a decision.
class ExprBuilder {
 public:
  uint16_t Input(int index, DType compute_dtype);
  uint16_t Const(double value, DType dtype);  ///< float or integer dtype; value is converted
  uint16_t ConstInt(int64_t value, DType dtype);
  uint16_t Index(int axis);
  uint16_t Unary(ExprOp op, uint16_t a);
  uint16_t Binary(ExprOp op, uint16_t a, uint16_t b);
  uint16_t Select(uint16_t cond, uint16_t a, uint16_t b);
  uint16_t Fma(uint16_t a, uint16_t b, uint16_t c);
  uint16_t Cast(uint16_t a, DType to);  ///< no node when the dtype is already `to`
  /// Copies `other` into this builder with its input k replaced by node inputs[k], and returns the
  /// nodes of its results.
  std::vector<uint16_t> Inline(const Expr& other, const std::vector<uint16_t>& inputs);

  DType dtype(uint16_t node) const { return expr_.nodes[node].dtype; }
  /// Drops nodes that no result needs and returns the expression. If more than 4096 distinct nodes
  /// were asked for, the expression has exactly 4096 nodes and is not what was asked for;
  /// ValidateExpr refuses it, because no valid expression is that large (kMaxExprNodes).
  Expr Finish(std::vector<uint16_t> results);
  int node_count() const { return static_cast<int>(expr_.nodes.size()); }

 private:
  uint16_t Add(const ExprNode& node);
  Expr expr_;
  bool overflowed_ = false;  ///< more nodes were asked for than the builder holds
};

}  // namespace aicf::abi
