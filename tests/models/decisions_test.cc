// Every question that can be asked of a real model's plan has a recorded answer: which kernel and
// why, why not one step, why a copy, why not in place, why not in another precision.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "compiler/compiler.h"
#include "tests/models/audit.h"
#include "tests/models/cases.h"

namespace aicf::testing {
namespace {

namespace fs = std::filesystem;

struct AuditCase {
  std::string name;
  std::string model;
  std::map<std::string, Dims, std::less<>> shapes;  // empty: chosen from the model
};

void PrintTo(const AuditCase& c, std::ostream* out) { *out << c.name; }

// Exports beside the models of the manifest, which may be there or not.
void AddExports(std::vector<AuditCase>& cases) {
  const char* folder = std::getenv("AICF_TEST_MODELS");
  if (folder == nullptr) return;
  std::error_code error;
  std::vector<AuditCase> found;
  for (const auto& file : fs::directory_iterator(fs::path(folder) / "onnx", error)) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".onnx") continue;
    if (name.starts_with("bert") || name.starts_with("resnet")) {
      found.push_back({name, file.path().string(), {}});
    }
  }
  std::ranges::sort(found, {}, &AuditCase::name);
  cases.insert(cases.end(), found.begin(), found.end());
}

std::vector<AuditCase> AuditCases() {
  std::vector<AuditCase> cases;
  for (const ModelCase& c : AllCases()) {
    AuditCase one{c.name, c.model, {}};
    for (const CaseTensor& t : c.inputs) one.shapes[t.name] = t.shape;
    cases.push_back(std::move(one));
  }
  AddExports(cases);
  return cases;
}

// One picture of 224 x 224 or one sequence of 128.
Result<ShapeMap> ShapesFor(const std::string& model) {
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, ImportOnnx(model));
  ShapeMap shapes;
  for (ir::ValueId id : graph.inputs) {
    Dims shape = graph.values[id].shape;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) shape[i] = i == 0 ? 1 : shape.rank() == 4 ? 224 : 128;
    }
    shapes[graph.values[id].name] = shape;
  }
  return shapes;
}

struct Recorded {
  schema::Program program;
  std::vector<schema::Decision> decisions;
};

// As an artifact's reader sees it.
Result<Recorded> Record(const std::string& model, CompileOptions options) {
  options.images = false;
  AICF_ASSIGN_OR_RETURN(CompileResult result, Compile(model, options));
  Recorded out;
  AICF_ASSIGN_OR_RETURN(out.decisions, schema::ParseDecisionLines(result.decisions.ToJsonLines()));
  out.program = std::move(result.contents.program);
  return out;
}

Result<CompileOptions> OptionsFor(const AuditCase& c) {
  CompileOptions options;
  options.shapes = c.shapes;
  options.nan_branches = true;  // see ModelCase
  if (c.shapes.empty()) {
    AICF_ASSIGN_OR_RETURN(options.shapes, ShapesFor(c.model));
  }
  return options;
}

struct Setting {
  const char* target;
  abi::MathMode math;
  DType storage;
};
constexpr Setting kSettings[] = {{"cpu", abi::MathMode::kFp32, DType::kF32},
                                 {"cpu", abi::MathMode::kFp16, DType::kF32},
                                 {"cuda:sm_90a", abi::MathMode::kFp32, DType::kF32},
                                 {"cuda:sm_90a", abi::MathMode::kFp16, DType::kF32},
                                 {"cuda:sm_90a", abi::MathMode::kFp16, DType::kF16}};

class ModelDecisions : public ::testing::TestWithParam<AuditCase> {};

TEST_P(ModelDecisions, AnswerEveryQuestion) {
  auto options = OptionsFor(GetParam());
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  for (const Setting& setting : kSettings) {
    options->target = setting.target;
    options->math = setting.math;
    options->precision = setting.storage;
    const auto recorded = Record(GetParam().model, *options);
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    const Violations found = Audit(recorded->program, recorded->decisions);
    EXPECT_TRUE(found.empty()) << setting.target << " " << abi::MathModeName(setting.math)
                               << " stored in " << DTypeName(setting.storage) << ToText(found);
  }
}

INSTANTIATE_TEST_SUITE_P(Real, ModelDecisions, ::testing::ValuesIn(AuditCases()), CaseName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ModelDecisions);

// The steps of the second entry point are numbered from the program's start.
TEST(Decisions, OfBucketsAnswerForEachOfThem) {
  for (const AuditCase& c : AuditCases()) {
    if (c.name != "ppocrv4_rec_320") continue;
    CompileOptions options;
    options.buckets = {{"narrow", {{"x", {1, 3, 48, 160}}}}, {"wide", {{"x", {2, 3, 48, 320}}}}};
    const auto recorded = Record(c.model, options);
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    ASSERT_EQ(recorded->program.entry_points.size(), 2u);
    EXPECT_EQ(ToText(Audit(recorded->program, recorded->decisions)), "");
    return;
  }
  GTEST_SKIP() << "AICF_TEST_MODELS names no folder with the recogniser";
}

// Without any one of the decisions that the rules ask for, the audit says so.
TEST(Decisions, AreMissedWhenTheyAreGone) {
  for (const AuditCase& c : AuditCases()) {
    if (c.name != "mnist_cntk") continue;
    auto options = OptionsFor(c);
    ASSERT_TRUE(options.ok());
    const auto recorded = Record(c.model, *options);
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    const std::string whole = ToText(Audit(recorded->program, recorded->decisions));
    size_t needed = 0;
    for (size_t i = 0; i < recorded->decisions.size(); ++i) {
      const schema::Decision& d = recorded->decisions[i];
      const bool asked = d.kind == DecisionKind::kKernel || d.kind == DecisionKind::kPrecision ||
                         d.kind == DecisionKind::kInPlace || d.kind == DecisionKind::kStream ||
                         d.kind == DecisionKind::kLaunch || (d.IsEdge() && d.choice == "separate");
      if (!asked) continue;
      ++needed;
      std::vector<schema::Decision> rest = recorded->decisions;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NE(ToText(Audit(recorded->program, rest)), whole)
          << KindName(d.kind) << " " << ToString(d.subject);
      rest = recorded->decisions;
      rest[i].reason = Reason::kNone;
      EXPECT_NE(ToText(Audit(recorded->program, rest)), whole)
          << KindName(d.kind) << " " << ToString(d.subject);
    }
    EXPECT_GT(needed, 3 * recorded->program.steps.size());
    return;
  }
  GTEST_SKIP() << "AICF_TEST_MODELS names no folder with mnist_cntk";
}

TEST(Decisions, AreAuditedWhereThereAreModels) {
  if (AuditCases().empty()) GTEST_SKIP() << "neither AICF_TEST_MODELS nor AICF_PPOCR_MODELS is set";
  const bool collection = !LoadCases().empty(), fetched = !FetchedCases().empty();
  EXPECT_GE(AuditCases().size(), LoadCases().size() + (fetched ? 3 : 0));
  EXPECT_TRUE(collection || fetched);
}

}  // namespace
}  // namespace aicf::testing
