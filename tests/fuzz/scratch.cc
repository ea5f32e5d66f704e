#include "tests/fuzz/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>

#include "tests/fuzz/target.h"

namespace aicf::fuzz {

Scratch::Scratch() {
  const char* const chosen = getenv("AICF_FUZZ_SCRATCH");
  for (const char* base :
       {chosen, "/dev/shm", static_cast<const char*>(getenv("TMPDIR")), "/tmp"}) {
    if (base == nullptr) continue;
    std::string pattern = std::string(base) + "/aicf-fuzz-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) continue;
    path_ = pattern;
    return;
  }
  Broken("no folder for temporary files can be made");
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Scratch::Put(std::string_view name, std::string_view bytes) const {
  const int fd = open(Path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) Broken("a temporary file cannot be written");
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written <= 0) Broken("a temporary file cannot be written");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  close(fd);
}

void Scratch::MakeFolder(std::string_view name) const { (void)mkdir(Path(name).c_str(), 0700); }

void Scratch::Remove(std::string_view name) const { (void)unlink(Path(name).c_str()); }

const Scratch& TheScratch() {
  static const Scratch scratch;
  return scratch;
}

}  // namespace aicf::fuzz
