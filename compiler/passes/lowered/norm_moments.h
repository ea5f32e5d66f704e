/// A norm of rows, a layer norm or one by the root mean square, that no step makes any more:
/// products that read it multiply what the norm reads, see the moments of its rows
/// (abi::SeesMoments) and finish the norm in their epilogues; other readers compute its values from
/// the moments that one of the products stores.
///
/// A layer norm with gain g and shift b along k, mean m and scale s of a row x:
///   sum_k ((x_k - m) * s * g_k + b_k) * W[k, n]
///     = (sum_k x_k * (g_k W[k, n]) - m * sum_k g_k W[k, n]) * s + sum_k b_k W[k, n],
/// so that the weights get the gain, and both sums of weights are constants.
///
/// Where a product makes the rows that the norm reads, it may store the moments of parts of them
/// (abi::StoresParts), of which the readers make mean and scale. Otherwise they sum up their rows.
///
/// A norm by the root mean square has no mean, and its own scale is
///   1 / sqrt(variance + m^2 + epsilon) = 1 / sqrt(m^2 + 1 / s^2).
/// Language models have such norms, with weights that several entry points share. So the weights
/// stay as they are: the product that makes the rows stores them a second time, multiplied with the
/// gain, for the readers to multiply. In f16 that could overflow where the norm's result does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/norm_affine.h"
#include "compiler/passes/lowered/scaled_weights.h"

namespace aicf {

class NormMoments {
 public:
  /// `norm` is a position in the editor. REQUIRES: IsNormOfRows(editor.step(norm)).
  NormMoments(const ir::StepEditor& editor, const PassContext& context, int norm);

  /// Empty, or the condition that keeps the norm a step, as "name: sentence". Called once only.
  /// Cost: one pass over the weights of the norm's readers, if all other conditions hold.
  std::string Check();

  /// The product that stores the moments of parts of the rows, or -1.
  int producer() const { return formed_producer_ ? formed_producer_->at : -1; }
  /// Whether the producer also stores the rows multiplied with the gain, and products read these.
  bool HasGainedRows() const { return is_rms_ && affine_.gain >= 0; }
  /// Whether the weights of the products are multiplied with the gain.
  bool HasGainedWeights() const { return !is_rms_ && affine_.gain >= 0; }
  const std::vector<int>& products() const { return products_; }
  const std::vector<int>& others() const { return others_; }
  /// Predicted times of the readers in their new form (one_us), and of the norm and its readers as
  /// they are (two_us). Where the producer stores moments of parts, both include the producer.
  PairCosts costs() const { return costs_; }

  /// Puts the readers in their new form and erases the norm, in the editor that was looked at.
  /// REQUIRES: Check() is empty.
  void Apply(ir::StepEditor& editor);

 private:
  struct Reader {
    int at = 0;
    ir::LoweredStep step;
  };

  std::string CheckNorm();
  bool HasGainOfOnes() const;
  std::string FindReaders();
  std::string CheckReader(int reader) const;
  std::string CheckProduct(int reader) const;
  /// The product that makes the rows and could store moments of their parts, or -1.
  int FindProducer() const;
  /// Makes the new forms of all readers, still without their constants, and compares costs. Where
  /// `producer` is not -1, products compute mean and scale of a row from the moments of parts that
  /// it stores. Empty, or the condition that failed.
  std::string Form(int producer);
  std::string FormProducer(int at);
  void AddGainedRows(const abi::View& made, ir::LoweredStep& producer) const;
  std::string AddParts(ir::LoweredStep& step) const;
  std::string FormProducts();
  std::string FormOther(int at);
  std::string AddEpilogue(ir::LoweredStep& step) const;
  std::string AddRootMeanSquare(ir::LoweredStep& step) const;
  std::string AddStoredMoments(const abi::View& a, ir::LoweredStep& step) const;
  std::optional<uint16_t> ValueAt(const abi::View& read, OperandExpr& expr) const;
  std::string CheckCosts();
  std::string MakeConstants();
  void GiveConstants(ir::StepEditor& editor, const ScaledWeights& weights,
                     ir::LoweredStep& step) const;

  /// The mean (0) or the scale (1) of the row of every element of the norm's result.
  abi::View MomentView(int which) const;
  void ApplyProducer(ir::StepEditor& editor);

  const ir::StepEditor& editor_;
  const PassContext& context_;
  int at_;
  ir::LoweredStep norm_;
  bool is_rms_;  ///< by the root mean square
  NormAffine affine_;
  std::vector<int> products_, others_;
  std::optional<Reader> formed_producer_;
  std::vector<Reader> formed_products_, formed_others_;
  std::vector<ScaledWeights> weights_;  ///< of each product
  PairCosts costs_;
};

/// Whether the step is a layer norm, or a norm by the root mean square, along the last axis.
bool IsNormOfRows(const ir::LoweredStep& step);

/// Whether the two are such a norm and a product that multiplies its rows.
bool MultipliesNormOfRows(const ir::LoweredStep& producer, const ir::LoweredStep& consumer);

}  // namespace aicf
