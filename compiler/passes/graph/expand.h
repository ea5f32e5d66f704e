/// Expansion of what has no counterpart in a graph of tensors: control flow and sequences.
///
/// Shape inference walks the nodes in order, so when it meets one of these, its inputs' shapes, and
/// the constants among them, are known:
///   If     a constant condition leaves one branch; otherwise both are inlined and a Where with the
///          condition selects (the lowered pass guard-branches lets a replay skip the other one).
///          A branch that cannot run with the bound shapes is refused, or gives NaN where that is
///          asked for (PassContext::nan_branches);
///   Loop   unrolled where everything that ends it is known and few nodes come of it; otherwise its
///          body stands once, between
///          aicf.LoopBegin and aicf.LoopEnd (compiler/ir/loop_nodes.h), and runs as often as a run
///          decides. Nodes of the body that depend on no carried value come before it. A loop in a
///          branch that a run does not take makes no trip;
///   Scan   unrolled over the scan axis; a long one becomes a loop of as many trips;
///   sequences and optionals   lists of values while compiling; nothing of them is left.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/passes/graph/rewrite.h"
#include "compiler/passes/pass.h"

namespace aicf {

class Expander {
 public:
  /// Takes one node into the graph as if the model had it: inferred, folded, or expanded in turn.
  using Visit = std::function<Status(ir::Node)>;

  /// Nodes up to which loops are unrolled; where more would come of them, a loop stays one if it
  /// can.
  static constexpr int64_t kMaxUnrolled = 20'000;

  Expander(ir::Graph& graph, ValueMaker& make, PassContext& context, Visit visit);

  /// True for control flow, sequence ops, and Identity of a sequence or optional.
  bool Takes(const ir::Node& node) const;
  /// REQUIRES: Takes(node); the inputs that are tensors have shapes. Errors: kUnsupported naming
  /// what would have to be known and how to bind it; kBadModel.
  Status Expand(const ir::Node& node);
  /// For the inputs of a node that takes tensors alone. Errors: kBadModel where one of the first
  /// `count` is a sequence or an empty optional, which no node of a graph makes.
  Status CheckTensors(const ir::Node& node, size_t count = SIZE_MAX) const;
  /// Replaces outputs of the graph that are sequences by their items, named "output[i]".
  Status ExpandOutputs();

  using Ids = std::vector<ir::ValueId>;
  /// Takes the nodes of a body of `owner`, their names under the owner's and `instance`, with the
  /// arguments in the place of its inputs. The body's outputs, or what stands for them.
  Result<Ids> Inline(const ir::Node& owner, const ir::Body& body,
                     std::span<const ir::ValueId> arguments, std::string_view instance);

 private:
  /// Values outside that stand for a body's own, by body value.
  struct Scope {
    std::shared_ptr<const ir::Graph> graph;
    Ids values;
    std::string prefix;
  };

  // Control flow (expand.cc, expand_loop.cc, expand_while.cc, expand_scan.cc).
  Status If(const ir::Node& node);
  /// Of the two branches only the one where the condition is `when` is possible; the other's
  /// results are NaN. Errors: `other`, what made it impossible, where a result cannot be NaN.
  Status SelectOrNan(const ir::Node& node, const Ids& possible, bool when, const Status& other);
  Status Loop(const ir::Node& node);
  /// False, with the graph as it was: what ends the loop is known at run time only, or the nodes
  /// that were unrolled would be more than `most`.
  Result<bool> Unroll(const ir::Node& node, const struct LoopForm& form, int64_t most);
  Status UnrollTrips(const ir::Node& node, const struct LoopForm& form, bool* unrolled);
  Status Repeat(const ir::Node& node, const struct LoopForm& form);
  Status RepeatBody(const ir::Node& node, const struct LoopForm& form);
  /// Whether another trip may start, trips aside.
  Result<ir::ValueId> FirstCondition(const ir::Node& node, const struct LoopForm& form);
  Result<ir::ValueId> NextCondition(const ir::Node& node, const struct LoopForm& form,
                                    ir::ValueId go, ir::ValueId trip);
  Status AddScans(const ir::Node& node, const struct LoopForm& form, size_t begin, const Ids& rows,
                  Ids* next);
  Result<Dims> StackedShape(const struct LoopForm& form, ir::ValueId row,
                            std::string_view name) const;
  Status AddScan(const ir::Node& node, size_t begin, const Dims& shape, ir::ValueId row, Ids* next);
  Result<Ids> EndLoop(const ir::Node& node, size_t begin, const Ids& next);
  Status BindLoop(const ir::Node& node, const struct LoopForm& form, const Ids& last);
  Status CheckCarried(const struct LoopForm& form, const Ids& state, const Ids& next) const;
  void Hoist(size_t begin);
  Status Scan(const ir::Node& node);
  Result<Ids> RunScan(const ir::Node& node, const struct ScanForm& form, Ids state,
                      const Ids& inputs, std::string_view instance);
  /// The same as a loop: its body picks each trip's slices itself.
  Result<Ids> RepeatScan(const ir::Node& node, const struct ScanForm& form, const Ids& state,
                         const Ids& inputs, const std::vector<int64_t>& axes, int64_t steps);
  /// A loop's stacked result as the Scan wants it.
  Result<ir::ValueId> Arranged(const ir::Node& node, ir::ValueId stacked, int64_t axis,
                               bool reverse);
  Result<Ids> StackScans(const ir::Node& node, const struct ScanForm& form,
                         const std::vector<Ids>& scans);
  Status BatchedScan(const ir::Node& node, const struct ScanForm& form);
  Result<ir::ValueId> Pick(const ir::Node& owner, ir::ValueId from, int64_t axis, int64_t index);
  Status InlineNode(const ir::Node& source, Scope& scope);
  /// Errors: kResource where too many nodes were inlined.
  Status CountNode();
  Result<ir::ValueId> Outside(ir::ValueId inside, Scope& scope);

  // Sequences and optionals (expand_sequences.cc).
  Status Sequence(const ir::Node& node);
  Status SequenceInsert(const ir::Node& node);
  Status SequenceErase(const ir::Node& node);
  Status SequenceAt(const ir::Node& node);
  Status SequenceMap(const ir::Node& node);
  Status SplitToSequence(const ir::Node& node);
  Status ConcatFromSequence(const ir::Node& node);
  Status Optional(const ir::Node& node);
  Result<const Ids*> Items(const ir::Node& node, size_t input) const;
  Result<int64_t> Position(const ir::Node& node, size_t input, int64_t length, bool end) const;
  bool IsSequence(ir::ValueId v) const { return sequences_.contains(v); }
  bool IsNone(ir::ValueId v) const { return v == ir::kNoValue || nones_.contains(v); }

  // Small pieces.
  Result<std::optional<int64_t>> ConstantScalar(ir::ValueId v) const;
  Result<ir::ValueId> Emit(const ir::Node& owner, std::string_view op, Ids inputs,
                           ir::AttrMap attrs = {});
  Status EmitInto(const ir::Node& owner, std::string_view op, Ids inputs, ir::ValueId output,
                  ir::AttrMap attrs = {});
  Result<ir::ValueId> Select(const ir::Node& owner, ir::ValueId condition, ir::ValueId yes,
                             ir::ValueId no);
  /// Select for two sequences: item by item.
  Result<ir::ValueId> SelectItems(const ir::Node& owner, ir::ValueId condition, ir::ValueId yes,
                                  ir::ValueId no);
  Result<ir::ValueId> Scalar(const ir::Node& owner, ir::ValueId condition);
  Result<ir::ValueId> Stack(const ir::Node& owner, const Ids& items, int64_t axis);
  ir::ValueId Int(std::string_view base, int64_t value);
  ir::ValueId Bool(std::string_view base, bool value);
  /// Makes `output` of the node stand for `value`.
  Status Bind(const ir::Node& owner, size_t output, ir::ValueId value);
  void Explain(const ir::Node& node, std::string choice, std::string reason);

  ir::Graph& graph_;
  ValueMaker& make_;
  PassContext& context_;
  Visit visit_;
  int64_t nodes_ = 0;                    ///< that were inlined and are in the graph
  int64_t most_nodes_;                   ///< that may be, at the moment
  int64_t nodes_made_ = 0;               ///< in all, with those of attempts that were given up
  std::set<const ir::Graph*> too_long_;  ///< bodies that came to too many nodes
  int64_t loops_ = 0;                    ///< that run
  /// The branches around the nodes at hand that a run may not take, inside the innermost loop.
  std::vector<std::pair<ir::ValueId, bool>> path_;
  std::unordered_map<ir::ValueId, Ids> sequences_;
  std::unordered_map<ir::ValueId, bool> nones_;
  /// A body's constants are added once, however often it is inlined.
  std::map<std::shared_ptr<const ir::Graph>, std::unordered_map<ir::ValueId, ir::ValueId>>
      constants_;
};

}  // namespace aicf
