#include "hw/storage/storage_transfer.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

#include "hw/memory/bound_pages.hpp"

namespace lanewise::hw {
namespace {

std::int64_t chunks_of(Bytes bytes, std::int64_t chunk) { return (bytes.value() + chunk - 1) / chunk; }

class HostTransfer : public StorageTransfer {
 public:
  HostTransfer(DriveRange const& range, IoDirection direction, std::byte* memory)
      : range_(range),
        direction_(direction),
        memory_(memory),
        chunk_(range.file().whole_blocks(kIoChunk.value())),
        tail_(Bytes(range.file().alignment()), std::nullopt),
        depth_(static_cast<std::size_t>(
            std::min(static_cast<std::int64_t>(kIoDepth), chunks_of(range.bytes(), chunk_) + 1))),  // and the tail
        queue_(make_io_queue(range.file(), depth_)) {}

  void run() override {
    auto const blocks = range_.bytes().value() / range_.file().alignment() * range_.file().alignment();
    auto const left = range_.bytes().value() - blocks;  // of the last block, which the memory may not hold whole
    auto* const tail = static_cast<std::byte*>(tail_.data());
    if (left > 0 && direction_ == IoDirection::ToDrive)
      std::memcpy(tail, memory_ + blocks, static_cast<std::size_t>(left));
    std::int64_t begun = 0;
    std::size_t under_way = 0;
    while (begun < range_.bytes().value() || under_way > 0) {
      for (; begun < range_.bytes().value() && under_way < depth_; ++under_way) {
        bool const is_tail = begun == blocks;
        auto const count = is_tail ? range_.file().alignment() : std::min(chunk_, blocks - begun);
        queue_->begin(
            {direction_, is_tail ? tail : memory_ + begun, range_.offset() + begun, count, is_tail ? left : count, 0});
        begun += count;
      }
      ended_.clear();
      queue_->end(ended_, IoQueue::Wait::ForOne);
      under_way -= ended_.size();
    }
    if (left > 0 && direction_ == IoDirection::FromDrive)
      std::memcpy(memory_ + blocks, tail, static_cast<std::size_t>(left));
  }
  [[nodiscard]] std::string_view queue_name() const override { return queue_->name(); }

 private:
  DriveRange range_;
  IoDirection direction_;
  std::byte* memory_;
  std::int64_t chunk_;
  BoundPages tail_;
  std::size_t depth_;
  std::unique_ptr<IoQueue> queue_;
  std::vector<std::size_t> ended_;
};

// The two legs of a chunk run at the same time as those of other chunks. A drive ends its requests in any order; copies
// end in the order in which they were begun.
class StagedTransfer : public StorageTransfer {
 public:
  StagedTransfer(DriveRange const& range, IoDirection direction, std::unique_ptr<Copier> copier,
                 std::vector<std::byte*> slots, Bytes chunk)
      : range_(range),
        direction_(direction),
        chunk_(chunk.value()),
        slots_(std::move(slots)),
        copier_(std::move(copier)),
        queue_(make_io_queue(range.file(), slots_.size())) {}

  void run() override {
    auto const chunks = chunks_of(range_.bytes(), chunk_);
    std::int64_t begun = 0;
    std::int64_t done = 0;
    free_.clear();
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) free_.push_back({slot, 0});
    while (done < chunks) {
      for (; begun < chunks && !free_.empty(); ++begun) {
        auto const slot = free_.back().slot;
        free_.pop_back();
        begin_first_leg({slot, begun});
      }
      auto const moved = end_first_legs() + end_second_legs(done);
      if (moved == 0 && !copying_.empty()) std::this_thread::yield();
    }
  }
  [[nodiscard]] std::string_view queue_name() const override { return queue_->name(); }

 private:
  struct SlotUse {
    std::size_t slot = 0;
    std::int64_t chunk = 0;
  };

  [[nodiscard]] std::int64_t bytes_of(std::int64_t chunk) const {
    return std::min(chunk_, range_.bytes().value() - chunk * chunk_);
  }

  void begin_io(SlotUse const& use) {
    uses_[use.slot] = use.chunk;
    ++io_under_way_;
    auto const bytes = bytes_of(use.chunk);
    queue_->begin({direction_, slots_[use.slot], range_.offset() + use.chunk * chunk_,
                   range_.file().whole_blocks(bytes), bytes, use.slot});
  }
  void begin_copy(SlotUse const& use) {
    auto const offset = static_cast<std::size_t>(use.chunk * chunk_);
    auto const bytes = static_cast<std::size_t>(bytes_of(use.chunk));
    if (direction_ == IoDirection::FromDrive)
      copier_->copy_in(slots_[use.slot], offset, bytes);
    else
      copier_->copy_out(slots_[use.slot], offset, bytes);
    copying_.push_back(use);
  }

  void begin_first_leg(SlotUse const& use) { direction_ == IoDirection::FromDrive ? begin_io(use) : begin_copy(use); }

  // Requests that have ended; waits for one where nothing else goes on.
  void take_ended_io() {
    ended_.clear();
    queue_->end(ended_, copying_.empty() && io_under_way_ > 0 ? IoQueue::Wait::ForOne : IoQueue::Wait::No);
    io_under_way_ -= ended_.size();
  }
  void take_ended_copies() {
    copied_.clear();
    for (auto const all = copier_->completed(); copies_ < all; ++copies_) {
      copied_.push_back(copying_.front());
      copying_.pop_front();
    }
  }

  // Both return how many chunks went on.
  std::size_t end_first_legs() {
    if (direction_ == IoDirection::FromDrive) {
      take_ended_io();
      for (auto const slot : ended_) begin_copy({slot, uses_[slot]});
      return ended_.size();
    }
    take_ended_copies();
    for (auto const& use : copied_) begin_io(use);
    return copied_.size();
  }
  std::size_t end_second_legs(std::int64_t& done) {
    if (direction_ == IoDirection::FromDrive) {
      take_ended_copies();
      for (auto const& use : copied_) free_.push_back(use);
      done += static_cast<std::int64_t>(copied_.size());
      return copied_.size();
    }
    take_ended_io();
    for (auto const slot : ended_) free_.push_back({slot, 0});
    done += static_cast<std::int64_t>(ended_.size());
    return ended_.size();
  }

  DriveRange range_;
  IoDirection direction_;
  std::int64_t chunk_;
  std::vector<std::byte*> slots_;
  std::vector<SlotUse> free_;
  std::vector<std::int64_t> uses_ = std::vector<std::int64_t>(slots_.size());  // by slot: its chunk
  std::deque<SlotUse> copying_;
  std::int64_t copies_ = 0;  // that have ended, of all runs
  std::size_t io_under_way_ = 0;
  std::vector<std::size_t> ended_;
  std::vector<SlotUse> copied_;
  std::unique_ptr<Copier> copier_;
  std::unique_ptr<IoQueue> queue_;
};

}  // namespace

std::unique_ptr<StorageTransfer> host_transfer(DriveRange const& range, IoDirection direction, std::byte* memory) {
  return std::make_unique<HostTransfer>(range, direction, memory);
}

std::unique_ptr<StorageTransfer> staged_transfer(DriveRange const& range, IoDirection direction,
                                                 std::unique_ptr<Copier> copier, std::vector<std::byte*> slots,
                                                 Bytes chunk) {
  return std::make_unique<StagedTransfer>(range, direction, std::move(copier), std::move(slots), chunk);
}

std::size_t ring_slots(Bytes bytes, Bytes chunk) {
  constexpr std::int64_t kMinSlots = 4;
  auto const wanted = std::max(kMinSlots, kIoChunk.value() * static_cast<std::int64_t>(kIoDepth) / chunk.value());
  return static_cast<std::size_t>(std::clamp(wanted, std::int64_t{1}, chunks_of(bytes, chunk.value())));
}

}  // namespace lanewise::hw
