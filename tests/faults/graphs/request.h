/// One question of random_graphs.py: a model, tensors, and the ways in which it is to be compiled
/// and run.
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
  std::span<const std::byte> data;  ///< of the request's own bytes
};

/// A line of JSON, and the bytes that it announces: those of the model, then those of the tensors.
struct Request {
  Json header;
  std::vector<std::byte> bytes;
  std::span<const std::byte> model;
  std::vector<RequestTensor> tensors;
};

/// nullopt at the end of the input. Throws what nlohmann::json throws for a line that is no
/// request.
std::optional<Request> ReadRequest(std::istream& in);

/// What became of one way: a JSON object that says how each output looks, and their bytes.
struct Answer {
  Json header;
  std::vector<std::byte> bytes;
};

/// Compiles the model the way that `way` says, loads the artifact and runs it on the CPU, as often
/// as there are runs. A typed error is an answer that has "error": its stage, code and message.
Answer CompileAndRun(const Request& request, const Json& way);

}  // namespace aicf::graphs
