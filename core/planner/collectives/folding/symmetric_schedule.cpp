#include "core/planner/collectives/folding/symmetric_schedule.hpp"

#include <algorithm>
#include <tuple>

namespace lanewise {
namespace {

constexpr Bytes kLargestElement{16};

}  // namespace

SymmetricSchedule::SymmetricSchedule(std::size_t members, Bytes bytes, std::size_t chunks)
    : members_(members), bytes_(bytes), chunks_(chunks) {
  for (auto& of_role : buffers_) of_role.assign(members, Buffer{{0, {}}});
}

Bytes SymmetricSchedule::offset_of(std::size_t chunk) const {
  if (chunk >= chunks_) return bytes_;
  return TransferSchedule::whole_elements(static_cast<double>(bytes_.value()) * static_cast<double>(chunk) /
                                          static_cast<double>(chunks_));
}

// Makes an entry begin at a chunk.
void SymmetricSchedule::cut(Buffer& buffer, std::size_t at) {
  auto const after = buffer.upper_bound(at);
  auto const before = std::prev(after);
  if (before->first != at) buffer.emplace_hint(after, at, before->second);
}

void SymmetricSchedule::add(std::size_t from, std::size_t to, std::size_t displacement, Run reads, Run writes,
                            bool reduces, BufferRole role) {
  Transfer transfer;
  transfer.from = static_cast<std::uint32_t>(from);
  transfer.to = static_cast<std::uint32_t>(to);
  transfer.displacement = displacement;
  transfer.writes = role;
  transfer.read_at = offset_of(reads.first);
  transfer.write_at = offset_of(writes.first);
  transfer.bytes = offset_of(reads.first + reads.count) - transfer.read_at;
  // Where there is less than an element for each chunk, some units have one: this stands for the busiest.
  if (transfer.bytes < kLargestElement) {
    transfer.bytes = std::min(kLargestElement, bytes_);
    transfer.read_at = std::min(transfer.read_at, bytes_ - transfer.bytes);
  }
  transfer.write_at = std::min(transfer.write_at, bytes_ - transfer.bytes);
  transfer.reduces = reduces;
  auto const id = static_cast<std::uint32_t>(transfers_.size());
  auto& source = buffers_[static_cast<std::size_t>(BufferRole::Data)][from];
  cut(source, reads.first);
  cut(source, reads.first + reads.count);
  for (auto at = source.find(reads.first); at != source.end() && at->first < reads.first + reads.count; ++at) {
    if (at->second.writer != kNone) transfer.after.push_back({at->second.writer, Wait::ReachedSender});
    at->second.readers.push_back(id);
  }
  auto& target = buffers_[static_cast<std::size_t>(role)][to];
  cut(target, writes.first);
  cut(target, writes.first + writes.count);
  auto const first = target.find(writes.first);
  auto const end = target.lower_bound(writes.first + writes.count);
  for (auto at = first; at != end; ++at) {
    if (at->second.writer != kNone) transfer.after.push_back({at->second.writer, Wait::ReachedReceiver});
    for (auto const reader : at->second.readers)
      if (reader != id) transfer.after.push_back({reader, Wait::LeftReceiver});
  }
  first->second = {id, {}};
  target.erase(std::next(first), end);
  std::sort(transfer.after.begin(), transfer.after.end());
  transfer.after.erase(std::unique(transfer.after.begin(), transfer.after.end()), transfer.after.end());
  transfers_.push_back(std::move(transfer));
}

void SymmetricSchedule::send(std::size_t from, std::size_t to, std::size_t displacement, Run reads, Run writes,
                             bool reduces) {
  add(from, to, displacement, reads, writes, reduces, BufferRole::Data);
}

void SymmetricSchedule::send_to_output(std::size_t from, std::size_t to, std::size_t displacement, Run reads,
                                       Run writes) {
  add(from, to, displacement, reads, writes, false, BufferRole::Output);
}

void SymmetricSchedule::wait_for(Transfer& transfer, Dependency on) {
  auto const position = std::lower_bound(transfer.after.begin(), transfer.after.end(), on);
  if (position == transfer.after.end() || *position != on) transfer.after.insert(position, on);
}

void SymmetricSchedule::serialise_per_link(std::size_t first) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, std::uint32_t> last;
  for (auto id = static_cast<std::uint32_t>(first); id < transfers_.size(); ++id) {
    auto& transfer = transfers_[id];
    auto const [entry, is_first] = last.try_emplace({transfer.from, transfer.to, transfer.displacement}, id);
    if (!is_first) wait_for(transfer, {std::exchange(entry->second, id), Wait::LeftSender});
  }
}

void SymmetricSchedule::limit_outstanding(std::size_t width) {
  std::array<std::vector<std::vector<std::uint32_t>>, 2> issued;  // within units and between them, by member
  for (auto& of_members : issued) of_members.resize(members_);
  for (std::uint32_t id = 0; id < transfers_.size(); ++id) {
    auto& transfer = transfers_[id];
    auto& own = issued[transfer.displacement == 0 ? 0 : 1][transfer.reduces ? transfer.to : transfer.from];
    if (own.size() >= width)
      wait_for(transfer, {own[own.size() - width], transfer.reduces ? Wait::ReachedReceiver : Wait::LeftSender});
    own.push_back(id);
  }
}

void SymmetricSchedule::chain_after(std::size_t first, std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> last(members_, kNone);
  for (auto id = begin; id < end; ++id) last[transfers_[id].from] = static_cast<std::uint32_t>(id);
  for (auto id = first; id < transfers_.size(); ++id)
    if (auto const before = last[transfers_[id].from]; before != kNone)
      wait_for(transfers_[id], {before, Wait::LeftSender});
}

}  // namespace lanewise
