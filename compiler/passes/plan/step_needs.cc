#include "compiler/passes/plan/step_needs.h"

#include <algorithm>

#include "schema/roots.h"
#include "schema/verify_cover.h"

namespace aicf {
namespace {

struct Access {
  uint32_t step;
  bool write;
  uint32_t buffer;
  const abi::View* view;  // nullptr: all of it
};

class Collector {
 public:
  Collector(const schema::Program& program, uint64_t most)
      : p_(program),
        left_(most),
        roots_(schema::RootsOf(program)),
        reads_(program.buffers.size()),
        writes_(program.buffers.size()) {}

  std::optional<std::vector<std::vector<uint32_t>>> Run() {
    std::vector<std::vector<uint32_t>> needs(p_.steps.size());
    for (uint32_t s = 0; s < p_.steps.size() && !spent_; ++s) {
      const schema::Step& step = p_.steps[s];
      std::vector<uint32_t>& needed = needs[s];
      for (size_t k = 0; k < step.inputs.size(); ++k) {
        Add({s, false, step.inputs[k], &step.problem.inputs[k]}, needed);
      }
      for (const schema::Guard& g : step.guards) Add({s, false, g.buffer, nullptr}, needed);
      for (size_t k = 0; k < step.outputs.size(); ++k) {
        Add({s, true, step.outputs[k], &step.problem.outputs[k]}, needed);
      }
      std::ranges::sort(needed);
      needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    }
    if (spent_) return std::nullopt;
    return needs;
  }

 private:
  void Add(const Access& fresh, std::vector<uint32_t>& needed) {
    if (p_.buffers[fresh.buffer].role == schema::Role::kConstant) return;
    const uint32_t root = roots_[fresh.buffer];
    // A read needs only the writes before it, so that the many readers of one buffer are not
    // compared with each other.
    AddOverlapping(writes_[root], fresh, needed);
    if (fresh.write) AddOverlapping(reads_[root], fresh, needed);
    (fresh.write ? writes_ : reads_)[root].push_back(fresh);
  }

  void AddOverlapping(const std::vector<Access>& known, const Access& fresh,
                      std::vector<uint32_t>& needed) {
    spent_ = spent_ || known.size() > left_;
    if (spent_) return;
    left_ -= known.size();
    for (const Access& old : known) {
      if (old.step != fresh.step && !Apart(old, fresh)) needed.push_back(old.step);
    }
  }

  bool Apart(const Access& a, const Access& b) {
    if (a.view == nullptr || b.view == nullptr) return false;
    const schema::Buffer &one = p_.buffers[a.buffer], &other = p_.buffers[b.buffer];
    if (one.bytes != other.bytes || DTypeBytes(a.view->dtype) != DTypeBytes(b.view->dtype)) {
      return false;
    }
    return prover_.Disjoint(static_cast<int64_t>(one.bytes) / DTypeBytes(a.view->dtype), *a.view,
                            *b.view);
  }

  const schema::Program& p_;
  uint64_t left_;       ///< pairs that may still be compared
  bool spent_ = false;  ///< there would be more
  const std::vector<uint32_t> roots_;
  std::vector<std::vector<Access>> reads_, writes_;  // by root
  schema::CoverProver prover_;
};

}  // namespace

std::optional<std::vector<std::vector<uint32_t>>> NeedsOf(const schema::Program& program,
                                                          uint64_t most) {
  return Collector(program, most).Run();
}

}  // namespace aicf
