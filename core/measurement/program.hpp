#pragma once
// How a benchmark issued several copies and what it timed, so that the model runs what was measured: published totals
// often show the waits of their programs and not the links.
//
//   MeasuredProgram program{.waits = CopyWaits::Destination, .timed = TimedBy::LastSource, .rounds = 4};
//   auto const trace = executor.run(planner.plan(issued(program, requests)));
//   auto const total = program_rate(program, requests, trace);
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "lanewise/plan/trace.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

// The order in which copies are issued. Listed: as in the file. Rotated: each source first to its next neighbour.
// Unordered: nobody fixes it.
enum class IssueOrder : std::uint8_t { Listed, Rotated, Unordered };
std::string_view to_string(IssueOrder order);
Parsed<IssueOrder> parse_issue_order(std::string_view text);

// What a copy follows because of its stream. Own: nothing. Source, Destination: the copy before it of the same source
// or destination. LegacyDefault: every copy before it that touches one of its GPUs, as in CUDA's legacy default stream.
enum class CopyStream : std::uint8_t { Own, Source, Destination, LegacyDefault };
std::string_view to_string(CopyStream stream);
Parsed<CopyStream> parse_copy_stream(std::string_view text);

// Destination: a copy waits for those before it into the same GPU, as PyTorch's copy_() does.
enum class CopyWaits : std::uint8_t { Nothing, Destination };
std::string_view to_string(CopyWaits waits);
Parsed<CopyWaits> parse_copy_waits(std::string_view text);

// What a total is divided by. All: the end of the last copy. LastSource, LastDestination: the end of the copies from,
// or into, one end of the last flow, the only GPU that the program waits for. Mean: each flow has a rate of its own.
enum class TimedBy : std::uint8_t { All, LastSource, LastDestination, Mean };
std::string_view to_string(TimedBy timed);
Parsed<TimedBy> parse_timed_by(std::string_view text);

inline constexpr int kMaxProgramRounds = 16;

struct MeasuredProgram {
  IssueOrder issue = IssueOrder::Listed;
  CopyStream stream = CopyStream::Own;
  CopyWaits waits = CopyWaits::Nothing;
  TimedBy timed = TimedBy::All;
  int rounds = 1;  // repetitions without a barrier between them; at most kMaxProgramRounds
  friend bool operator==(MeasuredProgram const&, MeasuredProgram const&) = default;
};

// The requests of all rounds as the program issues them, each after those that it waits for. `random` decides where
// nobody does. Ids are made unique.
std::vector<Request> issued(MeasuredProgram const& program, std::vector<Request> const& flows, std::mt19937& random);

// The bandwidth that the program prints for this run of issued(), in bytes per second: the total of all flows.
double program_rate(MeasuredProgram const& program, std::vector<Request> const& flows, Trace const& trace);

}  // namespace lanewise
