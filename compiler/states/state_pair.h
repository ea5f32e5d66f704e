/// A carried input and output by name.
#pragma once

#include <string>

namespace aicf {

/// The output `present` of a run is the input `past` of the next one.
struct StatePair {
  std::string past;
  std::string present;
  friend bool operator==(const StatePair&, const StatePair&) = default;
};

}  // namespace aicf
