#include "compiler/import/tokenizer/parts.h"
#include "compiler/import/tokenizer/split_rules.h"

namespace aicf::tokenizer_json {
namespace {

using schema::NormalizerStep;
using schema::SpacePrefix;
using schema::SplitKeep;
using schema::TokenizerData;

constexpr const char* kMetaspace = "\xe2\x96\x81[^\xe2\x96\x81]*|[^\xe2\x96\x81]+";
constexpr const char* kSpace = "\xe2\x96\x81";

Status Unsupported(const char* what, const std::string& which) {
  return Error(Code::kUnsupported, "tokenizer.json: ", what, " '", which, "' is not known");
}

// A regular expression that matches the text literally.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\^$.[]|()?*+{}#- ").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

Status ReadSplit(const Json& split, TokenizerData* data) {
  const Json& pattern = Member(split, "pattern");
  std::string expression = Text(pattern, "Regex");
  if (expression.empty()) expression = Escaped(Text(pattern, "String"));
  const std::string behavior = Text(split, "behavior");
  if (behavior == "Isolated") {
    data->patterns.push_back({expression, SplitKeep::kMatchesAndGaps});
  } else if (behavior == "Removed") {
    data->patterns.push_back(
        {expression, Flag(split, "invert") ? SplitKeep::kMatches : SplitKeep::kGaps});
  } else {
    return Unsupported("a split's behaviour", behavior);
  }
  return OkStatus();
}

Status ReadMetaspace(const Json& metaspace, TokenizerData* data) {
  if (Text(metaspace, "replacement", kSpace) != kSpace) {
    return Unsupported("a replacement of spaces", Text(metaspace, "replacement"));
  }
  const bool add = Flag(metaspace, "add_prefix_space", true);
  const std::string scheme = Text(metaspace, "prepend_scheme", add ? "always" : "never");
  data->space_prefix = scheme == "always"  ? SpacePrefix::kAlways
                       : scheme == "first" ? SpacePrefix::kFirst
                                           : SpacePrefix::kNever;
  data->prefix_unless_space = true;
  if (Flag(metaspace, "split", true)) data->patterns.push_back({kMetaspace});
  return OkStatus();
}

Status ReadByteLevel(const Json& byte_level, TokenizerData* data) {
  data->kind = schema::TokenizerKind::kByteBpe;
  if (Flag(byte_level, "add_prefix_space", true)) {
    // Behind another pre-tokenizer, the space would come after its patterns have split the text.
    if (!data->patterns.empty())
      return Unsupported("a prefix space behind", "another pre-tokenizer");
    data->space_prefix = SpacePrefix::kAlways;
    data->prefix_unless_space = true;
  }
  if (Flag(byte_level, "use_regex", true)) data->patterns.push_back({kGpt2Words});
  return OkStatus();
}

Status ReadBertNormalizer(const Json& bert, TokenizerData* data) {
  const bool lowercase = Flag(bert, "lowercase", true);
  auto& steps = data->normalizers;
  if (Flag(bert, "clean_text", true)) steps.push_back(NormalizerStep::kCleanText);
  if (Flag(bert, "handle_chinese_chars", true)) steps.push_back(NormalizerStep::kSpaceCjk);
  if (Flag(bert, "strip_accents", lowercase)) steps.push_back(NormalizerStep::kStripAccents);
  if (lowercase) steps.push_back(NormalizerStep::kLowercase);
  return OkStatus();
}

}  // namespace

Status ReadPreTokenizer(const Json& pre, TokenizerData* data) {
  if (pre.is_null()) return OkStatus();
  const std::string type = Text(pre, "type");
  if (type == "Sequence") {
    for (const Json& part : Member(pre, "pretokenizers")) {
      AICF_RETURN_IF_ERROR(ReadPreTokenizer(part, data));
    }
  } else if (type == "ByteLevel") {
    return ReadByteLevel(pre, data);
  } else if (type == "Split") {
    return ReadSplit(pre, data);
  } else if (type == "Metaspace") {
    return ReadMetaspace(pre, data);
  } else if (type == "Digits") {
    data->patterns.push_back({Flag(pre, "individual_digits") ? "\\p{N}" : "\\p{N}+"});
  } else if (type == "BertPreTokenizer") {
    data->patterns.push_back({kBertWords, SplitKeep::kMatches});
  } else if (type == "Whitespace") {
    data->patterns.push_back({R"(\w+|[^\w\s]+)", SplitKeep::kMatches});
  } else if (type == "WhitespaceSplit") {
    data->patterns.push_back({R"(\S+)", SplitKeep::kMatches});
  } else {
    return Unsupported("pre-tokenizer", type);
  }
  return OkStatus();
}

Status ReadNormalizer(const Json& normalizer, TokenizerData* data) {
  if (normalizer.is_null()) return OkStatus();
  const std::string type = Text(normalizer, "type");
  const std::pair<const char*, NormalizerStep> plain[] = {
      {"NFC", NormalizerStep::kNfc},
      {"NFD", NormalizerStep::kNfd},
      {"NFKC", NormalizerStep::kNfkc},
      {"NFKD", NormalizerStep::kNfkd},
      {"Lowercase", NormalizerStep::kLowercase}};
  for (const auto& [name, step] : plain) {
    if (type == name) {
      data->normalizers.push_back(step);
      return OkStatus();
    }
  }
  if (type == "BertNormalizer") return ReadBertNormalizer(normalizer, data);
  if (type == "Sequence") {
    for (const Json& part : Member(normalizer, "normalizers")) {
      AICF_RETURN_IF_ERROR(ReadNormalizer(part, data));
    }
    return OkStatus();
  }
  // Llama's normaliser puts a space in front of everything, and U+2581 in the place of each space.
  if (type == "Prepend" && Text(normalizer, "prepend") == kSpace) {
    data->space_prefix = SpacePrefix::kAlways;
    return OkStatus();
  }
  if (type == "Replace" && Text(normalizer, "content") == kSpace &&
      Text(Member(normalizer, "pattern"), "String") == " ") {
    return OkStatus();  // SentencePiece kinds do this anyhow
  }
  return Unsupported("normaliser", type);
}

}  // namespace aicf::tokenizer_json
