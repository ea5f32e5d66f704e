/// Measures how long loading an artifact takes, and how much of that is verification.
///
///   load_time [--repeat=N] [--session[=DEVICE]] [--cold] [--chain=STEPS] ARTIFACT...
///
/// Prints a row of Markdown for each artifact. Each figure is the median of N repetitions on a file
/// that is in the system's page cache, as processor time of the process including its time in the
/// operating system's kernel. Other work on the machine therefore counts little, and nothing here
/// waits. "structure" is the FlatBuffers verifier and "meaning" is what VerifyProgram proves. Both
/// together are verification; the last two columns give its time per 1,000 steps and its share of
/// the whole loading. "decode" is reading the program with every check on the way, structure
/// included; "hashes" is XXH3 over all sections; "load" is Program::Load, which does all of this
/// and reads the file; "session" is Session::Create on DEVICE, by default the CPU (with --session).
///
/// With --cold nothing of the file is in the page cache when a load begins, as when a service
/// starts. "load" is then wall-clock time, waiting for the disk included, and the last column
/// divides the processor time of verification by this wall-clock time plus the session's processor
/// time. Files in memory (tmpfs) stay there.
/// --chain adds two programs of STEPS small steps each, written to a temporary file: one whose
/// steps are all equal, and one in which no two are.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"
#include "base/hash.h"
#include "schema/artifact.h"
#include "schema/codec.h"
#include "schema/testing.h"
#include "schema/testing_chain.h"
#include "schema/verify.h"

namespace aicf {
namespace {

struct Options {
  int repeat = 9;
  std::string device;  // where a session is created; empty: none is
  bool cold = false;
  int chain = 0;
  std::vector<std::string> artifacts;
};

double ProcessMs() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

double WallMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

// The median time of work(), which runs `repeat` times. prepare() runs before each and is not
// timed.
template <class Work, class Prepare>
double MedianMs(int repeat, double (*clock)(), Prepare prepare, Work work) {
  std::vector<double> times;
  for (int i = 0; i < repeat; ++i) {
    prepare();
    const double start = clock();
    work();
    times.push_back(clock() - start);
  }
  std::nth_element(times.begin(), times.begin() + repeat / 2, times.end());
  return times[static_cast<size_t>(repeat / 2)];
}

template <class Work>
double MedianMs(int repeat, Work work) {
  return MedianMs(
      repeat, ProcessMs, [] {}, work);
}

// Ends the program on an error, since timing something that fails would be meaningless.
void Require(const Status& status, const std::string& what) {
  if (status.ok()) return;
  std::fprintf(stderr, "load_time: %s: %s\n", what.c_str(), status.ToString().c_str());
  std::exit(ExitCode(status.code()));
}

// Removes the file from the system's page cache. Pages that have not been written back yet, or that
// are mapped by a process, stay.
void ForgetPages(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done =
      fd >= 0 && fdatasync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  Require(done ? OkStatus() : Error(Code::kIo, std::strerror(error)), path);
}

double LoadMs(const Options& options, const std::string& path) {
  const auto load = [&] { Require(Program::Load(path).status(), path); };
  if (!options.cold) return MedianMs(options.repeat, load);
  return MedianMs(
      options.repeat, WallMs, [&] { ForgetPages(path); }, load);
}

void Measure(const Options& options, const std::string& path, const std::string& name) {
  const auto artifact = schema::Artifact::Load(path, /*with_optional=*/true);
  Require(artifact.status(), path);
  const schema::Artifact& a = **artifact;
  const std::span<const std::byte> program = a.bytes(schema::SectionKind::kProgram);
  const double structure = MedianMs(options.repeat, [&] {
    if (!schema::IsWellFormed(program)) std::abort();
  });
  const double decode =
      MedianMs(options.repeat, [&] { Require(schema::DecodeProgram(program).status(), path); });
  const double meaning =
      MedianMs(options.repeat, [&] { Require(schema::VerifyProgram(a.program()), path); });
  const double hashes = MedianMs(options.repeat, [&] {
    for (const auto& s : a.header().sections) (void)HashBytes(a.bytes(s.kind));
  });
  const double load = LoadMs(options, path);
  double session = 0;
  if (!options.device.empty()) {
    const auto loaded = Program::Load(path);
    SessionOptions on;
    on.device = options.device;
    session =
        MedianMs(options.repeat, [&] { Require(Session::Create(*loaded, on).status(), path); });
  }
  const double steps = static_cast<double>(a.program().steps.size());
  const double verify = structure + meaning;
  std::printf("| %s | %.0f | %.1f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.2f | %.1f |\n",
              name.c_str(), steps, static_cast<double>(a.header().file_bytes) / (1 << 20),
              structure, meaning, decode, hashes, load, session, 1000 * verify / steps,
              100 * verify / (load + session));
  std::fflush(stdout);
}

std::string WriteProgram(const schema::Program& program) {
  const auto bytes = schema::Serialize(schema::testing::ContentsOf(program));
  Require(bytes.status(), "a chain");
  std::string path = "/tmp/aicf-chain-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) std::abort();
  close(fd);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes->data()),
             static_cast<std::streamsize>(bytes->size()));
  return path;
}

void MeasureProgram(const Options& options, const schema::Program& program,
                    const std::string& name) {
  const std::string path = WriteProgram(program);
  Measure(options, path, name);
  unlink(path.c_str());
}

int Main(const std::vector<std::string>& arguments) {
  Options options;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--repeat=")) {
      options.repeat = std::max(1, std::atoi(argument.c_str() + 9));
    } else if (argument.starts_with("--chain=")) {
      options.chain = std::max(1, std::atoi(argument.c_str() + 8));
    } else if (argument == "--cold") {
      options.cold = true;
    } else if (argument == "--session") {
      options.device = "cpu";
    } else if (argument.starts_with("--session=")) {
      options.device = argument.substr(10);
    } else if (argument.starts_with("--")) {
      std::fprintf(stderr, "load_time: unknown flag %s\n", argument.c_str());
      return 2;
    } else {
      options.artifacts.push_back(argument);
    }
  }
  std::printf(
      "| artifact | steps | MiB | structure ms | meaning ms | decode ms | hashes ms | load ms | "
      "session ms | ms per 1,000 steps | %% of loading |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const std::string& path : options.artifacts) {
    Measure(options, path, path.substr(path.rfind('/') + 1));
  }
  if (options.chain > 0) {
    MeasureProgram(options, schema::testing::LongProgram(options.chain),
                   StrCat(options.chain, " equal steps"));
    MeasureProgram(options, schema::testing::LongProgramOfDifferentSteps(options.chain),
                   StrCat(options.chain, " different steps"));
  }
  return 0;
}

}  // namespace
}  // namespace aicf

int main(int argc, char** argv) { return aicf::Main({argv + 1, argv + argc}); }
