/// aicf-fuzz --target=NAME [libFuzzer's flags] [folders of inputs]
///
/// There is one program for all targets, since they share their code, which is then built, linked
/// and shipped only once.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t room);

namespace aicf::fuzz {

#define AICF_FUZZ_TARGET(name) Target name##Target();
#include "tests/fuzz/targets.def"
#undef AICF_FUZZ_TARGET

std::span<const Target> Targets() {
  static const Target targets[] = {
#define AICF_FUZZ_TARGET(name) name##Target(),
#include "tests/fuzz/targets.def"
#undef AICF_FUZZ_TARGET
  };
  return targets;
}

size_t MutateBytes(uint8_t* data, size_t size, size_t room) {
  return LLVMFuzzerMutate(data, size, room);
}

void Broken(std::string_view sentence) {
  std::fprintf(stderr, "aicf-fuzz: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  std::abort();
}

void CheckTyped(const Status& status) {
  if (status.code() == Code::kInternal) Broken(status.ToString());
}

namespace {

const Target* g_target = nullptr;

const Target* Find(std::string_view name) {
  for (const Target& t : Targets()) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

[[noreturn]] void ListTargets() {
  for (const Target& t : Targets()) {
    std::printf("%.*s\n", static_cast<int>(t.name.size()), t.name.data());
  }
  std::exit(0);
}

/// Takes --target=NAME and --list out of the arguments.
void ChooseTarget(int* argc, char** argv) {
  constexpr std::string_view kFlag = "--target=";
  int kept = 0;
  for (int i = 0; i < *argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--list") ListTargets();
    if (!arg.starts_with(kFlag)) {
      argv[kept++] = argv[i];
      continue;
    }
    g_target = Find(arg.substr(kFlag.size()));
    if (g_target == nullptr) {
      std::fprintf(stderr, "aicf-fuzz: no target '%s'; --list names them\n",
                   argv[i] + kFlag.size());
      std::exit(2);
    }
  }
  argv[kept] = nullptr;
  *argc = kept;
  if (g_target == nullptr) {
    std::fprintf(stderr, "aicf-fuzz: --target=NAME is missing; --list names them\n");
    std::exit(2);
  }
}

}  // namespace
}  // namespace aicf::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  aicf::fuzz::ChooseTarget(argc, *argv);
  // What tools print is of no use here; libFuzzer reports on standard error.
  if (std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  aicf::fuzz::RunPlantedCommon(size);
  aicf::fuzz::g_target->run({data, size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t room, unsigned seed) {
  if (aicf::fuzz::g_target->mutate == nullptr) return LLVMFuzzerMutate(data, size, room);
  return aicf::fuzz::g_target->mutate(data, size, room, seed);
}
