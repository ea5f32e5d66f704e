// Runs artifacts whose values lie apart, with patterns in all bytes that no step has written: see
// kHelp.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "aicf/aicf.h"
#include "schema/roots.h"
#include "tests/faults/bands/device_memory.h"
#include "tests/faults/bands/spread.h"

namespace aicf::bands {
namespace {

constexpr const char* kHelp =
    R"(guard_bands FILE.aicf... [--device=cpu|cuda:0] [--hostile] [--rel=X] [--plant=write|read]
Each artifact is run as it is, and again with every value, workspace and state in a place of its own between
bands that belong to nobody. The bands and all values are filled before each run: with NaN, with zeros and with
two series of random bytes. Expected is that no band changes, which a write outside its value would do, and that
the outputs are equal bit for bit, which nothing that reads outside or before it is written gives. On a GPU they
are also compared with those of the reference kernels, up to X (1e-3) of the largest number.
--hostile: integers among the inputs, indices and lengths for example, are anything, mostly far out of range.
--plant: the last bytes of a value count as a band, or an input is never set; it has to be found.
)";

constexpr const char* kPatterns[] = {"NaN", "zeros", "random bytes", "other random bytes"};
constexpr int kRuns = 2;  // the second one finds what the first has left

struct Options {
  std::string device = "cpu", plant;
  bool hostile = false;
  double relative = 1e-3;
};

std::vector<std::byte> Pattern(int which, uint64_t bytes) {
  // All bits set is no number in any format of floats, and true.
  std::vector<std::byte> out(bytes, which == 0 ? std::byte{0xff} : std::byte{0});
  if (which < 2) return out;
  std::mt19937_64 random(static_cast<unsigned>(which));
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

int64_t HostileInteger(std::mt19937& random) {
  constexpr int64_t kFar[] = {
      INT64_MIN,      INT64_MIN + 1,    -(int64_t{1} << 40), INT32_MIN - 1l,   INT32_MIN,
      -1000,          INT32_MAX,        INT32_MAX + 1l,      int64_t{1} << 32, 1000,
      (1l << 32) + 1, int64_t{1} << 40, INT64_MAX - 1,       INT64_MAX};
  if (random() % 2 == 0) return kFar[random() % std::size(kFar)];
  return static_cast<int64_t>(random() % 14) - 5;
}

/// The same numbers for every session; floats are small, so that all that is computed stays finite,
/// and integers 0 where they are not hostile.
std::string InputBytes(const TensorInfo& t, bool hostile, unsigned seed) {
  std::string bytes(t.bytes, '\0');
  std::mt19937 random(seed);
  const auto width = static_cast<size_t>(DTypeBytes(t.dtype));
  for (size_t i = 0; i + width <= bytes.size(); i += width) {
    if (t.dtype == DType::kF32) {
      const float value = static_cast<float>(random() % 2001) / 1000 - 1;
      std::memcpy(&bytes[i], &value, width);
    } else if (hostile && IsInteger(t.dtype)) {
      const int64_t value = HostileInteger(random);
      std::memcpy(&bytes[i], &value, width);
    }
  }
  return bytes;
}

/// Outputs of all entry points, and where among them are numbers that a GPU rounds in its own way.
struct Results {
  std::string bytes;
  std::vector<std::pair<size_t, size_t>> floats;  ///< end in bytes, and count
};

/// One session of a program that may have been spread.
class Trial {
 public:
  Trial(const Options& options, DeviceMemory& memory) : options_(options), memory_(memory) {}

  Status Make(const std::shared_ptr<const Program>& program) {
    program_ = program;
    SessionOptions options;
    options.device = options_.device;
    options.threads = 2;
    options.transfers = false;
    AICF_ASSIGN_OR_RETURN(session_, Session::Create(program, options));
    return OkStatus();
  }

  /// The first bytes of arena and state block; null where nothing of them is known.
  Status Find() {
    const schema::Program& plan = program_->artifact().program();
    const EntryInfo& entry = program_->entries()[0];
    const auto base = [&](uint32_t buffer, void* at, schema::Storage storage, std::byte** out) {
      const schema::Buffer& root = plan.buffers[schema::RootOf(plan, buffer)];
      if (root.storage == storage) *out = static_cast<std::byte*>(at) - root.offset;
    };
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      AICF_ASSIGN_OR_RETURN(void* at, session_->InputPointer(entry.inputs[i].name));
      base(plan.entry_points[0].inputs[i], at, schema::Storage::kArena, &arena_);
    }
    for (size_t i = 0; i < entry.outputs.size(); ++i) {
      AICF_ASSIGN_OR_RETURN(void* at, session_->OutputPointer(entry.outputs[i].name));
      base(plan.entry_points[0].outputs[i], at, schema::Storage::kArena, &arena_);
    }
    for (uint32_t b = 0; b < plan.buffers.size(); ++b) {
      if (!schema::IsState(plan.buffers[b])) continue;
      AICF_ASSIGN_OR_RETURN(void* at, session_->StatePointer(plan.buffers[b].name));
      base(b, at, schema::Storage::kState, &state_);
    }
    return arena_ != nullptr ? OkStatus()
                             : Error(Code::kUnsupported, "no value of the arena has an address");
  }

  Status Fill(const std::vector<Range>& ranges, std::byte* base, std::span<const std::byte> from) {
    for (const Range& r : ranges) {
      if (base == nullptr || r.begin == r.end) continue;
      AICF_RETURN_IF_ERROR(memory_.Write(base + r.begin, from.subspan(r.begin, r.end - r.begin)));
    }
    return OkStatus();
  }

  /// Runs an entry point and adds what it gives; states begin as zero.
  Status Run(size_t index, Results* results) {
    const EntryInfo& entry = program_->entries()[index];
    bool first = true;
    for (const TensorInfo& t : entry.inputs) {
      const std::string bytes = InputBytes(t, options_.hostile, 17);
      if (options_.plant != "read" || !std::exchange(first, false)) {
        AICF_RETURN_IF_ERROR(
            session_->SetInput(t.name, {t.dtype, t.shape, bytes.data(), bytes.size()}));
      }
    }
    for (const TensorInfo& t : entry.metas) {
      const std::string bytes = InputBytes(t, options_.hostile, 18);
      AICF_RETURN_IF_ERROR(
          session_->SetMeta(t.name, {t.dtype, t.shape, bytes.data(), bytes.size()}));
    }
    AICF_RETURN_IF_ERROR(session_->ResetStates());
    for (int i = 0; i < kRuns; ++i) AICF_RETURN_IF_ERROR(session_->Run());
    for (const TensorInfo& t : entry.outputs) {
      AICF_ASSIGN_OR_RETURN(const Dims shape, session_->OutputShape(t.name));
      const auto count = static_cast<size_t>(*ElementCount(shape));
      std::string bytes(count * static_cast<size_t>(DTypeBytes(t.dtype)), '\0');
      AICF_RETURN_IF_ERROR(
          session_->GetOutput(t.name, {t.dtype, shape, bytes.data(), bytes.size()}));
      results->bytes += bytes;
      if (t.dtype == DType::kF32) results->floats.emplace_back(results->bytes.size(), count);
    }
    return OkStatus();
  }

  /// The first byte of a range that is no longer what it was filled with; UINT64_MAX: none.
  Result<uint64_t> Changed(const std::vector<Range>& ranges, const std::byte* base,
                           std::span<const std::byte> from) {
    for (const Range& r : ranges) {
      if (base == nullptr) break;
      std::vector<std::byte> now(r.end - r.begin);
      AICF_RETURN_IF_ERROR(memory_.Read(base + r.begin, now));
      const auto was = from.subspan(r.begin, r.end - r.begin);
      const auto at = std::ranges::mismatch(now, was).in1;
      if (at != now.end()) return r.begin + static_cast<uint64_t>(at - now.begin());
    }
    return UINT64_MAX;
  }

  Session& session() { return *session_; }
  std::byte* arena() const { return arena_; }
  std::byte* state() const { return state_; }

 private:
  const Options& options_;
  DeviceMemory& memory_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Session> session_;
  std::byte* arena_ = nullptr;
  std::byte* state_ = nullptr;
};

/// Every entry point's outputs of the program as it is.
Result<Results> Undisturbed(const std::shared_ptr<const Program>& program,
                            const std::string& device, const Options& options,
                            DeviceMemory& memory) {
  Options unplanted = options;
  unplanted.device = device;
  unplanted.plant.clear();
  Trial trial(unplanted, memory);
  AICF_RETURN_IF_ERROR(trial.Make(program));
  Results results;
  for (size_t e = 0; e < program->entries().size(); ++e) {
    AICF_RETURN_IF_ERROR(trial.session().SelectEntry(program->entries()[e].name));
    AICF_RETURN_IF_ERROR(trial.Run(e, &results));
  }
  return results;
}

/// kCheckFailed says what was touched.
Status RunWith(int pattern, const std::shared_ptr<const Program>& program, const Spread& spread,
               const Results& expected, const Options& options, DeviceMemory& memory) {
  Trial trial(options, memory);
  AICF_RETURN_IF_ERROR(trial.Make(program));
  AICF_RETURN_IF_ERROR(trial.Find());
  const std::vector<std::byte> arena = Pattern(pattern, program->arena_bytes());
  const std::vector<std::byte> state = Pattern(pattern, program->state_bytes());
  Results results;
  for (size_t e = 0; e < program->entries().size(); ++e) {
    const std::string& name = program->entries()[e].name;
    AICF_RETURN_IF_ERROR(trial.session().SelectEntry(name));
    AICF_RETURN_IF_ERROR(trial.Fill(spread.values, trial.arena(), arena));
    AICF_RETURN_IF_ERROR(trial.Fill(spread.arena_bands, trial.arena(), arena));
    AICF_RETURN_IF_ERROR(trial.Fill(spread.state_bands, trial.state(), state));
    AICF_RETURN_IF_ERROR(trial.Run(e, &results));
    AICF_ASSIGN_OR_RETURN(const uint64_t in_arena,
                          trial.Changed(spread.arena_bands, trial.arena(), arena));
    AICF_ASSIGN_OR_RETURN(const uint64_t in_state,
                          trial.Changed(spread.state_bands, trial.state(), state));
    if (in_arena != UINT64_MAX || in_state != UINT64_MAX) {
      return Error(Code::kCheckFailed, "entry ", name, " wrote outside its values: byte ",
                   std::min(in_arena, in_state), " of the ",
                   in_arena != UINT64_MAX ? "arena" : "state block");
    }
  }
  if (results.bytes == expected.bytes) return OkStatus();
  return Error(Code::kCheckFailed, "the outputs depend on bytes that no step has written");
}

/// Floats within the tolerance, everything else equal.
Status Agree(const Results& got, const Results& want, double relative) {
  if (got.bytes.size() != want.bytes.size() || got.floats != want.floats) {
    return Error(Code::kCheckFailed, "outputs of other sizes than the reference kernels give");
  }
  std::string rest = got.bytes, wanted_rest = want.bytes;
  for (const auto& [end, count] : got.floats) {
    std::vector<float> a(count), b(count);
    const size_t begin = end - 4 * count;
    std::memcpy(a.data(), &got.bytes[begin], 4 * count);
    std::memcpy(b.data(), &want.bytes[begin], 4 * count);
    std::memset(&rest[begin], 0, 4 * count);
    std::memset(&wanted_rest[begin], 0, 4 * count);
    double largest = 0, error = 0;
    for (size_t i = 0; i < count; ++i) {
      if (std::isnan(a[i]) != std::isnan(b[i])) error = INFINITY;
      if (!std::isfinite(b[i])) continue;
      largest = std::max(largest, std::abs(static_cast<double>(b[i])));
      error = std::max(error, std::abs(static_cast<double>(a[i]) - b[i]));
    }
    if (error > relative * largest) {
      return Error(Code::kCheckFailed, "an output differs by ", error,
                   " from the reference kernels' of at most ", largest);
    }
  }
  if (rest == wanted_rest) return OkStatus();
  return Error(Code::kCheckFailed, "outputs differ from the reference kernels'");
}

/// A value's last bytes count as nobody's.
void PlantWrite(Spread& spread) {
  for (size_t i = 0; i + 1 < spread.values.size(); ++i) {
    spread.arena_bands[i + 1].begin -=
        std::min<uint64_t>(4, spread.values[i].end - spread.values[i].begin);
  }
}

Status CheckFile(const std::string& path, const Options& options, DeviceMemory& memory) {
  AICF_ASSIGN_OR_RETURN(const auto program, Program::Load(path));
  AICF_ASSIGN_OR_RETURN(const Results expected,
                        Undisturbed(program, options.device, options, memory));
  if (options.device != "cpu") {
    const std::unique_ptr<DeviceMemory> host = HostMemory();
    AICF_ASSIGN_OR_RETURN(const Results reference, Undisturbed(program, "cpu", options, *host));
    AICF_RETURN_IF_ERROR(Agree(expected, reference, options.relative));
  }
  AICF_ASSIGN_OR_RETURN(Spread spread, SpreadOut(program->artifact()));
  AICF_ASSIGN_OR_RETURN(const auto apart, Program::FromBytes(spread.artifact));
  if (options.plant == "write") PlantWrite(spread);
  for (int p = 0; p < static_cast<int>(std::size(kPatterns)); ++p) {
    const Status status = RunWith(p, apart, spread, expected, options, memory);
    if (!status.ok()) return status.WithContext(kPatterns[p]);
  }
  uint64_t bytes = 0;
  for (const Range& r : spread.arena_bands) bytes += r.end - r.begin;
  for (const Range& r : spread.state_bands) bytes += r.end - r.begin;
  std::cout << path << ": " << spread.arena_bands.size() + spread.state_bands.size() << " bands of "
            << bytes << " bytes and " << spread.values.size() << " values, " << std::size(kPatterns)
            << " patterns, " << expected.bytes.size() << " bytes of output" << std::endl;
  return OkStatus();
}

Result<int> CheckFiles(const std::vector<std::string>& files, const Options& options) {
  std::unique_ptr<DeviceMemory> memory = HostMemory();
  if (options.device != "cpu") {
    AICF_ASSIGN_OR_RETURN(memory, CudaMemory());
  }
  int found = 0;
  for (const std::string& file : files) {
    const Status status = CheckFile(file, options, *memory);
    if (status.ok()) continue;
    ++found;
    std::cout << file << ": " << status.ToString() << std::endl;
    if (!options.plant.empty() && status.code() != Code::kCheckFailed) return status;
  }
  return found;
}

int Main(int argc, char** argv) {
  std::vector<std::string> files;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.starts_with("--device=")) {
      options.device = arg.substr(9);
    } else if (arg == "--hostile") {
      options.hostile = true;
    } else if (arg.starts_with("--rel=")) {
      options.relative = std::atof(arg.c_str() + 6);
    } else if (arg.starts_with("--plant=")) {
      options.plant = arg.substr(8);
    } else {
      files.push_back(arg);
    }
  }
  if (files.empty() || files[0].starts_with("-")) {
    std::cerr << kHelp;
    return 2;
  }
  const Result<int> found = CheckFiles(files, options);
  if (!found.ok()) {
    std::cerr << found.status().ToString() << "\n";
    return 1;
  }
  if (!options.plant.empty()) return *found == static_cast<int>(files.size()) ? 0 : 1;
  return *found > 0 ? 1 : 0;
}

}  // namespace
}  // namespace aicf::bands

int main(int argc, char** argv) { return aicf::bands::Main(argc, argv); }
