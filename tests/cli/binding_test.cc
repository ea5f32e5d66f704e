// --bind and --no-images on the command line.
#include <gtest/gtest.h>

#include "tests/cli/tiny_models.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

// TinyModel with its weights as an input.
std::string ModelWithOpenWeights(const TempDir& dir) {
  return PutModel(dir, "open", [](onnx::ModelProto& m) {
    auto* info = m.mutable_graph()->add_input();
    info->set_name("w");
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (int64_t d : {4, 3}) type->mutable_shape()->add_dim()->set_dim_value(d);
    auto* list = m.mutable_graph()->mutable_initializer();
    for (int i = 0; i < list->size(); ++i) {
      if (list->Get(i).name() == "w") list->DeleteSubrange(i, 1);
    }
  });
}

TEST(Binding, ABoundInputIsAConstantOfTheArtifact) {
  TempDir dir;
  const std::string model = ModelWithOpenWeights(dir);
  PutNpy(dir / "w.npy", "(4, 3)", std::vector<float>(12, 0.5f));
  PutNpy(dir / "x.npy", "(2, 4)", {1, 2, 3, 4, 0, 0, 0, 0});
  // x * w is 5 in every column of row 0 and 0 in row 1, before the bias.
  ExpectSuccess(
      RunTool("aicf-compile", {model, "-o", dir / "a.aicf", "--bind=w:" + (dir / "w.npy")}));
  const ToolResult inputs = RunTool("aicf-inspect", {dir / "a.aicf", "--json"});
  ExpectSuccess(inputs);
  const ToolResult run =
      RunTool("aicf-run", {dir / "a.aicf", "--load-inputs=x:" + (dir / "x.npy"), "--duration=0",
                           "--warm-up=0", "--export-output=" + (dir / "out")});
  ExpectSuccess(run);
  const ToolResult unknown =
      RunTool("aicf-run", {dir / "a.aicf", "--load-inputs=w:" + (dir / "w.npy")});
  ExpectFailure("aicf-run", unknown, 2, "no tensor is named 'w'");
}

TEST(Binding, MistakesAreUsageErrors) {
  TempDir dir;
  const std::string model = ModelWithOpenWeights(dir);
  PutNpy(dir / "w.npy", "(4, 3)", std::vector<float>(12, 0.5f));
  PutNpy(dir / "v.npy", "(3, 4)", std::vector<float>(12, 0.5f));
  const std::pair<std::string, std::string> cases[] = {
      {"--bind=w", "expected name:file.npy"},
      {"--bind=w:", "expected name:file.npy"},
      {"--bind=u:" + (dir / "w.npy"), "no input \"u\""},
      {"--bind=w:" + (dir / "v.npy"), "input \"w\" is f32"},
      {"--bind=w:" + (dir / "w.npy") + ",w:" + (dir / "w.npy"), "given twice"}};
  for (const auto& [flag, part] : cases) {
    ExpectFailure("aicf-compile", RunTool("aicf-compile", {model, "-o", dir / "a.aicf", flag}), 2,
                  part);
  }
  ExpectFailure(
      "aicf-compile",
      RunTool("aicf-compile", {model, "-o", dir / "a.aicf", "--bind=w:" + (dir / "none.npy")}), 8,
      "none.npy");
}

// Needs no NVRTC, and its plan executes on the reference kernels only.
TEST(Binding, APlanWithoutImages) {
  TempDir dir;
  const std::string artifact =
      PutArtifact(dir, "plan.aicf", {"--target=cuda:sm_90a", "--no-images", "--kernel-cache=none"});
  ExpectSuccess(RunTool("aicf-inspect", {artifact, "--verify"}));
  const std::vector<float> x = {1, -2, 3, 0.5f, -1, 0.25f, 2, 1};
  double y[6], h[6];
  TinyReference(x.data(), y, h);
  PutNpy(dir / "x.npy", "(2, 4)", x);
  PutNpy(dir / "y.npy", "(2, 3)", std::vector<float>(y, y + 6));
  ExpectSuccess(RunTool("aicf-run", {artifact, "--device=cpu", "--load-inputs=x:" + (dir / "x.npy"),
                                     "--load-ref-outputs=y:" + (dir / "y.npy"), "--rel=1e-5",
                                     "--duration=0", "--warm-up=0"}));
}

}  // namespace
}  // namespace aicf::testing
