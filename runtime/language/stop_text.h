/// Text as it may be shown while a model generates: nothing of a stop string is ever said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aicf::language {

/// Holds back what may be the beginning of a stop string, until more text says that it is none.
/// Thread safety: one call at a time.
class StopText {
 public:
  /// REQUIRES: no stop string is empty.
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Takes the next piece of text and returns what can be shown now. When a stop string becomes
  /// complete, that is the text before it; later calls return nothing.
  std::string Push(std::string_view piece);
  /// What was held back, where the text ends here.
  std::string Finish();

  bool stopped() const { return stopped_; }

 private:
  size_t FindStop() const;
  size_t HeldBytes() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace aicf::language
