#include "compiler/ir/loop_nodes.h"

#include <algorithm>
#include <set>

#include "base/scanner.h"

namespace aicf::ir {
namespace {

constexpr int64_t kOutside = -1;

class Checker {
 public:
  explicit Checker(const Graph& graph) : g_(graph), made_in_(graph.values.size(), kOutside) {}

  Status Run() {
    for (const Node& node : g_.nodes) {
      const Status status = Check(node);
      if (!status.ok()) return status.WithContext(StrCat(node.op, " ", Quote(node.name)));
    }
    if (!open_.empty())
      return BrokenGraph("loop ", open_.back()->Int("id", kOutside), " has no end");
    for (ValueId v : g_.outputs) AICF_RETURN_IF_ERROR(CheckVisible(v));
    return OkStatus();
  }

 private:
  int64_t Here() const { return open_.empty() ? kOutside : open_.back()->Int("id", kOutside); }

  Status CheckVisible(ValueId v) const {
    if (v == kNoValue || made_in_[v] == kOutside) return OkStatus();
    for (const Node* begin : open_) {
      if (begin->Int("id", kOutside) == made_in_[v]) return OkStatus();
    }
    return BrokenGraph(Quote(g_.values[v].name), " is used outside loop ", made_in_[v]);
  }

  Status Check(const Node& node) {
    for (ValueId v : node.inputs) AICF_RETURN_IF_ERROR(CheckVisible(v));
    if (node.op == kLoopBegin) AICF_RETURN_IF_ERROR(Open(node));
    if (node.op == kLoopEnd) AICF_RETURN_IF_ERROR(Close(node));
    for (ValueId v : node.outputs) {
      if (v != kNoValue) made_in_[v] = Here();
    }
    return OkStatus();
  }

  Status Open(const Node& node) {
    const int64_t id = node.Int("id", kOutside);
    if (id < 0 || !ids_.insert(id).second)
      return BrokenGraph("loop id ", id, " is not one of its own");
    open_.push_back(&node);
    return OkStatus();
  }

  Status Close(const Node& node) {
    if (open_.empty() || Here() != node.Int("id", kOutside))
      return BrokenGraph("ends no open loop");
    const std::vector<ValueId>& state = open_.back()->outputs;
    if (node.inputs.size() != 2 * state.size() ||
        !std::equal(state.begin(), state.end(), node.inputs.begin())) {
      return BrokenGraph("does not start with the state of its loop");
    }
    open_.pop_back();
    return OkStatus();
  }

  const Graph& g_;
  std::vector<int64_t> made_in_;  // by value
  std::vector<const Node*> open_;
  std::set<int64_t> ids_;
};

}  // namespace

std::vector<int64_t> LoopIds(const Graph& graph) {
  std::vector<int64_t> ids, open{kOutside};
  for (const Node& node : graph.nodes) {
    if (node.op == kLoopBegin) open.push_back(node.Int("id", kOutside));
    ids.push_back(open.back());
    if (node.op == kLoopEnd) open.pop_back();
  }
  return ids;
}

Status CheckLoops(const Graph& graph) { return Checker(graph).Run(); }

}  // namespace aicf::ir
