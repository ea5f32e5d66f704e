#include "tools/common/golden_text.h"

#include <gtest/gtest.h>

#include "schema/golden.h"
#include "schema/testing.h"

namespace aicf::tools {
namespace {

using schema::GoldenOrigin;

std::string TextOf(const std::vector<GoldenOrigin>& origins) {
  schema::Contents contents = schema::testing::ContentsOf(schema::testing::AddProgram());
  const schema::Program& p = contents.program;
  const schema::Buffer& x = p.buffers[p.entry_points[0].inputs[0]];
  const schema::Buffer& y = p.buffers[p.entry_points[0].outputs[0]];
  const std::vector<std::byte> data(std::max(x.bytes, y.bytes));
  schema::Golden golden;
  for (GoldenOrigin origin : origins) {
    schema::GoldenSample& s = golden.samples.emplace_back();
    s.origin = origin;
    s.rel = 0.1;
    s.inputs = {{x.name, x.dtype, x.shape, std::span(data).first(x.bytes)}};
    s.outputs = {{y.name, y.dtype, y.shape, std::span(data).first(y.bytes)}};
  }
  if (!origins.empty()) contents.golden = schema::EncodeGolden(golden);
  const auto file = schema::Serialize(contents);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  const auto text = GoldenText(**schema::Artifact::Parse(*file, true));
  return text.ok() ? *text : text.status().ToString();
}

TEST(GoldenText, CountsSamplesByOrigin) {
  constexpr auto kGiven = GoldenOrigin::kGiven, kReference = GoldenOrigin::kReference;
  EXPECT_EQ(TextOf({}), "");
  EXPECT_EQ(TextOf({kGiven}), "1 sample, outputs given");
  EXPECT_EQ(TextOf({kReference, kReference}),
            "2 samples, outputs computed by the reference kernels");
  EXPECT_EQ(TextOf({kReference, kGiven, kGiven}), "3 samples, outputs given for 2, computed for 1");
}

}  // namespace
}  // namespace aicf::tools
