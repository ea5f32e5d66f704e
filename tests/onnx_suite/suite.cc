#include "tests/onnx_suite/suite.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format_lite.h>
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

SuiteCase MakeCase(const std::string& root, const std::string& name, bool expected) {
  SuiteCase c{name, {}, {}, expected};
  if (name.starts_with("light/")) {
    c.model = StrCat(root, "/", name, ".onnx");
  } else {
    c.model = StrCat(root, "/", name, "/model.onnx");
    c.data = StrCat(root, "/", name, "/test_data_set_0");
  }
  return c;
}

// excluded.tsv holds a case and what it needs, "dtype:int4,string".
bool IsWithinReach(std::string_view needs) {
  while (!needs.empty()) {
    const size_t comma = needs.find(',');
    const std::string_view need = needs.substr(0, comma);
    if (!need.starts_with("dtype:") && need != "sequence" && need != "optional") return false;
    needs.remove_prefix(comma == std::string_view::npos ? needs.size() : comma + 1);
  }
  return true;
}

std::vector<SuiteCase> ListedCases(const std::string& root) {
  std::vector<SuiteCase> cases;
  std::ifstream list(root + "/expected.txt");
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) cases.push_back(MakeCase(root, line, true));
  }
  std::ifstream excluded(root + "/excluded.tsv");
  for (std::string line; std::getline(excluded, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || !IsWithinReach(std::string_view(line).substr(tab + 1)))
      continue;
    cases.push_back(MakeCase(root, line.substr(0, tab), false));
  }
  return cases;
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
  std::vector<SuiteCase> cases = ListedCases(root);
  if (!cases.empty()) return cases;
  for (const std::string& name : FoundNames(root)) cases.push_back(MakeCase(root, name, false));
  return cases;
}

Result<ir::Tensor> TensorOf(std::shared_ptr<onnx::TensorProto> proto, const std::string& path) {
  // An optional without a value is an empty message.
  if (proto->data_type() == 0) return ir::Tensor();
  auto tensor = ImportTensor(*proto, TensorSource{proto, {}});
  return tensor.ok() ? tensor : tensor.status().WithContext(path);
}

Result<ir::Tensor> ReadTensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  auto proto = std::make_shared<onnx::TensorProto>();
  if (!proto->ParseFromIstream(&file)) {
    return Error(Code::kUnsupported, path, ": is no tensor");
  }
  return TensorOf(std::move(proto), path);
}

// A SequenceProto, which not every release of the schema has as a message here: field 3 holds the
// elements.
Result<std::vector<ir::Tensor>> ReadSequence(const std::string& path) {
  using google::protobuf::internal::WireFormatLite;
  std::ifstream file(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&file);
  google::protobuf::io::CodedInputStream in(&stream);
  std::vector<ir::Tensor> tensors;
  while (const uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagFieldNumber(tag) != 3) {
      if (!WireFormatLite::SkipField(&in, tag)) break;
      continue;
    }
    uint32_t bytes = 0;
    std::string element;
    auto proto = std::make_shared<onnx::TensorProto>();
    if (!in.ReadVarint32(&bytes) || !in.ReadString(&element, static_cast<int>(bytes)) ||
        !proto->ParseFromString(element)) {
      return Error(Code::kUnsupported, path, ": is no sequence of tensors");
    }
    AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, TensorOf(std::move(proto), path));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// For each of the model's outputs.
std::vector<bool> AreSequences(const SuiteCase& c) {
  onnx::ModelProto model;
  std::ifstream file(c.model, std::ios::binary);
  std::vector<bool> sequences;
  if (!model.ParseFromIstream(&file)) return sequences;
  for (const auto& output : model.graph().output()) {
    sequences.push_back(output.type().has_sequence_type());
  }
  return sequences;
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
  const std::vector<bool> sequences = prefix == "output" ? AreSequences(c) : std::vector<bool>();
  for (size_t i = 0;; ++i) {
    const std::string path = StrCat(c.data, "/", prefix, "_", i, ".pb");
    if (!fs::exists(path)) return tensors;
    if (i < sequences.size() && sequences[i]) {
      AICF_ASSIGN_OR_RETURN(const std::vector<ir::Tensor> elements, ReadSequence(path));
      tensors.insert(tensors.end(), elements.begin(), elements.end());
      continue;
    }
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
  if (c.expected) return "";
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
