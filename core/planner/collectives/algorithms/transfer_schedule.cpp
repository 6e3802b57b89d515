#include "core/planner/collectives/algorithms/transfer_schedule.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace lanewise {

Bytes TransferSchedule::whole_elements(double offset) {
  constexpr std::int64_t kElement = 16;
  return Bytes(static_cast<std::int64_t>(offset) / kElement * kElement);
}

Bytes TransferSchedule::offset_of(std::size_t chunk) const {
  if (chunk >= chunks_) return bytes_;
  if (!offsets_.empty()) return offsets_[chunk];
  return whole_elements(static_cast<double>(bytes_.value()) * static_cast<double>(chunk) /
                        static_cast<double>(chunks_));
}

void TransferSchedule::add_read(Accesses& accesses, Transfer& transfer, std::uint32_t id) {
  if (accesses.writer != kNone) transfer.after.push_back(accesses.writer);
  accesses.readers.push_back(id);
}

void TransferSchedule::add_write(Accesses& accesses, Transfer& transfer, std::uint32_t id) {
  if (accesses.writer != kNone) transfer.after.push_back(accesses.writer);
  transfer.after.insert(transfer.after.end(), accesses.readers.begin(), accesses.readers.end());
  accesses.readers.clear();
  accesses.writer = id;
}

void TransferSchedule::append(Transfer transfer) {
  std::sort(transfer.after.begin(), transfer.after.end());
  transfer.after.erase(std::unique(transfer.after.begin(), transfer.after.end()), transfer.after.end());
  transfers_.push_back(std::move(transfer));
}

void TransferSchedule::wait_for(Transfer& transfer, std::uint32_t before) {
  auto const position = std::lower_bound(transfer.after.begin(), transfer.after.end(), before);
  if (position == transfer.after.end() || *position != before) transfer.after.insert(position, before);
}

void TransferSchedule::send(std::size_t from, std::size_t to, Chunks const& chunks, bool reduces,
                            std::optional<std::uint32_t> leg) {
  for (std::size_t i = 0; i < chunks.size();) {
    auto end = i + 1;
    while (end < chunks.size() && chunks[end] == chunks[end - 1] + 1) ++end;
    Transfer transfer;
    transfer.from = static_cast<std::uint32_t>(from);
    transfer.to = static_cast<std::uint32_t>(to);
    transfer.read_at = transfer.write_at = offset_of(chunks[i]);
    transfer.bytes = offset_of(chunks[end - 1] + 1) - transfer.read_at;
    transfer.reduces = reduces;
    transfer.leg = leg;
    auto const id = static_cast<std::uint32_t>(transfers_.size());
    if (transfer.bytes > Bytes(0)) {
      for (auto k = i; k < end; ++k) {
        add_read(data_[from * chunks_ + chunks[k]], transfer, id);
        add_write(data_[to * chunks_ + chunks[k]], transfer, id);
      }
      append(std::move(transfer));
    }
    i = end;
  }
}

void TransferSchedule::send_to_output(std::size_t from, std::size_t to, std::uint32_t chunk, std::uint32_t target,
                                      bool reduces) {
  if (output_.empty()) output_.resize(participants_ * chunks_);
  Transfer transfer;
  transfer.from = static_cast<std::uint32_t>(from);
  transfer.to = static_cast<std::uint32_t>(to);
  transfer.writes = BufferRole::Output;
  transfer.read_at = offset_of(chunk);
  transfer.write_at = offset_of(target);
  transfer.bytes = std::min(offset_of(chunk + 1) - transfer.read_at, offset_of(target + 1) - transfer.write_at);
  transfer.reduces = reduces;
  if (transfer.bytes == Bytes(0)) return;
  auto const id = static_cast<std::uint32_t>(transfers_.size());
  add_read(data_[from * chunks_ + chunk], transfer, id);
  add_write(output_[to * chunks_ + target], transfer, id);
  append(std::move(transfer));
}

void TransferSchedule::send_block_to_output(std::size_t from, std::size_t to, Bytes read_at, Bytes write_at,
                                            Bytes bytes) {
  if (bytes == Bytes(0)) return;
  Transfer transfer;
  transfer.from = static_cast<std::uint32_t>(from);
  transfer.to = static_cast<std::uint32_t>(to);
  transfer.writes = BufferRole::Output;
  transfer.read_at = read_at;
  transfer.write_at = write_at;
  transfer.bytes = bytes;
  append(std::move(transfer));
}

void TransferSchedule::serialise_per_link(std::size_t first, std::size_t outstanding) {
  using Link = std::tuple<std::uint32_t, std::uint32_t, std::optional<std::uint32_t>>;
  std::map<Link, std::deque<std::uint32_t>> last;  // up to `outstanding`
  for (auto id = static_cast<std::uint32_t>(first); id < transfers_.size(); ++id) {
    auto& transfer = transfers_[id];
    auto& before = last[{transfer.from, transfer.to, transfer.leg}];
    if (before.size() == outstanding) {
      wait_for(transfer, before.front());
      before.pop_front();
    }
    before.push_back(id);
  }
}

void TransferSchedule::limit_outstanding(std::size_t width, std::vector<std::vector<std::size_t>> const& groups) {
  std::vector<std::size_t> group(participants_);
  std::iota(group.begin(), group.end(), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (auto const member : groups[g]) group[member] = g;
  enum Reach : std::uint8_t { kInside, kOutside, kReaches };
  std::vector<std::array<std::vector<std::uint32_t>, kReaches>> issued(participants_);
  for (std::uint32_t id = 0; id < transfers_.size(); ++id) {
    auto& transfer = transfers_[id];
    auto& own = issued[transfer.reduces ? transfer.to : transfer.from]
                      [group[transfer.from] == group[transfer.to] ? kInside : kOutside];
    if (own.size() >= width) wait_for(transfer, own[own.size() - width]);
    own.push_back(id);
  }
}

TransferSchedule TransferSchedule::reversed_as_reduction() const {
  std::vector<Bytes> offsets;
  for (std::size_t chunk = 0; chunk < chunks_; ++chunk) offsets.push_back(offset_of(chunk));
  auto const first_from = [&](Bytes offset) {
    return static_cast<std::uint32_t>(std::lower_bound(offsets.begin(), offsets.end(), offset) - offsets.begin());
  };
  TransferSchedule reversed(participants_, bytes_, offsets);
  auto const reversed_id = [&](std::size_t id) { return static_cast<std::uint32_t>(transfers_.size() - 1 - id); };
  for (auto id = transfers_.size(); id-- > 0;) {
    auto const& transfer = transfers_[id];
    auto const first = first_from(transfer.read_at);
    Chunks chunks(first_from(transfer.read_at + transfer.bytes) - first);
    std::iota(chunks.begin(), chunks.end(), first);
    reversed.send(transfer.to, transfer.from, chunks, true);
  }
  for (std::size_t id = 0; id < transfers_.size(); ++id)
    for (auto const before : transfers_[id].after) wait_for(reversed.transfers_[reversed_id(before)], reversed_id(id));
  return reversed;
}

void TransferSchedule::chain_after(std::size_t first, std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> last(participants_, kNone);
  for (auto id = begin; id < end; ++id) last[transfers_[id].from] = static_cast<std::uint32_t>(id);
  for (auto id = first; id < transfers_.size(); ++id)
    if (last[transfers_[id].from] != kNone) wait_for(transfers_[id], last[transfers_[id].from]);
}

}  // namespace lanewise
