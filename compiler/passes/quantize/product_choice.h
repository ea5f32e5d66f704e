/// Which products of a program multiply codes, and which codes values have: answers from the record
/// of the samples, a person's wishes and the target's kernels, each with the decision that says so.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/edit/wishes.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/quantize/products.h"

namespace aicf::quantize {

/// Whether something is of 8 bits.
struct Answer {
  Decision decision;                ///< its subject; choice and reason follow
  int occurrence = 0;               ///< among decisions of this identity
  DType stored = DType::kF32;       ///< what it is without codes: f32, f16 or bf16
  std::string wide;                 ///< why it stays so; empty: 8 bits
  Reason reason = Reason::kPolicy;  ///< the decision's reason where it stays so
  bool refused = false;             ///< nobody can wish for 8 bits

  std::string WideName() const { return std::string(DTypeName(stored)); }
};

/// A value that products multiply.
struct ValueAnswer : Answer {
  ir::BufferId buffer = 0;
  std::vector<std::pair<std::string, ValueCode>> codes;  ///< choices; the method asked for first
  size_t chosen = 0;

  const ValueCode& code() const { return codes[chosen].second; }
};

/// A product of floats.
struct ProductAnswer : Answer {
  int step = 0;
  std::string note;          ///< what else is to be known about it
  QuantizedWeights weights;  ///< this, `after` and `extras` are set where it is not refused
  abi::Problem after;
  std::vector<ir::Tensor> extras;
};

class ProductChoice {
 public:
  /// REQUIRES: context.calibration is set, and `record` is of this program.
  ProductChoice(const ir::Lowered& lowered, PassContext& context, const CalibratedEntry& record);

  /// Records all decisions. Errors: those of CheckRefusals.
  Status Record();

  const std::vector<ProductAnswer>& products() const { return products_; }  ///< in the steps' order
  const ValueAnswer& ValueOf(ir::BufferId b) const;

 private:
  DType precision() const { return context_.calibration->precision; }
  std::string NarrowName() const { return std::string(DTypeName(precision())); }
  schema::NodeNames MakersOf(ir::BufferId b) const;
  const Wish* WishFor(const Answer& answer) const;
  void AddValue(ir::BufferId b);
  void AddCodes(const CalibratedValue& ranges, ValueAnswer& v) const;
  void TakeWish(ValueAnswer& v) const;
  void AddProduct(int step);
  void Build(const ir::LoweredStep& step, ProductAnswer& p) const;
  void TakeWish(ProductAnswer& p) const;
  bool IsMultiplied(ir::BufferId b) const;
  std::string RangeText(const CalibratedValue& ranges) const;
  Status RecordValue(const ValueAnswer& v);
  Status RecordProduct(const ProductAnswer& p);

  const ir::Lowered& lowered_;
  PassContext& context_;
  const CalibratedEntry& record_;
  const Products all_;
  Occurrences occurrences_;
  std::vector<ValueAnswer> values_;
  std::vector<ProductAnswer> products_;
};

/// Three significant digits.
std::string ShortNumber(double value);

}  // namespace aicf::quantize
