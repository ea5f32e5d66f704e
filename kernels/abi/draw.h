/// The random numbers of categorical draws: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel
/// random numbers: as easy as 1, 2, 3", 2011). Stateless: the same key and counter give the same
/// number, on every backend and whatever was drawn before, so a request's draws do not depend on
/// its neighbours.
#pragma once

#include <array>
#include <cstdint>

namespace aicf::abi {

/// Four random words from a counter of four words and a key of two.
constexpr std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

/// The random number with this key and counter: a multiple of 2^-24 in [0, 1).
constexpr float UniformDraw(uint64_t key, uint64_t counter) {
  const std::array<uint32_t, 4> words =
      Philox4x32({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
                 {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  return static_cast<float>(words[0] >> 8) * 0x1p-24f;
}

}  // namespace aicf::abi
