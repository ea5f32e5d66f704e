/// Tensor data outside the model file. OpenNamedFile is the one function through which a model can
/// name a file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/import/file.h"
#include "compiler/import/named_files.h"

namespace aicf {

/// Where a model lies: its data may only be files in or below its directory.
struct ModelLocation {
  std::string directory;  ///< empty: the model has no directory and therefore no external data
  dev_t device = 0;       ///< of the model file, which must not be its own data
  ino_t inode = 0;
  NamedFiles files = {};
};

/// One tensor's external_data entries, in the file's order.
using ExternalEntries = std::vector<std::pair<std::string, std::string>>;

/// Opens a file that a model names, or that lies in a model's folder. The rules are those of
/// OpenBeneath (base/open_file.h), or with a store (NamedFiles::store) those of OpenThroughStore.
/// Errors: theirs; kBadModel for the model file itself and for a file that the compilation is about
/// to replace.
Result<ModelFile> OpenNamedFile(const ModelLocation& location, const std::string& path);

/// Whether the directory has an entry of this name, even a link that leads nowhere. Such an entry
/// must be opened or refused, and never passed over.
bool IsThere(const ModelLocation& location, std::string_view path);

/// Reads the `bytes` bytes that the entries name, from a file that OpenNamedFile accepts; the range
/// must lie in it, which is checked before anything is allocated. Errors: kBadModel for entries or
/// a file that break a rule; kIo when the file cannot be opened or read; kUnsupported for a
/// checksum, which is not verified.
Result<std::vector<std::byte>> ReadExternalData(const ModelLocation& location,
                                                const ExternalEntries& entries, uint64_t bytes);

}  // namespace aicf
