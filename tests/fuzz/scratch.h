/// A folder of the process's own for readers that take paths, in memory where there is one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace aicf::fuzz {

class Scratch {
 public:
  /// Ends the process where no folder can be made.
  Scratch();
  /// Removes the folder with all that is in it.
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// Writes a file, in the place of one of this name.
  void Put(std::string_view name, std::string_view bytes) const;
  void MakeFolder(std::string_view name) const;
  /// Nothing where there is none.
  void Remove(std::string_view name) const;

 private:
  std::string path_;
};

/// The process's one.
const Scratch& TheScratch();

}  // namespace aicf::fuzz
