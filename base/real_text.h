/// Numbers in messages.
#pragma once

#include <cstdio>
#include <string>

namespace aicf {

/// Six significant digits, in powers of ten where that is shorter: "1e+14", "0.25", "nan".
inline std::string RealText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace aicf
