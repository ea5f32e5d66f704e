/// Hostile artifacts made by hand, one for each way to go wrong that has a name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace aicf::hostile {

struct CorpusFile {
  std::string name;      ///< without ".aicf"
  int exit_code = 0;     ///< of aicf-run
  std::string sentence;  ///< part of its one line on stderr
  std::vector<std::byte> bytes;
  std::string flags;  ///< more arguments of aicf-run, FOLDER for the corpus
};

/// The same bytes every time, but for the versions of format and kernels.
std::vector<CorpusFile> MakeCorpus();

/// Writes NAME.aicf for each, manifest.tsv with name, exit code, sentence and flags, and the public
/// keys that these name. False when that fails.
bool WriteCorpus(const std::string& folder);

}  // namespace aicf::hostile
