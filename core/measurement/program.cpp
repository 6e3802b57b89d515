#include "core/measurement/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/io/word.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 3> kOrders{"listed", "rotated", "unordered"};
constexpr std::array<std::string_view, 4> kStreams{"own", "source", "destination", "legacy_default"};
constexpr std::array<std::string_view, 2> kWaits{"nothing", "destination"};
constexpr std::array<std::string_view, 4> kTimed{"all", "last_source", "last_destination", "mean"};

std::string id_of(std::size_t flow, int round) { return fmt::format("{}.{}", flow, round); }

// The order of the flows in one round.
std::vector<std::size_t> order_of(MeasuredProgram const& program, std::vector<Request> const& flows,
                                  std::mt19937& random) {
  std::vector<std::size_t> order(flows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (program.issue == IssueOrder::Unordered) {
    for (auto left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  } else if (program.issue == IssueOrder::Rotated) {
    std::vector<Place> places;  // in the order in which the file names them
    auto const position = [&](Place const& place) {
      auto const found = std::find(places.begin(), places.end(), place);
      if (found == places.end()) places.push_back(place);
      return std::find(places.begin(), places.end(), place) - places.begin();
    };
    for (auto const& flow : flows) position(flow.from);
    for (auto const& flow : flows) position(flow.to);
    auto const count = static_cast<std::ptrdiff_t>(places.size());
    auto const shift = [&](std::size_t i) { return (position(flows[i].to) - position(flows[i].from) + count) % count; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return shift(a) < shift(b); });
  }
  return order;
}

// Whether a copy must wait for one that was issued before it.
bool follows(MeasuredProgram const& program, Request const& before, Request const& copy) {
  bool const into_same = before.to == copy.to;
  if (program.waits == CopyWaits::Destination && into_same) return true;
  switch (program.stream) {
    case CopyStream::Own: return false;
    case CopyStream::Source: return before.from == copy.from;
    case CopyStream::Destination: return into_same;
    case CopyStream::LegacyDefault:
      return into_same || before.from == copy.from || before.to == copy.from || before.from == copy.to;
  }
  return false;
}

}  // namespace

std::string_view to_string(IssueOrder order) { return kOrders.at(static_cast<std::size_t>(order)); }
std::string_view to_string(CopyStream stream) { return kStreams.at(static_cast<std::size_t>(stream)); }
std::string_view to_string(CopyWaits waits) { return kWaits.at(static_cast<std::size_t>(waits)); }
std::string_view to_string(TimedBy timed) { return kTimed.at(static_cast<std::size_t>(timed)); }
Parsed<IssueOrder> parse_issue_order(std::string_view text) {
  return parse_word<IssueOrder>(text, kOrders, "an order");
}
Parsed<CopyStream> parse_copy_stream(std::string_view text) {
  return parse_word<CopyStream>(text, kStreams, "a stream");
}
Parsed<CopyWaits> parse_copy_waits(std::string_view text) { return parse_word<CopyWaits>(text, kWaits, "a wait"); }
Parsed<TimedBy> parse_timed_by(std::string_view text) { return parse_word<TimedBy>(text, kTimed, "a way of timing"); }

std::vector<Request> issued(MeasuredProgram const& program, std::vector<Request> const& flows, std::mt19937& random) {
  std::vector<Request> requests;
  for (int round = 0; round < program.rounds; ++round)
    for (auto const flow : order_of(program, flows, random)) {
      auto request = flows[flow];
      request.id = id_of(flow, round);
      // A flow's own stream is the same in every round.
      for (std::size_t i = 0; i < requests.size(); ++i) {
        bool const own = requests[i].from == request.from && requests[i].to == request.to;
        if (own || follows(program, requests[i], request)) request.after.push_back(i);
      }
      requests.push_back(std::move(request));
    }
  return requests;
}

double program_rate(MeasuredProgram const& program, std::vector<Request> const& flows, Trace const& trace) {
  std::vector<Seconds> ends(flows.size(), Seconds(0));
  for (std::size_t flow = 0; flow < flows.size(); ++flow)
    for (auto const& step : trace.steps)
      if (step.transfer == id_of(flow, program.rounds - 1)) ends[flow] = std::max(ends[flow], step.end);
  auto const moved = [&](Request const& flow) { return Bytes(flow.bytes.value() * program.rounds); };
  if (program.timed == TimedBy::Mean) {
    double sum = 0;
    for (std::size_t flow = 0; flow < flows.size(); ++flow) sum += (moved(flows[flow]) / ends[flow]).value();
    return sum;
  }
  Bytes all{0};
  Seconds end{0};
  for (std::size_t flow = 0; flow < flows.size(); ++flow) {
    all += moved(flows[flow]);
    bool const counts =
        program.timed == TimedBy::All || (program.timed == TimedBy::LastSource ? flows[flow].from == flows.back().from
                                                                               : flows[flow].to == flows.back().to);
    if (counts) end = std::max(end, ends[flow]);
  }
  return (all / end).value();
}

}  // namespace lanewise
