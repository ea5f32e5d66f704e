// Bytes -> LanguageModel. The FlatBuffers verifier proves bounds; what it leaves open is checked
// here: objects that are shared, enumerations, where tokens end. CheckLanguageModel does the rest.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/utf8.h"
#include "schema/language_generated.h"
#include "schema/language_model.h"

namespace aicf::schema {
namespace {

// Alignment of the numbers in the buffer, so of the whole buffer, whose size a writer pads to a
// multiple of it.
constexpr size_t kLanguageAlignment = 8;
constexpr uint32_t kLanguageDepth = 4;
// Expressions are the only tables of which there may be many, and CheckTokenizerData allows 16.
constexpr uint32_t kLanguageTables = 64;

// Reads one field after the other; after the first error the rest are empty and the error is kept.
class LanguageReader {
 public:
  explicit LanguageReader(size_t bytes) : budget_(bytes) {}

  const Status& status() const { return status_; }

  template <class... Pieces>
  void Fail(const Pieces&... pieces) {
    if (status_.ok()) status_ = Error(Code::kBadArtifact, "language section: ", pieces...);
  }

  // The elements of a vector that may be absent. Each is charged against the buffer's size, so no
  // byte is read twice, and a small file cannot become a large model.
  template <class Stored, class Vector>
  std::span<const Stored> Items(const Vector* v) {
    if (v == nullptr) return {};
    const size_t bytes = sizeof(uint32_t) + size_t{v->size()} * sizeof(Stored);
    if (bytes > budget_) Fail("objects are shared or overlap");
    if (!status_.ok()) return {};
    budget_ -= bytes;
    return {reinterpret_cast<const Stored*>(v->Data()), v->size()};
  }

  std::string Bytes(const flatbuffers::Vector<uint8_t>* v) {
    const auto items = Items<char>(v);
    return {items.begin(), items.end()};
  }

  template <class E>
  E Enum(uint8_t value, E count, std::string_view what) {
    if (value >= static_cast<uint8_t>(count)) Fail("unknown ", what, " ", int(value));
    return static_cast<E>(status_.ok() ? value : 0);
  }
  template <class E>
  std::vector<E> Enums(const flatbuffers::Vector<uint8_t>* v, E count, std::string_view what) {
    std::vector<E> out;
    for (const uint8_t value : Items<uint8_t>(v)) out.push_back(Enum(value, count, what));
    return out;
  }

 private:
  size_t budget_;
  Status status_;
};

std::optional<uint32_t> DecodeId(flatbuffers::Optional<uint32_t> id) {
  return id ? std::optional<uint32_t>(*id) : std::nullopt;
}

void DecodeTokens(LanguageReader& in, const fb::Tokenizer& t, TokenizerData* out) {
  const auto bytes = in.Items<char>(t.token_bytes());
  const auto ends = in.Items<uint32_t>(t.token_ends());
  if (ends.size() > kMaxTokens) return in.Fail(ends.size(), " tokens, limit ", kMaxTokens);
  out->tokens.reserve(ends.size());
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    if (end < begin || end > bytes.size()) return in.Fail("a token ends at ", end);
    out->tokens.emplace_back(bytes.data() + begin, end - begin);
    begin = end;
  }
  if (begin != bytes.size()) in.Fail("bytes behind the last token");
}

void DecodeLists(LanguageReader& in, const fb::Tokenizer& t, TokenizerData* out) {
  out->types = in.Enums(t.types(), TokenType::kCount, "type of a token");
  const auto scores = in.Items<float>(t.scores());
  out->scores.assign(scores.begin(), scores.end());
  const auto merges = in.Items<fb::TokenMerge>(t.merges());
  out->merges.reserve(merges.size());
  for (const auto& m : merges) out->merges.push_back({m.left(), m.right()});
  for (const auto& a : in.Items<fb::AddedToken>(t.added())) {
    out->added.push_back({a.id(), a.special(), a.strip_left(), a.strip_right(), a.single_word()});
  }
  out->normalizers = in.Enums(t.normalizers(), NormalizerStep::kCount, "normaliser");
  if (t.patterns() == nullptr) return;
  for (const fb::SplitPattern* p : *t.patterns()) {
    const auto keep = in.Enum(p->keep(), SplitKeep::kCount, "split");
    out->patterns.push_back({in.Bytes(p->expression()), keep});
  }
}

TokenizerData DecodeTokenizer(LanguageReader& in, const fb::Tokenizer& t) {
  TokenizerData out;
  out.kind = in.Enum(t.kind(), TokenizerKind::kCount, "kind of tokenizer");
  DecodeTokens(in, t, &out);
  DecodeLists(in, t, &out);
  out.space_prefix = in.Enum(t.space_prefix(), SpacePrefix::kCount, "space prefix");
  out.prefix_unless_space = t.prefix_unless_space();
  out.ignore_merges = t.ignore_merges();
  out.fuse_unknown = t.fuse_unknown();
  out.unknown = DecodeId(t.unknown());
  out.bos = DecodeId(t.bos());
  out.eos = DecodeId(t.eos());
  out.pad = DecodeId(t.pad());
  out.add_bos = t.add_bos();
  out.add_eos = t.add_eos();
  out.continuation = in.Bytes(t.continuation());
  out.longest_word = t.longest_word();
  out.clean_up_spaces = t.clean_up_spaces();
  return out;
}

Result<LanguageModel> DecodeLanguage(const fb::LanguageModel& m, size_t bytes) {
  LanguageReader in(bytes);
  LanguageModel out;
  out.task = in.Enum(m.task(), LanguageTask::kCount, "task");
  out.architecture = m.architecture()->str();
  out.vocabulary = m.vocabulary();
  out.context = m.context();
  out.trained_context = m.trained_context();
  out.page = m.page();
  out.pages = m.pages();
  out.slots = m.slots();
  const auto end_tokens = in.Items<uint32_t>(m.end_tokens());
  out.end_tokens.assign(end_tokens.begin(), end_tokens.end());
  out.chat_template = m.chat_template()->str();
  if (m.tokenizer() != nullptr) out.tokenizer = DecodeTokenizer(in, *m.tokenizer());
  if (!in.status().ok()) return in.status();
  return out;
}

struct FreeCopy {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

Result<LanguageModel> ParseLanguageModel(std::span<const std::byte> bytes) {
  // Before the verifier exists: its constructor asserts on buffers of 2 GiB.
  if (bytes.size() > 2 * kMaxLanguageBytes) {
    return Error(Code::kBadArtifact, "language section: ", bytes.size(), " bytes, limit ",
                 2 * kMaxLanguageBytes);
  }
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kLanguageAlignment != 0) {
    const size_t capacity = (bytes.size() / kLanguageAlignment + 1) * kLanguageAlignment;
    std::unique_ptr<void, FreeCopy> copy(std::aligned_alloc(kLanguageAlignment, capacity));
    if (copy == nullptr) return Error(Code::kResource, "no memory for ", capacity, " bytes");
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    return ParseLanguageModel({static_cast<const std::byte*>(copy.get()), bytes.size()});
  }
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), kLanguageDepth, kLanguageTables);
  if (bytes.size() % kLanguageAlignment != 0 || !fb::VerifyLanguageModelBuffer(verifier)) {
    return Error(Code::kBadArtifact, "language section: not a well-formed FlatBuffer");
  }
  AICF_ASSIGN_OR_RETURN(LanguageModel model,
                        DecodeLanguage(*fb::GetLanguageModel(data), bytes.size()));
  const Status status = CheckLanguageModel(model);
  if (!status.ok()) return Error(Code::kBadArtifact, "language section: ", status.message());
  return model;
}

}  // namespace aicf::schema
