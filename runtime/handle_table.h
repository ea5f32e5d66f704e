/// Handles of the C interface: numbers that name table entries, so that a stale handle is found out
/// instead of followed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace aicf {

/// A handle is (tag, generation, slot + 1) in 8 + 24 + 32 bits. A slot's generation grows with each
/// use; after 2^24 uses the slot is retired, so no handle ever comes back. Handles of tables with
/// other tags are never found. Thread safety: every function may be called from any thread.
template <class T>
class HandleTable {
 public:
  explicit HandleTable(uint8_t tag) : tag_(tag) {}

  uint64_t Insert(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      slots_.emplace_back();
      free_.reserve(slots_.size());  // so that Remove cannot fail
      free_.push_back(slots_.size() - 1);
    }
    const size_t slot = free_.back();
    free_.pop_back();
    slots_[slot].object = std::move(object);
    return uint64_t{tag_} << 56 | uint64_t{slots_[slot].generation} << 32 | (slot + 1);
  }

  /// nullptr for a handle that names nothing.
  std::shared_ptr<T> Find(uint64_t handle) {
    const std::lock_guard lock(mutex_);
    Slot* slot = Lookup(handle);
    return slot != nullptr ? slot->object : nullptr;
  }

  /// Takes the object out of the table; nullptr for a handle that names nothing.
  std::shared_ptr<T> Remove(uint64_t handle) {
    const std::lock_guard lock(mutex_);
    Slot* slot = Lookup(handle);
    if (slot == nullptr) return nullptr;
    std::shared_ptr<T> object = std::move(slot->object);
    slot->object = nullptr;
    if (++slot->generation < kGenerations) free_.push_back(slot - slots_.data());
    return object;
  }

 private:
  static constexpr uint32_t kGenerations = 1u << 24;
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 0;
  };

  Slot* Lookup(uint64_t handle) {
    const uint64_t index = (handle & 0xffffffffu) - 1;  // 0 wraps out of range
    if (handle >> 56 != tag_ || index >= slots_.size()) return nullptr;
    Slot& slot = slots_[index];
    const bool live = slot.object != nullptr && slot.generation == (handle >> 32 & 0xffffffu);
    return live ? &slot : nullptr;
  }

  const uint8_t tag_;
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<size_t> free_;
};

}  // namespace aicf
