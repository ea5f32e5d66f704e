#include "tools/inspect/provenance.h"

#include <gtest/gtest.h>

namespace aicf::tools {
namespace {

TEST(Provenance, ShortValuesAreShownAndLongOnesCounted) {
  EXPECT_EQ(ProvenanceText("text"), "text");
  EXPECT_EQ(ProvenanceText(true), "true");
  EXPECT_EQ(ProvenanceText(Json{{"cache", 64}}), R"({"cache":64})");
  EXPECT_EQ(ProvenanceText(Json::array({"a", Json{{"asked_by", "--set=x"}}})), "a, --set=x");
  EXPECT_EQ(ProvenanceText(Json::array()), "");
  Json shapes = Json::object();
  for (int i = 0; i < 40; ++i) shapes["input" + std::to_string(i)] = {1, 3, 224, 224};
  const std::string text = ProvenanceText(shapes);
  EXPECT_TRUE(text.starts_with("40 entries, hash ")) << text;
  EXPECT_LT(text.size(), 40u);
  EXPECT_EQ(ProvenanceText(Json::array({"a", shapes})), "a, " + text);
  shapes["input0"][0] = 2;
  EXPECT_NE(ProvenanceText(shapes), text);
}

Json MadeCalibration() {
  Json values = Json::array();
  for (int i = 0; i < 100; ++i) values.push_back({{"buffer", i}, {"low", -1.5}, {"high", 2.5}});
  const Json products = {{{"step", 0}, {"wide", true}}, {{"step", 1}, {"wide", false}}};
  return {{"method", "entropy"},
          {"max_error", 0.1},
          {"entries",
           {{{"entry", "main"},
             {"samples", 4},
             {"error", 0.0123},
             {"values", values},
             {"products", products}}}}};
}

TEST(Provenance, OfACalibrationEveryEntryPointHasALine) {
  Json calibration = MadeCalibration();
  const std::vector<std::string> lines = ProvenanceLines(calibration);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("entropy, hash ")) << lines[0];
  EXPECT_EQ(lines[1],
            "main: 4 samples, error 0.01230 of 0.1000 allowed, 1 of 2 products stay in floats");
  calibration["entries"][0]["values"][7]["low"] = -2;
  EXPECT_NE(ProvenanceLines(calibration)[0], lines[0]) << "a difference that --diff has to find";
}

TEST(Provenance, WhatIsNoCalibrationIsNoError) {
  const Json whole = MadeCalibration();
  for (const char* key : {"entry", "samples", "error", "values", "products"}) {
    for (const Json& bad : {Json(), Json(true), Json("x"), Json::array({1, Json::object()})}) {
      Json calibration = whole;
      calibration["entries"][0][key] = bad;
      EXPECT_EQ(ProvenanceLines(calibration).size(), 2u) << key << " " << bad.dump();
    }
  }
  Json calibration = whole;
  calibration["entries"] = {1, "x", nullptr};
  EXPECT_EQ(ProvenanceLines(calibration).size(), 4u);
  calibration["method"] = 3;
  calibration["max_error"] = "x";
  EXPECT_TRUE(ProvenanceLines(calibration)[0].starts_with("?, hash "));
  calibration.erase("entries");
  EXPECT_EQ(ProvenanceText(calibration), R"({"method":3,"max_error":"x"})");
}

}  // namespace
}  // namespace aicf::tools
