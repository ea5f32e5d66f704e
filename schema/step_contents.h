/// Which steps of a program have the same content: kernel, problem, variant and symbol, all that a
/// step says but for where its operands are and when it runs. Layers of a model repeat it.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/program.h"

namespace aicf::schema {

/// Whether both steps have the same content, field by field.
bool SameContent(const Step& a, const Step& b);

/// Finds earlier steps of equal content. The table remembers the last step for each hash only, so
/// that a file made to have equal hashes costs no more than one whose steps all differ. It may miss
/// equal steps, but never takes different ones for equal.
class StepContents {
 public:
  /// `program` outlives the table.
  explicit StepContents(const Program& program);

  /// An earlier step of the same content that was asked about before, or `step` itself.
  uint32_t Find(uint32_t step);

 private:
  const std::vector<Step>& steps_;
  std::vector<uint32_t> slots_;  ///< step + 1 by hash; 0: none
};

}  // namespace aicf::schema
