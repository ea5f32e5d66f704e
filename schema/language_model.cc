#include "schema/language_model.h"

#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "schema/language_generated.h"

namespace aicf::schema {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// Positions, ids and slots are i32 on the device.
constexpr int64_t kMaxLanguageNumber = std::numeric_limits<int32_t>::max();

template <class... Pieces>
Status WrongLanguage(const Pieces&... pieces) {
  return Error(Code::kBadModel, "language model: ", pieces...);
}

Status CheckNumber(std::string_view field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return OkStatus();
  return WrongLanguage(field, " is ", value, ", allowed ", least, " to ", most);
}

Status CheckLanguageName(std::string_view field, const std::string& text) {
  if (text.size() > kMaxLanguageNameBytes || !IsCleanText(text)) {
    return WrongLanguage(field, " is longer than ", kMaxLanguageNameBytes,
                         " bytes, not UTF-8, or holds a NUL");
  }
  return OkStatus();
}

Status CheckNumbers(const LanguageModel& m) {
  AICF_RETURN_IF_ERROR(CheckNumber("vocabulary", m.vocabulary, 1, kMaxLanguageNumber));
  AICF_RETURN_IF_ERROR(CheckNumber("context", m.context, 1, kMaxLanguageNumber));
  AICF_RETURN_IF_ERROR(CheckNumber("trained_context", m.trained_context, 0, kMaxLanguageNumber));
  // Only what generates has a cache.
  const bool cached = m.task == LanguageTask::kGenerate;
  const int64_t least = cached ? 1 : 0, most = cached ? kMaxLanguageNumber : 0;
  AICF_RETURN_IF_ERROR(CheckNumber("page", m.page, least, most));
  AICF_RETURN_IF_ERROR(CheckNumber("pages", m.pages, least, most));
  return CheckNumber("slots", m.slots, least, most);
}

Status CheckEndTokens(const LanguageModel& m) {
  for (size_t i = 0; i < m.end_tokens.size(); ++i) {
    if (m.end_tokens[i] >= m.vocabulary || (i > 0 && m.end_tokens[i] <= m.end_tokens[i - 1])) {
      return WrongLanguage("end_tokens[", i, "] is ", m.end_tokens[i],
                           ", expected ascending ids below ", m.vocabulary);
    }
  }
  return OkStatus();
}

// An upper bound that is cheap to form: past 2 GiB the builder asserts, so it must not get there.
Status CheckSize(const TokenizerData& t) {
  uint64_t bytes = 8 * uint64_t{t.merges.size()} + 8 * uint64_t{t.added.size()};
  for (const std::string& token : t.tokens) bytes += 16 + token.size();
  for (const SplitPattern& pattern : t.patterns) bytes += 32 + pattern.expression.size();
  if (bytes <= kMaxLanguageBytes) return OkStatus();
  return Error(Code::kUnsupported, "language model: a tokenizer of ", bytes,
               " bytes, the limit is ", kMaxLanguageBytes);
}

Offset<flatbuffers::Vector<uint8_t>> EncodeBytes(FlatBufferBuilder& b, std::string_view bytes) {
  return b.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// Enumerators as bytes; no vector where there are none.
template <class Enum>
Offset<flatbuffers::Vector<uint8_t>> EncodeEnums(FlatBufferBuilder& b,
                                                 const std::vector<Enum>& values) {
  static_assert(sizeof(Enum) == 1);
  if (values.empty()) return 0;
  return b.CreateVector(reinterpret_cast<const uint8_t*>(values.data()), values.size());
}

Offset<fb::SplitPattern> EncodePattern(FlatBufferBuilder& b, const SplitPattern& pattern) {
  const auto expression = EncodeBytes(b, pattern.expression);
  return fb::CreateSplitPattern(b, expression, static_cast<uint8_t>(pattern.keep));
}

flatbuffers::Optional<uint32_t> EncodeId(std::optional<uint32_t> id) {
  return id ? flatbuffers::Optional<uint32_t>(*id) : flatbuffers::nullopt;
}

Offset<fb::Tokenizer> EncodeTokenizer(FlatBufferBuilder& b, const TokenizerData& t) {
  std::string bytes;
  std::vector<uint32_t> ends;
  for (const std::string& token : t.tokens) {
    bytes += token;
    ends.push_back(static_cast<uint32_t>(bytes.size()));
  }
  std::vector<fb::TokenMerge> merges;
  for (const TokenMerge& m : t.merges) merges.emplace_back(m.left, m.right);
  std::vector<fb::AddedToken> added;
  for (const AddedToken& a : t.added) {
    added.emplace_back(a.id, a.special, a.strip_left, a.strip_right, a.single_word);
  }
  std::vector<Offset<fb::SplitPattern>> patterns;
  for (const SplitPattern& p : t.patterns) patterns.push_back(EncodePattern(b, p));

  const auto token_bytes = EncodeBytes(b, bytes);
  const auto token_ends = b.CreateVector(ends);
  const auto types = EncodeEnums(b, t.types);
  const auto scores = t.scores.empty() ? 0 : b.CreateVector(t.scores);
  const auto merge_list = merges.empty() ? 0 : b.CreateVectorOfStructs(merges);
  const auto added_list = added.empty() ? 0 : b.CreateVectorOfStructs(added);
  const auto normalizers = EncodeEnums(b, t.normalizers);
  const auto pattern_list = patterns.empty() ? 0 : b.CreateVector(patterns);
  const auto continuation = EncodeBytes(b, t.continuation);
  return fb::CreateTokenizer(b, static_cast<uint8_t>(t.kind), token_bytes, token_ends, types,
                             scores, merge_list, added_list, normalizers, pattern_list,
                             static_cast<uint8_t>(t.space_prefix), t.prefix_unless_space,
                             t.ignore_merges, t.fuse_unknown, EncodeId(t.unknown), EncodeId(t.bos),
                             EncodeId(t.eos), EncodeId(t.pad), t.add_bos, t.add_eos, continuation,
                             t.longest_word, t.clean_up_spaces);
}

}  // namespace

Status CheckLanguageModel(const LanguageModel& m) {
  if (m.task >= LanguageTask::kCount) return WrongLanguage("unknown task ", int(m.task));
  AICF_RETURN_IF_ERROR(CheckLanguageName("architecture", m.architecture));
  AICF_RETURN_IF_ERROR(CheckLanguageName("chat_template", m.chat_template));
  AICF_RETURN_IF_ERROR(CheckNumbers(m));
  AICF_RETURN_IF_ERROR(CheckEndTokens(m));
  if (!m.tokenizer) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckSize(*m.tokenizer));
  return CheckTokenizerData(*m.tokenizer).WithContext("language model");
}

std::vector<std::byte> SerializeLanguageModel(const LanguageModel& m) {
  FlatBufferBuilder b(4096);
  const auto architecture = b.CreateString(m.architecture);
  const auto end_tokens = b.CreateVector(m.end_tokens);
  const auto chat_template = b.CreateString(m.chat_template);
  const auto tokenizer = m.tokenizer ? EncodeTokenizer(b, *m.tokenizer) : 0;
  fb::FinishLanguageModelBuffer(
      b, fb::CreateLanguageModel(b, static_cast<uint8_t>(m.task), architecture, m.vocabulary,
                                 m.context, m.trained_context, m.page, m.pages, m.slots, end_tokens,
                                 chat_template, tokenizer));
  std::vector<std::byte> out(b.GetSize());
  std::memcpy(out.data(), b.GetBufferPointer(), out.size());
  return out;
}

}  // namespace aicf::schema
