// Byte pair encoding, of bytes or of characters: the pair of neighbours of the lowest rank becomes
// one, until no pair has a rank. A queue of pairs makes that n log n, whatever the text.
#include <algorithm>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "runtime/text/model.h"
#include "runtime/text/vocabulary.h"

namespace aicf::text {
namespace {

using schema::TokenizerData;
using schema::TokenizerKind;

constexpr uint32_t kNoToken = UINT32_MAX;
constexpr uint32_t kNone = UINT32_MAX;

// A run of the piece's bytes: a token, or a character that has none.
struct Symbol {
  uint32_t begin, bytes;  // 0 bytes: its left neighbour has taken it
  uint32_t token;
  uint32_t left, right;
};

struct Candidate {
  uint32_t rank, left;    // the left symbol
  uint32_t right;         // and the right one, to see whether the pair is still there
  uint32_t bytes, token;  // of both together
  // The lowest rank is on top; of equal ones the leftmost.
  bool operator<(const Candidate& other) const {
    return std::pair(rank, left) > std::pair(other.rank, other.left);
  }
};

struct RankedMerge {
  uint32_t rank, token;
};

class Bpe final : public Model {
 public:
  Bpe(const TokenizerData& data, Vocabulary vocabulary)
      : data_(data), vocabulary_(std::move(vocabulary)) {}

  Status AddMerges();
  void RankScores();
  void Encode(std::string_view piece, std::vector<uint32_t>* ids) const override;

 private:
  std::vector<Symbol> Symbols(std::string_view piece) const;
  std::optional<RankedMerge> Find(std::string_view piece, const Symbol& left,
                                  const Symbol& right) const;

  const TokenizerData& data_;
  Vocabulary vocabulary_;
  bool by_score_ = false;
  std::unordered_map<uint64_t, RankedMerge> merges_;  // left << 32 | right
  std::vector<uint32_t> score_rank_;                  // by id: high scores have low ranks
};

Status Bpe::AddMerges() {
  merges_.reserve(data_.merges.size());
  std::string both;
  for (uint32_t rank = 0; rank < data_.merges.size(); ++rank) {
    const auto [left, right] = data_.merges[rank];
    both = data_.tokens[left] + data_.tokens[right];
    const auto token = vocabulary_.Find(both);
    if (!token) {
      return Error(Code::kBadModel, "tokenizer: merge ", rank, " of tokens ", left, " and ", right,
                   " makes a spelling that no token has");
    }
    // Of a pair that is listed twice the last one counts, as in the reference implementation.
    merges_[uint64_t{left} << 32 | right] = {rank, *token};
  }
  return OkStatus();
}

void Bpe::RankScores() {
  by_score_ = true;
  std::vector<uint32_t> order(data_.tokens.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto& score = data_.scores;
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return score[a] > score[b]; });
  score_rank_.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    const bool as_before = i > 0 && score[order[i]] == score[order[i - 1]];
    score_rank_[order[i]] = as_before ? score_rank_[order[i - 1]] : i;
  }
}

std::vector<Symbol> Bpe::Symbols(std::string_view piece) const {
  std::vector<Symbol> symbols;
  for (size_t at = 0; at < piece.size();) {
    const bool bytes = data_.kind == TokenizerKind::kByteBpe;
    const size_t length = bytes ? 1 : CharacterLength(piece.substr(at));
    const uint32_t token = vocabulary_.Find(piece.substr(at, length)).value_or(kNoToken);
    const uint32_t index = static_cast<uint32_t>(symbols.size());
    symbols.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(length), token,
                       index == 0 ? kNone : index - 1, index + 1});
    at += length;
  }
  symbols.back().right = kNone;
  return symbols;
}

std::optional<RankedMerge> Bpe::Find(std::string_view piece, const Symbol& left,
                                     const Symbol& right) const {
  if (by_score_) {
    if (left.bytes + right.bytes > vocabulary_.longest()) return std::nullopt;
    const auto token = vocabulary_.Find(piece.substr(left.begin, left.bytes + right.bytes));
    if (!token) return std::nullopt;
    return RankedMerge{score_rank_[*token], *token};
  }
  if (left.token == kNoToken || right.token == kNoToken) return std::nullopt;
  const auto found = merges_.find(uint64_t{left.token} << 32 | right.token);
  if (found == merges_.end()) return std::nullopt;
  return found->second;
}

void Bpe::Encode(std::string_view piece, std::vector<uint32_t>* ids) const {
  if (data_.ignore_merges) {
    if (const auto whole = vocabulary_.Find(piece)) {
      ids->push_back(*whole);
      return;
    }
  }
  std::vector<Symbol> symbols = Symbols(piece);
  std::priority_queue<Candidate> queue;
  const auto offer = [&](uint32_t left, uint32_t right) {
    if (left == kNone || right == kNone) return;
    const Symbol &l = symbols[left], &r = symbols[right];
    if (const auto merge = Find(piece, l, r)) {
      queue.push({merge->rank, left, right, l.bytes + r.bytes, merge->token});
    }
  };
  for (uint32_t i = 1; i < symbols.size(); ++i) offer(i - 1, i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol &left = symbols[best.left], &right = symbols[best.right];
    // Symbols only grow, so a pair of the same length is the pair that was offered.
    const bool there = left.bytes != 0 && right.bytes != 0 && left.right == best.right &&
                       left.bytes + right.bytes == best.bytes;
    if (!there) continue;
    left.bytes = best.bytes;
    left.token = best.token;
    left.right = right.right;
    right.bytes = 0;
    if (left.right != kNone) symbols[left.right].left = best.left;
    offer(left.left, best.left);
    offer(best.left, left.right);
  }
  const size_t begin = ids->size();
  for (uint32_t i = 0; i != kNone; i = symbols[i].right) {
    if (symbols[i].token != kNoToken) {
      ids->push_back(symbols[i].token);
    } else {
      vocabulary_.AppendUnknown(piece.substr(symbols[i].begin, symbols[i].bytes), begin, ids);
    }
  }
}

}  // namespace

Result<std::unique_ptr<Model>> MakeBpe(const TokenizerData& data) {
  AICF_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Make(data));
  auto bpe = std::make_unique<Bpe>(data, std::move(vocabulary));
  if (data.kind == TokenizerKind::kSentencePieceBpe && data.merges.empty()) {
    if (data.scores.empty()) return Error(Code::kBadModel, "tokenizer: neither merges nor scores");
    bpe->RankScores();
  } else {
    AICF_RETURN_IF_ERROR(bpe->AddMerges());
  }
  return std::unique_ptr<Model>(std::move(bpe));
}

}  // namespace aicf::text
