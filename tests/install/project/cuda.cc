// The library for CUDA artifacts only refuses a CPU artifact, and says which library takes it.
#include <aicf/aicf.h>

#include <cstdio>

int main(int argc, char** argv) {
  const auto program = aicf::Program::Load(argc > 1 ? argv[1] : "");
  if (!program.ok()) return 1;
  const auto session = aicf::Session::Create(*program, {});
  std::printf("%s\n", session.status().ToString().c_str());
  return session.status().message().find("libaicf.so") != std::string::npos ? 0 : 1;
}
