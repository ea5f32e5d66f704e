// Answers the requests of random_graphs.py one after the other in one process:
//   serve_graphs [--plant=KEY]
#include <iostream>
#include <string>

#include "compiler/passes/pass.h"
#include "tests/faults/graphs/planted.h"
#include "tests/faults/graphs/request.h"

namespace aicf::graphs {
namespace {

void Write(const Answer& answer) {
  // Messages may quote bytes of a hostile file.
  Json header = answer.header;
  header["bytes"] = answer.bytes.size();
  std::cout << header.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  std::cout.write(reinterpret_cast<const char*>(answer.bytes.data()),
                  static_cast<std::streamsize>(answer.bytes.size()));
  std::cout.flush();
}

int Serve() {
  std::ios::sync_with_stdio(false);
  while (const std::optional<Request> request = ReadRequest(std::cin)) {
    for (const Json& way : request->header.at("ways")) Write(CompileAndRun(*request, way));
  }
  return 0;
}

}  // namespace
}  // namespace aicf::graphs

int main(int argc, char** argv) {
  constexpr std::string_view kPlant = "--plant=";
  const std::string_view arg = argc == 2 ? argv[1] : "";
  if (arg == "--passes") {
    for (const aicf::PassInfo& pass : aicf::AllPasses()) {
      if (!pass.required) std::cout << pass.name << "\n";
    }
    return 0;
  }
  if (argc == 2 && !arg.starts_with(kPlant)) {
    std::cerr << "usage: serve_graphs [--passes | --plant=KEY]\n";
    return 2;
  }
  if (argc == 2) aicf::graphs::PlantWrongKernel(arg.substr(kPlant.size()));
  return aicf::graphs::Serve();
}
