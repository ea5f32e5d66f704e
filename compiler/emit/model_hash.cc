#include "compiler/emit/model_hash.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "base/hash_stream.h"
#include "base/scanner.h"
#include "compiler/import/file.h"

namespace aicf {

Result<std::string> HashModelFile(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenRegularFile(path));
  HashStream hash;
  std::vector<std::byte> block(1 << 20);
  for (uint64_t left = file.size; left > 0;) {
    const ssize_t n = read(file.fd.get(), block.data(), std::min<uint64_t>(left, block.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error(Code::kIo, "cannot read ", Quote(path), ": ", std::strerror(errno));
    if (n == 0) return Error(Code::kIo, Quote(path), " became shorter while it was read");
    hash.Update(std::span(block).first(static_cast<size_t>(n)));
    left -= static_cast<uint64_t>(n);
  }
  return ToHex(hash.Digest());
}

}  // namespace aicf
