/// A folder of this process for readers that take paths, in a file system in memory if there is
/// one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace aicf::fuzz {

class Scratch {
 public:
  /// Ends the process if no folder can be made.
  Scratch();
  /// Removes the folder with all that is in it.
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// Writes a file and replaces one that has this name.
  void Put(std::string_view name, std::string_view bytes) const;
  void MakeFolder(std::string_view name) const;
  /// Removes the entry; does nothing if there is none.
  void Remove(std::string_view name) const;

 private:
  std::string path_;
};

/// The only Scratch of this process.
const Scratch& TheScratch();

}  // namespace aicf::fuzz
