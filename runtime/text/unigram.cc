// The segmentation of a piece whose tokens' scores (logarithms of probabilities) add up to the
// most.
#include <algorithm>
#include <limits>

#include "runtime/text/model.h"
#include "runtime/text/prefix_index.h"
#include "runtime/text/vocabulary.h"

namespace aicf::text {
namespace {

using schema::TokenizerData;

// What an unknown character costs beyond the least probable token, as SentencePiece defines it.
constexpr double kUnknownPenalty = 10;

class Unigram final : public Model {
 public:
  Unigram(const TokenizerData& data, Vocabulary vocabulary)
      : data_(data),
        vocabulary_(std::move(vocabulary)),
        index_(data.tokens, vocabulary_.Ids()),
        unknown_score_(*std::min_element(data.scores.begin(), data.scores.end()) -
                       kUnknownPenalty) {}

  void Encode(std::string_view piece, std::vector<uint32_t>* ids) const override;

 private:
  const TokenizerData& data_;
  Vocabulary vocabulary_;
  PrefixIndex index_;
  double unknown_score_;
};

// The best segmentation of the text up to some byte: where its last token begins, and which token
// that is.
struct Step {
  double score = -std::numeric_limits<double>::infinity();
  size_t begin = 0;
  std::optional<uint32_t> token;
};

void Unigram::Encode(std::string_view piece, std::vector<uint32_t>* ids) const {
  std::vector<Step> best(piece.size() + 1);
  best[0].score = 0;
  for (size_t at = 0; at < piece.size();) {
    const size_t character = CharacterLength(piece.substr(at));
    const double score = best[at].score;
    bool has_character = false;
    const auto reach = [&](size_t length, double more, std::optional<uint32_t> token) {
      Step& end = best[at + length];
      if (score + more > end.score) end = {score + more, at, token};
    };
    index_.Walk(piece.substr(at), [&](uint32_t id, size_t length) {
      reach(length, data_.scores[id], id);
      has_character |= length == character;
    });
    if (!has_character) reach(character, unknown_score_, std::nullopt);
    at += character;
  }
  const size_t begin = ids->size();
  std::vector<size_t> ends;
  for (size_t end = piece.size(); end > 0; end = best[end].begin) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  for (const size_t end : ends) {
    const Step& step = best[end];
    if (step.token) {
      ids->push_back(*step.token);
    } else {
      vocabulary_.AppendUnknown(piece.substr(step.begin, end - step.begin), begin, ids);
    }
  }
}

}  // namespace

Result<std::unique_ptr<Model>> MakeUnigram(const TokenizerData& data) {
  if (data.scores.empty())
    return Error(Code::kBadModel, "tokenizer: a unigram vocabulary without scores");
  AICF_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Make(data));
  return std::unique_ptr<Model>(std::make_unique<Unigram>(data, std::move(vocabulary)));
}

}  // namespace aicf::text
