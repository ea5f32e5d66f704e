#include "tests/conformance/emulator.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/codegen/cuda_source.h"
#include "kernels/cuda/embedded.h"
#include "tests/conformance/aligned_memory.h"
#include "tests/conformance/emulated_block.h"
#include "tests/conformance/packed.h"

namespace aicf::conformance {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string Read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Instances define the same inline functions with different constants. A function of one instance
// must not be bound into another, hence the hidden symbols below.

// How every instance is compiled: fast, since few run for long.
constexpr std::string_view kCompile =
    "c++ -std=c++20 -Og -ffp-contract=off -w -fPIC -fno-gnu-unique -fvisibility=hidden "
    "-fsanitize=alignment -fsanitize-undefined-trap-on-error ";

// The device sources as files, in one folder per process; those that contain PTX are replaced. The
// standard library's headers are precompiled, because they take half of the time that compiling a
// small instance takes.
class Headers {
 public:
  Headers()
      : folder_(fs::temp_directory_path() /
                StrCat("aicf-emulator-", static_cast<int64_t>(getpid()))) {
    for (const cuda::EmbeddedSource& s : cuda::EmbeddedSources()) {
      std::string text(s.text);
      if (s.name == "common/ptx.cuh")
        text = "#pragma once\n#include \"tests/conformance/emulated_ptx.h\"\n";
      if (s.name == "common/inbox.cuh")
        text = "#pragma once\n#include \"tests/conformance/emulated_inbox.h\"\n";
      if (s.name == "common/mbarrier.cuh" || s.name == "common/tma.cuh")
        text = "#pragma once\n#include \"tests/conformance/emulated_ring.h\"\n";
      Write(folder_ / s.name, text);
    }
    Write(Standard(), "#include <cmath>\n#include <cstdint>\n#include <cstring>\n");
    // If this fails, instances include the header's text instead of the precompiled form.
    [[maybe_unused]] const int compiled = std::system(
        StrCat(kCompile, "-x c++-header ", Standard(), " -o ", Standard(), ".gch").c_str());
  }
  ~Headers() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const fs::path& folder() const { return folder_; }
  std::string Standard() const { return (folder_ / "standard.h").string(); }

 private:
  const fs::path folder_;
};

const Headers& AllHeaders() {
  static const Headers headers;
  return headers;
}

std::string Program(const abi::KernelInfo& kernel, const abi::Problem& p,
                    const abi::Variant& variant) {
  const abi::LaunchConfig& launch = variant.launch;
  std::string text = StrCat(
      "#define kEmulatedBlockX ", launch.block[0], "\n#define kEmulatedBlockY ", launch.block[1],
      "\n#include \"tests/conformance/emulated_cuda.h\"\n", WriteCudaSource(kernel, p, variant),
      "extern \"C\" EMULATOR_EXPORT void emulated_entry(void** p) {\n  ",
      abi::InstanceSymbol(kernel.key, p, variant), "(");
  const size_t operands = p.inputs.size() + p.outputs.size();
  for (size_t k = 0; k <= operands; ++k) text += StrCat(k == 0 ? "" : ", ", "p[", k, "]");
  return text + ");\n}\n";
}

Result<void*> CompileAndOpen(const std::string& text) {
  static std::atomic<int> counter{0};
  const Headers& headers = AllHeaders();
  const fs::path base = headers.folder() / StrCat("instance", counter.fetch_add(1));
  Write(base.string() + ".cc", text);
  // Only the compiler's own helper library is linked. Whatever else an instance calls is already in
  // this process, and searching for it in libraries took a fifth of the time.
  const std::string command =
      StrCat(kCompile, "-shared -nostdlib -include ", headers.Standard(), " -I",
             headers.folder().string(), " -I", AICF_SOURCE_DIR, " ", base.string(), ".cc -lgcc -o ",
             base.string(), ".so 2> ", base.string(), ".log");
  if (std::system(command.c_str()) != 0) {
    return Error(Code::kInternal, "the emulator's compiler failed\n",
                 Read(base.string() + ".log").substr(0, 4000));
  }
  void* library = dlopen((base.string() + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error(Code::kInternal, dlerror());
  fs::remove(base.string() + ".cc");
  fs::remove(base.string() + ".so");
  return library;
}

}  // namespace

bool CanEmulate() { return std::system("c++ --version > /dev/null 2>&1") == 0; }

Result<std::unique_ptr<EmulatedKernel>> EmulatedKernel::Make(const abi::KernelInfo& kernel,
                                                             const abi::Problem& problem,
                                                             const abi::Variant& variant) {
  if (!variant.tensor_maps.empty()) {
    return Error(Code::kUnsupported, "the bulk tensor copy engine is not emulated");
  }
  std::unique_ptr<EmulatedKernel> made(new EmulatedKernel());
  made->variant_ = variant;
  AICF_ASSIGN_OR_RETURN(made->library_, CompileAndOpen(Program(kernel, problem, variant)));
  made->entry_ = dlsym(made->library_, "emulated_entry");
  made->set_ = dlsym(made->library_, "emulated_set");
  return made;
}

EmulatedKernel::~EmulatedKernel() {
  if (library_ != nullptr) dlclose(library_);
}

Status EmulatedKernel::Run(const std::vector<void*>& buffers) {
  std::vector<std::byte> workspace(variant_.workspace_bytes + 256, std::byte{0xff});
  std::vector<void*> pointers = buffers;
  const auto address = reinterpret_cast<uintptr_t>(workspace.data());
  pointers.push_back(workspace.data() + (256 - address % 256) % 256);
  const auto entry = reinterpret_cast<void (*)(void**)>(entry_);
  const int cluster = static_cast<int>(variant_.launch.cluster[0]);
  EmulatedCluster shared(cluster);
  std::atomic<bool> finished{true}, inside{true};
  // Thread r of the cluster runs the r-th block of every cluster, one after the other.
  auto run_rank = [&](int rank) {
    EmulatedBlock block(
        variant_.launch, reinterpret_cast<EmulatedSet>(set_), [&] { entry(pointers.data()); },
        shared, rank);
    for (uint32_t b = static_cast<uint32_t>(rank); b < variant_.launch.grid[0];
         b += variant_.launch.cluster[0]) {
      if (!block.Run({static_cast<int>(b), 0, 0})) finished = false;
      if (block.HasWrittenBehind()) inside = false;
    }
  };
  std::vector<std::thread> threads;
  for (int r = 1; r < cluster; ++r) threads.emplace_back(run_rank, r);
  run_rank(0);
  for (std::thread& t : threads) t.join();
  if (!inside) return Error(Code::kInternal, "a block writes behind its shared memory");
  return finished ? OkStatus()
                  : Error(Code::kInternal, "threads of a block wait for each other forever");
}

Result<Buffers> EmulatedBuffers(const abi::KernelInfo& kernel, const Case& c,
                                const abi::Variant& variant) {
  AICF_ASSIGN_OR_RETURN(auto emulated, EmulatedKernel::Make(kernel, c.problem, variant));
  std::vector<AlignedMemory> memory;
  std::vector<void*> addresses;
  const Buffers handed = WithPackedInputs(kernel, variant.parameters, c);
  for (const auto& b : handed) {
    memory.push_back(AlignedCopy(b));
    addresses.push_back(memory.back().get());
  }
  AICF_RETURN_IF_ERROR(emulated->Run(addresses));
  Buffers got = handed;
  for (size_t i = 0; i < got.size(); ++i) std::memcpy(got[i].data(), addresses[i], got[i].size());
  AICF_RETURN_IF_ERROR(PutBackPackedInputs(c, handed, got));
  return got;
}

}  // namespace aicf::conformance
