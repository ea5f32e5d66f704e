/// Pieces of graphs that builders of language models share: norms, products, feed-forwards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/import/language/graph_writer.h"
#include "compiler/import/language/model.h"

namespace aicf::language {

class Layers {
 public:
  Layers(const Model& model, GraphWriter& write) : model_(model), w_(write) {}

  const Model& model() const { return model_; }
  bool Has(const std::string& role) const { return model_.Find(role) != nullptr; }

  /// A vector as an f32 constant. Errors: kResource.
  Result<ValueId> Vector(const std::string& role);

  /// Normalises the last axis, with the model's kind of norm; x itself where the model has none of
  /// this role.
  Result<ValueId> Norm(const std::string& role, ValueId x);

  /// x [.., K] times the rows of each matrix, plus its bias; the results of the matrices follow
  /// each other along the last axis. It is one product where all matrices have the same format.
  Result<ValueId> Product(ValueId x, const std::vector<std::string>& roles);

  /// Rows of a matrix by index: [indices.., K], f32.
  Result<ValueId> Rows(const std::string& role, ValueId indices);

  Result<ValueId> FeedForward(int64_t layer, ValueId x);

  /// cap * tanh(x / cap).
  ValueId Capped(ValueId x, double cap);

 private:
  Result<ValueId> Joined(ValueId x, const std::vector<const Weight*>& parts,
                         const std::string& name);
  Result<ValueId> Biased(ValueId y, const std::vector<std::string>& roles);
  ValueId Activated(ValueId x);

  const Model& model_;
  GraphWriter& w_;
};

}  // namespace aicf::language
