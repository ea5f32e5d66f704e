/// 16-bit copies of operands, for products that multiply 16-bit numbers while the values are stored
/// in f32 (inputs of the model, sensitive values) or are constants. Each is made once per operand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"

namespace aicf::storage {

class NarrowOperands {
 public:
  NarrowOperands(ir::Lowered& lowered, PassContext& context)
      : lowered_(lowered), context_(context) {}

  /// Lets operand `k` of the step, a product, read a 16-bit copy of its f32 value, and adapts its
  /// view. If a new step has to make the copy, it is appended to `before`.
  void Give(ir::LoweredStep& step, size_t k, std::vector<ir::LoweredStep>& before);

 private:
  void GiveConstant(ir::LoweredStep& step, size_t k);
  void GiveComputed(ir::LoweredStep& step, size_t k, std::vector<ir::LoweredStep>& before);
  /// A step that stores the operand's elements in 16 bits. Sets *narrow to the view through which
  /// they are read as the operand reads them, without its repeats.
  ir::LoweredStep CopyOf(const ir::LoweredStep& step, size_t k, abi::View* narrow);
  ir::LoweredStep CopyOfWhole(const ir::LoweredStep& step, size_t k, abi::View* narrow);
  ir::LoweredStep CopyStep(const ir::LoweredStep& step, size_t k, const abi::View& from,
                           const abi::View& to, Dims shape);
  ir::BufferId AddBuffer(ir::LoweredBuffer buffer);
  void Record(const ir::LoweredStep& step, SubjectForm form, const std::string& name,
              std::string why);

  ir::Lowered& lowered_;
  PassContext& context_;
  std::map<ir::BufferId, ir::BufferId> constants_;
  /// By buffer and view: the copy, the view of it that reads the same elements, and the guards
  /// under which it is made.
  struct Copy {
    ir::BufferId buffer;
    abi::View view;
    std::vector<schema::Guard> guards;
  };
  std::map<std::pair<ir::BufferId, std::string>, Copy> copies_;
};

}  // namespace aicf::storage
