/// Handles of the C interface: numbers that name table entries, so that a stale handle is found out
/// instead of followed.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace aicf {

/// A handle is (tag, generation, slot + 1) in 8 + 24 + 32 bits. A slot's generation grows with each
/// use; after 2^24 uses the slot is retired, so no handle ever comes back. Handles of tables with
/// other tags are never found.
///
/// Thread safety: every function may be called from any thread. Finding takes no lock and touches
/// only the slot that it finds, so calls on different objects never wait for each other; inserting
/// and removing share a lock for the length of their bookkeeping.
template <class T>
class HandleTable {
  struct Slot;

 public:
  /// Keeps an object in its table: Remove waits until all Pins of the object are gone.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Pin& operator=(Pin&& other) noexcept {
      std::swap(slot_, other.slot_);
      return *this;
    }
    ~Pin() {
      if (slot_ != nullptr) slot_->Unpin();
    }
    explicit operator bool() const { return slot_ != nullptr; }
    T& operator*() const { return *slot_->object; }
    T* operator->() const { return slot_->object.get(); }

   private:
    friend class HandleTable;
    explicit Pin(Slot* slot) : slot_(slot) {}
    Slot* slot_ = nullptr;
  };

  explicit HandleTable(uint8_t tag) : tag_(tag) {}
  ~HandleTable() {
    for (size_t c = 0; c < kChunks; ++c) delete[] chunks_[c].load(std::memory_order_relaxed);
  }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  uint64_t Insert(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) AddChunk();
    const uint32_t index = free_.back();
    free_.pop_back();
    Slot& slot = *Find(index);
    slot.object = std::move(object);
    const uint64_t generation = slot.state.load(std::memory_order_relaxed) & kGenerationMask;
    slot.state.store(kLive | generation, std::memory_order_release);
    return uint64_t{tag_} << 56 | generation | (uint64_t{index} + 1);
  }

  /// Empty for a handle that names nothing.
  Pin Find(uint64_t handle) {
    Slot* const slot = SlotOf(handle);
    if (slot == nullptr) return {};
    uint64_t state = slot->state.load(std::memory_order_relaxed);
    do {
      if (!Names(handle, state)) return {};
    } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                                std::memory_order_relaxed));
    return Pin(slot);
  }

  /// Takes the object out of the table: from now on Find does not find it, and Remove waits until
  /// all Pins of it are gone. nullptr for a handle that names nothing. REQUIRES: this thread holds
  /// no Pin of it.
  std::unique_ptr<T> Remove(uint64_t handle) {
    Slot* const slot = SlotOf(handle);
    if (slot == nullptr) return nullptr;
    uint64_t state = slot->state.load(std::memory_order_relaxed);
    do {
      if (!Names(handle, state)) return nullptr;
    } while (!slot->state.compare_exchange_weak(state, (state & ~kLive) + kGeneration,
                                                std::memory_order_acquire,
                                                std::memory_order_relaxed));
    slot->WaitUnpinned();
    std::unique_ptr<T> object = std::move(slot->object);
    const std::lock_guard lock(mutex_);
    const uint64_t generation = slot->state.load(std::memory_order_relaxed) & kGenerationMask;
    if (generation < kGenerations) free_.push_back(static_cast<uint32_t>(handle) - 1);
    return object;
  }

 private:
  // A slot's state is one word. It has the number of Pins of the object (32 bits), which may change
  // at any time, the generation (25 bits, one more than a handle has room for, so that the
  // generation of a retired slot fits), and one bit that says whether there is an object.
  static constexpr uint64_t kPinMask = 0xffffffffu;
  static constexpr uint64_t kGeneration = uint64_t{1} << 32;
  static constexpr uint64_t kGenerations = kGeneration << 24;
  static constexpr uint64_t kGenerationMask = (kGenerations << 1) - kGeneration;
  static constexpr uint64_t kLive = uint64_t{1} << 60;

  struct alignas(64) Slot {  // a cache line of its own: calls on neighbours do not disturb it
    std::atomic<uint64_t> state{0};
    std::unique_ptr<T> object;

    void Unpin() {
      const uint64_t before = state.fetch_sub(1, std::memory_order_release);
      if ((before & kPinMask) == 1 && (before & kLive) == 0) state.notify_all();
    }
    void WaitUnpinned() {
      for (uint64_t now; ((now = state.load(std::memory_order_acquire)) & kPinMask) != 0;) {
        state.wait(now, std::memory_order_acquire);
      }
    }
  };

  static bool Names(uint64_t handle, uint64_t state) {
    constexpr uint64_t kInHandle = kGenerations - kGeneration;
    return (state & kLive) != 0 && (state & kGenerationMask) == (handle & kInHandle);
  }

  // Slots never move: chunk c holds kFirst << c of them.
  static constexpr uint64_t kFirst = 64;
  static constexpr size_t kChunks = 26;

  Slot* Find(uint32_t index) {
    const auto chunk = static_cast<size_t>(std::bit_width(index / kFirst + 1)) - 1;
    if (chunk >= kChunks) return nullptr;
    Slot* const slots = chunks_[chunk].load(std::memory_order_acquire);
    return slots != nullptr ? slots + (index - kFirst * ((uint64_t{1} << chunk) - 1)) : nullptr;
  }

  Slot* SlotOf(uint64_t handle) {
    const auto number = static_cast<uint32_t>(handle);
    return handle >> 56 == tag_ && number > 0 ? Find(number - 1) : nullptr;
  }

  /// REQUIRES: the lock is held.
  void AddChunk() {
    size_t chunk = 0;
    while (chunks_[chunk].load(std::memory_order_relaxed) != nullptr) ++chunk;
    const uint64_t first = kFirst * ((uint64_t{1} << chunk) - 1), count = kFirst << chunk;
    free_.reserve(first + count);  // so that Remove cannot fail
    auto slots = std::make_unique<Slot[]>(count);
    for (uint64_t i = count; i-- > 0;) free_.push_back(static_cast<uint32_t>(first + i));
    chunks_[chunk].store(slots.release(), std::memory_order_release);
  }

  const uint8_t tag_;
  std::array<std::atomic<Slot*>, kChunks> chunks_{};
  std::mutex mutex_;  ///< guards free_ and the adding of chunks
  std::vector<uint32_t> free_;
};

}  // namespace aicf
