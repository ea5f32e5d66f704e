// Ops of other domains than ONNX's own.
#include <gtest/gtest.h>

#include "compiler/import/testing.h"

namespace aicf {
namespace {

using testing::ModelBuilder;

ModelBuilder OneNode(const std::string& op, const std::string& domain) {
  ModelBuilder m(20);
  auto& import = *m.proto().add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  m.Input("x", {2, 3, 4});
  m.Node(op, {"x"}, {"y"}, "node").set_domain(domain);
  m.Output("y");
  return m;
}

onnx::NodeProto& First(ModelBuilder& m) { return *m.graph().mutable_node(0); }

TEST(OnnxDomains, AnOpCarriesItsDomainsName) {
  const auto contrib = OneNode("Gelu", "com.microsoft").Import();
  ASSERT_TRUE(contrib.ok()) << contrib.status().ToString();
  EXPECT_EQ(contrib->nodes[0].op, "com.microsoft.Gelu");
  for (const char* own : {"", "ai.onnx"}) {
    const auto standard = OneNode("Gelu", own).Import();
    ASSERT_TRUE(standard.ok()) << standard.status().ToString();
    EXPECT_EQ(standard->nodes[0].op, "Gelu");
  }
}

TEST(OnnxDomains, OtherDomainsNeedNoVersionOfOnnxsOwn) {
  ModelBuilder m = OneNode("Gelu", "com.microsoft");
  m.proto().mutable_opset_import()->DeleteSubrange(0, 1);
  EXPECT_TRUE(m.Import().ok());
  First(m).set_domain("");
  EXPECT_EQ(m.Import().status().code(), Code::kUnsupported);
}

TEST(OnnxDomains, AnUnknownOpIsRefusedWithItsDomain) {
  const auto contrib = OneNode("Relu", "com.microsoft").Import();
  ASSERT_FALSE(contrib.ok());
  EXPECT_EQ(contrib.status().code(), Code::kUnsupported);
  EXPECT_NE(contrib.status().message().find("op \"Relu\" of domain \"com.microsoft\""),
            std::string::npos)
      << contrib.status().message();
  // Written out with its domain, it is no op of ONNX's own.
  EXPECT_EQ(OneNode("com.microsoft.QuickGelu2", "").Import().status().code(), Code::kUnsupported);
}

TEST(OnnxDomains, AttributesAreThoseOfTheDomainsOp) {
  ModelBuilder m = OneNode("Gelu", "com.microsoft");
  testing::SetString(First(m), "approximate", "tanh");  // of the standard's Gelu only
  EXPECT_EQ(m.Import().status().code(), Code::kUnsupported);
  ModelBuilder quick = OneNode("QuickGelu", "com.microsoft");
  testing::SetFloat(First(quick), "alpha", 1.5f);
  const auto graph = quick.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->nodes[0].Float("alpha", 0), 1.5);
}

}  // namespace
}  // namespace aicf
