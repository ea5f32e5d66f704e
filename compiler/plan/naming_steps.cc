#include "compiler/plan/naming_steps.h"

#include <algorithm>
#include <iterator>

namespace aicf {

NamingSteps::NamingSteps(schema::Program& program)
    : program_(program), steps_(program.buffers.size()) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const schema::Step& step = program.steps[s];
    for (const uint32_t b : step.inputs) Add(b, s);
    for (const uint32_t b : step.outputs) Add(b, s);
    for (const schema::Guard& g : step.guards) Add(g.buffer, s);
  }
}

void NamingSteps::Add(uint32_t buffer, size_t step) {
  std::vector<size_t>& steps = steps_[buffer];
  if (steps.empty() || steps.back() != step) steps.push_back(step);
}

void NamingSteps::Rename(uint32_t from, uint32_t to) {
  std::vector<size_t> both;
  std::ranges::set_union(steps_[from], steps_[to], std::back_inserter(both));
  for (const size_t s : steps_[from]) {
    schema::Step& step = program_.steps[s];
    std::ranges::replace(step.inputs, from, to);
    std::ranges::replace(step.outputs, from, to);
    for (schema::Guard& g : step.guards) g.buffer = g.buffer == from ? to : g.buffer;
  }
  steps_[from].clear();
  steps_[to] = std::move(both);
}

}  // namespace aicf
