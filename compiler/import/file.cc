#include "compiler/import/file.h"

#include <limits>

#include "base/interrupted.h"
#include "base/scanner.h"

namespace aicf {

Result<ModelFile> OpenModelFile(const std::string& path) {
  constexpr uint64_t kMaxModelBytes = std::numeric_limits<int32_t>::max();
  AICF_ASSIGN_OR_RETURN(ModelFile file, OpenRegularFile(path));
  if (file.size > kMaxModelBytes) {
    return Error(Code::kBadModel, Quote(path), " has ", file.size,
                 " bytes; a protobuf has at most ", kMaxModelBytes,
                 " (larger models keep their weights in external files)");
  }
  return file;
}

}  // namespace aicf
