#include "base/hash_stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace aicf {

struct HashStream::State {
  XXH3_state_t xxh;
};

HashStream::HashStream() : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->xxh);
  XXH3_128bits_reset(&state_->xxh);
}

HashStream::~HashStream() = default;

void HashStream::Update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Hash128 HashStream::Digest() const {
  const XXH128_hash_t h = XXH3_128bits_digest(&state_->xxh);
  return {h.low64, h.high64};
}

}  // namespace aicf
