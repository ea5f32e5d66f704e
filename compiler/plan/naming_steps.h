/// Which steps name a buffer, and letting another buffer take its place in all of them, as where a
/// state is changed in place.
#pragma once

#include <vector>

#include "schema/program.h"

namespace aicf {

/// The steps of a program that name each buffer, as an operand, a result or a guard. Other changes
/// of what steps name are not noticed.
class NamingSteps {
 public:
  /// Keeps a reference to the program.
  explicit NamingSteps(schema::Program& program);

  /// Ascending, each once.
  const std::vector<size_t>& Of(uint32_t buffer) const { return steps_[buffer]; }

  /// Puts buffer `to` where any step names `from`. Cost: linear in the steps that name the two.
  void Rename(uint32_t from, uint32_t to);

 private:
  void Add(uint32_t buffer, size_t step);

  schema::Program& program_;
  std::vector<std::vector<size_t>> steps_;  ///< by buffer
};

}  // namespace aicf
