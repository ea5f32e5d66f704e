#include "compiler/import/tokenizer/parts.h"
#include "schema/byte_alphabet.h"

namespace aicf::tokenizer_json {
namespace {

using schema::TokenizerData;
using schema::TokenizerKind;
using schema::TokenType;

using IdsBySpelling = std::unordered_map<std::string, uint32_t>;

template <class... Pieces>
Status Wrong(const Pieces&... pieces) {
  return Error(Code::kBadModel, "tokenizer.json: ", pieces...);
}

Status ReadTokens(const Json& vocab, TokenizerData* data, IdsBySpelling* ids) {
  if (!vocab.is_object()) return Wrong("the vocabulary is no object");
  data->tokens.resize(vocab.size());
  std::vector<bool> seen(vocab.size());
  for (const auto& [spelling, id] : vocab.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= vocab.size() || seen[id.get<size_t>()]) {
      return Wrong("the ids of ", vocab.size(), " tokens are not the numbers below that");
    }
    seen[id.get<size_t>()] = true;
    data->tokens[id.get<size_t>()] = spelling;
    ids->emplace(spelling, id.get<uint32_t>());
  }
  return OkStatus();
}

// "left right", or [left, right] in later files.
Status ReadMerge(const Json& merge, const IdsBySpelling& ids, TokenizerData* data) {
  std::string left, right;
  if (merge.is_string()) {
    const std::string& text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space == text.npos) return Wrong("a merge of one token");
    left = text.substr(0, space), right = text.substr(space + 1);
  } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
             merge[1].is_string()) {
    left = merge[0], right = merge[1];
  } else {
    return Wrong("a merge that is no pair");
  }
  const auto l = ids.find(left), r = ids.find(right);
  if (l == ids.end() || r == ids.end()) return Wrong("a merge of tokens that are not there");
  data->merges.push_back({l->second, r->second});
  return OkStatus();
}

Status ReadBpe(const Json& model, TokenizerData* data, IdsBySpelling* ids) {
  for (const char* option : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!Text(model, option).empty()) {
      return Error(Code::kUnsupported, "tokenizer.json: BPE with ", option);
    }
  }
  AICF_RETURN_IF_ERROR(ReadTokens(Member(model, "vocab"), data, ids));
  for (const Json& merge : Member(model, "merges")) {
    AICF_RETURN_IF_ERROR(ReadMerge(merge, *ids, data));
  }
  data->ignore_merges = Flag(model, "ignore_merges");
  data->fuse_unknown = Flag(model, "fuse_unk");
  if (data->kind != TokenizerKind::kByteBpe) return OkStatus();
  data->types.resize(data->tokens.size(), TokenType::kNormal);
  for (size_t id = 0; id < data->tokens.size(); ++id) {
    // A spelling outside the byte alphabet is that of an added token, which is found in the text as
    // it is, or of a token that is never found.
    if (auto bytes = schema::FromByteAlphabet(data->tokens[id])) {
      data->tokens[id] = *std::move(bytes);
    } else {
      data->types[id] = TokenType::kUnused;
    }
  }
  return OkStatus();
}

Status ReadUnigram(const Json& model, TokenizerData* data) {
  for (const Json& row : Member(model, "vocab")) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_number()) {
      return Wrong("a row of the vocabulary is no spelling with a score");
    }
    data->tokens.push_back(row[0]);
    data->scores.push_back(row[1].get<float>());
  }
  const Json& unknown = Member(model, "unk_id");
  if (unknown.is_number_unsigned()) data->unknown = unknown.get<uint32_t>();
  data->fuse_unknown = true;
  return OkStatus();
}

void MarkBytes(TokenizerData* data) {
  data->types.resize(data->tokens.size(), TokenType::kNormal);
  for (size_t id = 0; id < data->tokens.size(); ++id) {
    const std::string& t = data->tokens[id];
    const bool digits = t.size() == 6 && t.find_first_not_of("0123456789ABCDEF", 3) == 5;
    if (digits && t.starts_with("<0x") && t[5] == '>') data->types[id] = TokenType::kByte;
  }
}

}  // namespace

Status ReadModel(const Json& model, TokenizerData* data) {
  const std::string type = Text(model, "type");
  IdsBySpelling ids;
  if (type == "BPE") {
    if (data->kind != TokenizerKind::kByteBpe) data->kind = TokenizerKind::kSentencePieceBpe;
    AICF_RETURN_IF_ERROR(ReadBpe(model, data, &ids));
  } else if (type == "Unigram") {
    data->kind = TokenizerKind::kUnigram;
    AICF_RETURN_IF_ERROR(ReadUnigram(model, data));
  } else if (type == "WordPiece") {
    data->kind = TokenizerKind::kWordPiece;
    AICF_RETURN_IF_ERROR(ReadTokens(Member(model, "vocab"), data, &ids));
    data->continuation = Text(model, "continuing_subword_prefix", "##");
  } else {
    return Error(Code::kUnsupported, "tokenizer.json: a model of type '", type, "'");
  }
  const auto unknown = ids.find(Text(model, "unk_token"));
  if (unknown != ids.end()) data->unknown = unknown->second;
  data->types.resize(data->tokens.size(), TokenType::kNormal);
  if (Flag(model, "byte_fallback")) MarkBytes(data);
  return OkStatus();
}

}  // namespace aicf::tokenizer_json
