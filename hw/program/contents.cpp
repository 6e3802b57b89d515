#include "hw/program/contents.hpp"

#include "core/io/error.hpp"

namespace lanewise::hw {
namespace {

class Parts {
 public:
  explicit Parts(Collective const& collective)
      : bytes_(collective.bytes.value()), count_(static_cast<std::int64_t>(collective.among.size())) {}

  // Where the part of a participant begins: the planner cuts at whole 16 bytes.
  [[nodiscard]] Bytes begin(std::size_t part) const {
    constexpr std::int64_t kElement = 16;
    auto const i = static_cast<std::int64_t>(part);
    return Bytes(i == count_ ? bytes_ : bytes_ * i / count_ / kElement * kElement);
  }
  // The part of `part`, where it lies in everybody's data, as `first` and the next `count` have it.
  [[nodiscard]] Content of(std::size_t part, std::size_t first, std::size_t count) const {
    return {begin(part), begin(part + 1) - begin(part), begin(part), first, count};
  }

 private:
  std::int64_t bytes_, count_;
};

Collective const& collective_of(Plan const& plan) {
  if (!plan.collective) throw PlanError("steps share buffers, but no collective says what these hold");
  return *plan.collective;
}

void add(std::vector<Content>& contents, Content const& content) {
  if (content.bytes > Bytes(0)) contents.push_back(content);
}

std::vector<Content> wanted(Collective const& collective, std::size_t who) {
  auto const n = collective.among.size();
  Parts const parts(collective);
  std::vector<Content> contents;
  switch (collective.op) {
    case CollectiveOp::Broadcast: add(contents, {Bytes(0), collective.bytes, Bytes(0), collective.root, 1}); break;
    case CollectiveOp::Scatter: add(contents, parts.of(who, collective.root, 1)); break;
    case CollectiveOp::ReduceScatter: add(contents, parts.of(who, 0, n)); break;
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
  }
  return contents;
}

}  // namespace

Contents contents_at_first(Plan const& plan) {
  auto const& collective = collective_of(plan);
  Parts const parts(collective);
  Contents contents(plan.buffers.size());
  for (std::size_t who = 0; who < collective.among.size(); ++who) switch (collective.op) {
      case CollectiveOp::Broadcast:
      case CollectiveOp::Scatter:
        if (who == collective.root) add(contents.at(who), {Bytes(0), collective.bytes, Bytes(0), who, 1});
        break;
      case CollectiveOp::Gather:
      case CollectiveOp::AllGather: add(contents.at(who), parts.of(who, who, 1)); break;
      default: add(contents.at(who), {Bytes(0), collective.bytes, Bytes(0), who, 1}); break;
    }
  return contents;
}

Contents contents_in_the_end(Plan const& plan) {
  auto const& collective = collective_of(plan);
  auto const n = collective.among.size();
  // The result is in the data itself, or in a second buffer of each where there is one.
  auto const results = plan.buffers.size() - n;
  Contents contents(plan.buffers.size());
  for (std::size_t who = 0; who < n; ++who) contents.at(results + who) = wanted(collective, who);
  return contents;
}

}  // namespace lanewise::hw
