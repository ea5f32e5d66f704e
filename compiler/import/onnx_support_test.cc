#include "compiler/import/onnx_support.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "compiler/import/onnx_rewrites.h"

namespace aicf {
namespace {

TEST(OnnxSupport, TheDocumentIsWhatTheTablesSay) {
  std::ifstream file(AICF_SOURCE_DIR "/docs/onnx.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), OnnxSupportMarkdown()) << "run: aicf-compile --list-ops > docs/onnx.md";
}

TEST(OnnxSupport, NothingIsBothSupportedAndExcluded) {
  for (const std::string& op : ImportableOps()) EXPECT_EQ(WhyExcluded(op), "") << op;
  EXPECT_NE(WhyExcluded("StringSplit"), "");
  EXPECT_NE(WhyExcluded("ai.onnx.ml.TreeEnsemble"), "");
  EXPECT_EQ(WhyExcluded("Relu"), "");
}

}  // namespace
}  // namespace aicf
