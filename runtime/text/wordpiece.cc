// WordPiece: the longest token that a word begins with, then the longest continuation of what is
// left. A word that cannot be spelled so is one unknown token.
#include "runtime/text/model.h"
#include "runtime/text/prefix_index.h"
#include "runtime/text/vocabulary.h"

namespace aicf::text {
namespace {

using schema::TokenizerData;

class WordPiece final : public Model {
 public:
  WordPiece(const TokenizerData& data, Vocabulary vocabulary) : data_(data) {
    index_ = PrefixIndex(data.tokens, vocabulary.Ids());
  }

  void Encode(std::string_view word, std::vector<uint32_t>* ids) const override {
    const size_t before = ids->size();
    if (!TooLong(word) && Spell(word, ids)) return;
    ids->resize(before);
    if (data_.unknown) ids->push_back(*data_.unknown);
  }

 private:
  bool TooLong(std::string_view word) const {
    size_t characters = 0;
    for (size_t at = 0; at < word.size() && characters <= data_.longest_word; ++characters) {
      at += CharacterLength(word.substr(at));
    }
    return characters > data_.longest_word;
  }

  bool Spell(std::string_view word, std::vector<uint32_t>* ids) const {
    std::string marked;
    for (size_t at = 0; at < word.size();) {
      const size_t marks = at == 0 ? 0 : data_.continuation.size();
      marked.assign(data_.continuation, 0, marks);
      marked.append(word.substr(at));
      size_t longest = 0;
      uint32_t token = 0;
      index_.Walk(marked, [&](uint32_t id, size_t length) {
        if (length > marks) longest = length, token = id;
      });
      if (longest == 0) return false;
      ids->push_back(token);
      at += longest - marks;
    }
    return true;
  }

  const TokenizerData& data_;
  PrefixIndex index_;
};

}  // namespace

Result<std::unique_ptr<Model>> MakeWordPiece(const TokenizerData& data) {
  AICF_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Make(data));
  return std::unique_ptr<Model>(std::make_unique<WordPiece>(data, std::move(vocabulary)));
}

}  // namespace aicf::text
