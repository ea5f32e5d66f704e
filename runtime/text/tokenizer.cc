#include "runtime/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "runtime/text/added.h"
#include "runtime/text/model.h"
#include "runtime/text/normalize.h"
#include "runtime/text/splitter.h"
#include "runtime/text/valid_utf8.h"
#include "runtime/text/vocabulary.h"

namespace aicf::text {
namespace {

using schema::SpacePrefix;
using schema::TokenizerData;
using schema::TokenizerKind;
using schema::TokenType;

constexpr std::string_view kSpace = "\xe2\x96\x81";  // U+2581, SentencePiece's

bool IsSentencePiece(const TokenizerData& data) {
  return data.kind == TokenizerKind::kSentencePieceBpe || data.kind == TokenizerKind::kUnigram;
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size())) {
    out.append(text.substr(0, at)).append(to);
  }
  return out.append(text);
}

Result<std::unique_ptr<Model>> MakeModel(const TokenizerData& data) {
  switch (data.kind) {
    case TokenizerKind::kUnigram:
      return MakeUnigram(data);
    case TokenizerKind::kWordPiece:
      return MakeWordPiece(data);
    default:
      return MakeBpe(data);
  }
}

// Punctuation and contractions, which English has no space before.
bool ClingsToTheLeft(std::string_view token) {
  constexpr std::string_view kForms[] = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
  return std::any_of(std::begin(kForms), std::end(kForms),
                     [&](std::string_view form) { return token.starts_with(form); });
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(TokenizerData given) : data(std::move(given)), added(data) {}

  Status EncodeAll(std::string_view text, std::span<const ByteRange> allowed,
                   std::vector<uint32_t>* ids) const;
  // One stretch of text between added tokens.
  Status EncodeText(std::string_view text, bool prefix, std::vector<uint32_t>* ids) const;
  std::string Prepare(std::string_view text, bool prefix) const;
  Result<std::vector<std::string_view>> Pieces(std::string_view text) const;

  const TokenizerData data;
  AddedTokens added;
  std::vector<Splitter> splitters;
  std::unique_ptr<Model> model;
};

std::string Tokenizer::Parts::Prepare(std::string_view text, bool prefix) const {
  std::string ready = Normalize(text, data.normalizers);
  const bool spaced =
      data.prefix_unless_space &&
      (ready.starts_with(' ') || (IsSentencePiece(data) && ready.starts_with(kSpace)));
  if (prefix && !ready.empty() && !spaced) ready.insert(0, 1, ' ');
  return IsSentencePiece(data) ? ReplaceAll(ready, " ", kSpace) : ready;
}

Result<std::vector<std::string_view>> Tokenizer::Parts::Pieces(std::string_view text) const {
  std::vector<std::string_view> pieces;
  if (!text.empty()) pieces.push_back(text);
  for (const Splitter& splitter : splitters) {
    AICF_ASSIGN_OR_RETURN(pieces, splitter.Split(pieces));
  }
  return pieces;
}

Status Tokenizer::Parts::EncodeText(std::string_view text, bool prefix,
                                    std::vector<uint32_t>* ids) const {
  const std::string ready = Prepare(text, prefix);
  AICF_ASSIGN_OR_RETURN(const auto pieces, Pieces(ready));
  for (const std::string_view piece : pieces) model->Encode(piece, ids);
  return OkStatus();
}

Status Tokenizer::Parts::EncodeAll(std::string_view text, std::span<const ByteRange> allowed,
                                   std::vector<uint32_t>* ids) const {
  if (text.size() > kMaxTextBytes) {
    return Error(Code::kResource, "tokenizer: a text of ", text.size(), " bytes, the limit is ",
                 kMaxTextBytes);
  }
  bool first = true;
  for (const Segment& segment : added.Split(text, allowed)) {
    if (segment.token != nullptr) {
      ids->push_back(segment.token->id);
    } else {
      const bool prefix = data.space_prefix == SpacePrefix::kAlways ||
                          (data.space_prefix == SpacePrefix::kFirst && first);
      AICF_RETURN_IF_ERROR(EncodeText(segment.text, prefix, ids));
    }
    first = false;
  }
  return OkStatus();
}

Result<Tokenizer> Tokenizer::Create(TokenizerData data) {
  AICF_RETURN_IF_ERROR(CheckTokenizerData(data));
  auto parts = std::make_shared<Parts>(std::move(data));
  for (const auto& pattern : parts->data.patterns) {
    AICF_ASSIGN_OR_RETURN(Splitter splitter, Splitter::Make(pattern));
    parts->splitters.push_back(std::move(splitter));
  }
  AICF_ASSIGN_OR_RETURN(parts->model, MakeModel(parts->data));
  return Tokenizer(std::move(parts));
}

Result<std::vector<uint32_t>> Tokenizer::Encode(std::string_view text,
                                                const EncodeOptions& options) const {
  const TokenizerData& data = parts_->data;
  const ByteRange all{0, text.size()};
  std::vector<uint32_t> ids;
  if (options.add_special && data.add_bos) ids.push_back(*data.bos);
  AICF_RETURN_IF_ERROR(
      parts_->EncodeAll(text, std::span(&all, options.allow_special ? 1 : 0), &ids));
  if (options.add_special && data.add_eos) ids.push_back(*data.eos);
  return ids;
}

Result<std::vector<uint32_t>> Tokenizer::EncodePieces(std::span<const TextPiece> pieces) const {
  std::string text;
  std::vector<ByteRange> allowed;
  for (const TextPiece& piece : pieces) {
    if (piece.allow_special) allowed.push_back({text.size(), text.size() + piece.text.size()});
    text += piece.text;
  }
  std::vector<uint32_t> ids;
  AICF_RETURN_IF_ERROR(parts_->EncodeAll(text, allowed, &ids));
  return ids;
}

Status Tokenizer::AppendBytes(uint32_t id, const DecodeOptions& options, bool* first,
                              std::string* out) const {
  const TokenizerData& data = parts_->data;
  if (id >= data.tokens.size()) {
    return Error(Code::kInvalidArgument, "token ", id, " of a vocabulary of ", data.tokens.size());
  }
  const bool special = parts_->added.IsSpecial(id);
  if (special && options.skip_special) return OkStatus();
  std::string_view text = data.tokens[id];
  const bool begins = std::exchange(*first, false);
  if (TypeOf(data, id) == TokenType::kByte) {
    out->push_back(static_cast<char>(*ByteOf(text)));
  } else if (IsSentencePiece(data) && !special) {
    if (begins && data.space_prefix != SpacePrefix::kNever && text.starts_with(kSpace)) {
      text.remove_prefix(kSpace.size());
    }
    out->append(ReplaceAll(text, kSpace, " "));
  } else if (data.kind == TokenizerKind::kWordPiece) {
    const bool goes_on = !data.continuation.empty() && text.starts_with(data.continuation);
    const bool clings = goes_on || (data.clean_up_spaces && ClingsToTheLeft(text));
    if (!begins && goes_on) text.remove_prefix(data.continuation.size());
    if (!begins && !clings) out->push_back(' ');
    out->append(text);
  } else {
    out->append(text);
  }
  return OkStatus();
}

Result<std::string> Tokenizer::DecodeBytes(std::span<const uint32_t> ids,
                                           const DecodeOptions& options) const {
  std::string bytes;
  bool first = true;
  for (const uint32_t id : ids) AICF_RETURN_IF_ERROR(AppendBytes(id, options, &first, &bytes));
  return bytes;
}

Result<std::string> Tokenizer::Decode(std::span<const uint32_t> ids,
                                      const DecodeOptions& options) const {
  AICF_ASSIGN_OR_RETURN(std::string bytes, DecodeBytes(ids, options));
  return ToValidUtf8(std::move(bytes));
}

const TokenizerData& Tokenizer::data() const { return parts_->data; }

}  // namespace aicf::text
