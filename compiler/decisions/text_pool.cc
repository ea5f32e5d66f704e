#include "compiler/decisions/text_pool.h"

#include <algorithm>
#include <functional>

namespace aicf {
namespace {

constexpr size_t kTextChunk = size_t{1} << 16;

size_t HashOf(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

TextPool& TextPool::operator=(const TextPool& other) {
  if (this == &other) return *this;
  chunks_.clear();
  texts_.clear();
  texts_.reserve(other.texts_.size());
  for (std::string_view text : other.texts_) texts_.push_back(Keep(text));
  slots_ = other.slots_;
  return *this;
}

std::string_view TextPool::Keep(std::string_view text) {
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < text.size()) {
    chunks_.emplace_back().reserve(std::max(kTextChunk, text.size()));
  }
  std::string& chunk = chunks_.back();
  const size_t at = chunk.size();
  chunk += text;
  return std::string_view(chunk).substr(at);
}

void TextPool::Grow() {
  slots_.assign(std::max<size_t>(slots_.size() * 2, 64), 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t number = 0; number < texts_.size(); ++number) {
    size_t at = HashOf(texts_[number]) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = number + 1;
  }
}

uint32_t TextPool::Add(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  size_t at = HashOf(text) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    if (texts_[slots_[at] - 1] == text) return slots_[at] - 1;
  }
  const auto number = static_cast<uint32_t>(texts_.size());
  texts_.push_back(Keep(text));
  slots_[at] = number + 1;
  return number;
}

}  // namespace aicf
