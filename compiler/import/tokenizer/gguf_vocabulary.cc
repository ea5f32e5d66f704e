#include "compiler/import/tokenizer/gguf_vocabulary.h"

#include <unordered_map>

namespace aicf::gguf_text {
namespace {

using gguf::GgufFile;
using schema::TokenizerData;
using schema::TokenizerKind;
using schema::TokenType;

Status ReadTypes(const GgufFile& file, TokenizerData* data) {
  AICF_ASSIGN_OR_RETURN(const auto types, file.Find<std::vector<int32_t>>(GgmlKey("token_type")));
  if (!types) return OkStatus();
  if (types->size() != data->tokens.size()) {
    return WrongTokenizer(types->size(), " types of ", data->tokens.size(), " tokens");
  }
  for (const int32_t type : *types) {
    if (type < 0 || type >= static_cast<int32_t>(TokenType::kCount)) {
      return WrongTokenizer("a token of type ", type);
    }
    // Type 0 means that whoever made the file did not know the type.
    data->types.push_back(type == 0 ? TokenType::kNormal : static_cast<TokenType>(type));
  }
  return OkStatus();
}

}  // namespace

std::string GgmlKey(std::string_view name) { return StrCat("tokenizer.ggml.", name); }

Status ReadTokens(const GgufFile& file, TokenizerData* data) {
  AICF_ASSIGN_OR_RETURN(const auto tokens,
                        file.Get<std::vector<std::string_view>>(GgmlKey("tokens")));
  data->tokens.assign(tokens.begin(), tokens.end());
  AICF_RETURN_IF_ERROR(ReadTypes(file, data));
  AICF_ASSIGN_OR_RETURN(auto scores, file.Find<std::vector<float>>(GgmlKey("scores")));
  const bool scored =
      data->kind == TokenizerKind::kSentencePieceBpe || data->kind == TokenizerKind::kUnigram;
  if (!scored) return OkStatus();
  if (!scores) return WrongTokenizer("no scores");
  if (scores->size() != tokens.size()) {
    return WrongTokenizer(scores->size(), " scores of ", tokens.size(), " tokens");
  }
  data->scores = *std::move(scores);
  return OkStatus();
}

Status ReadMerges(const GgufFile& file, TokenizerData* data) {
  AICF_ASSIGN_OR_RETURN(const auto merges,
                        file.Get<std::vector<std::string_view>>(GgmlKey("merges")));
  std::unordered_map<std::string_view, uint32_t> ids;
  for (uint32_t id = 0; id < data->tokens.size(); ++id) ids.emplace(data->tokens[id], id);
  for (const std::string_view merge : merges) {
    const size_t space = merge.empty() ? merge.npos : merge.find(' ', 1);
    if (space == merge.npos) return WrongTokenizer("a merge of one token");
    const auto left = ids.find(merge.substr(0, space)), right = ids.find(merge.substr(space + 1));
    if (left == ids.end() || right == ids.end()) {
      return WrongTokenizer("merge ", data->merges.size(), " of a token that is not there");
    }
    data->merges.push_back({left->second, right->second});
  }
  return OkStatus();
}

}  // namespace aicf::gguf_text
