#include "sim/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/estimate/simultaneous.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/work_progress.hpp"
#include "lanewise/io/error.hpp"
#include "sim/simgrid_compat.hpp"

namespace lanewise::sim {
namespace {

namespace s4u = simgrid::s4u;

// SimGrid shares a link in proportion to 1 / latency. So every path has the same raw latency, and the latency factor
// makes it the flow's own.
constexpr double kRawLatency = 1e-6;
constexpr double kMinLatency = 1e-18;  // SimGrid's resolution as configured; zero would change the sharing
constexpr double kNoCap = 1e18;        // bytes per second, faster than any link
constexpr std::size_t kMaxLinksOfCap = 256;

// SimGrid's engine replaces the handler of Ctrl-C by one that ends the program with exit code 1. This keeps the
// program's own.
class CtrlCHandler {
 public:
  CtrlCHandler() { sigaction(SIGINT, nullptr, &own_); }
  void put_back() const { sigaction(SIGINT, &own_, nullptr); }

 private:
  struct sigaction own_ {};
};

class Simulation {
 public:
  Simulation(std::vector<SharedLink> const& links, std::vector<Flow> const& flows, FlowScheduler const& scheduler)
      : flows_(flows), scheduler_(scheduler) {
    ctrl_c_.put_back();
    connect();
    zone_ = compat::path_zone(
        engine_, "fabric", kRawLatency, [this]() -> auto const& { return path_; });
    source_ = compat::add_host(zone_, "source");
    sink_ = compat::add_host(zone_, "sink");
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (!(links[i].bytes_per_second > 0)) throw std::invalid_argument("a link needs a positive rate");
      links_.push_back(add_link(fmt::format("link{}", i), links[i].bytes_per_second)->get_impl());
    }
    add_caps();
    compat::set_latency_factor(zone_, [this](double, s4u::Host const*, s4u::Host const*, auto const&, auto const&) {
      return std::max(starting_latency_, kMinLatency) / kRawLatency;
    });
    zone_->seal();
    positions_.resize(flows.size());
    result_.flows.resize(flows.size());
  }

  SimulationResult run() {
    Current const current(this);
    scheduler_.begin([this](std::size_t flow) { start(flow); });
    engine_.run();
    if (finished_ != flows_.size()) throw PlanError("the simulation ended with steps that nothing started");
    return std::move(result_);
  }

 private:
  struct Active {
    std::size_t flow;
    s4u::CommPtr comm;  // dropping the last reference to a running comm crashes
    simgrid::kernel::resource::Action const* action;
  };

  // Marks the simulation that SimGrid's process-wide signals belong to.
  class Current {
   public:
    explicit Current(Simulation* simulation) { current_ = simulation; }
    Current(Current const&) = delete;
    Current& operator=(Current const&) = delete;
    ~Current() { current_ = nullptr; }
  };

  // Connects SimGrid's process-wide signals to the simulation that runs. Its configuration keys
  // exist once there is an engine, and the engine's own callbacks come with the first zone.
  static void connect() {
    static bool const configured = [] {
      compat::configure();
      s4u::Engine::on_time_advance_cb([](double elapsed) {
        if (current_ != nullptr) current_->advanced(elapsed);
      });
      return true;
    }();
    static_cast<void>(configured);
    compat::reconnect_comm_completion([](s4u::Comm const& comm) {
      if (current_ != nullptr) current_->completed(comm);
    });
  }

  s4u::Link* add_link(std::string const& name, double rate) {
    auto* link = compat::add_link(zone_, name, rate);
    link->set_latency(0);
    return link;
  }

  // A flow's rate is bounded by the slowest link of its route, so flows of one cap pass a link that has it and that
  // they do not share (FATPIPE). For each flow on such a link SimGrid's solver goes through all of them, so there are
  // several.
  struct Cap {
    std::size_t flows = 0;
    compat::PathZone::Links links;
    std::size_t next = 0;
  };
  void add_caps() {
    for (auto const& flow : flows_)
      if (auto const cap = cap_of(flow)) ++caps_[*cap].flows;
    std::size_t number = 0;
    for (auto& [rate, cap] : caps_)
      for (std::size_t i = 0; i < std::min(cap.flows, kMaxLinksOfCap); ++i) {
        auto* link = add_link(fmt::format("cap{}", number++), rate);
        link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
        cap.links.push_back(link->get_impl());
      }
  }
  // A flow that uses nothing needs a link all the same, or SimGrid would end it before its latency is over.
  static std::optional<double> cap_of(Flow const& flow) {
    if (flow.cap_bytes_per_second > 0) return flow.cap_bytes_per_second;
    return flow.uses.empty() ? std::optional(kNoCap) : std::nullopt;
  }

  void set_path(Flow const& flow) {
    path_.clear();
    if (auto const rate = cap_of(flow)) {
      auto& cap = caps_.at(*rate);
      path_.push_back(cap.links[cap.next++ % cap.links.size()]);
    }
    for (auto const& use : flow.uses)
      path_.insert(path_.end(), static_cast<std::size_t>(use.times), links_.at(use.link));
  }

  void start(std::size_t i) {
    result_.flows[i].start = now_;
    set_path(flows_[i]);
    starting_latency_ = flows_[i].latency_seconds;  // the factor is asked while the comm starts
    auto comm = s4u::Comm::sendto_init();
    comm->set_data(reinterpret_cast<void*>(i));  // NOLINT(performance-no-int-to-ptr): all that SimGrid carries
    comm->set_payload_size(flows_[i].bytes);
    comm->set_source(source_);
    comm->set_destination(sink_);  // this starts it, unless it is empty
    compat::start_once(comm);
    positions_[i] = active_.size();
    active_.push_back({i, std::move(comm), compat::last_action(engine_)});
  }

  // Flows that end in one instant are handed on together, in the order of their numbers: SimGrid's own order, and which
  // of them ends a rounding error earlier, must not decide what starts next.
  void completed(s4u::Comm const& comm) {
    auto const i = reinterpret_cast<std::size_t>(comm.get_data<void>());
    ++finished_;
    ended_.push_back(i);
    remove_active(i);
    if (ended_.size() == 1) {
      slack_ = simultaneous_within(now_);
      awaited_ = static_cast<std::size_t>(
          std::count_if(active_.begin(), active_.end(), [&](Active const& active) { return ends_now(active); }));
    } else {
      --awaited_;
    }
    if (awaited_ == 0) hand_on();
  }

  void remove_active(std::size_t i) {
    auto const position = positions_[i];
    ended_comms_.push_back(std::move(active_[position].comm));
    if (position + 1 < active_.size()) {
      active_[position] = std::move(active_.back());
      positions_[active_[position].flow] = position;
    }
    active_.pop_back();
  }

  [[nodiscard]] bool ends_now(Active const& active) const {
    auto const& flow = flows_[active.flow];
    if (flow.bytes == 0)
      return result_.flows[active.flow].start + std::max(flow.latency_seconds, kMinLatency) <= now_ + slack_;
    auto const left = active.comm->get_remaining();
    return left <= 0 || left <= active.action->get_rate() * slack_;
  }

  void hand_on() {
    std::sort(ended_.begin(), ended_.end());
    for (auto const i : ended_) {
      result_.flows[i].finish = now_;
      result_.makespan = std::max(result_.makespan, now_);
    }
    auto const ended = std::exchange(ended_, {});
    flows_done_ += ended.size();
    report_progress({"simulating", "steps", flows_done_, result_.flows.size()});
    for (auto const i : ended) scheduler_.finished(i, [this](std::size_t flow) { start(flow); });
  }

  void advanced(double elapsed) {
    throw_if_interrupted();
    now_ += elapsed;
    ended_comms_.clear();
  }

  inline static Simulation* current_ = nullptr;

  std::vector<Active> active_;  // started and not ended; outlives the engine
  std::size_t flows_done_ = 0;
  std::vector<s4u::CommPtr> ended_comms_;  // in this instant: SimGrid may still be about to use them
  CtrlCHandler ctrl_c_;                    // before the engine
  s4u::Engine engine_{"lanewise"};
  s4u::NetZone* zone_ = nullptr;
  s4u::Host* source_ = nullptr;
  s4u::Host* sink_ = nullptr;
  compat::PathZone::Links links_;
  std::map<double, Cap> caps_;
  compat::PathZone::Links path_;  // of the flow that starts now
  std::vector<Flow> const& flows_;
  FlowScheduler const& scheduler_;
  double starting_latency_ = 0;
  double now_ = 0;    // not SimGrid's clock, which never rewinds: its digits depend on earlier simulations
  double slack_ = 0;  // flows that end within it end together
  std::vector<std::size_t> positions_;  // of a flow among the active ones
  std::vector<std::size_t> ended_;      // in this instant, not handed on yet
  std::size_t awaited_ = 0;             // how many more end in this instant
  std::size_t finished_ = 0;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(std::vector<SharedLink> const& links, std::vector<Flow> const& flows,
                          FlowScheduler const& scheduler) {
  static std::mutex one_at_a_time;
  std::scoped_lock const lock(one_at_a_time);
  if (flows.empty()) return {};
  auto simulation = std::make_unique<Simulation>(links, flows, scheduler);
  try {
    return simulation->run();
  } catch (Interrupted const&) {
    // SimGrid's engine cannot be taken down while activities run, and an interrupted program is about to end.
    static auto* const kept = new std::vector<std::unique_ptr<Simulation>>;  // never freed
    kept->push_back(std::move(simulation));
    throw;
  }
}

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace lanewise::sim
