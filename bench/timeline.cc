// A library that is injected into a process (timeline.py) and, when the process ends, writes what
// the GPU did, in order of start times: one line of "start us, duration us, what, blocks, threads,
// bytes of shared memory, registers" per kernel, those of graphs included, and one of "start us,
// duration us, copy of N bytes" per copy. Recording does not serialise kernels.
#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Activity {
  uint64_t start = 0, end = 0;  // ns
  std::string text;
};

std::mutex mutex;
std::vector<Activity> activities;

std::string KernelText(const CUpti_ActivityKernel10& k) {
  const auto count = [](int32_t x, int32_t y, int32_t z) {
    return std::to_string(int64_t{x} * y * z);
  };
  return std::string(k.name != nullptr ? k.name : "?") + "\t" + count(k.gridX, k.gridY, k.gridZ) +
         "\t" + count(k.blockX, k.blockY, k.blockZ) + "\t" +
         std::to_string(k.staticSharedMemory + k.dynamicSharedMemory) + "\t" +
         std::to_string(k.registersPerThread);
}

void Keep(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& k = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
    activities.push_back({k.start, k.end, KernelText(k)});
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
    activities.push_back(
        {copy.start, copy.end, "copy of " + std::to_string(copy.bytes) + " bytes"});
  }
}

void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  constexpr size_t kBytes = size_t{8} << 20, kAlignment = 64;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  *size = *buffer == nullptr ? 0 : kBytes;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI TakeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> lock(mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) Keep(*record);
  std::free(buffer);
}

void Write() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const char* path = std::getenv("AICF_TIMELINE");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  std::ranges::sort(activities, {}, &Activity::start);
  for (const Activity& a : activities) {
    const double start = static_cast<double>(a.start - activities[0].start) / 1e3;
    std::fprintf(file, "%.2f\t%.2f\t%s\n", start, static_cast<double>(a.end - a.start) / 1e3,
                 a.text.c_str());
  }
  std::fclose(file);
}

}  // namespace

// The function that the driver calls in the library which CUDA_INJECTION64_PATH names.
extern "C" int InitializeInjection() {
  cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
  std::atexit(Write);
  return 1;
}
