#include "compiler/plan/images.h"

#include "base/hash.h"

namespace aicf {

int32_t AppendImage(const CompiledImage& image, schema::Program& program,
                    std::vector<std::byte>& section) {
  schema::Image entry;
  entry.arch = image.arch;
  entry.compiler = image.compiler;
  entry.hash = HashBytes(image.cubin);
  entry.offset = section.size();
  entry.bytes = image.cubin.size();
  section.insert(section.end(), image.cubin.begin(), image.cubin.end());
  section.resize((section.size() + 63) & ~size_t{63});
  program.images.push_back(std::move(entry));
  return static_cast<int32_t>(program.images.size()) - 1;
}

}  // namespace aicf
