#include "runtime/language/stop_text.h"

#include <algorithm>
#include <utility>

namespace aicf::language {

/// Where the first complete stop string begins; npos: there is none.
size_t StopText::FindStop() const {
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, held_.find(stop));
  return first;
}

/// Bytes of the longest end of the held text that is the beginning of a stop string.
size_t StopText::HeldBytes() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) {
    size_t length = std::min(stop.size() - 1, held_.size());
    while (length > longest && !held_.ends_with(std::string_view(stop).substr(0, length))) --length;
    longest = std::max(longest, length);
  }
  return longest;
}

std::string StopText::Push(std::string_view piece) {
  if (stopped_) return {};
  held_ += piece;
  const size_t stop = FindStop();
  stopped_ = stop != std::string::npos;
  const size_t said = stopped_ ? stop : held_.size() - HeldBytes();
  std::string out = held_.substr(0, said);
  held_.erase(0, stopped_ ? std::string::npos : said);
  return out;
}

std::string StopText::Finish() { return std::exchange(held_, {}); }

}  // namespace aicf::language
