// Lets every call into CUDA fail once while an artifact is loaded and a session is created, run and
// destroyed: see kHelp.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "kernels/abi/kernel.h"
#include "runtime/cuda/fake_functions.h"
#include "schema/artifact.h"
#include "tests/faults/cuda/calls.h"
#include "tests/faults/cuda/life.h"
#include "tests/faults/leaks.h"

namespace aicf::failing_cuda {
namespace {

constexpr const char* kHelp =
    R"(failing_calls FILE.aicf... [--fake] [--first=K] [--stride=N] [--no-memory] [--plant=leak|silent|hang]
For each CUDA artifact and each way to use it: call N into the CUDA driver or cuBLASLt fails, for N = K (1) and
every stride-th after it until none does, with each error that calls end in, alone and with all later ones.
Expected is kDevice or kResource from the call in which it happens, within 5 seconds, nothing left behind, a
driver that is unhealthy after a device fault and only then, and afterwards the same results as before and as
much free device memory. --fake: without a GPU, on a driver made of host memory. --no-memory: other processes
use the device, so that its free memory says nothing. --plant: a fault of this program that has to be found.
)";

// The numbers are those of CUresult and of cublasStatus_t.
constexpr Planted kErrors[] = {
    {"out of memory", 2, 3, false},
    {"invalid value", 1, 7, false},
    {"not supported", 801, 15, false},
    {"system not ready", 802, 1, false},
    {"illegal address", 700, 13, true},
    {"launch failed", 719, 13, true},
    {"uncorrectable ECC error", 214, 14, true},
};

constexpr Mode kModes[] = {
    {"graphs"},
    {"no graphs", false, true},
    {"no transfers", true, false},
    {"lanes", true, true, 2},
};

struct Options {
  uint64_t first = 1, stride = 1;
  bool fake = false, memory = true;
  std::string plant;
};

/// The driver takes memory in pieces of 2 MiB and keeps some for itself. What was asked of it and
/// not given back is counted to the byte (LiveObjects).
constexpr int64_t kOwnMemory = 4 << 20;

/// What a child tells its parent, also when it ends early.
struct Board {
  uint64_t at = 1;  ///< the call that fails now
  uint64_t failures = 0;
  uint64_t calls = 0;
  int64_t gone_bytes = 0;  ///< of the device, at most
  double slowest_seconds = 0;
  bool done = false;
  char what[600] = {};
};

class Walker {
 public:
  Walker(const std::string& path, const Mode& mode, const Options& options)
      : path_(path), mode_(mode), options_(options) {
    void* shared =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board_ = new (shared) Board;
    board_->at = options.first;
  }
  ~Walker() { munmap(board_, sizeof(Board)); }

  /// Gives how many faults were found.
  int Run() {
    int found = 0;
    while (!board_->done && found < 20) {
      board_->what[0] = 0;
      const pid_t child = fork();
      if (child == 0) std::_Exit(Child());
      int status = 0;
      waitpid(child, &status, 0);
      if (board_->done && WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
      ++found;
      std::cout << path_ << ", " << mode_.name << ", call " << board_->at << ": "
                << (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) + " at "
                                        : std::string())
                << board_->what << std::endl;
      board_->at += options_.stride;
    }
    std::printf(
        "%s, %s: %llu failures of %llu calls, the slowest took %.2f s, %lld bytes of the device "
        "gone at most, %d found\n",
        path_.c_str(), mode_.name, static_cast<unsigned long long>(board_->failures),
        static_cast<unsigned long long>(board_->calls), board_->slowest_seconds,
        static_cast<long long>(board_->gone_bytes), found);
    std::fflush(stdout);
    return board_->failures == 0 ? found + 1 : found;
  }

 private:
  int Fault(const std::string& sentence) {
    std::snprintf(board_->what, sizeof board_->what, "%s", sentence.c_str());
    return 1;
  }

  int Child() {
    if (options_.fake && !FillFake()) return Fault("not an artifact");
    // What is made once and kept is made before anything is counted.
    for (int i = 0; i < 3; ++i) {
      const Ending whole = Live(path_, mode_);
      if (!whole.status.ok()) return Fault("without a failure: " + whole.status.ToString());
      expected_ = whole.results;
      if (i == 0) KeepContext();
    }
    live_ = LiveObjects();
    free_ = FreeDeviceBytes();
    for (; !board_->done; board_->at += options_.stride) {
      if (const int fault = AllErrors(); fault != 0) return fault;
    }
    return aicf::testing::FindsLeaks() ? Fault("LeakSanitizer") : 0;
  }

  bool FillFake() {
    UseFake();
    const auto program = Program::Load(path_);
    if (!program.ok()) return false;
    auto& machine = *cuda::testing::Machine();
    cuda::testing::AddReferenceFunctions(machine, (*program)->artifact().program());
    machine.functions[abi::kGuardSymbol] = cuda::testing::GuardFunction();
    return true;
  }

  /// The call fails in every way; then all is as before.
  int AllErrors() {
    for (const Planted& error : kErrors) {
      for (const bool sticky : {false, true}) {
        if (const int fault = One(error, sticky); fault != 0) return fault;
        if (board_->done) return 0;
      }
    }
    const Ending again = Live(path_, mode_);
    if (!again.status.ok()) return Fault("afterwards: " + again.status.ToString());
    if (again.results != expected_) return Fault("other results afterwards");
    if (!options_.memory) return 0;
    const auto gone = static_cast<int64_t>(free_) - static_cast<int64_t>(FreeDeviceBytes());
    board_->gone_bytes = std::max(board_->gone_bytes, gone);
    if (gone > kOwnMemory) return Fault(std::to_string(gone) + " bytes of the device are gone");
    return 0;
  }

  int One(const Planted& error, bool sticky) {
    std::snprintf(board_->what, sizeof board_->what, "%s%s", error.name, sticky ? ", sticky" : "");
    alarm(30);
    Arm(board_->at, sticky, error);
    const auto begin = std::chrono::steady_clock::now();
    const Ending ending = Live(path_, mode_);
    if (options_.plant == "hang" && Failed()) sleep(6);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const uint64_t calls = Disarm();
    alarm(0);
    board_->slowest_seconds = std::max(board_->slowest_seconds, took.count());
    const std::string name = std::string(board_->what) + " of " + FailedSymbol() + ": ";
    if (!Failed()) {
      board_->calls = calls;
      board_->done = ending.status.ok();
      return board_->done ? 0 : Fault("without a failure: " + ending.status.ToString());
    }
    ++board_->failures;
    const std::string wrong = Judge(ending, error, sticky, took.count());
    return wrong.empty() ? 0 : Fault(name + wrong);
  }

  std::string Judge(const Ending& ending, const Planted& error, bool sticky, double seconds) const {
    const int64_t left = LiveObjects() - live_ + (options_.plant == "leak" ? 1 : 0);
    const bool ok = ending.status.ok() || options_.plant == "silent";
    if (seconds > 5) return "took " + std::to_string(seconds) + " s";
    if (left != 0) return std::to_string(left) + " objects are left";
    if (!FakeProblem().empty()) return FakeProblem();
    if (ok) {
      // An invalid value is also what says that a kernel has no more parameters.
      const bool no_more = error.cuda == 1 && FailedSymbol() == "cuFuncGetParamInfo";
      if (ending.failed && !FailedUnheard() && !no_more) return "went unnoticed";
      return ending.failed && ending.results != expected_ ? "gives other results" : "";
    }
    if (!IsTyped(ending.status, error)) return "ends in " + ending.status.ToString();
    // Before the driver was there, nothing could become unhealthy.
    const bool unhealthy = !ending.health.ok();
    if (unhealthy && !error.device_fault) return "is taken for a device fault";
    // A library's status is its own: the driver says after it whether the device is at fault.
    const bool told = sticky || !FailedSymbol().starts_with("cublasLt");
    if (error.device_fault && told && ending.status.code() == Code::kDevice && !unhealthy &&
        !FailedUnheard() &&
        ending.status.message().find("compiling, inspecting") == std::string::npos) {
      return "leaves the driver healthy";
    }
    return "";
  }

  // Where an error says that there is no such parameter, the code is not what the plan says.
  static bool IsTyped(const Status& status, const Planted& error) {
    if (status.code() == Code::kDevice || status.code() == Code::kResource) return true;
    return status.code() == Code::kBadArtifact && error.cuda == 1 &&
           FailedSymbol() == "cuFuncGetParamInfo";
  }

  const std::string path_;
  const Mode mode_;
  const Options options_;
  Board* board_;
  std::string expected_;
  int64_t live_ = 0;
  uint64_t free_ = 0;
};

int Main(int argc, char** argv) {
  std::vector<std::string> files;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--fake") {
      options.fake = true;
    } else if (arg == "--no-memory") {
      options.memory = false;
    } else if (arg.starts_with("--first=")) {
      options.first = std::strtoull(arg.c_str() + 8, nullptr, 10);
    } else if (arg.starts_with("--stride=")) {
      options.stride = std::strtoull(arg.c_str() + 9, nullptr, 10);
    } else if (arg.starts_with("--plant=")) {
      options.plant = arg.substr(8);
    } else {
      files.push_back(arg);
    }
  }
  if (files.empty() || options.stride == 0 || options.first == 0 || files[0].starts_with("-")) {
    std::cerr << kHelp;
    return 2;
  }
  int found = 0;
  for (const std::string& file : files) {
    for (const Mode& mode : kModes) {
      found += Walker(file, mode, options).Run();
      if (!options.plant.empty()) return found > 0 ? 0 : 1;
    }
  }
  return found > 0 ? 1 : 0;
}

}  // namespace
}  // namespace aicf::failing_cuda

int main(int argc, char** argv) { return aicf::failing_cuda::Main(argc, argv); }
