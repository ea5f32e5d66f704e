#include "compiler/import/file_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace aicf {

Result<std::shared_ptr<const FileBytes>> FileBytes::Read(const ModelFile& file) {
  // The owner is made first, so that no mapping can be left without someone to unmap it.
  std::shared_ptr<FileBytes> bytes(new FileBytes);
  if (file.size > 0) {
    void* const data =
        mmap(nullptr, file.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      return Error(Code::kResource, "no memory for a file of ", file.size, " bytes");
    }
    bytes->data_ = static_cast<std::byte*>(data);
    bytes->size_ = file.size;
  }
  AICF_RETURN_IF_ERROR(bytes->Fill(file.fd.get()));
  return std::shared_ptr<const FileBytes>(std::move(bytes));
}

FileBytes::~FileBytes() {
  if (data_ != nullptr) munmap(data_, size_);
}

Status FileBytes::Fill(int fd) {
  constexpr size_t kChunk = size_t{1} << 30;  // Linux transfers less than 2 GiB a call
  for (size_t done = 0; done < size_;) {
    const ssize_t n =
        pread(fd, data_ + done, std::min(size_ - done, kChunk), static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return Error(Code::kIo,
                   "cannot read the file: ", n < 0 ? std::strerror(errno) : "it became shorter");
    }
    done += static_cast<size_t>(n);
  }
  return OkStatus();
}

}  // namespace aicf
