#include "tests/models/cases.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace aicf::testing {

std::vector<ModelCase> LoadCases() {
  const char* folder = std::getenv("AICF_TEST_MODELS");
  if (folder == nullptr) return {};
  const std::string root = std::string(folder) + "/";
  std::ifstream file(root + "manifest.json");
  if (!file) return {};
  std::vector<ModelCase> cases;
  const nlohmann::ordered_json manifest = nlohmann::ordered_json::parse(file);
  for (const auto& [name, entry] : manifest.items()) {
    if (!entry.contains("inputs")) continue;
    ModelCase c{name, root + entry["model"].get<std::string>(), {}, {}};
    for (const auto& [tensor, info] : entry["inputs"].items()) {
      const auto shape = info["shape"].get<std::vector<int64_t>>();
      c.inputs.push_back({tensor, root + info["file"].get<std::string>(), Dims(std::span(shape))});
    }
    for (const auto& [tensor, path] : entry["outputs"].items()) {
      c.outputs.push_back({tensor, root + path.get<std::string>(), {}});
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<ModelCase> FetchedCases() {
  const char* models = std::getenv("AICF_PPOCR_MODELS");
  if (models == nullptr) return {};
  const std::string folder = models;
  const auto one = [&](const std::string& name, const Dims& shape) {
    return ModelCase{"fetched_" + name, folder + "/" + name + ".onnx", {{"x", "", shape}}, {}};
  };
  return {one("rec", {1, 3, 48, 320}), one("det", {1, 3, 640, 640}), one("cls", {1, 3, 48, 192})};
}

std::vector<ModelCase> AllCases() {
  std::vector<ModelCase> cases = LoadCases();
  const std::vector<ModelCase> fetched = FetchedCases();
  cases.insert(cases.end(), fetched.begin(), fetched.end());
  return cases;
}

}  // namespace aicf::testing
