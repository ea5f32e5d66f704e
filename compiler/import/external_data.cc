#include "compiler/import/external_data.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "base/interrupted.h"
#include "base/scanner.h"

namespace aicf {
namespace {

struct Request {
  std::string path;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<uint64_t> ParseCount(std::string_view key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc() && end == text.data() + text.size()) return value;
  return Error(Code::kBadModel, "external data ", key, " is ", Quote(text),
               ", expected a byte count");
}

Result<Request> ParseEntries(const ExternalEntries& entries) {
  Request request;
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : entries) {
    for (std::string_view other : seen) {
      if (other == key) return Error(Code::kBadModel, "external data has two keys ", Quote(key));
    }
    if (seen.size() == 4) return Error(Code::kBadModel, "external data has too many keys");
    seen.push_back(key);
    if (key == "location") {
      request.path = value;
    } else if (key == "offset") {
      AICF_ASSIGN_OR_RETURN(request.offset, ParseCount(key, value));
    } else if (key == "length") {
      AICF_ASSIGN_OR_RETURN(request.length, ParseCount(key, value));
    } else if (key == "checksum") {
      return Error(Code::kUnsupported, "external data has a checksum, which is not verified");
    } else {
      return Error(Code::kBadModel, "external data has the unknown key ", Quote(key));
    }
  }
  return request;
}

Status ReadRange(int fd, const Request& request, std::vector<std::byte>& out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(request.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return Error(Code::kIo, "cannot read external data ", Quote(request.path), ": ",
                   n < 0 ? std::strerror(errno) : "it became shorter");
    }
    done += static_cast<size_t>(n);
  }
  return OkStatus();
}

}  // namespace

Result<ModelFile> OpenNamedFile(const ModelLocation& location, const std::string& path) {
  if (location.directory.empty()) {
    return Error(Code::kBadModel, "location ", Quote(path),
                 " is named by a model without a directory");
  }
  Result<ModelFile> file = OpenBeneath(location.directory, path);
  if (!file.ok() && file.status().code() == Code::kBadModel && !location.files.store.empty()) {
    file = OpenThroughStore(location.directory, path, location.files.store);
  }
  if (!file.ok()) return file.status();
  if (file->device == location.device && file->inode == location.inode) {
    return Error(Code::kBadModel, "location ", Quote(path), " is the model itself");
  }
  for (const std::string& output : location.files.outputs) {
    struct stat info = {};
    if (stat(output.c_str(), &info) == 0 && info.st_dev == file->device &&
        info.st_ino == file->inode) {
      return Error(Code::kBadModel, "location ", Quote(path), " is what the compilation writes");
    }
  }
  return file;
}

bool IsThere(const ModelLocation& location, std::string_view path) {
  struct stat info = {};
  return lstat(StrCat(location.directory, "/", path).c_str(), &info) == 0;
}

Result<std::vector<std::byte>> ReadExternalData(const ModelLocation& location,
                                                const ExternalEntries& entries, uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(const Request request, ParseEntries(entries));
  if (request.length && *request.length != bytes) {
    return Error(Code::kBadModel, "external data length is ", *request.length, ", expected ",
                 bytes);
  }
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenNamedFile(location, request.path));
  if (!InRange(request.offset, bytes, file.size)) {
    return Error(Code::kBadModel, "external data of ", bytes, " bytes at offset ", request.offset,
                 " is outside ", Quote(request.path), " of ", file.size, " bytes");
  }
  std::vector<std::byte> out(bytes);
  AICF_RETURN_IF_ERROR(ReadRange(file.fd.get(), request, out));
  return out;
}

}  // namespace aicf
