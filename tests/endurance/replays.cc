// One session, the same requests again and again.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>

#include "tests/endurance/checks.h"

namespace aicf::endurance {
namespace {

constexpr uint64_t kLegs = 10;  ///< after each of which the meter is read

/// The defects that a replay can have; what they leave is left for good.
void Leave(Plant plant, const cuda::Device* device) {
  [[maybe_unused]] static void* volatile kept;  // or the compiler would leave out the allocation
  if (plant == Plant::kMemory) kept = std::malloc(1024);
  if (plant == Plant::kDescriptor) (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (plant == Plant::kMapping) {
    kept = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (plant == Plant::kDevice && device != nullptr) {
    const cuda::ContextScope scope(*device);
    cuda::CUdeviceptr address = 0;
    (void)device->driver().MemAlloc(&address, size_t{1024});
  }
}

class Replays {
 public:
  Replays(const Options& options, const Subject& subject, const Meter& meter)
      : options_(options), subject_(subject), meter_(meter), script_(subject.MakeScript(0)) {}

  /// Gives the sentence about what is wrong; empty: nothing.
  Result<std::string> Check() {
    AICF_ASSIGN_OR_RETURN(client_, Client::Create(subject_.program(), options_.session));
    AICF_RETURN_IF_ERROR(client_->Ask(script_, &expected_));
    answer_.reserve(expected_.size());
    // What is read and printed later is there before the first reading.
    (void)meter_.Read().ToString();
    AICF_ASSIGN_OR_RETURN(const uint64_t early, Leg(std::clamp<uint64_t>(Leg(), 3, 10000), false));
    if (early > 0) return StrCat(early, " of the first replays differ");
    return Legs();
  }
  const Holdings& before() const { return before_; }
  double each_us() const { return each_us_; }
  /// Of all outputs of the first, in hexadecimal.
  std::string hash() const { return ToHex(HashBytes(std::as_bytes(std::span(expected_)))); }

 private:
  /// What pages may grow by: a worker touches its stack, and a kernel's code, when it first takes a
  /// piece of a step, which may be in any replay.
  int64_t Pages() const {
    return options_.session.threads > 1 ? options_.session.threads * kCuttings : 0;
  }
  uint64_t Leg() const { return std::max<uint64_t>(options_.replays / kLegs, 1); }

  Result<std::string> Legs() {
    before_ = meter_.Read();
    std::string growth;
    uint64_t wrong = 0;
    for (uint64_t leg = 0; leg < kLegs; ++leg) {
      AICF_ASSIGN_OR_RETURN(const uint64_t more, Leg(Leg(), leg == kLegs / 2));
      wrong += more;
      if (growth.empty()) growth = meter_.Read().GrowthSince(before_, Pages());
      if (!growth.empty() && !growth.ends_with(")")) {
        growth += StrCat(" (after ", (leg + 1) * Leg(), " replays)");
      }
    }
    std::string fault;
    if (wrong > 0) fault = StrCat(wrong, " replays differ from the first");
    if (!growth.empty() && Meter::Judges()) fault += StrCat(fault.empty() ? "" : "; ", growth);
    return fault;
  }

  /// `count` replays; gives how many differ from the first.
  Result<uint64_t> Leg(uint64_t count, bool with_bits) {
    uint64_t wrong = 0;
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < count; ++i) {
      if (with_bits && i == 0 && options_.plant == Plant::kBits) client_->FlipABit();
      AICF_RETURN_IF_ERROR(Once());
      wrong += answer_ != expected_;
      Leave(options_.plant, meter_.device());
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    each_us_ = took.count() / static_cast<double>(count);
    return wrong;
  }

  /// Without states and with one request the inputs stay where they are: nothing but replays.
  Status Once() {
    if (script_.size() > 1 || subject_.has_states()) return client_->Ask(script_, &answer_);
    answer_.clear();
    AICF_RETURN_IF_ERROR(client_->Run());
    return client_->Read(&answer_);
  }

  const Options& options_;
  const Subject& subject_;
  const Meter& meter_;
  const Script script_;
  std::unique_ptr<Client> client_;
  Answer expected_, answer_;
  Holdings before_;
  double each_us_ = 0;  ///< of the last leg's replays
};

}  // namespace

int CheckReplays(const Options& options, const Subject& subject, const Meter& meter) {
  Replays replays(options, subject, meter);
  const Result<std::string> fault = replays.Check();
  const std::string what =
      StrCat(subject.name(), ": ", options.replays, " replays, ", replays.each_us(),
             " us each, hash ", replays.hash(), ", holding ", replays.before().ToString());
  return Tell(what, fault.ok() ? *fault : fault.status().ToString());
}

}  // namespace aicf::endurance
