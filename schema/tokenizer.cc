#include <cmath>
#include <set>

#include "schema/tokenizer.h"

namespace aicf::schema {
namespace {

template <class... Pieces>
Status Wrong(const Pieces&... pieces) {
  return Error(Code::kBadModel, "tokenizer: ", pieces...);
}

Status CheckEnumerators(const TokenizerData& data) {
  if (data.kind >= TokenizerKind::kCount) return Wrong("kind ", int(data.kind));
  if (data.space_prefix >= SpacePrefix::kCount) {
    return Wrong("space prefix ", int(data.space_prefix));
  }
  for (const auto step : data.normalizers) {
    if (step >= NormalizerStep::kCount) return Wrong("normaliser ", int(step));
  }
  for (const auto& pattern : data.patterns) {
    if (pattern.keep >= SplitKeep::kCount) return Wrong("split ", int(pattern.keep));
  }
  // Each step may lengthen a text, a pattern multiplies its pieces' cost: no model has more than a
  // few.
  if (data.normalizers.size() > 16 || data.patterns.size() > 16) {
    return Error(Code::kUnsupported, "tokenizer: ", data.normalizers.size(), " normalisers and ",
                 data.patterns.size(), " patterns, the limit is 16 each");
  }
  return OkStatus();
}

Status CheckTokens(const TokenizerData& data) {
  const size_t count = data.tokens.size();
  if (count == 0) return Wrong("no tokens");
  if (count > kMaxTokens) {
    return Error(Code::kUnsupported, "tokenizer: ", count, " tokens, the limit is ", kMaxTokens);
  }
  if (!data.types.empty() && data.types.size() != count) {
    return Wrong(data.types.size(), " types of ", count, " tokens");
  }
  if (!data.scores.empty() && data.scores.size() != count) {
    return Wrong(data.scores.size(), " scores of ", count, " tokens");
  }
  for (uint32_t id = 0; id < count; ++id) {
    if (data.tokens[id].size() > kMaxTokenBytes) {
      return Error(Code::kUnsupported, "tokenizer: token ", id, " has ", data.tokens[id].size(),
                   " bytes, the limit is ", kMaxTokenBytes);
    }
    const TokenType type = TypeOf(data, id);
    if (type < TokenType::kNormal || type >= TokenType::kCount) {
      return Wrong("token ", id, " is of type ", int(type));
    }
    if (type == TokenType::kByte && !ByteOf(data.tokens[id])) {
      return Wrong("token ", id, " is a byte, but is not spelled <0xNN>");
    }
    if (!data.scores.empty() && !std::isfinite(data.scores[id])) {
      return Wrong("token ", id, " has the score ", data.scores[id]);
    }
  }
  return OkStatus();
}

Status CheckId(const TokenizerData& data, std::string_view what, std::optional<uint32_t> id) {
  if (!id || *id < data.tokens.size()) return OkStatus();
  return Wrong(what, " is token ", *id, " of ", data.tokens.size());
}

Status CheckAdded(const TokenizerData& data) {
  std::set<std::string_view> spelled;
  for (const AddedToken& added : data.added) {
    AICF_RETURN_IF_ERROR(CheckId(data, "an added token", added.id));
    const std::string& spelling = data.tokens[added.id];
    if (spelling.empty()) return Wrong("added token ", added.id, " has no spelling");
    if (!spelled.insert(spelling).second) return Wrong("added token ", added.id, " is there twice");
  }
  return OkStatus();
}

}  // namespace

TokenType TypeOf(const TokenizerData& data, uint32_t id) {
  return data.types.empty() ? TokenType::kNormal : data.types[id];
}

std::optional<uint8_t> ByteOf(std::string_view s) {
  if (s.size() != 6 || s.substr(0, 3) != "<0x" || s[5] != '>') return std::nullopt;
  uint8_t byte = 0;
  for (const char c : s.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    byte = static_cast<uint8_t>(byte << 4 | digit);
  }
  return byte;
}

Status CheckTokenizerData(const TokenizerData& data) {
  AICF_RETURN_IF_ERROR(CheckEnumerators(data));
  AICF_RETURN_IF_ERROR(CheckTokens(data));
  AICF_RETURN_IF_ERROR(CheckAdded(data));
  AICF_RETURN_IF_ERROR(CheckId(data, "unknown", data.unknown));
  AICF_RETURN_IF_ERROR(CheckId(data, "bos", data.bos));
  AICF_RETURN_IF_ERROR(CheckId(data, "eos", data.eos));
  AICF_RETURN_IF_ERROR(CheckId(data, "pad", data.pad));
  if (data.add_bos && !data.bos) return Wrong("bos is to be added, and there is none");
  if (data.add_eos && !data.eos) return Wrong("eos is to be added, and there is none");
  if (data.longest_word > kMaxTokenBytes)
    return Wrong("words of ", data.longest_word, " characters");
  if (data.continuation.size() > kMaxTokenBytes)
    return Wrong("the mark of continuations is too long");
  for (uint32_t rank = 0; rank < data.merges.size(); ++rank) {
    const auto [left, right] = data.merges[rank];
    if (left >= data.tokens.size() || right >= data.tokens.size()) {
      return Wrong("merge ", rank, " is of tokens ", left, " and ", right, " of ",
                   data.tokens.size());
    }
  }
  return OkStatus();
}

}  // namespace aicf::schema
