#include "tests/conformance/emulated_block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace aicf::conformance {
namespace {

constexpr size_t kStackBytes = 128 * 1024;
// Bytes behind a block's shared memory, which no thread may write.
constexpr size_t kGuardBytes = 4096;
// The block whose fibers the calling thread runs: fibers start and wait without arguments.
thread_local EmulatedBlock* running = nullptr;

}  // namespace

EmulatedBlock::EmulatedBlock(const abi::LaunchConfig& launch, EmulatedSet set,
                             std::function<void()> body, EmulatedCluster& cluster, int rank)
    : launch_(launch), set_(set), body_(std::move(body)), cluster_(cluster) {
  const size_t threads = size_t{launch.block[0]} * launch.block[1] * launch.block[2];
  fibers_.resize(threads);
  warps_.resize((threads + 31) / 32);
  dynamic_.resize(launch.dynamic_shared_bytes + 64 + kGuardBytes);
  for (size_t t = 0; t < threads; ++t) {
    const int i = static_cast<int>(t), x = static_cast<int>(launch.block[0]);
    const int y = static_cast<int>(launch.block[1]);
    fibers_[t].thread = {i % x, i / x % y, i / (x * y)};
    fibers_[t].stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  }
  const auto address = reinterpret_cast<uintptr_t>(dynamic_.data());
  calls_ = {
      BlockBarrier,   ClusterBarrier, WarpExchange, dynamic_.data() + (64 - address % 64) % 64,
      ClusterShared,  StartCopy,      CommitCopies, WaitForCopies,
      WaitForBarrier, StartLineCopy};
  cluster_.shared[static_cast<size_t>(rank)] = calls_.dynamic_shared;
}

void EmulatedBlock::Prepare(Fiber& fiber) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = &scheduler_;
  makecontext(&fiber.context, Start, 0);
  fiber.state = State::kReady;
  fiber.exchanges = 0;
  fiber.copies.clear();
  fiber.groups = 0;
}

void EmulatedBlock::Start() {
  running->body_();
  Fiber& fiber = *running->current_;
  FinishCopies(fiber, fiber.groups + 1);
  fiber.state = State::kDone;
}

void EmulatedBlock::Wait(State state) {
  current_->state = state;
  swapcontext(&current_->context, &scheduler_);
}

void EmulatedBlock::BlockBarrier() { running->Wait(State::kBlockBarrier); }
void EmulatedBlock::ClusterBarrier() { running->Wait(State::kClusterBarrier); }

char* EmulatedBlock::ClusterShared(int rank) {
  return running->cluster_.shared[static_cast<size_t>(rank)];
}

void EmulatedBlock::StartCopy(void* to, const void* from, int bytes) {
  Fiber& fiber = *running->current_;
  fiber.copies.push_back({to, from, bytes, fiber.groups});
}
void EmulatedBlock::CommitCopies() { ++running->current_->groups; }
void EmulatedBlock::WaitForCopies(int groups) {
  Fiber& fiber = *running->current_;
  FinishCopies(fiber, fiber.groups - groups);
}

void EmulatedBlock::FinishCopies(Fiber& fiber, int before_group) {
  size_t done = 0;
  for (; done < fiber.copies.size() && fiber.copies[done].group < before_group; ++done) {
    const Copy& copy = fiber.copies[done];
    if (copy.from != nullptr)
      std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.bytes));
    else
      std::memset(copy.to, 0, static_cast<size_t>(copy.bytes));
  }
  fiber.copies.erase(fiber.copies.begin(), fiber.copies.begin() + static_cast<ptrdiff_t>(done));
}

void EmulatedBlock::WaitForBarrier(const EmulatedBarrier* barrier, unsigned parity) {
  if (barrier->parity != parity) return;
  Fiber& fiber = *running->current_;
  fiber.awaited = barrier;
  fiber.awaited_parity = parity;
  running->Wait(State::kMemoryBarrier);
}

bool EmulatedBlock::ReleaseFromBarriers() {
  bool any = false;
  for (Fiber& fiber : fibers_) {
    if (fiber.state != State::kMemoryBarrier || fiber.awaited->parity == fiber.awaited_parity)
      continue;
    fiber.state = State::kReady;
    any = true;
  }
  return any;
}

void EmulatedBlock::StartLineCopy(void* to, const void* from, int bytes, EmulatedBarrier* barrier) {
  const auto unaligned = [](auto number) { return number % 16 != 0; };
  if (unaligned(bytes) || unaligned(reinterpret_cast<uintptr_t>(from)) ||
      unaligned(reinterpret_cast<uintptr_t>(to))) {
    std::abort();  // as the chip does
  }
  running->line_copies_.push_back({to, from, bytes, barrier});
}

// Every other block gets what it asked for last first.
bool EmulatedBlock::FinishLineCopy() {
  if (line_copies_.empty()) return false;
  const auto at = index_.x % 2 == 0 ? line_copies_.begin() : line_copies_.end() - 1;
  const LineCopy copy = *at;
  line_copies_.erase(at);
  std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.bytes));
  copy.barrier->missing_bytes -= copy.bytes;
  copy.barrier->EndPhaseIfComplete();
  return true;
}

void EmulatedBlock::WarpExchange(const void* own, int bytes, void* all) {
  EmulatedBlock& block = *running;
  Fiber& fiber = *block.current_;
  const size_t index = static_cast<size_t>(&fiber - block.fibers_.data());
  if (bytes > kSlotBytes) std::abort();
  // While a lane has yet to read the slots of this exchange, other lanes may reach the next
  // exchange, but not the one after it. So two sets of slots suffice.
  auto& slots = block.warps_[index / 32].slots[fiber.exchanges++ % 2];
  std::memcpy(slots[index % 32], own, static_cast<size_t>(bytes));
  block.Wait(State::kWarp);
  for (int lane = 0; lane < 32; ++lane) {
    std::memcpy(static_cast<char*>(all) + lane * bytes, slots[lane], static_cast<size_t>(bytes));
  }
}

// Runs every ready fiber until it waits or ends. In every other block the last thread runs first,
// so that a result that depends on the order of threads differs from block to block.
bool EmulatedBlock::Resume() {
  bool progress = false;
  for (size_t i = 0; i < fibers_.size(); ++i) {
    Fiber& fiber = fibers_[index_.x % 2 == 0 ? fibers_.size() - 1 - i : i];
    if (fiber.state != State::kReady) continue;
    current_ = &fiber;
    set_(fiber.thread, index_, &calls_);
    swapcontext(&scheduler_, &fiber.context);
    progress = true;
  }
  return progress;
}

// Makes fibers [begin, end) ready when all of them that have not ended wait in state `from`.
bool EmulatedBlock::Release(State from, size_t begin, size_t end) {
  bool any = false;
  for (size_t i = begin; i < end; ++i) {
    if (fibers_[i].state != from && fibers_[i].state != State::kDone) return false;
    any = any || fibers_[i].state == from;
  }
  if (!any) return false;
  if (from == State::kClusterBarrier) cluster_.barrier.arrive_and_wait();
  for (size_t i = begin; i < end; ++i) {
    if (fibers_[i].state == from) fibers_[i].state = State::kReady;
  }
  return true;
}

bool EmulatedBlock::Run(EmulatedIndex index) {
  running = this;
  index_ = index;
  std::memset(dynamic_.data(), 0xff, dynamic_.size());  // NaN: reads before writes show
  line_copies_.clear();
  for (Fiber& fiber : fibers_) Prepare(fiber);
  for (;;) {
    bool progress = Resume();
    for (size_t w = 0; w < warps_.size(); ++w) {
      progress |= Release(State::kWarp, w * 32, std::min(w * 32 + 32, fibers_.size()));
    }
    progress |= Release(State::kBlockBarrier, 0, fibers_.size());
    progress |= Release(State::kClusterBarrier, 0, fibers_.size());
    // A line arrives only when nobody can go on without it, so that reads before waits show.
    progress = progress || ReleaseFromBarriers() || FinishLineCopy();
    bool done = true;
    for (const Fiber& fiber : fibers_) done = done && fiber.state == State::kDone;
    if (done) return line_copies_.empty();
    if (!progress) return false;
  }
}

bool EmulatedBlock::HasWrittenBehind() const {
  const char* end = calls_.dynamic_shared + launch_.dynamic_shared_bytes;
  return std::any_of(end, dynamic_.data() + dynamic_.size(), [](char c) { return c != '\xff'; });
}

}  // namespace aicf::conformance
