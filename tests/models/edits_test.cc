// Changes one decision at a time, for every step of real models. Asking for a legal alternative
// gives a plan with exactly that change and the same results; asking for a refused one fails with
// the recorded sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "tests/models/run.h"

namespace aicf::testing {
namespace {

struct EditCase {
  std::string name, variable, file, input;
  Dims shape;
};

std::vector<float> RandomValues(size_t count) {
  std::mt19937 rng(5);
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& v : out) v = normal(rng);
  return out;
}

Result<std::vector<float>> RunOnCpu(const CompileResult& compiled) {
  AICF_ASSIGN_OR_RETURN(const auto program, Program::FromBytes(compiled.bytes));
  AICF_ASSIGN_OR_RETURN(const auto session, Session::Create(program, {.device = "cpu"}));
  for (const TensorInfo& in : program->inputs()) {
    const std::vector<float> x = RandomValues(in.bytes / sizeof(float));
    AICF_RETURN_IF_ERROR(session->SetInput(in.name, TensorOf(x, in.shape)));
  }
  AICF_RETURN_IF_ERROR(session->Run());
  const TensorInfo& out = program->outputs()[0];
  std::vector<float> y(out.bytes / sizeof(float));
  AICF_RETURN_IF_ERROR(session->GetOutput(out.name, TensorInto(y, out.shape)));
  return y;
}

double ScaledError(const std::vector<float>& got, const std::vector<float>& want) {
  double error = 0, scale = 1e-30;
  for (size_t i = 0; i < want.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(got[i]) - want[i]));
    scale = std::max(scale, std::abs(static_cast<double>(want[i])));
  }
  return error / scale;
}

std::string LabelOf(const Decision& d) {
  return StrCat(KindName(d.kind), " ", ToString(d.subject));
}

// A library's kernel that is not asked for is refused for that reason alone; an edit asks for it.
const Alternative* FindAlternative(const Decision& d, bool legal) {
  for (const Alternative& a : d.alternatives) {
    if (a.choice.starts_with("cublaslt")) continue;
    if (a.refusal.empty() == legal && a.choice != d.choice) return &a;
  }
  return nullptr;
}

// What `result` chose where `like` chooses: an edit can add or take away decisions before it (what
// is packed follows from a kernel and its precision), so that places in the log do not correspond.
std::string ChoiceLike(const CompileResult& result, const Decision& like) {
  for (const Decision& d : result.decisions.decisions())
    if (d.kind == like.kind && ToString(d.subject) == ToString(like.subject)) return d.choice;
  return "no such decision";
}

class Edits : public ::testing::TestWithParam<EditCase> {
 protected:
  void SetUp() override {
    const char* models = std::getenv(GetParam().variable.c_str());
    if (models == nullptr) GTEST_SKIP() << GetParam().variable << " is unset";
    model_ = std::string(models) + "/" + GetParam().file;
  }

  void Prepare(const std::string& target) {
    CompileOptions options;
    options.target = target;
    options.images = false;
    options.shapes[GetParam().input] = GetParam().shape;
    Result<CompileResult> compiled = Compile(model_, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    natural_ = *std::move(compiled);
    Result<std::shared_ptr<const schema::Artifact>> artifact =
        schema::Artifact::Parse(natural_.bytes, true);
    ASSERT_TRUE(artifact.ok()) << artifact.status().ToString();
    artifact_ = *artifact;
    options_ = *OptionsOf(*artifact_);
    options_.strip = true;  // nothing here reads what it leaves out
  }

  // The program of the artifact with decision `d` made otherwise: what --decisions does with an
  // exported file in which one choice was changed.
  Result<CompileResult> With(size_t d, const std::string& choice) {
    std::vector<Decision> decisions = natural_.decisions.decisions();
    decisions[d].choice = choice;
    const DecisionLog edited(decisions);
    CompileOptions options = options_;
    AICF_ASSIGN_OR_RETURN(options.wishes, FindEdits(natural_.decisions, edited));
    EXPECT_EQ(options.wishes.all().size(), 1u);
    return Recompile(artifact_, options);
  }

  void ExpectRefused(size_t d) {
    const Alternative* refused = FindAlternative(natural_.decisions.decisions()[d], false);
    if (refused == nullptr) return;
    const Result<CompileResult> edited = With(d, refused->choice);
    EXPECT_EQ(edited.status().code(), Code::kUnsupported) << edited.status().ToString();
    EXPECT_NE(edited.status().message().find(refused->refusal), std::string::npos)
        << "recorded: " << refused->refusal << "\nfound: " << edited.status().message();
    ++refused_;
  }

  // Kernels, shapes and expressions of all steps but one are as they were.
  void ExpectOnlyStepChanged(const CompileResult& edited, int step) {
    const auto& before = natural_.contents.program.steps;
    const auto& after = edited.contents.program.steps;
    ASSERT_EQ(after.size(), before.size());
    for (size_t s = 0; s < after.size(); ++s) {
      EXPECT_EQ(after[s].sources, before[s].sources) << s;
      if (static_cast<int>(s) == step) continue;
      EXPECT_EQ(after[s].kernel, before[s].kernel) << "step " << s;
      EXPECT_EQ(ToString(after[s].problem), ToString(before[s].problem)) << "step " << s;
    }
  }

  // What a step packs follows from its kernel, which may pack nothing.
  static std::vector<Decision> WithoutPacking(const CompileResult& result) {
    std::vector<Decision> decisions = result.decisions.decisions();
    std::erase_if(decisions, [](const Decision& d) { return d.kind == DecisionKind::kPacking; });
    return decisions;
  }

  // Every decision whose kind an edit of `kind` does not influence is made as before.
  void ExpectSameOtherwise(const CompileResult& edited, size_t changed) {
    const std::vector<Decision> before = WithoutPacking(natural_), after = WithoutPacking(edited);
    const int step = natural_.decisions.decisions()[changed].subject.step;
    ASSERT_EQ(after.size(), before.size());
    for (size_t d = 0; d < after.size(); ++d) {
      // A kernel has its own precision, and decides what may be overwritten, how much is live, and
      // what is worth running beside what; a stream decides which launches can overlap.
      const bool follows =
          after[d].subject.step == step || after[d].kind == DecisionKind::kInPlace ||
          after[d].kind == DecisionKind::kMemory || after[d].kind == DecisionKind::kStream ||
          after[d].kind == DecisionKind::kLaunch;
      if (!follows) {
        EXPECT_EQ(after[d].choice, before[d].choice) << LabelOf(before[d]);
      }
    }
  }

  void ExpectHonoured(size_t d, const std::vector<float>& want) {
    const Decision& decision = natural_.decisions.decisions()[d];
    const Alternative* legal = FindAlternative(decision, true);
    if (legal == nullptr) return;
    const Result<CompileResult> edited = With(d, legal->choice);
    ASSERT_TRUE(edited.ok()) << edited.status().ToString();
    EXPECT_EQ(ChoiceLike(*edited, decision), legal->choice);
    ExpectOnlyStepChanged(*edited, decision.subject.step);
    ExpectSameOtherwise(*edited, d);
    const Result<std::vector<float>> got = RunOnCpu(*edited);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_LE(ScaledError(*got, want), 1e-4)
        << ToString(decision.subject) << " as " << legal->choice;
    ++honoured_;
  }

  std::string model_;
  CompileResult natural_;
  std::shared_ptr<const schema::Artifact> artifact_;
  CompileOptions options_;
  int honoured_ = 0, refused_ = 0;
};

TEST_P(Edits, EveryStepsDecisionsCanBeChangedOrSayWhyNot) {
  Prepare("cpu");
  const Result<std::vector<float>> want = RunOnCpu(natural_);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  const auto& decisions = natural_.decisions.decisions();
  for (size_t d = 0; d < decisions.size(); ++d) {
    if (decisions[d].subject.step < 0 || decisions[d].kind == DecisionKind::kAlgorithm) continue;
    SCOPED_TRACE(LabelOf(decisions[d]));
    ExpectHonoured(d, *want);
    ExpectRefused(d);
  }
  const int steps = static_cast<int>(natural_.contents.program.steps.size());
  EXPECT_GE(honoured_, steps);  // each step has another kernel at least
  EXPECT_GE(refused_, steps);   // and another precision that it cannot have
}

// What was fused can be kept apart.
TEST_P(Edits, FusionsCanBeTakenBack) {
  Prepare("cpu");
  const Result<std::vector<float>> want = RunOnCpu(natural_);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  const auto& decisions = natural_.decisions.decisions();
  for (size_t d = 0, seen = 0; d < decisions.size(); ++d) {
    if (!decisions[d].IsEdge()) continue;
    if (seen++ % 7 != 0) continue;
    SCOPED_TRACE(LabelOf(decisions[d]));
    if (decisions[d].choice == kSeparate) {
      ExpectRefused(d);
      continue;
    }
    const Result<CompileResult> edited = With(d, std::string(kSeparate));
    ASSERT_TRUE(edited.ok()) << edited.status().ToString();
    for (const schema::Step& s : edited->contents.program.steps) {
      EXPECT_FALSE(IsSubset(decisions[d].subject.nodes, s.sources) &&
                   IsSubset(decisions[d].subject.into, s.sources));
    }
    const Result<std::vector<float>> got = RunOnCpu(*edited);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_LE(ScaledError(*got, *want), 1e-4);
  }
}

// A plan for CUDA needs neither a GPU nor its compiler to be edited.
TEST_P(Edits, KernelsOfACudaPlanCanBeChanged) {
  Prepare("cuda:sm_90a");
  const auto& decisions = natural_.decisions.decisions();
  for (size_t d = 0; d < decisions.size(); ++d) {
    if (decisions[d].kind != DecisionKind::kKernel && decisions[d].kind != DecisionKind::kPrecision)
      continue;
    SCOPED_TRACE(LabelOf(decisions[d]));
    ExpectRefused(d);
    const Alternative* legal = FindAlternative(decisions[d], true);
    if (legal == nullptr) continue;
    const Result<CompileResult> edited = With(d, legal->choice);
    ASSERT_TRUE(edited.ok()) << edited.status().ToString();
    EXPECT_EQ(ChoiceLike(*edited, decisions[d]), legal->choice);
    ExpectOnlyStepChanged(*edited, decisions[d].subject.step);
    ++honoured_;
  }
  EXPECT_GT(honoured_, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Real, Edits,
    ::testing::Values(
        EditCase{"rec", "AICF_PPOCR_MODELS", "rec.onnx", "x", {1, 3, 48, 32}},
        EditCase{"det", "AICF_PPOCR_MODELS", "det.onnx", "x", {1, 3, 32, 32}},
        EditCase{"cls", "AICF_PPOCR_MODELS", "cls.onnx", "x", {1, 3, 48, 192}},
        EditCase{"mnist", "AICF_TEST_MODELS", "onnx/mnist_cntk.onnx", "Input3", {1, 1, 28, 28}}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace aicf::testing
