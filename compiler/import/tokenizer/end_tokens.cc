#include "compiler/import/tokenizer/end_tokens.h"

#include <algorithm>
#include <string_view>

namespace aicf {
namespace {

constexpr std::string_view kSpellings[] = {
#define AICF_END_TOKEN(spelling) spelling,
#include "compiler/import/tokenizer/end_tokens.def"
#undef AICF_END_TOKEN
};

}  // namespace

std::vector<uint32_t> EndTokens(const schema::TokenizerData& data, std::vector<uint32_t> named) {
  if (data.eos) named.push_back(*data.eos);
  bool channels = false;
  for (uint32_t id = 0; id < data.tokens.size(); ++id) {
    if (TypeOf(data, id) != schema::TokenType::kControl) continue;
    channels |= data.tokens[id] == "<|channel|>";
    if (std::ranges::find(kSpellings, data.tokens[id]) != std::end(kSpellings)) {
      named.push_back(id);
    }
  }
  // Where a turn has several channels, <|end|> is the end of one of them.
  std::erase_if(named, [&](uint32_t id) {
    return id >= data.tokens.size() || (channels && data.tokens[id] == "<|end|>");
  });
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

}  // namespace aicf
