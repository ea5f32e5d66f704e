/// Which f32 values of a program are stored in 16 bits, and which products multiply 16-bit
/// operands. Rules, wishes and samples come first; then what steps and kernels demand is settled
/// until nothing changes: values only ever become wide, so it ends.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"

namespace aicf::storage {

/// Whether something is of 16 bits, as far as it is settled.
struct Question {
  Decision decision;              ///< its subject; choice and reason follow
  int occurrence = 0;             ///< among decisions of this identity
  bool wished = false;            ///< a wish wants 16 bits, whatever the rules say
  std::string wide;               ///< why it stays f32; empty: 16 bits
  Reason reason = Reason::kRule;  ///< the decision's reason where it stays f32
  bool refused = false;           ///< nobody can wish for 16 bits: a step or a kernel needs f32
};

/// A value that might be stored in 16 bits: a temporary, or a constant that is not only an operand
/// of products and that is either large or moved together with other values. Small constants
/// (biases, scales) stay exact without a decision.
struct Value : Question {
  ir::BufferId buffer = 0;
};

/// A product of f32 operands, which might multiply 16-bit ones.
struct Product : Question {
  int step = 0;
};

class StorageChoice {
 public:
  StorageChoice(const ir::Lowered& lowered, PassContext& context);

  /// Errors: those of executing the program on samples.
  Status Decide();

  const std::vector<Value>& values() const { return values_; }
  const std::vector<Product>& products() const { return products_; }
  DType narrow() const { return context_.storage; }
  bool IsNarrow(ir::BufferId b) const;
  /// Whether the step multiplies 16-bit operands.
  bool MultipliesNarrow(int step) const;
  /// The step's problem with the dtypes that were decided.
  abi::Problem Retyped(int step) const;

 private:
  void FindValues();
  void AddValue(ir::BufferId b);
  bool IsEligible(ir::BufferId b) const;
  /// Whether some step moves the value together with others without computing anything.
  bool IsMoved(ir::BufferId b) const;
  void ApplyWish(Question& question) const;
  void ApplyRules();
  void ApplyStepRules(const ir::LoweredStep& step);
  void KeepBeyondRange();
  void ApplyConstantRules(Value& value);
  Status ApplySamples();
  std::string ExceedsOnSamples(ir::BufferId b) const;
  void FindProducts();
  void ApplyProductRules(Product& product) const;
  bool Settle(int step);
  bool SettleKernel(int step);
  bool SettleProduct(int step);
  bool SettleTied(int step);

  bool IsF32(ir::BufferId b) const { return lowered_.buffers[b].dtype == DType::kF32; }
  /// Keeps the buffer's value f32, where it is a value that might be stored in 16 bits. Returns
  /// whether that changed its answer. `refused`: as in Question; if false, a value that a wish
  /// wants in 16 bits is left alone.
  bool KeepWide(ir::BufferId b, const std::string& why, bool refused);

  const ir::Lowered& lowered_;
  PassContext& context_;
  std::vector<Value> values_;
  std::vector<int> value_of_;  ///< by buffer; -1: its dtype is not in question
  std::vector<Product> products_;
  std::vector<int> product_of_;  ///< by step; -1: none
  std::vector<double> largest_;  ///< by buffer; empty without samples
};

}  // namespace aicf::storage
