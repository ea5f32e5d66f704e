#include "tests/onnx_suite/suite.h"

#include <onnx/onnx.pb.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/import/onnx_tensor.h"

namespace aicf::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kDebianSuite[] = "/usr/share/libonnx-testdata/data";

std::string Root() {
  const char* given = std::getenv("AICF_ONNX_SUITE");
  return given != nullptr && *given != 0 ? given : kDebianSuite;
}

SuiteCase MakeCase(const std::string& root, const std::string& name) {
  SuiteCase c{name, {}, {}};
  if (name.starts_with("light/")) {
    c.model = StrCat(root, "/", name, ".onnx");
  } else {
    c.model = StrCat(root, "/", name, "/model.onnx");
    c.data = StrCat(root, "/", name, "/test_data_set_0");
  }
  return c;
}

// excluded.tsv holds a case and what it needs, "dtype:int4,string"; dtypes we have.
bool NeedsDTypesOnly(std::string_view needs) {
  while (!needs.empty()) {
    if (!needs.starts_with("dtype:")) return false;
    const size_t comma = needs.find(',');
    needs.remove_prefix(comma == std::string_view::npos ? needs.size() : comma + 1);
  }
  return true;
}

std::vector<std::string> ListedNames(const std::string& root) {
  std::vector<std::string> names;
  std::ifstream list(root + "/expected.txt");
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) names.push_back(line);
  }
  std::ifstream excluded(root + "/excluded.tsv");
  for (std::string line; std::getline(excluded, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || !NeedsDTypesOnly(std::string_view(line).substr(tab + 1)))
      continue;
    names.push_back(line.substr(0, tab));
  }
  return names;
}

std::vector<std::string> FoundNames(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (const char* group : {"node", "pytorch-converted", "pytorch-operator", "simple"}) {
    for (const auto& entry : fs::directory_iterator(StrCat(root, "/", group), error)) {
      if (!fs::exists(entry.path() / "test_data_set_0", error)) continue;
      names.push_back(StrCat(group, "/", entry.path().filename().string()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<SuiteCase> FindCases() {
  const std::string root = Root();
  std::vector<std::string> names = ListedNames(root);
  if (names.empty()) names = FoundNames(root);
  std::vector<SuiteCase> cases;
  for (const std::string& name : names) cases.push_back(MakeCase(root, name));
  return cases;
}

Result<ir::Tensor> ReadTensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  auto proto = std::make_shared<onnx::TensorProto>();
  if (!proto->ParseFromIstream(&file)) {
    return Error(Code::kUnsupported, path, ": is no tensor");
  }
  // An optional without a value is an empty message.
  if (proto->data_type() == 0) return ir::Tensor();
  auto tensor = ImportTensor(*proto, TensorSource{proto, {}});
  return tensor.ok() ? tensor : tensor.status().WithContext(path);
}

struct Skip {
  std::string_view name, reason;
};

constexpr Skip kSkips[] = {
#define AICF_SKIP(name, reason) {name, reason},
#include "tests/onnx_suite/skips.inc"
#undef AICF_SKIP
};

}  // namespace

const std::vector<SuiteCase>& SuiteCases() {
  static const std::vector<SuiteCase> cases = FindCases();
  return cases;
}

Result<std::vector<ir::Tensor>> ReadTensors(const SuiteCase& c, const std::string& prefix) {
  std::vector<ir::Tensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path = StrCat(c.data, "/", prefix, "_", i, ".pb");
    if (!fs::exists(path)) return tensors;
    AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, ReadTensor(path));
    tensors.push_back(std::move(tensor));
  }
}

Result<std::vector<ir::Tensor>> ReadLightOutputs(const SuiteCase& c) {
  const std::string stem = c.model.substr(0, c.model.size() - std::string(".onnx").size());
  AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, ReadTensor(stem + "_output_0.pb"));
  return std::vector<ir::Tensor>{std::move(tensor)};
}

std::string SkipReason(const SuiteCase& c) {
  static const bool listed = fs::exists(Root() + "/expected.txt");
  if (listed) return "";
  for (const Skip& skip : kSkips) {
    const bool prefix = skip.name.ends_with('*');
    const std::string_view name = skip.name.substr(0, skip.name.size() - (prefix ? 1 : 0));
    if (prefix ? c.name.starts_with(name) : c.name == name) return std::string(skip.reason);
  }
  return "";
}

SuiteTolerance ToleranceOf(const SuiteCase& c) {
  SuiteTolerance tolerance;
  const auto has = [&](std::string_view part) { return c.name.find(part) != std::string::npos; };
  if (has("test_dft") || has("test_stft")) tolerance.atol = 1e-6;
  if (has("bfloat16")) tolerance.rtol = 1e-2;
  return tolerance;
}

}  // namespace aicf::testing
