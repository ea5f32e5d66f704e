#include "tests/fuzz/sample.h"

#include "compiler/import/testing.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

std::vector<float> Ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 7) - 3;
  return values;
}

std::string SampleModel() {
  testing::ModelBuilder b;
  b.Input("x", {1, 2, 6, 6});
  b.Floats("w", {4, 2, 3, 3}, Ramp(72));
  b.Floats("m", {16, 3}, Ramp(48));
  b.Ints("s", {2}, {4, 16});
  b.Node("Conv", {"x", "w"}, {"c"}, "conv");
  b.Node("Relu", {"c"}, {"r"}, "relu");
  b.Node("Reshape", {"r", "s"}, {"f"}, "flat");
  b.Node("MatMul", {"f", "m"}, {"p"}, "product");
  testing::SetInt(b.Node("Softmax", {"p"}, {"q"}, "softmax"), "axis", -1);
  b.Node("Add", {"p", "q"}, {"y"}, "sum");
  b.Output("y");
  return b.proto().SerializeAsString();
}

Sample MakeSample() {
  const Scratch& scratch = TheScratch();
  scratch.Put("sample.onnx", SampleModel());
  Sample sample;
  sample.options = SmallOptions("cpu:avx2");
  // Each compilation from the artifact would read its decisions again, most of which it makes anew.
  CompileOptions few = sample.options;
  few.budgets.Set(Budget::kDecisionBytes, 1024);
  const auto compiled = Compile(scratch.Path("sample.onnx"), few);
  if (!compiled.ok()) Broken("the sample: " + compiled.status().ToString());
  sample.decisions = compiled->decisions;
  sample.bytes = compiled->bytes;
  auto artifact = schema::Artifact::Parse(compiled->bytes, /*with_optional=*/true);
  if (!artifact.ok()) Broken("the sample: " + artifact.status().ToString());
  sample.artifact = *std::move(artifact);
  return sample;
}

}  // namespace

const Sample& TheSample() {
  static const Sample sample = MakeSample();
  return sample;
}

}  // namespace aicf::fuzz
