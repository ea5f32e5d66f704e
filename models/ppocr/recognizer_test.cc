#include "models/ppocr/recognizer.h"

#include <gtest/gtest.h>

namespace ppocr {
namespace {

TEST(Dictionary, HasBlankFirstAndSpaceLast) {
  EXPECT_EQ(ParseDictionary("a\nb\nc"), (std::vector<std::string>{"", "a", "b", "c", " "}));
  EXPECT_EQ(ParseDictionary(""), (std::vector<std::string>{"", " "}));
}

TEST(Ctc, MergesRepeatsAndDropsBlanks) {
  const std::vector<std::string> dictionary = {"", "a", "b", " "};
  const int path[] = {1, 1, 0, 1, 2, 2, 3, 0, 0, 2};
  std::vector<float> scores(std::size(path) * 4, 0.1f);
  for (size_t i = 0; i < std::size(path); ++i) scores[i * 4 + path[i]] = 0.5f;
  float confidence = 0;
  EXPECT_EQ(DecodeCtc(scores, 4, dictionary, &confidence), "aab b");
  EXPECT_FLOAT_EQ(confidence, 0.5f);
}

TEST(Ctc, OfBlanksIsEmpty) {
  const std::vector<float> scores = {0.9f, 0.1f, 0.8f, 0.2f};
  float confidence = 1;
  EXPECT_EQ(DecodeCtc(scores, 2, {"", "a"}, &confidence), "");
  EXPECT_EQ(confidence, 0.0f);
}

TEST(Preprocess, KeepsTheAspectRatioSwapsChannelsAndPadsWithZeros) {
  Image image{4, 2, std::vector<uint8_t>(4 * 2 * 3, 0)};
  for (size_t i = 0; i < 8; ++i) image.rgb[i * 3] = 255;  // pure red
  const std::vector<float> x = Preprocess(image, 4, 10);
  ASSERT_EQ(x.size(), 3u * 4 * 10);
  for (int y = 0; y < 4; ++y) {
    for (int column = 0; column < 10; ++column) {
      const bool inside = column < 8;
      EXPECT_FLOAT_EQ(x[y * 10 + column], inside ? -1.0f : 0.0f) << "blue";
      EXPECT_FLOAT_EQ(x[2 * 40 + y * 10 + column], inside ? 1.0f : 0.0f) << "red";
    }
  }
}

TEST(Preprocess, InterpolatesBetweenPixelCentres) {
  Image image{2, 1, {0, 0, 0, 255, 255, 255}};
  const std::vector<float> x = Preprocess(image, 2, 4);
  EXPECT_FLOAT_EQ(x[0], -1.0f);
  EXPECT_FLOAT_EQ(x[1], -0.5f);
  EXPECT_FLOAT_EQ(x[2], 0.5f);
  EXPECT_FLOAT_EQ(x[3], 1.0f);
}

TEST(Preprocess, NeverExceedsTheWidth) {
  Image image{100, 1, std::vector<uint8_t>(300, 255)};
  const std::vector<float> x = Preprocess(image, 4, 6);
  for (float v : x) EXPECT_FLOAT_EQ(v, 1.0f);
}

TEST(ReadPng, NamesAMissingFile) {
  const auto image = ReadPng("no-such-file.png");
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.status().code(), aicf::Code::kIo);
}

TEST(ReadPng, ReadsTheSampleLine) {
  const auto image = ReadPng(AICF_SOURCE_DIR "/models/ppocr/data/shipped.png");
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->width, 697);
  EXPECT_EQ(image->height, 44);
  EXPECT_EQ(image->rgb[0], 250);
}

}  // namespace
}  // namespace ppocr
