#include "compiler/import/safetensors/folder.h"

#include <algorithm>
#include "base/scanner.h"
#include "compiler/import/file_bytes.h"
#include "compiler/import/safetensors/shard_index.h"

namespace aicf::safetensors {
namespace {

constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

Result<std::shared_ptr<const FileBytes>> ReadIndex(const ModelFile& file) {
  if (file.size <= kMaxIndexBytes) return FileBytes::Read(file);
  return Error(Code::kBadModel, "the index has ", file.size, " bytes, expected at most ",
               kMaxIndexBytes);
}

const std::string* ShardOf(const ShardIndex& index, std::string_view name) {
  const auto at =
      std::ranges::lower_bound(index.tensors, name, {}, &std::pair<std::string, uint32_t>::first);
  return at == index.tensors.end() || at->first != name ? nullptr : &index.shards[at->second];
}

// Adds the tensors of a shard. The index has to name this shard for each of them, so no tensor can
// be in two shards.
Status AddShard(const ShardIndex& index, const std::string& shard, SafetensorsFile file,
                SafetensorsFile& all) {
  for (NamedTensor& tensor : file.tensors) {
    const std::string* expected = ShardOf(index, tensor.name);
    if (expected == nullptr || *expected != shard) {
      return Error(Code::kBadModel, "tensor ", Quote(tensor.name), " is in ", Quote(shard),
                   ", expected it in ", expected == nullptr ? "no shard" : Quote(*expected));
    }
    all.tensors.push_back(std::move(tensor));
  }
  return OkStatus();
}

// Checks that no tensor of the index is missing. Both lists are sorted by name, and the index has
// all tensors of `all` (AddShard).
Status CheckComplete(const ShardIndex& index, const SafetensorsFile& all) {
  for (size_t i = 0; i < index.tensors.size(); ++i) {
    const auto& [name, shard] = index.tensors[i];
    if (i < all.tensors.size() && all.tensors[i].name == name) continue;
    return Error(Code::kBadModel, "tensor ", Quote(name), " is missing in ",
                 Quote(index.shards[shard]));
  }
  return OkStatus();
}

Status CheckTotal(const ShardIndex& index, const SafetensorsFile& all) {
  uint64_t total = 0;  // of bytes in memory, which cannot wrap
  for (const NamedTensor& tensor : all.tensors) total += tensor.data.bytes().size();
  if (!index.total_bytes || *index.total_bytes == total) return OkStatus();
  return Error(Code::kBadModel, "the index states a total_size of ", *index.total_bytes,
               " bytes, but the tensors have ", total);
}

Result<SafetensorsFile> ReadShards(const ModelLocation& location, const ModelFile& file) {
  AICF_ASSIGN_OR_RETURN(const auto content, ReadIndex(file));
  const auto bytes = content->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  AICF_ASSIGN_OR_RETURN(const ShardIndex index, ParseShardIndex(text));
  SafetensorsFile all;
  for (const std::string& shard : index.shards) {
    AICF_ASSIGN_OR_RETURN(const ModelFile opened, OpenNamedFile(location, shard));
    AICF_ASSIGN_OR_RETURN(SafetensorsFile part, ReadSafetensors(opened, shard));
    AICF_RETURN_IF_ERROR(AddShard(index, shard, std::move(part), all));
  }
  std::ranges::sort(all.tensors, {}, &NamedTensor::name);
  AICF_RETURN_IF_ERROR(CheckComplete(index, all));
  AICF_RETURN_IF_ERROR(CheckTotal(index, all));
  return all;
}

}  // namespace

Result<SafetensorsFile> ReadFolder(const std::string& directory, const NamedFiles& files) {
  ModelLocation location;
  location.directory = directory;
  location.files = files;
  if (IsThere(location, kSingle)) {
    AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenNamedFile(location, std::string(kSingle)));
    return ReadSafetensors(file, StrCat(directory, "/", kSingle));
  }
  if (!IsThere(location, kIndex)) {
    return Error(Code::kIo, Quote(directory), " has neither ", kSingle, " nor ", kIndex);
  }
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenNamedFile(location, std::string(kIndex)));
  location.device = file.device;
  location.inode = file.inode;
  auto all = ReadShards(location, file);
  if (!all.ok()) return all.status().WithContext(Quote(StrCat(directory, "/", kIndex)));
  return all;
}

}  // namespace aicf::safetensors
