/// Where damaged artifacts are made: seeds, the ways to damage them, and the same file again from
/// its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::hostile {

struct Seed {
  std::string name;
  std::vector<std::byte> file;
  schema::Contents contents;  ///< without the sections that a run does not read, and without images
};

/// Every artifact of the folder, in the order of their names. Errors: kIo, those of loading.
Result<std::vector<Seed>> LoadSeeds(const std::string& folder);

/// Damaged file `number` of the series that starts with `series`: hashes, sizes and features in its
/// header are right, so that what is wrong reaches the checks behind them.
std::vector<std::byte> DamagedFile(const std::vector<Seed>& seeds, uint64_t series,
                                   uint64_t number);

/// The seed's whole file with one bit changed, hashes recomputed.
std::vector<std::byte> FlippedFile(const Seed& seed, uint64_t bit);

}  // namespace aicf::hostile
