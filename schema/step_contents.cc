#include "schema/step_contents.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>

#include "kernels/abi/same_problem.h"

namespace aicf::schema {
namespace {

// A model has fewer different contents than this, and a table of this size stays in the cache.
constexpr size_t kMaxSlots = 4096;

class ContentHash {
 public:
  explicit ContentHash(uint64_t start) : hash_(start) {}

  void Add(int64_t number) {
    hash_ = std::rotl(hash_ ^ static_cast<uint64_t>(number), 23) * 0x9e3779b97f4a7c15;
  }
  void Add(const Dims& dims) {
    for (int64_t d : dims) Add(d);
  }
  size_t value() const { return static_cast<size_t>(hash_ >> 32); }

 private:
  uint64_t hash_;
};

// A symbol ends with a hash of the content; eight of its digits are enough. Steps without one
// mostly differ in what they read, and how.
size_t HashOf(const Step& s) {
  int64_t end = 0;
  if (s.symbol.size() >= sizeof end) {
    std::memcpy(&end, s.symbol.data() + s.symbol.size() - sizeof end, sizeof end);
    ContentHash hash(0);
    hash.Add(end);
    return hash.value();
  }
  ContentHash hash(std::hash<std::string_view>()(s.kernel));
  hash.Add(static_cast<int64_t>(s.problem.epilogue.nodes.size()));
  for (const abi::View& v : s.problem.outputs) hash.Add(v.shape);
  for (const abi::View& v : s.problem.inputs) hash.Add(v.shape);
  return hash.value();
}

}  // namespace

bool SameContent(const Step& a, const Step& b) {
  return a.symbol == b.symbol && a.kernel == b.kernel && a.launch == b.launch &&
         a.workspace_bytes == b.workspace_bytes && abi::SameProblem(a.problem, b.problem) &&
         a.parameters == b.parameters && a.tensor_maps == b.tensor_maps;
}

StepContents::StepContents(const Program& program)
    : steps_(program.steps),
      slots_(std::bit_ceil(std::clamp<size_t>(steps_.size(), 1, kMaxSlots))) {}

uint32_t StepContents::Find(uint32_t step) {
  uint32_t& slot = slots_[HashOf(steps_[step]) & (slots_.size() - 1)];
  if (slot != 0 && SameContent(steps_[slot - 1], steps_[step])) return slot - 1;
  slot = step + 1;
  return step;
}

}  // namespace aicf::schema
