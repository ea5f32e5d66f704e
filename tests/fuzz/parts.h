/// A single input that stands for several files. The text between a line "--file X--" and the next
/// such line is the file that the target knows by the letter X. Text before the first such line is
/// file 'a'.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"

namespace aicf::fuzz {

struct Part {
  char letter = 'a';
  std::string bytes;
};

std::vector<Part> SplitParts(Input input);
std::string JoinParts(const std::vector<Part>& parts);

/// Changes one part: by `mutate`, if the target has a function that knows the kind of file, or like
/// any bytes.
size_t MutateParts(uint8_t* data, size_t size, size_t room, uint64_t seed,
                   void (*mutate)(Part& part, size_t room, uint64_t seed));

/// libFuzzer's own mutation of a string, which may grow to `room` bytes.
void MutateString(std::string& bytes, size_t room);

/// Replaces the input by `with` and returns its size. Where that does not fit into `room`, the
/// input stays as it is and `size` is returned.
size_t Replace(uint8_t* data, size_t size, size_t room, std::string_view with);

}  // namespace aicf::fuzz
