#include "schema/roots.h"

#include <limits>

namespace aicf::schema {

std::vector<uint32_t> RootsOf(const Program& program) {
  constexpr uint32_t kUnknown = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> roots(program.buffers.size(), kUnknown);
  std::vector<uint32_t> chain;
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    uint32_t at = b;
    while (roots[at] == kUnknown && program.buffers[at].storage == Storage::kAlias) {
      chain.push_back(at);
      at = program.buffers[at].alias_of;
    }
    const uint32_t root = roots[at] == kUnknown ? at : roots[at];
    roots[at] = root;
    for (; !chain.empty(); chain.pop_back()) roots[chain.back()] = root;
  }
  return roots;
}

}  // namespace aicf::schema
