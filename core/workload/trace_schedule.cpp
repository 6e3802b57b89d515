// The step of an execution trace: a list schedule of rank 0's nodes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "core/workload/trace_traffic.hpp"

namespace lanewise {
namespace {

// When a node ran.
struct NodeRun {
  Seconds start{0}, end{0};
};

class TraceSchedule {
 public:
  TraceSchedule(ExecutionTrace const& trace, TracedTraffic const& traffic, std::vector<PatternTime> const& times)
      : trace_(trace), traffic_(traffic), times_(times), runs_(trace.nodes.size()) {}

  std::vector<NodeRun> run() {
    auto const& nodes = trace_.nodes;
    std::vector<std::uint32_t> waiting(nodes.size());
    std::vector<std::vector<std::uint32_t>> next(nodes.size());
    std::vector<Seconds> ready_at(nodes.size(), Seconds(0));
    using Ready = std::pair<Seconds, std::uint32_t>;  // of several at one time the first in the file
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      waiting[i] = static_cast<std::uint32_t>(nodes[i].after.size());
      for (auto const before : nodes[i].after) next[before].push_back(i);
      if (waiting[i] == 0) ready.emplace(Seconds(0), i);
    }
    while (!ready.empty()) {
      auto const i = ready.top().second;
      ready.pop();
      place(i, ready_at[i]);
      for (auto const later : next[i]) {
        ready_at[later] = std::max(ready_at[later], runs_[i].end);
        if (--waiting[later] == 0) ready.emplace(ready_at[later], later);
      }
    }
    return std::move(runs_);
  }

 private:
  void place(std::uint32_t i, Seconds ready) {
    auto const& node = trace_.nodes[i];
    auto const stream = stream_of(node);
    auto& run = runs_[i];
    if (stream.empty()) {
      run = {ready, ready};
      return;
    }
    auto& free_at = free_at_.try_emplace(stream, Seconds(0)).first->second;
    run.start = std::max(ready, free_at);
    run.end = run.start + duration_of(i);
    free_at = run.end;
  }

  [[nodiscard]] Seconds duration_of(std::uint32_t i) const {
    auto const pattern = traffic_.of_node[i];
    return pattern ? times_[*pattern].each : trace_.nodes[i].duration;
  }

  // What takes one node at a time; empty: the node takes no time.
  static std::string stream_of(TraceNode const& node) {
    switch (node.kind) {
      case TraceNodeKind::Compute: return "gpu";
      case TraceNodeKind::Cpu: return "cpu";
      case TraceNodeKind::Collective: return "group " + node.group;
      case TraceNodeKind::Send: return fmt::format("to {} {}", node.peer.value_or(-1), node.group);
      case TraceNodeKind::Receive: return fmt::format("from {} {}", node.peer.value_or(-1), node.group);
      default: return {};
    }
  }

  ExecutionTrace const& trace_;
  TracedTraffic const& traffic_;
  std::vector<PatternTime> const& times_;
  std::map<std::string, Seconds> free_at_;
  std::vector<NodeRun> runs_;
};

// Divides the step's time: computing; what communication alone fills, evenly among what is under way; and the rest.
class TimeShares {
 public:
  TimeShares(ExecutionTrace const& trace, TracedTraffic const& traffic, std::vector<NodeRun> const& runs)
      : exposed_(traffic.patterns.size(), Seconds(0)), under_way_(traffic.patterns.size()) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      auto const& run = runs[i];
      auto const pattern = traffic.of_node[i];
      bool const computes = trace.nodes[i].kind == TraceNodeKind::Compute;
      if (!(run.start < run.end) || (!computes && !pattern)) continue;
      auto const what = computes ? kComputing : *pattern;
      changes_.push_back({run.start, what, 1});
      changes_.push_back({run.end, what, -1});
    }
    std::sort(changes_.begin(), changes_.end(), [](auto const& a, auto const& b) { return a.at < b.at; });
    Seconds now{0};
    for (auto const& change : changes_) {
      pass(change.at - now);
      now = change.at;
      apply(change);
    }
  }

  [[nodiscard]] Seconds computing() const { return computing_; }
  [[nodiscard]] Seconds exposed(std::size_t pattern) const { return exposed_[pattern]; }

 private:
  static constexpr std::size_t kComputing = static_cast<std::size_t>(-1);
  struct Change {
    Seconds at;
    std::size_t what;
    int by;
  };

  void apply(Change const& change) {
    if (change.what == kComputing) {
      computing_now_ += change.by;
      return;
    }
    auto& count = under_way_[change.what];
    count += change.by;
    if (count > 0)
      active_[change.what] = count;
    else
      active_.erase(change.what);
  }

  void pass(Seconds time) {
    if (computing_now_ > 0) {
      computing_ = computing_ + time;
      return;
    }
    int all = 0;
    for (auto const& [pattern, count] : active_) all += count;
    for (auto const& [pattern, count] : active_) exposed_[pattern] = exposed_[pattern] + time * count / all;
  }

  Seconds computing_{0};
  std::vector<Seconds> exposed_;
  std::vector<int> under_way_;
  std::map<std::size_t, int> active_;
  std::vector<Change> changes_;
  int computing_now_ = 0;
};

std::vector<std::string> notes_on_trace(TracedStep const& step) {
  std::vector<std::string> notes;
  auto const count = [&](TraceNodeKind kind) {
    auto const& nodes = step.trace.nodes;
    return std::count_if(nodes.begin(), nodes.end(), [&](auto const& node) { return node.kind == kind; });
  };
  if (auto const memory = count(TraceNodeKind::Memory); memory > 0)
    notes.push_back(fmt::format("{} memory node{} of the trace take{} no time", memory, memory > 1 ? "s" : "",
                                memory > 1 ? "" : "s"));
  if (step.ranks > 1)
    notes.emplace_back(step.one_for_all ? "the trace of one rank stands for all"
                                        : "computing is rank 0's; the other ranks are taken to be no slower");
  return notes;
}

}  // namespace

StepTime compose_traced_step(TracedStep const& step, std::vector<PatternTime> const& times) {
  auto const traffic = traffic_of_trace(step);
  auto const runs = TraceSchedule(step.trace, traffic, times).run();
  TimeShares const shares(step.trace, traffic, runs);
  StepTime result;
  for (auto const& run : runs) result.step = std::max(result.step, run.end);
  result.computing = shares.computing();
  for (std::size_t i = 0; i < times.size(); ++i) {
    auto const all = times[i].each * times[i].pattern.count;
    auto const exposed = shares.exposed(i);
    result.exposed += exposed;
    result.patterns.push_back({times[i], exposed, std::max(Seconds(0), all - exposed)});
  }
  result.idle = std::max(Seconds(0), result.step - result.computing - result.exposed);
  if (result.idle < result.step * 1e-9) result.idle = Seconds(0);  // rounding
  result.computing_by = "trace " + step.file;
  result.notes = notes_on_trace(step);
  return result;
}

}  // namespace lanewise
