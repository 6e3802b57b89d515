#include "hw/program/contents.hpp"

#include <algorithm>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

class Parts {
 public:
  explicit Parts(Collective const& collective)
      : bytes_(collective.bytes.value()), count_(static_cast<std::int64_t>(collective.among.size())) {}

  // Where the part of a participant begins: the planner cuts at multiples of 16 bytes.
  [[nodiscard]] Bytes begin(std::size_t part) const {
    constexpr std::int64_t kElement = 16;
    auto const i = static_cast<std::int64_t>(part);
    return Bytes(i == count_ ? bytes_ : bytes_ * i / count_ / kElement * kElement);
  }
  // Participant `part`'s part, at its offset in the data, summed over participants [first, first + count).
  [[nodiscard]] Content of(std::size_t part, std::size_t first, std::size_t count) const {
    return {begin(part), begin(part + 1) - begin(part), begin(part), first, count};
  }

 private:
  std::int64_t bytes_, count_;
};

// A collective and its buffers among the plan's.
struct Buffers {
  Collective const& collective;
  std::size_t first = 0;   // of the participants' data
  std::size_t result = 0;  // of their results
};

std::vector<Buffers> collectives_of(Plan const& plan) {
  if (plan.collective) return {{*plan.collective, 0, first_result(plan.buffers, *plan.collective)}};
  if (plan.collectives.empty()) throw PlanError("steps share buffers, but no collective says what these hold");
  std::vector<Buffers> all;
  for (auto const& named : plan.collectives) {
    auto const first = index(named.first);
    all.push_back({named.collective, first, first + first_result(buffers_of(plan, named), named.collective)});
  }
  return all;
}

// In the sender's data the piece for `to` lies behind the pieces for earlier participants; in the receiver's result it
// lies behind the pieces from earlier participants.
Content piece_of_all_to_all_v(Collective const& collective, std::size_t from, std::size_t to) {
  Content content{Bytes(0), collective.sizes.at(from).at(to), Bytes(0), from, 1};
  for (std::size_t other = 0; other < from; ++other) content.at += collective.sizes[other][to];
  for (std::size_t other = 0; other < to; ++other) content.from += collective.sizes[from][other];
  return content;
}

void add(std::vector<Content>& contents, Content const& content) {
  if (content.bytes > Bytes(0)) contents.push_back(content);
}

std::vector<Content> wanted(Collective const& collective, std::size_t who) {
  auto const n = collective.among.size();
  Parts const parts(collective);
  std::vector<Content> contents;
  switch (collective.op) {
    case CollectiveOp::Broadcast:
    case CollectiveOp::Chain: add(contents, {Bytes(0), collective.bytes, Bytes(0), collective.root, 1}); break;
    case CollectiveOp::Scatter: add(contents, parts.of(who, collective.root, 1)); break;
    case CollectiveOp::ReduceScatter: add(contents, parts.of(who, 0, n)); break;
    case CollectiveOp::Reduce:
      if (who != collective.root) break;
      [[fallthrough]];
    case CollectiveOp::AllReduce: add(contents, {Bytes(0), collective.bytes, Bytes(0), 0, n}); break;
    case CollectiveOp::Gather:
      if (who != collective.root) break;
      [[fallthrough]];
    case CollectiveOp::AllGather:
      for (std::size_t part = 0; part < n; ++part) add(contents, parts.of(part, part, 1));
      break;
    case CollectiveOp::AllToAll: {
      auto const block = collective.bytes.value() / static_cast<std::int64_t>(n);
      for (std::size_t other = 0; other < n; ++other)
        add(contents, {Bytes(static_cast<std::int64_t>(other) * block), Bytes(block),
                       Bytes(static_cast<std::int64_t>(who) * block), other, 1});
      break;
    }
    case CollectiveOp::AllToAllV:
      for (std::size_t other = 0; other < n; ++other) add(contents, piece_of_all_to_all_v(collective, other, who));
      break;
  }
  return contents;
}

std::vector<Content> held(Collective const& collective, std::size_t who) {
  std::vector<Content> contents;
  switch (collective.op) {
    case CollectiveOp::Broadcast:
    case CollectiveOp::Chain:
    case CollectiveOp::Scatter:
      if (who != collective.root) break;
      [[fallthrough]];
    default: add(contents, {Bytes(0), held_by(collective, who), Bytes(0), who, 1}); break;
    case CollectiveOp::Gather:
    case CollectiveOp::AllGather: add(contents, Parts(collective).of(who, who, 1)); break;
  }
  return contents;
}

}  // namespace

Contents initial_contents(Plan const& plan) {
  Contents contents(plan.buffers.size());
  for (auto const& of : collectives_of(plan))
    for (std::size_t who = 0; who < of.collective.among.size(); ++who)
      contents.at(of.first + who) = held(of.collective, who);
  return contents;
}

Contents expected_contents(Plan const& plan) {
  Contents contents(plan.buffers.size());
  for (auto const& of : collectives_of(plan))
    for (std::size_t who = 0; who < of.collective.among.size(); ++who)
      contents.at(of.result + who) = wanted(of.collective, who);
  return contents;
}

}  // namespace lanewise::hw
