#include "compiler/emit/model_hash.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "base/scanner.h"

namespace aicf {

Result<std::string> HashModelFile(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) return Error(Code::kIo, "model ", Quote(path), ": ", std::strerror(errno));
  std::vector<std::byte> bytes;
  std::vector<std::byte> block(1 << 20);
  while (const size_t n = std::fread(block.data(), 1, block.size(), file.get())) {
    bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<long>(n));
  }
  if (std::ferror(file.get()) != 0) return Error(Code::kIo, "model ", Quote(path), ": read failed");
  return ToHex(HashBytes(bytes));
}

}  // namespace aicf
