#include "compiler/source/calibration_json.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

Calibration Example() {
  CalibratedEntry entry{"six", 32, 0.0123, {}, {}};
  entry.values = {{3, "x", {0, 40, 17}, -0.25, 1.0 / 3, {1.0 / 3, 0.3, 0.2}, ""},
                  {5, "h", {}, 0, 0, {}, "line.npy"},
                  {6, "p", {}, -1, 2, {2, 2, 2}, "", 32}};
  entry.products = {{1, "y", 1e-3, false}, {4, "z", 0.2, true}};
  return {DType::kI8, RangeMethod::kEntropy, 0.05, {entry}};
}

TEST(CalibrationJson, ReadsWhatItWrites) {
  const auto back = CalibrationFromJson(CalibrationJson(Example()), DType::kI8);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, Example());
}

TEST(CalibrationJson, RefusesWhatIsNone) {
  const nlohmann::ordered_json good = CalibrationJson(Example());
  const auto expect = [&](const char* pointer, nlohmann::ordered_json value) {
    nlohmann::ordered_json bad = good;
    bad[nlohmann::ordered_json::json_pointer(pointer)] = std::move(value);
    const auto back = CalibrationFromJson(bad, DType::kI8);
    EXPECT_EQ(back.status().code(), Code::kBadArtifact) << pointer;
  };
  expect("/method", "mean");
  expect("/max_error", "much");
  expect("/entries", 3);
  expect("/entries/0/values/0/limits", nlohmann::ordered_json::array({1, 2}));
  expect("/entries/0/values/0/name", nullptr);
  expect("/entries/0/values/2/few", "32");
  expect("/entries/0/products/1/wide", 1);
  EXPECT_EQ(CalibrationFromJson(3, DType::kI8).status().code(), Code::kBadArtifact);
}

// What is no digit becomes an exponent that no calibration has.
TEST(CalibrationJson, ChannelsAreHexadecimal) {
  nlohmann::ordered_json json = CalibrationJson(Example());
  EXPECT_EQ(json["entries"][0]["values"][0]["channels"], "002811");
  json["entries"][0]["values"][0]["channels"] = "0g";
  const auto back = CalibrationFromJson(json, DType::kI8);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->entries[0].values[0].channels, std::vector<uint8_t>{255});
}

}  // namespace
}  // namespace aicf
