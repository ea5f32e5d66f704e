/// A fuzz target: code that reads bytes from outside, and how its inputs are changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace aicf::fuzz {

using Input = std::span<const uint8_t>;

struct Target {
  std::string_view name;
  /// Reads the input as a user's file would be read. It is called once per execution, always in the
  /// same thread, and keeps nothing from one call to the next on which a result could depend.
  void (*run)(Input input);
  /// Changes the first `size` bytes of `data` in place, to at most `room`, and gives the new size;
  /// null: libFuzzer's own mutations, which know bytes only.
  size_t (*mutate)(uint8_t* data, size_t size, size_t room, uint64_t seed) = nullptr;
};

/// Every target of targets.def.
std::span<const Target> Targets();

/// libFuzzer's own mutation of a part of an input.
size_t MutateBytes(uint8_t* data, size_t size, size_t room);

/// Ends the process if the status is one that says that aicf itself is at fault (kInternal, exit
/// code 70). No input may lead to that.
void CheckTyped(const Status& status);
template <class T>
void CheckTyped(const Result<T>& result) {
  CheckTyped(result.status());
}

/// Reports a defect and ends the process. The sentence says what does not hold.
[[noreturn]] void Broken(std::string_view sentence);

inline std::string_view TextOf(Input input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

}  // namespace aicf::fuzz
