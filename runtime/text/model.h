/// The last step of encoding: a piece of text becomes tokens of the vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf::text {

/// One kind of vocabulary. Immutable; Encode may be called by many threads at once.
class Model {
 public:
  virtual ~Model() = default;
  /// Appends the tokens of `piece`, which is any bytes and not empty.
  virtual void Encode(std::string_view piece, std::vector<uint32_t>* ids) const = 0;
};

/// Each refers to `data`, which schema::CheckTokenizerData has passed and which outlives the model.
/// Errors: kBadModel for what only this kind asks of a vocabulary.
Result<std::unique_ptr<Model>> MakeBpe(const schema::TokenizerData& data);
Result<std::unique_ptr<Model>> MakeUnigram(const schema::TokenizerData& data);
Result<std::unique_ptr<Model>> MakeWordPiece(const schema::TokenizerData& data);

}  // namespace aicf::text
