#pragma once
// A collective as moves between numbered participants, before any of them has a way: what the algorithms produce. The
// data is cut into cells; a move carries some of them from one participant to another, and adds or replaces. What has
// to wait for what follows from the cells alone and is found here, so that no algorithm can forget it.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/units/quantity.hpp"

namespace lanewise {

using Chunks = std::vector<std::uint32_t>;  // ascending

class TransferSchedule {
 public:
  enum class BufferRole : std::uint8_t {
    Data,
    Output
  };  // a participant's own buffer, and where it is not there the result
  struct Transfer {
    std::uint32_t from = 0, to = 0;  // participants
    BufferRole reads = BufferRole::Data, writes = BufferRole::Data;
    Bytes read_at{0}, write_at{0}, bytes{0};
    bool reduces = false;
    std::vector<std::uint32_t> after;    // earlier moves
    std::optional<std::uint32_t> leg{};  // the way it takes, where that is settled
  };

  TransferSchedule(std::size_t participants, Bytes bytes, std::size_t cells)
      : bytes_(bytes), cells_(cells), data_(participants * cells), output_(0), participants_(participants) {}
  // Chunks of any sizes: where each begins, ascending.
  TransferSchedule(std::size_t participants, Bytes bytes, std::vector<Bytes> begins)
      : bytes_(bytes),
        cells_(begins.size()),
        begins_(std::move(begins)),
        data_(participants * cells_),
        output_(0),
        participants_(participants) {}

  // Carries cells to the same cells of another participant, one move for each run of neighbouring cells.
  void send(std::size_t from, std::size_t to, Chunks const& cells, bool reduces, std::optional<std::uint32_t> leg = {});
  // A cell of one's data to a cell of another's output, or of one's own.
  void send_to_output(std::size_t from, std::size_t to, std::uint32_t cell, std::uint32_t as, bool reduces);

  // all_to_all_v: bytes that nothing else reads or writes.
  void send_block_to_output(std::size_t from, std::size_t to, Bytes read_at, Bytes write_at, Bytes bytes);

  // Lets each move from `first` on wait for the one before it between the same two (on the same leg), so that the first
  // arrives early and can go on.
  void serialise_per_link(std::size_t first = 0);

  // Lets no participant have more than so many moves within its group under way, nor out of it, its own being what it
  // sends or adds up: each waits for the one that many before it. Big plans are simulated by what is under way at once,
  // and a NIC gains nothing from hundreds of flows. Who is in no group is one by itself.
  void limit_outstanding(std::size_t width, std::vector<std::vector<std::size_t>> const& groups);

  // Lets each participant's moves from `first` on wait for what it sends last in the list of [begin, end).
  void chain_after(std::size_t first, std::size_t begin, std::size_t end);

  [[nodiscard]] std::vector<Transfer> const& list() const { return list_; }
  [[nodiscard]] std::vector<Transfer> take() { return std::move(list_); }
  [[nodiscard]] std::size_t participants() const { return participants_; }
  [[nodiscard]] bool has_output() const { return !output_.empty(); }
  // The whole elements, of up to 16 bytes, below a place in a buffer: where cells begin.
  [[nodiscard]] static Bytes whole_elements(double below);
  // Where a cell begins.
  [[nodiscard]] Bytes begin_of(std::size_t cell) const;

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  struct Use {
    std::uint32_t written = kNone;       // the last move that wrote it
    std::vector<std::uint32_t> readers;  // since then
  };
  void reads(Use& use, Transfer& move, std::uint32_t id) const;
  static void writes(Use& use, Transfer& move, std::uint32_t id);
  void finish(Transfer move);
  static void wait_for(Transfer& move, std::uint32_t before);  // of a move in the list

  Bytes bytes_;
  std::size_t cells_;
  std::vector<Bytes> begins_;  // of cells; empty: all are as large
  std::vector<Use> data_;
  std::vector<Use> output_;
  std::size_t participants_;
  std::vector<Transfer> list_;
};

// ---------------------------------------------------------------------------------------------------- building blocks
// Of participants `who`; `part[p]` is what the p-th of them ends or begins with.

void ring_reduce_scatter(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part);
void ring_all_gather(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part);
void direct_reduce_scatter(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part);
void direct_all_gather(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part);
// A power of two of them.
void recursive_halving_reduce_scatter(TransferSchedule& moves, std::span<std::size_t const> who,
                                      std::span<Chunks const> part);
void recursive_doubling_all_gather(TransferSchedule& moves, std::span<std::size_t const> who,
                                   std::span<Chunks const> part);
// A binary tree over `who` with the root in its middle: up to it, cell after cell; and down from it.
void tree_reduce(TransferSchedule& moves, std::span<std::size_t const> who, Chunks const& cells);
void tree_broadcast(TransferSchedule& moves, std::span<std::size_t const> who, Chunks const& cells);
// From the first along the chain, cell after cell.
void chain_broadcast(TransferSchedule& moves, std::span<std::size_t const> who, Chunks const& cells);

}  // namespace lanewise
