/// Makes damaged artifacts from seeds in several ways. The same file can be made again from its
/// number.
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
  schema::Contents contents;  ///< without images and sections that a run does not read
};

/// Loads every artifact of the folder, in the order of names. Errors: kIo, those of loading.
Result<std::vector<Seed>> LoadSeeds(const std::string& folder);

/// Makes the damaged file `number` of the given series. Hashes, sizes and features in its header
/// are correct, so that the damage gets past them to the checks that follow.
std::vector<std::byte> DamagedFile(const std::vector<Seed>& seeds, uint64_t series,
                                   uint64_t number);

/// The seed's file with one bit changed and its hashes recomputed.
std::vector<std::byte> FlippedFile(const Seed& seed, uint64_t bit);

}  // namespace aicf::hostile
