/// Compiled images on disk, by the hash of everything that decides their bytes. A cache, never a
/// source of truth: an entry that is missing, torn or altered is compiled again.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace aicf {

/// Thread safety: const functions may be called from any thread and any process at once; of two
/// writers of one entry the last wins, whole.
class ImageCache {
 public:
  /// `dir` as CompileOptions::kernel_cache_dir: "" is $XDG_CACHE_HOME/aicf or ~/.cache/aicf, "none"
  /// is off. What killed writers left in the folder is removed. A folder that cannot be made or
  /// written to turns the cache off, with a logged warning when it was asked for by name.
  static ImageCache Open(const std::string& dir);

  /// Empty when the cache is off.
  const std::string& folder() const { return folder_; }

  std::optional<std::vector<std::byte>> Load(const Hash128& key) const;
  /// Failures are ignored: the image has been compiled either way.
  void Store(const Hash128& key, std::span<const std::byte> image) const;

 private:
  std::string PathOf(const Hash128& key) const;
  std::string folder_;
};

}  // namespace aicf
