/// A request of random_graphs.py: a model, tensors, and the ways in which the model is to be
/// compiled and run.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "aicf/aicf.h"
#include "base/status.h"

namespace aicf::graphs {

using Json = nlohmann::json;

struct RequestTensor {
  std::string name;
  DType dtype = DType::kF32;
  Dims shape;
  std::span<const std::byte> data;  ///< part of Request::bytes
};

/// A line of JSON, followed by as many bytes as it announces: those of the model, then the
/// tensors'.
struct Request {
  Json header;
  std::vector<std::byte> bytes;
  std::span<const std::byte> model;
  std::vector<RequestTensor> tensors;
};

/// nullopt at the end of the input. Throws what nlohmann::json throws for a line that is no
/// request.
std::optional<Request> ReadRequest(std::istream& in);

/// The result of one way: a JSON object that describes each output, and the outputs' bytes.
struct Answer {
  Json header;
  std::vector<std::byte> bytes;
};

/// Compiles the model in the given way, loads the artifact and runs it on the CPU once for each run
/// of the request. A typed error becomes an answer with "error": its stage, code and message.
Answer CompileAndRun(const Request& request, const Json& way);

}  // namespace aicf::graphs
