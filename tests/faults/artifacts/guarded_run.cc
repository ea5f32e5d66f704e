#include "tests/faults/artifacts/guarded_run.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/float16.h"
#include "kernels/abi/operation_count.h"
#include "runtime/cpu/cpu_session.h"
#include "runtime/cpu/step_table.h"
#include "schema/roots.h"
#include "tests/faults/artifacts/random.h"

namespace aicf::hostile {
namespace {

using schema::Buffer;
using schema::Program;
using schema::Role;
using schema::Storage;

constexpr size_t kPage = 4096;
constexpr size_t kAlignment = 64;  ///< that kernels may assume
constexpr size_t kBefore = 256;    ///< bytes of pattern in front of a value

/// One mapping for many values: each ends within kAlignment bytes of an unmapped page, and has the
/// pattern in front of it.
class GuardedMemory {
 public:
  explicit GuardedMemory(const std::vector<uint64_t>& sizes) {
    for (uint64_t size : sizes) total_ += SpanOf(size) + kPage;
    total_ += kPage;
    void* memory = mmap(nullptr, total_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(memory);
    size_t at = 0;
    for (uint64_t size : sizes) {
      (void)mprotect(base_ + at, kPage, PROT_NONE);
      at += kPage;
      const size_t span = SpanOf(size);
      std::byte* end = base_ + at + span;
      std::byte* begin = end - (size + kAlignment - 1) / kAlignment * kAlignment;
      values_.push_back({begin, size, base_ + at, end});
      at += span;
    }
    (void)mprotect(base_ + at, kPage, PROT_NONE);
  }
  ~GuardedMemory() {
    if (base_ != nullptr) munmap(base_, total_);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  bool ok() const { return base_ != nullptr; }
  std::byte* Value(size_t i) const { return values_[i].begin; }

  /// Everything, the values too.
  void Fill(std::byte pattern) {
    for (const Piece& v : values_) {
      std::memset(v.low, static_cast<int>(pattern), static_cast<size_t>(v.high - v.low));
    }
  }
  /// The index of a value beside which the pattern has changed, or -1.
  int Changed(std::byte pattern) const {
    const auto differs = [&](const std::byte* from, const std::byte* to) {
      return std::any_of(from, to, [&](std::byte b) { return b != pattern; });
    };
    for (size_t i = 0; i < values_.size(); ++i) {
      const Piece& v = values_[i];
      if (differs(v.low, v.begin) || differs(v.begin + v.size, v.high)) return static_cast<int>(i);
    }
    return -1;
  }

 private:
  struct Piece {
    std::byte* begin;
    uint64_t size;
    std::byte *low, *high;  ///< mapped bytes around it
  };
  static size_t SpanOf(uint64_t size) {
    return (size + kAlignment + kBefore + kPage - 1) / kPage * kPage;
  }
  size_t total_ = 0;
  std::byte* base_ = nullptr;
  std::vector<Piece> values_;
};

void OneAfterTheOther(void*, int64_t count, void (*piece)(void*, int64_t), void* context) {
  for (int64_t i = 0; i < count; ++i) piece(context, i);
}

double WildValue(Random& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double wild[] = {0,
                         -0.0,
                         1,
                         -1,
                         1e30,
                         -1e30,
                         kInf,
                         -kInf,
                         3e9,
                         -3e9,
                         1e-40,
                         65504,
                         std::numeric_limits<double>::quiet_NaN()};
  if (random.Chance(5)) return wild[random.Below(std::size(wild))];
  if (random.Chance(50)) return static_cast<double>(random.Below(16)) - 4;
  return random.Real() * 8 - 4;
}

/// Anything that a caller may hand over: indices far out of range, numbers that are none.
void FillInput(DType dtype, uint64_t bytes, Random& random, std::byte* to) {
  const auto width = static_cast<uint64_t>(DTypeBytes(dtype));
  for (uint64_t at = 0; at + width <= bytes; at += width) {
    if (dtype == DType::kBool) {
      to[at] = static_cast<std::byte>(random.Below(2));
    } else if (dtype == DType::kF32) {
      const auto v = static_cast<float>(WildValue(random));
      std::memcpy(to + at, &v, sizeof v);
    } else if (dtype == DType::kF64) {
      const double v = WildValue(random);
      std::memcpy(to + at, &v, sizeof v);
    } else {
      // Mostly small, as indices and codes are.
      const uint64_t v = random.Chance(10) ? random.Bits() : random.Below(16) - random.Below(6);
      std::memcpy(to + at, &v, static_cast<size_t>(width));
    }
  }
}

/// A reference kernel runs where a plan is for a GPU; its own workspace is the table's.
class GuardedProgram {
 public:
  GuardedProgram(const schema::Artifact& artifact, const RunLimits& limits)
      : artifact_(artifact),
        plan_(artifact.program()),
        limits_(limits),
        roots_(schema::RootsOf(plan_)) {}

  bool TooLarge() const {
    uint64_t bytes = plan_.arena_bytes + plan_.state_bytes;
    for (const Buffer& b : plan_.buffers) {
      bytes += b.storage == Storage::kAlias ? 0 : b.bytes;
      if (bytes > limits_.bytes) return true;
    }
    double operations = 0;
    for (const schema::Step& s : plan_.steps) operations += abi::OperationCount(s.problem);
    return operations > limits_.operations;
  }

  RunOutcome Run(uint64_t seed) {
    std::vector<uint64_t> sizes;
    for (const Buffer& b : plan_.buffers)
      sizes.push_back(b.storage == Storage::kAlias ? 0 : b.bytes);
    sizes.push_back(plan_.arena_bytes);  // workspaces
    GuardedMemory memory(sizes);
    if (!memory.ok()) return {RunVerdict::kTooLarge, {}};
    for (size_t e = 0; e < plan_.entry_points.size(); ++e) {
      std::vector<std::byte> results[2];
      for (int pass = 0; pass < 2; ++pass) {
        const auto pattern = static_cast<std::byte>(pass == 0 ? 0x5a : 0xff);  // 0xff..: NaN
        RunOutcome outcome = RunOnce(e, seed, pattern, memory, &results[pass]);
        if (outcome.verdict != RunVerdict::kRan) return outcome;
      }
      if (AlwaysRuns(e) && results[0] != results[1]) {
        return {RunVerdict::kBroken,
                StrCat("entry point ", e, ": its results depend on bytes that ",
                       "no step wrote, or beside a value")};
      }
    }
    return {};
  }

 private:
  bool AlwaysRuns(size_t entry) const {
    const schema::EntryPoint& e = plan_.entry_points[entry];
    if (!e.loops.empty()) return false;
    for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
      if (!plan_.steps[s].guards.empty()) return false;
    }
    return true;
  }

  void Prepare(size_t entry, uint64_t seed, GuardedMemory& memory) const {
    Random random(seed + entry);
    const auto fill = [&](uint32_t b) {
      FillInput(plan_.buffers[b].dtype, plan_.buffers[b].bytes, random, memory.Value(roots_[b]));
    };
    for (uint32_t b : plan_.entry_points[entry].inputs) fill(b);
    for (uint32_t b : plan_.entry_points[entry].metas) fill(b);
    for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      const Buffer& buffer = plan_.buffers[b];
      if (buffer.storage == Storage::kState) fill(b);
      if (buffer.storage != Storage::kWeights || buffer.bytes == 0) continue;
      std::memcpy(memory.Value(b), artifact_.weights().data() + buffer.offset, buffer.bytes);
    }
  }

  RunOutcome RunOnce(size_t entry, uint64_t seed, std::byte pattern, GuardedMemory& memory,
                     std::vector<std::byte>* results) const {
    memory.Fill(pattern);
    Prepare(entry, seed, memory);
    std::vector<std::byte*> bound;
    for (size_t b = 0; b < plan_.buffers.size(); ++b) bound.push_back(memory.Value(b));
    const TableMemory table_memory{memory.Value(plan_.buffers.size()), nullptr, bound};
    const schema::EntryPoint& e = plan_.entry_points[entry];
    Result<StepTable> table = StepTable::Build(
        artifact_, e, table_memory, {nullptr, &OneAfterTheOther, 1}, StepTable::Kernels{});
    if (!table.ok()) return {RunVerdict::kRefused, std::string(table.status().message())};
    const Status ran = table->RunAll(limits_.operations * 4);
    if (!ran.ok()) return {RunVerdict::kRefused, std::string(ran.message())};
    const int changed = memory.Changed(pattern);
    if (changed >= 0) {
      return {RunVerdict::kBroken, StrCat("entry point ", entry, ": bytes beside ",
                                          static_cast<size_t>(changed) == plan_.buffers.size()
                                              ? std::string("the workspaces")
                                              : StrCat("buffer ", changed),
                                          " were written")};
    }
    for (uint32_t b : e.outputs) {
      const std::byte* from = memory.Value(roots_[b]);
      results->insert(results->end(), from, from + plan_.buffers[b].bytes);
    }
    return {};
  }

  const schema::Artifact& artifact_;
  const Program& plan_;
  const RunLimits& limits_;
  const std::vector<uint32_t> roots_;
};

std::string CheckOperand(const Program& p, size_t step, uint32_t buffer, const abi::View& v) {
  const auto bad = [&](std::string_view why) {
    return StrCat("step ", step, ", buffer ", buffer, ": ", why);
  };
  if (buffer >= p.buffers.size()) return bad("does not exist");
  __int128 low = v.offset, high = v.offset;
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.shape[d] == 0) return {};
    const __int128 reach = static_cast<__int128>(v.shape[d] - 1) * v.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const __int128 end = (high + 1) * DTypeBytes(v.dtype);
  if (low < 0 || end > static_cast<__int128>(p.buffers[buffer].bytes)) return bad("is left");
  return {};
}

}  // namespace

std::string OutsideItsBuffer(const Program& p) {
  for (size_t s = 0; s < p.steps.size(); ++s) {
    const schema::Step& step = p.steps[s];
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (step.IsPacked(k)) continue;
      std::string found = CheckOperand(p, s, step.inputs[k], step.problem.inputs[k]);
      if (!found.empty()) return found;
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      std::string found = CheckOperand(p, s, step.outputs[k], step.problem.outputs[k]);
      if (!found.empty()) return found;
    }
  }
  return {};
}

RunOutcome RunGuarded(const schema::Artifact& artifact, uint64_t seed, const RunLimits& limits) {
  GuardedProgram program(artifact, limits);
  if (program.TooLarge()) return {RunVerdict::kTooLarge, {}};
  return program.Run(seed);
}

}  // namespace aicf::hostile
