// A C++ program against the shared library, which holds its own C++ runtime: everything that the public
// headers declare is exported, and values cross the border in both directions.
#include <cstdio>
#include <string>

#include "aicf/aicf.h"
#include "base/log.h"

int main() {
  int failures = 0;
  const auto expect = [&](bool ok, const char* what) {
    if (!ok) std::fprintf(stderr, "failed: %s\n", what);
    failures += !ok;
  };
  std::string heard;
  aicf::SetLogSink([&](aicf::LogLevel, std::string_view message) { heard = message; });
  aicf::Log(aicf::LogLevel::kInfo, "hello");
  aicf::SetLogSink({});
  expect(heard == "hello", "a log sink of the program is called");
  const auto program = aicf::Program::Load("/nonexistent.aicf");
  expect(program.status().code() == aicf::Code::kIo, "a missing file is an I/O error");
  expect(program.status().ToString().starts_with("io: "), "errors print");
  expect(program.status().WithContext("loading").message().starts_with("loading: "), "context");
  expect(aicf::ExitCode(program.status().code()) == 8, "exit codes");
  expect(!aicf::Session::Create(nullptr, {}).ok(), "a null program is refused");
  expect(aicf::ParseShape("1x3x48") == aicf::Dims({1, 3, 48}), "shapes parse");
  expect(aicf::ToString(aicf::Dims({1, 3})) == "1x3", "shapes print");
  expect(aicf::ElementCount({2, 3}) == 6, "shapes count");
  expect(aicf::DTypeBytes(*aicf::ParseDType("f16")) == 2, "dtypes");
  return failures == 0 ? 0 : 1;
}
