#include "compiler/passes/plan/step_needs.h"

#include <algorithm>

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
  explicit Collector(const schema::Program& program)
      : p_(program), accesses_(program.buffers.size()) {}

  std::vector<std::vector<uint32_t>> Run() {
    std::vector<std::vector<uint32_t>> needs(p_.steps.size());
    for (uint32_t s = 0; s < p_.steps.size(); ++s) {
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
    return needs;
  }

 private:
  void Add(const Access& fresh, std::vector<uint32_t>& needed) {
    if (p_.buffers[fresh.buffer].role == schema::Role::kConstant) return;
    std::vector<Access>& known = accesses_[schema::RootOf(p_, fresh.buffer)];
    for (const Access& old : known) {
      if (old.step == fresh.step || (!old.write && !fresh.write)) continue;
      if (!Apart(old, fresh)) needed.push_back(old.step);
    }
    known.push_back(fresh);
  }

  bool Apart(const Access& a, const Access& b) {
    if (a.view == nullptr || b.view == nullptr) return false;
    const schema::Buffer &one = p_.buffers[a.buffer], &other = p_.buffers[b.buffer];
    if (one.bytes != other.bytes || DTypeBytes(a.view->dtype) != DTypeBytes(b.view->dtype)) {
      return false;
    }
    const abi::View* views[] = {a.view, b.view};
    return prover_.Disjoint(static_cast<int64_t>(one.bytes) / DTypeBytes(a.view->dtype), views);
  }

  const schema::Program& p_;
  std::vector<std::vector<Access>> accesses_;  // by root
  schema::CoverProver prover_;
};

}  // namespace

std::vector<std::vector<uint32_t>> NeedsOf(const schema::Program& program) {
  return Collector(program).Run();
}

}  // namespace aicf
