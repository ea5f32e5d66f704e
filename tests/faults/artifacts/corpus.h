/// Hostile artifacts that are made by hand, one for each named way in which an artifact can be
/// wrong.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace aicf::hostile {

struct CorpusFile {
  std::string name;      ///< without ".aicf"
  int exit_code = 0;     ///< of aicf-run
  std::string sentence;  ///< part of the one line that aicf-run prints to stderr
  std::vector<std::byte> bytes;
  std::string flags;  ///< more arguments of aicf-run; FOLDER stands for the corpus's folder
};

/// Makes the corpus. Its bytes are always the same, except for the versions of format and kernels.
std::vector<CorpusFile> MakeCorpus();

/// Writes NAME.aicf for each file, manifest.tsv with name, exit code, sentence and flags, and the
/// public keys that the flags name. Returns false when that fails.
bool WriteCorpus(const std::string& folder);

}  // namespace aicf::hostile
