#include "tests/faults/graphs/request.h"

#include <istream>

namespace aicf::graphs {
namespace {

std::span<const std::byte> Take(std::span<const std::byte>& rest, size_t bytes) {
  const std::span<const std::byte> taken = rest.subspan(0, bytes);
  rest = rest.subspan(bytes);
  return taken;
}

RequestTensor ReadTensor(const Json& from, std::span<const std::byte>& rest) {
  RequestTensor tensor;
  tensor.name = from.at("name");
  tensor.dtype = ParseDType(from.at("dtype").get<std::string>()).value();
  tensor.shape = Dims(std::span<const int64_t>(from.at("shape").get<std::vector<int64_t>>()));
  tensor.data = Take(rest, from.at("bytes"));
  return tensor;
}

}  // namespace

std::optional<Request> ReadRequest(std::istream& in) {
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  Request request;
  request.header = Json::parse(line);
  size_t bytes = request.header.at("model");
  for (const Json& tensor : request.header.at("tensors")) {
    bytes += tensor.at("bytes").get<size_t>();
  }
  request.bytes.resize(bytes);
  in.read(reinterpret_cast<char*>(request.bytes.data()), static_cast<std::streamsize>(bytes));
  if (!in) return std::nullopt;
  std::span<const std::byte> rest = request.bytes;
  request.model = Take(rest, request.header.at("model"));
  for (const Json& tensor : request.header.at("tensors")) {
    request.tensors.push_back(ReadTensor(tensor, rest));
  }
  return request;
}

}  // namespace aicf::graphs
