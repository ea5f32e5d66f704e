/// HashBytes over bytes that arrive in pieces, so that a file can be checked without being held in
/// memory as a whole.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/hash.h"

namespace aicf {

class HashStream {
 public:
  HashStream();
  ~HashStream();
  HashStream(const HashStream&) = delete;
  HashStream& operator=(const HashStream&) = delete;

  void Update(std::span<const std::byte> bytes);
  /// HashBytes of everything so far.
  Hash128 Digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aicf
