#include "tests/conformance/layouts.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/common/space.h"
#include "kernels/cuda/copy/pieces.h"
#include "tests/conformance/packed.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::KernelInfo;
using abi::Problem;
using abi::View;

// Axes of more than one element, outermost first.
std::vector<int> AxesOf(const View& v) {
  std::vector<int> axes;
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.shape[d] > 1) axes.push_back(d);
  }
  return axes;
}

bool HasGaps(const View& v, std::vector<int> axes) {
  std::erase_if(axes, [&](int d) { return v.strides[d] == 0; });
  auto size = [&](int d) { return std::abs(v.strides[d]); };
  std::sort(axes.begin(), axes.end(), [&](int a, int b) { return size(a) < size(b); });
  int64_t dense = 1;
  for (int d : axes) {
    if (size(d) != dense) return true;
    dense *= v.shape[d];
  }
  return false;
}

bool IsPermuted(const View& v, const std::vector<int>& axes) {
  int64_t outside = INT64_MAX;
  for (int d : axes) {
    if (v.strides[d] == 0) continue;
    if (std::abs(v.strides[d]) > outside) return true;
    outside = std::abs(v.strides[d]);
  }
  return false;
}

bool IsShifted(const View& v, const std::vector<int>& axes) {
  int64_t first = v.offset;
  for (int d : axes) first += std::min<int64_t>(0, v.strides[d]) * (v.shape[d] - 1);
  return first != 0;
}

int64_t WidestPiece(const Problem& p, const abi::Parameters& parameters) {
  int64_t width = 1;
  for (const cuda::CopyPiece& piece : cuda::PiecesOf(p, parameters)) {
    width = std::max(width, piece.vector);
  }
  return width;
}

int DomainWidth(const KernelInfo& kernel, const Problem& p) {
  const cuda::Space domain = cuda::SpacesOf(kernel.key, p).domain;
  std::vector<const View*> cores;
  for (int k = 0; k < p.core_inputs; ++k) cores.push_back(&p.inputs[static_cast<size_t>(k)]);
  return domain.groups.empty() ? 1 : cuda::VectorOf(cores, domain);
}

}  // namespace

std::string_view LayoutName(Layout layout) {
  constexpr std::string_view kNames[] = {"dense",    "permuted",  "gaps",
                                         "repeated", "backwards", "shifted"};
  return kNames[static_cast<int>(layout)];
}

std::vector<Layout> LayoutsOf(const View& v) {
  if (abi::ElementsOf(v) < 2) return {};
  const std::vector<int> axes = AxesOf(v);
  std::vector<Layout> found;
  if (IsPermuted(v, axes)) found.push_back(Layout::kPermuted);
  if (HasGaps(v, axes)) found.push_back(Layout::kGaps);
  if (std::any_of(axes.begin(), axes.end(), [&](int d) { return v.strides[d] == 0; })) {
    found.push_back(Layout::kRepeated);
  }
  if (std::any_of(axes.begin(), axes.end(), [&](int d) { return v.strides[d] < 0; })) {
    found.push_back(Layout::kBackwards);
  }
  if (IsShifted(v, axes)) found.push_back(Layout::kShifted);
  if (found.empty()) found.push_back(Layout::kDense);
  return found;
}

int64_t WidthOf(const KernelOption& option, const Problem& p) {
  const abi::Parameters& parameters = option.candidate.variant.parameters;
  if (p.family == Family::kCopy) {
    return option.kernel->key == "cuda.copy.pieces" ? WidestPiece(p, parameters) : 1;
  }
  // Depthwise convolutions and matrix-vector products have no other vectors than those of their
  // parameter. That their output could be written in vectors says nothing about how they load.
  if (parameters["piece"] != 0) return parameters["piece"];
  return std::max(parameters["vector"], int64_t{DomainWidth(*option.kernel, p)});
}

std::string OperandName(const Problem& p, size_t operand) {
  const size_t inputs = p.inputs.size();
  if (operand >= inputs) return StrCat("y", operand - inputs);
  // The operands of these families are not told apart, because their number is random as well.
  const bool many = p.family == Family::kElementwise || p.family == Family::kCopy;
  if (operand < static_cast<size_t>(p.core_inputs)) return many ? "x" : StrCat("x", operand);
  return "extra";
}

std::set<std::string> LayoutCount::FactsOf(std::string_view kernel, const Case& c,
                                           bool wide) const {
  std::set<std::string> facts;
  const Problem& p = c.problem;
  for (size_t k = 0; k < p.inputs.size() + p.outputs.size(); ++k) {
    const View& v = k < p.inputs.size() ? p.inputs[k] : p.outputs[k - p.inputs.size()];
    for (Layout layout : LayoutsOf(v)) {
      facts.insert(StrCat(kernel, " / ", OperandName(p, k), " / ", LayoutName(layout),
                          wide ? " / wide" : " / narrow"));
    }
  }
  return facts;
}

std::set<std::string> LayoutCount::NewFacts(std::string_view kernel, const Case& c,
                                            bool wide) const {
  std::set<std::string> facts = FactsOf(kernel, c, wide);
  std::erase_if(facts, [&](const std::string& fact) { return met_.contains(fact); });
  return facts;
}

void LayoutCount::Add(std::string_view kernel, const Case& c, bool wide) {
  for (const std::string& fact : FactsOf(kernel, c, wide)) ++met_[fact];
}

int LayoutCount::Met(const std::string& fact) const {
  const auto found = met_.find(fact);
  return found == met_.end() ? 0 : found->second;
}

std::vector<KernelCase> CasesOfAllLayouts(Family family, const abi::DeviceSpec& device,
                                          uint64_t seeds, const CaseOptions& options) {
  // A case that adds many new layouts is better than several that add few: cases that add many of
  // them are taken first.
  std::vector<KernelCase> cases;
  LayoutCount count;
  for (const size_t least : {size_t{6}, size_t{3}, size_t{1}}) {
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      const Case c = RandomCase(family, seed, options);
      for (KernelOption& o : DeviceOptions(c.problem, device)) {
        // Code that reads a packed operand differs from code that reads the operand's view.
        const std::string source = StrCat(o.kernel->source, Packs(o, c.problem) ? " packed" : "");
        const bool wide = WidthOf(o, c.problem) > 1;
        if (count.NewFacts(source, c, wide).size() < least) continue;
        count.Add(source, c, wide);
        cases.push_back({std::move(o), c});
      }
    }
  }
  return cases;
}

}  // namespace aicf::conformance
