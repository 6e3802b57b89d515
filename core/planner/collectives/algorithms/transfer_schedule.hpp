#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "lanewise/units/quantity.hpp"

namespace lanewise {

// Indices of chunks, ascending. As in NCCL and MSCCL, a chunk is the unit in which an algorithm moves data.
using Chunks = std::vector<std::uint32_t>;

// What an algorithm produces: the transfers of a collective between numbered participants, in order, before any of them
// has a way. Every buffer is divided into the same chunks; a transfer sends some of them from one participant to
// another, where they replace or are added to what is there. Dependencies between transfers follow from the chunks that
// they read and write and are found here, so no algorithm can forget one.
class TransferSchedule {
 public:
  enum class BufferRole : std::uint8_t {
    Data,    // each participant's own buffer, input and mostly result as well
    Output,  // a second buffer for the result, of algorithms that cannot work in place
  };
  struct Transfer {
    std::uint32_t from = 0, to = 0;  // participants
    BufferRole reads = BufferRole::Data, writes = BufferRole::Data;
    Bytes read_at{0}, write_at{0}, bytes{0};
    bool reduces = false;                // adds to what is there instead of replacing it
    std::vector<std::uint32_t> after;    // earlier transfers, ascending
    std::optional<std::uint32_t> leg{};  // the way it takes, if that is decided already
  };

  // `chunks` of nearly equal size.
  TransferSchedule(std::size_t participants, Bytes bytes, std::size_t chunks)
      : bytes_(bytes), chunks_(chunks), data_(participants * chunks), output_(0), participants_(participants) {}
  // Chunks of any sizes; `offsets` says where each begins, ascending.
  TransferSchedule(std::size_t participants, Bytes bytes, std::vector<Bytes> offsets)
      : bytes_(bytes),
        chunks_(offsets.size()),
        offsets_(std::move(offsets)),
        data_(participants * chunks_),
        output_(0),
        participants_(participants) {}

  // Sends chunks to the same places at another participant, one transfer for each run of neighbouring chunks.
  void send(std::size_t from, std::size_t to, Chunks const& chunks, bool reduces,
            std::optional<std::uint32_t> leg = {});
  // Sends a chunk of `from`'s data to the place of chunk `target` in the output of `to`, which may be `from` itself.
  void send_to_output(std::size_t from, std::size_t to, std::uint32_t chunk, std::uint32_t target, bool reduces);
  // Sends bytes that no other transfer reads or writes (all_to_all_v).
  void send_block_to_output(std::size_t from, std::size_t to, Bytes read_at, Bytes write_at, Bytes bytes);

  // Serialises the transfers from number `first` on between the same two participants (on the same leg): each waits for
  // the one before it, or the one `outstanding` before it, so the first chunk arrives early and can be forwarded.
  void serialise_per_link(std::size_t first = 0, std::size_t outstanding = 1);

  // Limits outstanding transfers per participant: `width` inside its group and `width` outside. A transfer belongs to
  // its sender, or to its receiver if it reduces. Participants in no group form groups of their own. The cost of
  // simulating a large plan grows with the number of concurrent flows, and a NIC gains nothing from hundreds of them.
  void limit_outstanding(std::size_t width, std::vector<std::vector<std::size_t>> const& groups);

  // The reduction to the root of a broadcast of this schedule: every transfer the other way round, last first, and
  // added to what is there. Each participant must receive a chunk at most once, and none may be in an output.
  [[nodiscard]] TransferSchedule reversed_as_reduction() const;

  // Makes each transfer from number `first` on wait for the last one that its sender sends in [begin, end).
  void chain_after(std::size_t first, std::size_t begin, std::size_t end);

  [[nodiscard]] std::vector<Transfer> const& transfers() const { return transfers_; }
  [[nodiscard]] std::size_t participants() const { return participants_; }
  [[nodiscard]] bool has_output() const { return !output_.empty(); }
  // `offset` rounded down to a multiple of 16 bytes, the size of the largest element: where a chunk may begin.
  [[nodiscard]] static Bytes whole_elements(double offset);
  // Where a chunk begins; the end of the data for the number of chunks.
  [[nodiscard]] Bytes offset_of(std::size_t chunk) const;

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  // The accesses to one chunk of one buffer that later transfers may depend on.
  struct Accesses {
    std::uint32_t writer = kNone;        // the last transfer that wrote it
    std::vector<std::uint32_t> readers;  // since then
  };
  static void add_read(Accesses& accesses, Transfer& transfer, std::uint32_t id);
  static void add_write(Accesses& accesses, Transfer& transfer, std::uint32_t id);
  void append(Transfer transfer);
  static void wait_for(Transfer& transfer, std::uint32_t before);  // for a transfer that is appended already

  Bytes bytes_;
  std::size_t chunks_;
  std::vector<Bytes> offsets_;  // empty if all chunks are of equal size
  std::vector<Accesses> data_;
  std::vector<Accesses> output_;
  std::size_t participants_;
  std::vector<Transfer> transfers_;
};

}  // namespace lanewise
