#include "tests/endurance/meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/status.h"
#include "tests/endurance/counted_malloc.h"

namespace aicf::endurance {
namespace {

constexpr const char* kNames[] = {
    "resident bytes",      "anonymous bytes",      "mapped bytes", "heap bytes", "heap blocks",
    "driver's heap bytes", "driver's heap blocks", "descriptors",  "threads",    "device bytes"};
static_assert(std::size(kNames) == static_cast<size_t>(Holding::kCount));

/// A file of /proc, cut off at the buffer's size; "" where there is none. Allocates nothing.
template <size_t kBytes>
std::string_view ReadProc(const char* path, char (&buffer)[kBytes]) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  size_t length = 0;
  for (ssize_t got; (got = read(fd, buffer + length, kBytes - 1 - length)) > 0;) {
    length += static_cast<size_t>(got);
  }
  close(fd);
  buffer[length] = 0;
  return {buffer, length};
}

/// The bytes of a line "Rss:    123 kB"; -1 where there is none.
int64_t LineBytes(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return -1;
  return std::strtoll(text.data() + at + key.size(), nullptr, 10) * 1024;
}

int64_t CountEntries(const char* path) {
  DIR* const folder = opendir(path);
  if (folder == nullptr) return 0;
  int64_t count = 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

void ReadPages(Holdings& h) {
  char buffer[4096];
  const std::string_view sizes = ReadProc("/proc/self/statm", buffer);
  char* rest = nullptr;
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (!sizes.empty()) {
    h[Holding::kMapped] = std::strtoll(sizes.data(), &rest, 10) * page;
    h[Holding::kResident] = std::strtoll(rest, nullptr, 10) * page;
  }
  // Counted page by page; the numbers above lag behind on machines with many processors.
  const std::string_view exact = ReadProc("/proc/self/smaps_rollup", buffer);
  if (LineBytes(exact, "\nAnonymous:") < 0) return;
  h[Holding::kResident] = LineBytes(exact, "\nRss:");
  h[Holding::kAnonymous] = LineBytes(exact, "\nAnonymous:");
}

int64_t DeviceBytes(const cuda::Device& device) {
  const cuda::ContextScope scope(device);
  size_t free_bytes = 0, total = 0;
  if (!scope.ok() || device.driver().MemGetInfo(&free_bytes, &total) != cuda::kCudaSuccess) {
    return -1;
  }
  return static_cast<int64_t>(total - free_bytes);
}

}  // namespace

std::string Holdings::GrowthSince(const Holdings& before, int64_t pages) const {
  std::string out;
  for (size_t i = 0; i < values_.size(); ++i) {
    const int64_t more = values_[i] - before.values_[i];
    const bool of_pages = i <= static_cast<size_t>(Holding::kMapped);
    if (more > (of_pages ? pages : 0))
      out += StrCat(out.empty() ? "" : ", ", kNames[i], " +", more);
  }
  return out;
}

std::string Holdings::ToString() const {
  std::string out;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i] != 0) out += StrCat(out.empty() ? "" : ", ", kNames[i], " ", values_[i]);
  }
  return out;
}

bool Meter::Judges() {
#if defined(AICF_SANITIZED)
  return false;
#else
  return true;
#endif
}

void Meter::Settle(char** argv) {
  if (!Judges()) return;
  // The kernel may put pages of two megabytes together at any time, which counts what was never
  // touched.
  (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  // One arena: else there are as many as threads happened to be alive at once.
  mallopt(M_ARENA_MAX, 1);
  // No stacks of threads that ended are kept, for the same reason, and no blocks that were given
  // back, which would count as given out. The C library reads this when it starts.
  constexpr const char* kVariable = "GLIBC_TUNABLES";
  constexpr const char* kTunable = "glibc.pthread.stack_cache_size=0:glibc.malloc.tcache_count=0";
  const char* set = std::getenv(kVariable);
  if (set != nullptr && std::strstr(set, kTunable) != nullptr) return;
  setenv(kVariable, kTunable, 1);
  execv("/proc/self/exe", argv);  // where that fails, the numbers may depend on chance
}

Meter::Meter(std::shared_ptr<const cuda::Device> device) : device_(std::move(device)) {
  if (device_ == nullptr) return;
  for (const char* library : {"libcuda.so", "libnvidia-"}) CountApart(library);
}

Holdings Meter::Read() const {
  malloc_trim(0);
  Holdings h;
  h[Holding::kHeap] = Heap().bytes;
  h[Holding::kBlocks] = Heap().blocks;
  h[Holding::kDriverHeap] = HeapApart().bytes;
  h[Holding::kDriverBlocks] = HeapApart().blocks;
  h[Holding::kDescriptors] = CountEntries("/proc/self/fd") - 1;  // without the folder's own
  h[Holding::kThreads] = CountEntries("/proc/self/task");
  if (device_ != nullptr) h[Holding::kDevice] = DeviceBytes(*device_);
  ReadPages(h);
  return h;
}

std::string FaultOrGrowth(const Meter& meter, const std::function<std::string(uint64_t)>& work,
                          uint64_t few, uint64_t many) {
  std::string fault = work(few);
  // A driver keeps memory for as many calls as ever met in it, which chance decides: what it keeps
  // comes to an end, and what leaks does not.
  const int rounds = meter.device() == nullptr ? 1 : kRoundsOnDevice;
  std::string growth, all;
  for (int r = 0; r < rounds && fault.empty(); ++r) {
    const Holdings before = meter.Read();
    fault = work(many);
    if (!fault.empty() || !Meter::Judges()) return fault;
    growth = meter.Read().GrowthSince(before, kCuttings);
    if (growth.empty()) return growth;
    all += StrCat(r == 0 ? "" : "; ", "round ", r + 1, ": ", growth);
  }
  if (!fault.empty()) return fault;
  return rounds > 1 ? StrCat(growth, " (", all, ")") : growth;
}

}  // namespace aicf::endurance
