/// An 8-bit RGB image and its reading from a PNG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace ppocr {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;  ///< (height, width, 3) row-major
};

/// Reads any PNG libpng understands; alpha is composed over white. Errors: kIo, kInvalidArgument.
aicf::Result<Image> ReadPng(const std::string& path);

}  // namespace ppocr
