/// Tensor data outside the model file. The one function through which a model can name a file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/import/file.h"

namespace aicf {

/// Where a model lies: its data may only be files in or below its directory.
struct ModelLocation {
  std::string directory;  ///< empty: the model has no directory and therefore no external data
  dev_t device = 0;       ///< of the model file itself, which is not its own data
  ino_t inode = 0;
};

/// One tensor's external_data entries, in the file's order.
using ExternalEntries = std::vector<std::pair<std::string, std::string>>;

/// Opens a file that a model names. The path must be relative, without "..", and reach a regular
/// file with one name (no hard links) through no symbolic link; that is checked on the opened file.
/// Errors: kBadModel where it breaks a rule, kIo when the file cannot be opened.
Result<ModelFile> OpenNamedFile(const ModelLocation& location, const std::string& path);

/// Reads the `bytes` bytes that the entries name, from a file that OpenNamedFile accepts; the range
/// must lie in it, which is checked before anything is allocated. Errors: kBadModel for entries or
/// a file that break a rule; kIo when the file cannot be opened or read; kUnsupported for a
/// checksum, which is not verified.
Result<std::vector<std::byte>> ReadExternalData(const ModelLocation& location,
                                                const ExternalEntries& entries, uint64_t bytes);

}  // namespace aicf
