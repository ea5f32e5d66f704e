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

/// Whether the expression reads coordinates of its domain. Its step cannot be moved to another
/// domain then.
bool ReadsCoordinates(const abi::Expr& expr);

/// "[Conv_0, Relu_1]".
std::string NamesOf(const ir::LoweredStep& step);
/// The subject of decisions about the step while steps have no numbers: its source nodes.
schema::Subject SubjectOf(const ir::LoweredStep& step);

bool IsElementwise(const ir::LoweredStep& step);
/// Whether the raw result of the step's family passes through an epilogue. False for elementwise
/// steps, which consist of an expression alone, and for copies.
bool HasEpilogue(const ir::LoweredStep& step);
/// Whether the operands of the step's family pass through a prologue.
bool HasPrologue(const ir::LoweredStep& step);

/// Conditions of every fusion: neither --disable-fusion nor a wish keeps the two steps apart, they
/// run equally often, and what the producer reads is the same at the consumer. Empty when all hold.
std::string CheckTogether(const ir::StepEditor& editor, const PassContext& context, int producer,
                          int consumer);
/// Conditions on the producer's side of a fusion that leaves its result unstored: those of
/// CheckTogether, and its buffer is a temporary that it alone writes, whole. Empty when all hold.
std::string CheckProducer(const ir::StepEditor& editor, const PassContext& context, int producer,
                          int consumer);
/// Condition: no step but the consumer reads the producer's buffer.
std::string CheckSingleUse(const ir::StepEditor& editor, int producer, int consumer);

/// consumer's expression with every operand that reads the producer's result replaced by the
/// producer's expression on translated operands. For elementwise consumers and for prologues.
Fusion InlineProducer(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Appends the consumer, an elementwise step, to the producer's epilogue.
Fusion AppendConsumer(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// Makes the result of the consumer, an elementwise step whose other operands are constants,
/// another result of the producer, which keeps its own.
Fusion AppendResult(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// Products that can have two halves and normalise rows (abi::GemmAttrs): gemm, blockgemm.
bool IsMatrixProduct(const ir::LoweredStep& step);
/// Makes a product and its consumer, an elementwise step that reads the two halves of the result's
/// columns, one product of two halves (abi::GemmAttrs).
Fusion PairedHalves(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Whether a product's result is read in two windows, so that PairedHalves is what could join the
/// two.
bool ReadsInHalves(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// Makes a norm by the root mean square and the product that reads its result as A one product that
/// normalises rows (abi::GemmAttrs).
Fusion NormalizedProduct(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Empty, or why no product can have the norm's epsilon: it has to be finite, and not negative,
/// because abi::AddedReal stores numbers from 0 on.
std::string RefuseEpsilon(const abi::Problem& norm);
/// Whether the rows of A are the rows that a norm makes: they are as long, their elements are as
/// far apart, and there are as many of them.
bool HasSameRows(const abi::View& a, const abi::View& made);
/// Whether the two are a norm by the root mean square and a product that reads its result as A.
bool MultipliesNormalized(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

/// The source nodes of both, each once.
std::vector<std::string> JoinedSources(const std::vector<std::string>& a,
                                       const std::vector<std::string>& b);

/// The step with the producer's core operands and the consumer's result. It is `problem` with
/// `results` of `expr` as its epilogue, the operands of `expr` behind the core ones, and `out` as
/// the view of its result.
Fusion FinishEpilogue(const ir::LoweredStep& producer, const ir::LoweredStep& consumer,
                      abi::Problem problem, const abi::View& out, OperandExpr& expr,
                      std::vector<uint16_t> results);

/// The step with the results of both: the producer's, then the consumer's as the views `outs` over
/// the producer's domain. `results` of `expr` are their values. The operands of `expr` are all
/// operands of an elementwise producer, and those of the epilogue of others.
Fusion FinishResults(const ir::LoweredStep& producer, const ir::LoweredStep& consumer,
                     const std::vector<abi::View>& outs, OperandExpr& expr,
                     std::vector<uint16_t> results);

/// Each of these checks all conditions of one kind of fusion, in order. The passes fuse by them,
/// and the last pass (explain-separate) records by them what kept two steps apart.
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
/// `costs`, where given, gets the predicted times that are known.
Fusion TryHalves(const ir::StepEditor& editor, const PassContext& context, int producer,
                 int consumer, PairCosts* costs = nullptr);
Fusion TryRowNorm(const ir::StepEditor& editor, const PassContext& context, int producer,
                  int consumer, PairCosts* costs = nullptr);
/// Whether the two are a copy and an elementwise step that reads only what was copied.
bool ConvertsCopied(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Makes such a pair one copy with an epilogue.
Fusion TryConversion(const ir::StepEditor& editor, const PassContext& context, int producer,
                     int consumer, PairCosts* costs = nullptr);
/// Whether the two are a step that appends rows to a cache, turned by their positions, and the
/// attention that reads what it gives.
bool AttendsToAppended(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);
/// Makes such a pair one attention that appends (abi::AttentionAttrs::append_pairs).
Fusion TryAppending(const ir::StepEditor& editor, const PassContext& context, int producer,
                    int consumer, PairCosts* costs = nullptr);
/// Whether the step is elementwise and stores a value as codes of 8 bits.
bool StoresCodes(const ir::LoweredStep& step);
/// Joins a step with the one that stores its result as codes, where other steps read the result as
/// it is: the joined step stores both.
Fusion TryCodes(const ir::StepEditor& editor, const PassContext& context, int producer,
                int consumer, PairCosts* costs = nullptr);
/// Whether the two are elementwise steps on a device on which every step is launched by itself.
bool CanBeHorizontal(const ir::LoweredStep& earlier, const ir::LoweredStep& later,
                     const abi::DeviceSpec& device);
/// Makes two elementwise steps of one shape, of which the later may read what the earlier makes,
/// one step with the results of both. It can stand where one of the two does: where the earlier
/// stands if what the later reads is there, or else where the later does.
Fusion TryHorizontal(const ir::StepEditor& editor, const PassContext& context, int earlier,
                     int later, PairCosts* costs = nullptr);
/// "cost: ..." when the device's kernels are predicted to run the two steps faster than the one
/// that would replace them: it may need a slower kernel. "capability: ..." when no kernel has legal
/// parameters for that one step, but kernels have some for the two. Empty without a device, or a
/// prediction for the two.
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
