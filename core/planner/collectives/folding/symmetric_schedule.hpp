#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "core/planner/collectives/folding/unit_grid.hpp"

namespace lanewise {

// A schedule in which all units of a grid do the same: every transfer is written down once, as one unit sees it, and
// stands for one by each unit. It goes from a member of the unit to a member of the unit at a displacement. Chunks are
// numbered as the unit sees them, too: chunk 0 of a part that has a chunk for each unit is its own, the one of the unit
// at displacement d is chunk d.
//
// Dependencies follow from the chunks that transfers read and write, as in TransferSchedule.
class SymmetricSchedule {
 public:
  using BufferRole = TransferSchedule::BufferRole;

  // Whose earlier transfer: one that left this transfer's sender or receiver, or one that arrived there.
  enum class Wait : std::uint8_t { LeftSender, ReachedSender, LeftReceiver, ReachedReceiver };
  struct Dependency {
    std::uint32_t before = 0;  // number of an earlier transfer
    Wait wait = Wait::LeftSender;
    friend auto operator<=>(Dependency const&, Dependency const&) = default;
  };
  struct Transfer {
    std::uint32_t from = 0, to = 0;  // members of their units
    std::size_t displacement = 0;    // of the receiving unit
    BufferRole writes = BufferRole::Data;
    Bytes read_at{0}, write_at{0}, bytes{0};
    bool reduces = false;
    std::vector<Dependency> after;  // ascending
  };
  // Neighbouring chunks.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 1;
  };

  // `bytes` in so many chunks of nearly equal size.
  SymmetricSchedule(std::size_t members, Bytes bytes, std::size_t chunks);

  // Sends a member's chunks to a member of the unit at a displacement, which sees them as `writes`.
  void send(std::size_t from, std::size_t to, std::size_t displacement, Run reads, Run writes, bool reduces);
  // The same into the receiver's output.
  void send_to_output(std::size_t from, std::size_t to, std::size_t displacement, Run reads, Run writes);

  // As TransferSchedule has them.
  void serialise_per_link(std::size_t first);
  void limit_outstanding(std::size_t width);
  void chain_after(std::size_t first, std::size_t begin, std::size_t end);

  [[nodiscard]] std::vector<Transfer> const& transfers() const { return transfers_; }

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  // The accesses to neighbouring chunks that later transfers may depend on.
  struct Accesses {
    std::uint32_t writer = kNone;
    std::vector<std::uint32_t> readers;  // since then
  };
  using Buffer = std::map<std::size_t, Accesses>;  // by the first chunk; up to the next

  static void cut(Buffer& buffer, std::size_t at);
  void add(std::size_t from, std::size_t to, std::size_t displacement, Run reads, Run writes, bool reduces,
           BufferRole role);
  [[nodiscard]] Bytes offset_of(std::size_t chunk) const;
  static void wait_for(Transfer& transfer, Dependency on);

  std::size_t members_;
  Bytes bytes_;
  std::size_t chunks_;
  std::array<std::vector<Buffer>, 2> buffers_;  // by role and member
  std::vector<Transfer> transfers_;
};

}  // namespace lanewise
