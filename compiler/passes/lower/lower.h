/// From Graph to Lowered. Each graph value becomes a view of a buffer; ops that only move
/// indices (Reshape, Transpose, Slice, Squeeze, Expand, Split) become other views of the same
/// buffer.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/ir/dynamic_extent.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// Where a graph value is stored, as seen during lowering.
struct ValueView {
  ir::BufferId buffer = 0;
  abi::View view;
};

/// State of one lowering; the lowerings in this folder are its only users.
///
/// Layout: a value is stored in an order of its axes. Results of convolutions, and values that a
/// convolution reads, are channels-last; ops that keep positions (elementwise, pooling, ...) store
/// their result in the order of the operand they follow; everything else, and every graph output,
/// is row-major. Where a convolution starts such a group, one "layout" decision is recorded.
class LowerContext {
 public:
  LowerContext(const ir::Graph& graph, ir::Lowered& lowered, PassContext& pass);

  const ir::Graph& graph() const { return graph_; }
  PassContext& pass() { return pass_; }
  const ir::Value& value(ir::ValueId id) const { return graph_.values[id]; }

  /// The view of an input value; constants get their buffer on first use.
  ValueView Get(ir::ValueId id);
  /// Declares that a value is this view (no step).
  void Alias(ir::ValueId id, ValueView view);
  /// A new buffer for an output value, row-major or in the order that a convolution reading it
  /// wants; also records it as the value's view. Graph outputs are row-major, whichever Define is
  /// called.
  ValueView Define(ir::ValueId id);
  /// Like Define, but stored in the axis order of `leader`, which has the rank of the value, unless
  /// a convolution reads the value.
  ValueView DefineLike(ir::ValueId id, const ValueView& leader);
  /// Like Define, but channels-last: for the result of a convolution. Records the decision.
  ValueView DefineChannelsLast(const ir::Node& node, ir::ValueId id);
  /// Like Define, but row-major, whoever reads the value.
  ValueView DefineDense(ir::ValueId id);
  /// A new temporary, dense in the given order of axes (outermost first; empty: row-major).
  ValueView Temp(std::string_view name, DType dtype, const Dims& shape, const Dims& order = {});
  /// A carried buffer, row-major, for a value that stands for the state of a loop.
  ValueView DefineCarried(ir::ValueId id);
  bool IsCarried(const ValueView& view) const;
  /// The steps emitted from here on, up to the matching CloseLoop, repeat while the condition
  /// holds.
  void OpenLoop(ir::BufferId condition);
  void CloseLoop();
  /// A constant buffer made by a lowering; equal contents share one buffer.
  ValueView Constant(std::string_view name, const ir::Tensor& tensor);
  /// Appends a step; one that writes no element is dropped.
  void Emit(const ir::Node& node, abi::Problem problem, std::vector<ir::BufferId> inputs,
            std::vector<ir::BufferId> outputs);
  /// Appends a copy of `from` to `to` (equal shapes) and records why it exists.
  void EmitCopy(const ir::Node& node, const ValueView& from, const ValueView& to,
                std::string_view why, Reason reason = Reason::kRule);
  /// Records that a node's copy writes the named buffer, and why.
  void RecordCopy(const ir::Node& node, const std::string& written, std::string why,
                  Reason reason = Reason::kRule);

  /// Gives every graph output of the node its own buffer, by a copy where the value is a view.
  void FinishOutputs(const ir::Node& node);
  /// Completes the program: copies outputs that no node made, lists the outputs in order, exports
  /// the counts of outputs whose extent a run decides, records layout decisions, and drops unused
  /// buffers.
  void Finish(const ir::DynamicExtents& extents);

 private:
  struct LayoutGroup {
    schema::Subject subject;
    Dims order;
    std::vector<std::string> followers;
  };

  ValueView DefineInOrder(ir::ValueId id, const Dims& order);
  void CopyToOutput(const ir::Node& node, ir::ValueId id);
  void ExportCount(size_t output, const ir::DynamicExtent& extent);
  bool IsBufferName(const std::string& name);
  ir::BufferId AddBuffer(ir::LoweredBuffer buffer);
  bool WantsChannelsLast(ir::ValueId id) const;
  void RecordLayouts();

  const ir::Graph& graph_;
  ir::Lowered& lowered_;
  PassContext& pass_;
  std::vector<std::optional<ValueView>> views_;
  std::vector<bool> is_output_;
  std::vector<bool> feeds_conv_;
  std::vector<std::optional<ir::BufferId>> output_buffers_;  ///< by value
  std::vector<LayoutGroup> groups_;
  std::map<ir::BufferId, size_t> group_of_;
  int32_t loop_ = ir::kNoLoop;              ///< the innermost open loop
  std::map<ir::ValueId, uint32_t> counts_;  ///< position of each count among the outputs
  /// Names of the first `named_` buffers. There may be as many counts as buffers, and each looks
  /// for a name of its own.
  std::unordered_set<std::string> names_;
  size_t named_ = 0;
  std::map<std::pair<uint64_t, uint64_t>, std::vector<ir::BufferId>>
      constants_;  ///< by content hash
};

/// Lowers a whole graph. Graph outputs become output buffers, dense row-major, with a copy step
/// only where no producer can write them directly. Errors: kUnsupported naming the node.
Result<ir::Lowered> LowerGraph(const ir::Graph& graph, PassContext& context);

/// Sees what a buffer holds after a step has written to it. The bytes are valid during the call.
using AfterStep = std::function<void(ir::BufferId buffer, std::span<const std::byte> bytes)>;

/// Executes a lowered program on the reference kernels. For folding, golden tests and oracles.
/// inputs in the order of lowered.inputs. Errors: kInvalidArgument on a shape or dtype mismatch.
Result<std::vector<ir::Tensor>> Interpret(const ir::Lowered& lowered,
                                          const std::vector<ir::Tensor>& inputs,
                                          const AfterStep& after_step = nullptr);

}  // namespace aicf
