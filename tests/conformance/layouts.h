/// Properties of an operand's strides, and sets of cases in which every operand has each of these
/// properties at least once. A kernel that takes a layout for granted fails where an operand has
/// another one.
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

/// The layouts of a view. Empty if the view has less than two elements, since its strides then mean
/// nothing.
std::vector<Layout> LayoutsOf(const abi::View& view);

/// Elements that an instance of a CUDA kernel moves or computes together. It is 1 if the instance
/// works on single elements, so that no fault of a vector access can show.
int64_t WidthOf(const KernelOption& option, const abi::Problem& problem);

/// "x0", "x1", ... for the core operands, "extra" for all epilogue operands, "y0", "y1", ... for
/// the outputs.
std::string OperandName(const abi::Problem& problem, size_t operand);

/// Counts in how many cases a layout was met, by "KERNEL SOURCE or key / operand / layout / wide or
/// narrow".
class LayoutCount {
 public:
  /// What a case has: all of it (FactsOf), or only what was not met before (NewFacts).
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

/// A few cases of the family that together have every layout of every operand that occurs in
/// `seeds` random cases. This holds for each device source of the family (kernels with the same
/// source differ only in constants and in whether operands are packed), both at vector widths above
/// 1 and at 1.
std::vector<KernelCase> CasesOfAllLayouts(abi::Family family, const abi::DeviceSpec& device,
                                          uint64_t seeds, const CaseOptions& options);

}  // namespace aicf::conformance
