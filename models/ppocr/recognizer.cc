#include "models/ppocr/recognizer.h"

#include <algorithm>
#include <cmath>

namespace ppocr {
namespace {

struct Tap {
  int low = 0, high = 0;
  float weight_high = 0;
};

// Source positions of each output coordinate under half-pixel bilinear resampling.
std::vector<Tap> Taps(int from, int to) {
  std::vector<Tap> taps(to);
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  for (int i = 0; i < to; ++i) {
    const float x = std::clamp((static_cast<float>(i) + 0.5f) * scale - 0.5f, 0.0f,
                               static_cast<float>(from - 1));
    taps[i].low = static_cast<int>(x);
    taps[i].high = std::min(taps[i].low + 1, from - 1);
    taps[i].weight_high = x - static_cast<float>(taps[i].low);
  }
  return taps;
}

}  // namespace

std::vector<float> Preprocess(const Image& image, int height, int width) {
  const double ratio = static_cast<double>(image.width) / image.height;
  const int scaled = std::clamp(static_cast<int>(std::ceil(height * ratio)), 1, width);
  const std::vector<Tap> rows = Taps(image.height, height);
  const std::vector<Tap> columns = Taps(image.width, scaled);
  auto pixel = [&](int y, int x, int c) {
    return static_cast<float>(image.rgb[(static_cast<size_t>(y) * image.width + x) * 3 + c]);
  };
  std::vector<float> out(static_cast<size_t>(3) * height * width, 0.0f);
  for (int c = 0; c < 3; ++c) {
    float* plane = out.data() + static_cast<size_t>(2 - c) * height * width;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < scaled; ++x) {
        const Tap &r = rows[y], &k = columns[x];
        const float top = std::lerp(pixel(r.low, k.low, c), pixel(r.low, k.high, c), k.weight_high);
        const float bottom =
            std::lerp(pixel(r.high, k.low, c), pixel(r.high, k.high, c), k.weight_high);
        const float value = std::lerp(top, bottom, r.weight_high);
        plane[static_cast<size_t>(y) * width + x] = (value / 255.0f - 0.5f) / 0.5f;
      }
    }
  }
  return out;
}

std::vector<std::string> ParseDictionary(std::string_view characters) {
  std::vector<std::string> classes = {""};
  while (!characters.empty()) {
    const size_t end = characters.find('\n');
    classes.emplace_back(characters.substr(0, end));
    characters = end == std::string_view::npos ? std::string_view() : characters.substr(end + 1);
  }
  classes.emplace_back(" ");
  return classes;
}

std::string DecodeCtc(std::span<const float> scores, int classes,
                      const std::vector<std::string>& dictionary, float* confidence) {
  std::string text;
  float sum = 0;
  int kept = 0;
  long previous = 0;
  for (size_t at = 0; at + classes <= scores.size(); at += classes) {
    const auto step = scores.subspan(at, classes);
    const auto best = std::max_element(step.begin(), step.end());
    const long index = best - step.begin();
    if (index != 0 && index != previous && index < static_cast<long>(dictionary.size())) {
      text += dictionary[index];
      sum += *best;
      ++kept;
    }
    previous = index;
  }
  if (confidence != nullptr) *confidence = kept == 0 ? 0.0f : sum / static_cast<float>(kept);
  return text;
}

}  // namespace ppocr
