// Lets every request for memory fail, once alone and once together with all that follow it, while
// an artifact is loaded and a session is created, run and destroyed: see kHelp.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "aicf/aicf_c.h"
#include "tests/faults/leaks.h"
#include "tests/faults/memory/injector.h"

namespace aicf::failing {
namespace {

constexpr const char* kHelp =
    R"(failing_memory FILE.aicf... [--stride=N] [--threads=N] [--plant[=malloc]]
For each artifact, through the C++ and the C interface: request N for memory fails, for N = 1 and every
stride-th after it until none fails, alone and with all later ones, while the artifact is loaded, a session
created, run and destroyed. Expected is kResource from the call in which it happens, nothing left behind,
and the same results afterwards. --plant leaks an object in every life, and expects that it is found;
--plant=malloc leaks what only LeakSanitizer sees, in a build that has it (preset asan).
)";

/// A life from file to results; gives what failed first. `results` are filled where all went well.
using Life = Status (*)(const std::string& path, int threads, std::string* results);

/// Calls the library where memory may fail; everything else here has what it needs.
template <class F>
auto Call(F&& f) {
  Resume();
  auto result = f();
  Pause();
  return result;
}

Status FillInputs(Session& session, const std::vector<TensorInfo>& inputs) {
  for (const TensorInfo& t : inputs) {
    const std::string bytes(t.bytes, '\0');
    AICF_RETURN_IF_ERROR(Call([&] {
      return session.SetInput(t.name, {t.dtype, t.shape, bytes.data(), bytes.size()});
    }));
  }
  return OkStatus();
}

/// A run, and after one that failed another one while memory is there: the session still works.
Status RunTwice(Session& session) {
  Status ran = Call([&] { return session.Run(); });
  if (ran.ok()) return ran;
  const Status again = session.Run();
  return again.ok() ? ran : Error(Code::kInternal, "a second run ends in ", again.ToString());
}

Status CppLife(const std::string& path, int threads, std::string* results) {
  Pause();
  AICF_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program,
                        Call([&] { return Program::Load(path); }));
  SessionOptions options;
  options.device = "cpu";
  options.threads = threads;
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                        Call([&] { return Session::Create(program, options); }));
  AICF_RETURN_IF_ERROR(FillInputs(*session, program->inputs()));
  AICF_RETURN_IF_ERROR(RunTwice(*session));
  for (const TensorInfo& t : program->outputs()) {
    AICF_ASSIGN_OR_RETURN(const Dims shape, Call([&] { return session->OutputShape(t.name); }));
    std::string bytes(static_cast<size_t>(*ElementCount(shape) * DTypeBytes(t.dtype)), '\0');
    AICF_RETURN_IF_ERROR(Call([&] {
      return session->GetOutput(t.name, {t.dtype, shape, bytes.data(), bytes.size()});
    }));
    *results += bytes;
  }
  Resume();  // destroying may ask for nothing that it needs
  return OkStatus();
}

Status FromC(aicf_code code) {
  return code == AICF_OK ? OkStatus() : Status(static_cast<Code>(code), aicf_last_error());
}

struct CHandles {
  aicf_program program = 0;
  aicf_session session = 0;
  ~CHandles() {
    Resume();
    if (session != 0) (void)aicf_session_destroy(session);
    if (program != 0) (void)aicf_program_destroy(program);
    Pause();
  }
};

Status CLife(const std::string& path, int threads, std::string*) {
  Pause();
  CHandles h;
  AICF_RETURN_IF_ERROR(FromC(Call([&] { return aicf_program_load(path.c_str(), &h.program); })));
  aicf_session_options options;
  aicf_session_options_init(&options);
  options.device = "cpu";
  options.threads = threads;
  AICF_RETURN_IF_ERROR(
      FromC(Call([&] { return aicf_session_create(h.program, &options, &h.session); })));
  return FromC(Call([&] { return aicf_session_run(h.session); }));
}

struct Walk {
  const char* name;
  Life life;
  bool sticky;
};
constexpr Walk kWalks[] = {
    {"C++, one request fails", CppLife, false},
    {"C++, all later ones fail", CppLife, true},
    {"C, one request fails", CLife, false},
    {"C, all later ones fail", CLife, true},
};

struct Board {
  uint64_t at = 1;  ///< the request that fails now
  uint64_t failed = 0;
  bool done = false;
  char sentence[400] = {};
};

enum class Plant : unsigned char { kNone, kObject, kMalloc };

/// A block that the counts of operator new do not have.
void LoseMemory() {
  void* const lost = std::malloc(16);
  asm volatile("" : : "r"(lost));  // or the compiler leaves it out
}

class Walker {
 public:
  Walker(const std::string& path, const Walk& walk, uint64_t stride, int threads, Plant plant)
      : path_(path), walk_(walk), stride_(stride), threads_(threads), plant_(plant) {
    void* shared =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board_ = new (shared) Board;
  }

  /// Gives how many faults were found.
  int Run() {
    int found = 0;
    while (!board_->done && found < 20) {
      board_->sentence[0] = 0;
      const pid_t child = fork();
      if (child == 0) std::_Exit(Child());
      int status = 0;
      waitpid(child, &status, 0);
      if (board_->done && WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
      ++found;
      std::cout << path_ << ", " << walk_.name << ", request " << board_->at << ": "
                << (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                        : std::string(board_->sentence))
                << std::endl;
      board_->at += stride_;
    }
    std::cout << path_ << ", " << walk_.name << ": " << board_->failed
              << " failures of requests 1 to " << board_->at << ", " << found << " found"
              << std::endl;
    if (board_->failed == 0) ++found;
    munmap(board_, sizeof(Board));
    return found;
  }

 private:
  int Fault(const std::string& sentence) {
    std::snprintf(board_->sentence, sizeof board_->sentence, "%s", sentence.c_str());
    return 1;
  }

  /// The C interface keeps the sentence of the last error: one of the same size every time.
  static void RememberOneError() { (void)aicf_program_destroy(0); }

  int Child() {
    // What is made once and kept is made before anything is counted.
    std::string expected;
    for (int i = 0; i < 2; ++i) {
      expected.clear();
      const Status status = walk_.life(path_, threads_, &expected);
      if (!status.ok()) return Fault("without a failure: " + status.ToString());
    }
    RememberOneError();
    const int64_t objects = LiveObjects(), mappings = LiveMappings();
    for (;; board_->at += stride_) {
      alarm(20);
      const int fault = One(expected);
      if (fault == 0 && board_->done && testing::FindsLeaks()) return Fault("LeakSanitizer");
      if (fault != 0 || board_->done) return fault;
      RememberOneError();
      // Counted before a sentence is made of it.
      const int64_t more = LiveObjects() - objects, mapped = LiveMappings() - mappings;
      if (more != 0) return Fault(std::to_string(more) + " objects are left");
      if (mapped != 0) return Fault(std::to_string(mapped) + " mappings are left");
    }
  }

  /// One life in which the request fails; `done` where there is no such request any more.
  int One(const std::string& expected) {
    std::string results;
    Arm(board_->at, walk_.sticky);
    const Status status = walk_.life(path_, threads_, &results);
    Disarm();
    if (plant_ == Plant::kObject) (void)::operator new(1);
    if (plant_ == Plant::kMalloc) LoseMemory();
    if (!Failed()) {
      board_->done = status.ok();
      return board_->done ? 0 : Fault("without a failure: " + status.ToString());
    }
    ++board_->failed;
    if (!status.ok() && status.code() != Code::kResource)
      return Fault("ends in " + status.ToString());
    return status.ok() && results != expected ? Fault("gives other results") : 0;
  }

  const std::string path_;
  const Walk walk_;
  const uint64_t stride_;
  const int threads_;
  const Plant plant_;
  Board* board_;
};

int Main(int argc, char** argv) {
  std::vector<std::string> files;
  uint64_t stride = 1;
  int threads = 2;
  Plant plant = Plant::kNone;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.starts_with("--stride=")) {
      stride = std::strtoull(arg.c_str() + 9, nullptr, 10);
    } else if (arg.starts_with("--threads=")) {
      threads = std::atoi(arg.c_str() + 10);
    } else if (arg == "--plant") {
      plant = Plant::kObject;
    } else if (arg == "--plant=malloc") {
      plant = Plant::kMalloc;
    } else {
      files.push_back(arg);
    }
  }
  if (files.empty() || stride == 0) {
    std::cerr << kHelp;
    return 2;
  }
  int found = 0;
  for (const std::string& file : files) {
    for (const Walk& walk : kWalks) found += Walker(file, walk, stride, threads, plant).Run();
  }
  return (found > 0) == (plant != Plant::kNone) ? 0 : 1;
}

}  // namespace
}  // namespace aicf::failing

int main(int argc, char** argv) { return aicf::failing::Main(argc, argv); }
