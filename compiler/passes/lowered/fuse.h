/// What the fusion passes share: the conditions on an edge, each with a name that its decision
/// carries, and the rewriting of expressions.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/lower/operand_expr.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// An attempt to fuse: the step that results, or the condition that failed as "name: sentence".
struct Fusion {
  std::string refusal;
  ir::LoweredStep step;
  bool ok() const { return refusal.empty(); }
};

/// Whether the expression asks where in the domain it is: its step keeps that domain.
bool ReadsCoordinates(const abi::Expr& expr);

/// "[Conv_0, Relu_1]".
std::string NamesOf(const ir::LoweredStep& step);
/// What a decision about the step is about, as long as the step has no number.
schema::Subject SubjectOf(const ir::LoweredStep& step);

bool IsElementwise(const ir::LoweredStep& step);
/// Families whose raw result passes through an epilogue (elementwise steps are their own), but for
/// copies.
bool HasEpilogue(const ir::LoweredStep& step);
/// Families whose operands pass through a prologue.
bool HasPrologue(const ir::LoweredStep& step);

/// Conditions on the producer's side of every fusion: its buffer is a temporary that it alone
/// writes, whole, neither --disable-fusion nor a wish keeps them apart, they run equally often, and
/// what the producer reads is the same at the consumer. Empty when all hold.
std::string CheckProducer(const ir::StepEditor& editor, const PassContext& context, int producer,
                          int consumer);
/// Condition: no step but the consumer reads the producer's buffer.
std::string CheckSingleUse(const ir::StepEditor& editor, int producer, int consumer);

/// consumer's expression with every operand that reads the producer's result replaced by the
/// producer's expression on translated operands. For elementwise consumers and for prologues.
Fusion InlineProducer(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// The consumer, elementwise, as the end of the producer's epilogue.
Fusion AppendConsumer(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// The consumer, elementwise, whose other operands are constants, as another result of the
/// producer, which keeps its own.
Fusion AppendResult(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// Products that can have two halves and normalise rows (abi::GemmAttrs): gemm, blockgemm.
bool IsMatrixProduct(const ir::LoweredStep& step);
/// A product and its consumer, elementwise, which reads the two halves of the result's columns, as
/// one product of two halves (abi::GemmAttrs).
Fusion PairedHalves(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Whether a product's result is read in two windows, so that PairedHalves is what could join the
/// two.
bool ReadsInHalves(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// A norm by the root mean square and the product that reads its result as A, as one product that
/// normalises rows (abi::GemmAttrs).
Fusion NormalizedProduct(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Empty, or why no product can have the norm's epsilon, which abi::AddedReal stores from 0 on.
std::string RefuseEpsilon(const abi::Problem& norm);
/// Whether rows of A are rows of what a norm makes: both have as many neighbours as long.
bool HasSameRows(const abi::View& a, const abi::View& made);
/// Whether the two are such a norm and such a product.
bool MultipliesNormalized(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// The source nodes of both, each once.
std::vector<std::string> JoinedSources(const std::vector<std::string>& a,
                                       const std::vector<std::string>& b);

/// The step of the producer's core with the consumer's result in `out`: `problem`, whose operands
/// end with the core ones, gets the epilogue `results` of `expr` and its operands.
Fusion FinishEpilogue(const ir::LoweredStep& producer, const ir::LoweredStep& consumer,
                      abi::Problem problem, const abi::View& out, OperandExpr& expr,
                      std::vector<uint16_t> results);

/// All conditions of one kind of fusion, in order; what the passes apply and what the last pass
/// explains.
Fusion TryElementwise(const ir::StepEditor& editor, const PassContext& context, int producer,
                      int consumer);
Fusion TryEpilogue(const ir::StepEditor& editor, const PassContext& context, int producer,
                   int consumer);
Fusion TryPrologue(const ir::StepEditor& editor, const PassContext& context, int producer,
                   int consumer);
/// Predicted times of the one step and of the two; -1: unknown.
struct PairCosts {
  double one_us = -1, two_us = -1;
};
/// `costs`, where given, gets what is known of them.
Fusion TryHalves(const ir::StepEditor& editor, const PassContext& context, int producer,
                 int consumer, PairCosts* costs = nullptr);
Fusion TryRowNorm(const ir::StepEditor& editor, const PassContext& context, int producer,
                  int consumer, PairCosts* costs = nullptr);
/// Whether the two are a copy and a step, elementwise, that reads nothing else.
bool ConvertsCopied(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Such a pair as one copy with an epilogue.
Fusion TryConversion(const ir::StepEditor& editor, const PassContext& context, int producer,
                     int consumer, PairCosts* costs = nullptr);
/// Whether the step, elementwise, stores a value as codes of 8 bits.
bool StoresCodes(const ir::LoweredStep& step);
/// A step and the one that stores its result as codes, which others read as it is.
Fusion TryCodes(const ir::StepEditor& editor, const PassContext& context, int producer,
                int consumer, PairCosts* costs = nullptr);
/// "cost: ..." when the device's kernels are predicted to run the two steps faster than the one
/// that would replace them: it may need a slower kernel. Empty without a device, or a prediction.
std::string RefuseSlower(const ir::LoweredStep& producer, const ir::LoweredStep& consumer,
                         const ir::LoweredStep& one, const abi::DeviceSpec& device,
                         PairCosts* costs);

/// One kind of fusion of a step with one of its producers, which a whole pass consists of.
struct PairFusion {
  bool (*matches)(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
  Fusion (*attempt)(const ir::StepEditor& editor, const PassContext& context, int producer,
                    int consumer, PairCosts* costs);
  void (*record)(PassContext& context, const ir::LoweredStep& producer,
                 const ir::LoweredStep& consumer, const PairCosts& costs);
};
/// Fuses every step, in their order, with the first of its producers for which that succeeds. Why
/// others were left apart is for explain-separate to say, which asks the same conditions.
Status FusePairs(ir::Lowered& lowered, PassContext& context, const PairFusion& kind);

/// Steps that produce an operand of step s, each once, in order of the operands.
std::vector<int> ProducersOf(const ir::StepEditor& editor, int s);

/// "the value between them stays in a register", and in f32 where its buffer was narrower.
std::string RegisterReason(const ir::LoweredStep& producer);
/// Records that an edge was fused.
void RecordFusion(PassContext& context, DecisionKind kind, const ir::LoweredStep& producer,
                  const ir::LoweredStep& consumer, std::string_view choice, std::string rule,
                  std::string_view pass);

}  // namespace aicf
