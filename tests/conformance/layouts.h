/// What is special about an operand's strides, and sets of cases in which every operand meets all
/// of it: a kernel that takes one layout for granted is found by the operand that has another.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/abi/kernel.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/options.h"

namespace aicf::conformance {

enum class Layout : uint8_t {
  kDense,      ///< row-major without gaps, from the buffer's first element on
  kPermuted,   ///< an axis inside another one has the larger stride
  kGaps,       ///< elements of the buffer between those of the view are not its own
  kRepeated,   ///< stride 0: a broadcast axis
  kBackwards,  ///< a negative stride
  kShifted,    ///< the first elements of the buffer are not the view's
};
inline constexpr int kLayoutCount = 6;
std::string_view LayoutName(Layout layout);

/// Empty for a view of less than two elements, whose strides say nothing.
std::vector<Layout> LayoutsOf(const abi::View& view);

/// Elements that the instance of a CUDA kernel moves or computes together: 1 where it works one by
/// one, and no fault of a vector access can show.
int64_t WidthOf(const KernelOption& option, const abi::Problem& problem);

/// "x0", .. the core operands, "extra" for all epilogue operands, "y0", .. the outputs.
std::string OperandName(const abi::Problem& problem, size_t operand);

/// Counts what was met, by "KERNEL SOURCE or key / operand / layout / wide or narrow".
class LayoutCount {
 public:
  /// What a case adds: all of it, and what was not met before.
  std::set<std::string> FactsOf(std::string_view kernel, const Case& c, bool wide) const;
  std::set<std::string> NewFacts(std::string_view kernel, const Case& c, bool wide) const;
  void Add(std::string_view kernel, const Case& c, bool wide);
  int Met(const std::string& fact) const;
  const std::map<std::string, int>& all() const { return met_; }

 private:
  std::map<std::string, int> met_;
};

struct KernelCase {
  KernelOption option;
  Case item;
};

/// Few cases of the family that together meet every layout of every operand that `seeds` random
/// cases meet, for each device source of the family (kernels of one source differ in constants
/// only, and in whether operands are packed), at vector widths above 1 and at 1.
std::vector<KernelCase> CasesOfAllLayouts(abi::Family family, const abi::DeviceSpec& device,
                                          uint64_t seeds, const CaseOptions& options);

}  // namespace aicf::conformance
