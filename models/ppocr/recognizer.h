/// Pre- and post-processing of the PP-OCR text-line recogniser: what surrounds the network.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/ppocr/image.h"

namespace ppocr {

/// Resizes a line to `height` rows keeping its aspect ratio (bilinear, half-pixel centres), at most
/// `width` columns; maps bytes to [-1, 1]; pads the right side with zeros.
/// Gives (3, height, width) in the channel order the network was trained with: blue, green, red.
std::vector<float> Preprocess(const Image& image, int height, int width);

/// Splits the recogniser's "character" metadata into classes: index 0 is the CTC blank, then one
/// entry per line, then a space as the last class.
std::vector<std::string> ParseDictionary(std::string_view characters);

/// Greedy CTC: the best class per time step, repeats merged, blanks dropped.
/// scores: (steps, classes) row-major. `confidence`, when given, receives the mean score of the
/// characters kept (0 when there are none).
std::string DecodeCtc(std::span<const float> scores, int classes,
                      const std::vector<std::string>& dictionary, float* confidence = nullptr);

}  // namespace ppocr
