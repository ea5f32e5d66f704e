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
  /// Takes one node into the graph as if it were one of the model: infers, folds or expands it in
  /// turn.
  using Visit = std::function<Status(ir::Node)>;

  /// Limit of the nodes of an unrolled loop. A loop of which more nodes would come stays a loop if
  /// it can.
  static constexpr int64_t kMaxUnrolled = 20'000;

  Expander(ir::Graph& graph, ValueMaker& make, PassContext& context, Visit visit);

  /// True for control flow, sequence ops, and Identity of a sequence or optional.
  bool Takes(const ir::Node& node) const;
  /// REQUIRES: Takes(node); the inputs that are tensors have shapes. Errors: kUnsupported naming
  /// what would have to be known and how to bind it; kBadModel.
  Status Expand(const ir::Node& node);
  /// Checks the inputs of a node that takes tensors alone. Errors: kBadModel where one of the first
  /// `count` is a sequence or an empty optional, which no node of a graph makes.
  Status CheckTensors(const ir::Node& node, size_t count = SIZE_MAX) const;
  /// Replaces outputs of the graph that are sequences by their items, named "output[i]".
  Status ExpandOutputs();

  using Ids = std::vector<ir::ValueId>;
  /// Takes the nodes of a body of `owner` into the graph, with `arguments` in the place of the
  /// body's inputs. The nodes' names are put under the owner's name and `instance`. Gives the
  /// body's outputs, or the values that stand for them.
  Result<Ids> Inline(const ir::Node& owner, const ir::Body& body,
                     std::span<const ir::ValueId> arguments, std::string_view instance);

 private:
  /// For each value of a body, by its id, the value of the graph around it that stands for it.
  struct Scope {
    std::shared_ptr<const ir::Graph> graph;
    Ids values;
    std::string prefix;
  };

  // Control flow (expand.cc, expand_loop.cc, expand_while.cc, expand_scan.cc).
  Status If(const ir::Node& node);
  /// Binds the results of an If of which only the branch for the condition `when` is possible.
  /// Where the condition takes the other branch, the results are NaN. Errors: kUnsupported where
  /// the options do not allow that; `other`, which says why the other branch is impossible, where a
  /// result cannot be NaN.
  Status SelectOrNan(const ir::Node& node, const Ids& possible, bool when, const Status& other);
  Status Loop(const ir::Node& node);
  /// Unrolls a loop. False, and the graph is as it was, where what ends the loop is known at run
  /// time only, or where more than `most` nodes would be unrolled.
  Result<bool> Unroll(const ir::Node& node, const struct LoopForm& form, int64_t most);
  Status UnrollTrips(const ir::Node& node, const struct LoopForm& form, bool* unrolled);
  Status Repeat(const ir::Node& node, const struct LoopForm& form);
  Status RepeatBody(const ir::Node& node, const struct LoopForm& form);
  /// Whether the first trip starts, and whether another one follows: by the condition of the loop,
  /// its trip count, and for the first trip the branches around the loop.
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
  /// With `explains` records how the steps are run, which is the same for all of a batch.
  Result<Ids> RunScan(const ir::Node& node, const struct ScanForm& form, Ids state,
                      const Ids& inputs, std::string_view instance, bool explains);
  /// RunScan as a loop whose body picks the slices of each trip itself.
  Result<Ids> RepeatScan(const ir::Node& node, const struct ScanForm& form, const Ids& state,
                         const Ids& inputs, const std::vector<int64_t>& axes, int64_t steps);
  /// Brings a stacked result of a loop into the order that the Scan wants: its axis and direction.
  Result<ir::ValueId> Arranged(const ir::Node& node, ir::ValueId stacked, int64_t axis,
                               bool reverse);
  Result<Ids> StackScans(const ir::Node& node, const struct ScanForm& form,
                         const std::vector<Ids>& scans);
  Status BatchedScan(const ir::Node& node, const struct ScanForm& form);
  Result<ir::ValueId> Pick(const ir::Node& owner, ir::ValueId from, int64_t axis, int64_t index);
  Status InlineNode(const ir::Node& source, Scope& scope);
  /// Counts a node that is inlined. Errors: kResource where there are too many.
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
  int64_t nodes_ = 0;                    ///< inlined nodes that are in the graph
  int64_t most_nodes_;                   ///< limit of nodes_ at the moment
  int64_t nodes_made_ = 0;               ///< inlined nodes in all, abandoned attempts included
  std::set<const ir::Graph*> too_long_;  ///< bodies that unroll to too many nodes
  int64_t loops_ = 0;                    ///< loops that are not unrolled
  /// Branches around the current node that a run may not take, up to the innermost loop: the
  /// condition, and the value of it that takes the branch.
  std::vector<std::pair<ir::ValueId, bool>> path_;
  std::unordered_map<ir::ValueId, Ids> sequences_;
  std::unordered_map<ir::ValueId, bool> nones_;
  /// A body's constants are added once, however often it is inlined.
  std::map<std::shared_ptr<const ir::Graph>, std::unordered_map<ir::ValueId, ir::ValueId>>
      constants_;
};

}  // namespace aicf
