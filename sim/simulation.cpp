#include "sim/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/estimate/simultaneous.hpp"
#include "core/io/error.hpp"
#include "core/io/interrupt.hpp"
#include "sim/simgrid_compat.hpp"

namespace lanewise::sim {
namespace {

namespace s4u = simgrid::s4u;

// SimGrid shares a link in proportion to 1 / latency. So every path has the same raw latency, and the latency factor
// makes it the flow's own.
constexpr double kRawLatency = 1e-6;
constexpr double kMinLatency = 1e-18;  // SimGrid's resolution as configured; zero would change the sharing
constexpr double kNoCap = 1e18;        // bytes per second, faster than any link

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
    zone_ = compat::star_zone(engine_, "fabric");
    sink_ = compat::add_host(zone_, "sink");
    compat::add_route_to(zone_, sink_);
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (!(links[i].bytes_per_second > 0)) throw std::invalid_argument("a link needs a positive rate");
      links_.push_back(add_link(fmt::format("link{}", i), links[i].bytes_per_second, 0, false));
    }
    for (std::size_t i = 0; i < flows.size(); ++i) add_path(i);
    compat::set_latency_factor(zone_, [this](double, s4u::Host const*, s4u::Host const*, auto const&, auto const&) {
      return std::max(starting_latency_, kMinLatency) / kRawLatency;
    });
    zone_->seal();
    live_.resize(flows.size());
    result_.flows.resize(flows.size());
    result_.link_bytes.resize(links.size());
  }

  SimulationResult run() {
    Current const current(this);
    scheduler_.begin([this](std::size_t flow) { start(flow); });
    engine_.run();
    if (finished_ != flows_.size()) throw PlanError("the simulation ended with steps that nothing started");
    return std::move(result_);
  }

 private:
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

  s4u::Link* add_link(std::string const& name, double rate, double latency, bool per_flow) {
    auto* link = compat::add_link(zone_, name, rate);
    link->set_latency(latency);
    if (per_flow) link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    link->seal();
    return link;
  }

  // Each flow has a source host whose only route is the flow's. The route begins with a link of its own, which has the
  // cap and the latency: SimGrid searches for the flows that a starting flow affects from its first link on, and skips
  // the search if another flow that started in the same instant has visited that link. A star zone drops repeated
  // links; a bypass route keeps them.
  void add_path(std::size_t i) {
    auto const& flow = flows_[i];
    auto const cap = flow.cap_bytes_per_second > 0 ? flow.cap_bytes_per_second : kNoCap;
    own_.push_back(add_link(fmt::format("own{}", i), cap, kRawLatency, true));
    std::vector<s4u::LinkInRoute> route{s4u::LinkInRoute(own_.back())};
    bool repeats = false;
    for (auto const& use : flow.uses) {
      repeats = repeats || use.times > 1;
      for (int k = 0; k < use.times; ++k) route.emplace_back(links_.at(use.link));
    }
    auto* host = compat::add_host(zone_, fmt::format("path{}", i));
    sources_.push_back(host);
    compat::add_route_from(zone_, host, repeats ? std::vector<s4u::LinkInRoute>{} : route);
    if (repeats) zone_->add_bypass_route(host->get_netpoint(), sink_->get_netpoint(), nullptr, nullptr, route);
  }

  void start(std::size_t i) {
    result_.flows[i].start = now_;
    active_.push_back(i);
    starting_latency_ = flows_[i].latency_seconds;  // the factor is asked while the comm starts
    auto comm = s4u::Comm::sendto_init();
    live_[i] = comm;                             // dropping the last reference to a running comm crashes
    comm->set_data(reinterpret_cast<void*>(i));  // NOLINT(performance-no-int-to-ptr): all that SimGrid carries
    comm->set_payload_size(flows_[i].bytes);
    comm->set_source(sources_[i]);
    comm->set_destination(sink_);  // this starts it, unless it is empty
    compat::start_once(comm);
  }

  // Flows that end in one instant are handed on together, in the order of their numbers: SimGrid's own order, and which
  // of them ends a rounding error earlier, must not decide what starts next.
  void completed(s4u::Comm const& comm) {
    auto const i = reinterpret_cast<std::size_t>(comm.get_data<void>());
    ++finished_;
    ended_.push_back(i);
    active_.erase(std::find(active_.begin(), active_.end(), i));
    if (ended_.size() == 1) {
      slack_ = simultaneous_within(now_);
      awaited_ = static_cast<std::size_t>(
          std::count_if(active_.begin(), active_.end(), [&](std::size_t flow) { return ends_now(flow); }));
    } else {
      --awaited_;
    }
    if (awaited_ == 0) hand_on();
  }

  [[nodiscard]] bool ends_now(std::size_t i) const {
    if (flows_[i].bytes == 0)
      return result_.flows[i].start + std::max(flows_[i].latency_seconds, kMinLatency) <= now_ + slack_;
    return live_[i]->get_remaining() <= compat::load(own_[i]) * slack_;
  }

  void hand_on() {
    std::sort(ended_.begin(), ended_.end());
    for (auto const i : ended_) {
      result_.flows[i].finish = now_;
      result_.makespan = std::max(result_.makespan, now_);
    }
    auto const ended = std::exchange(ended_, {});
    for (auto const i : ended) scheduler_.finished(i, [this](std::size_t flow) { start(flow); });
  }

  void advanced(double elapsed) {
    throw_if_interrupted();
    now_ += elapsed;
    for (std::size_t i = 0; i < links_.size(); ++i) result_.link_bytes[i] += compat::load(links_[i]) * elapsed;
  }

  inline static Simulation* current_ = nullptr;

  std::vector<s4u::CommPtr> live_;  // outlives the engine
  CtrlCHandler ctrl_c_;             // before the engine
  s4u::Engine engine_{"lanewise"};
  s4u::NetZone* zone_ = nullptr;
  s4u::Host* sink_ = nullptr;
  std::vector<s4u::Link*> links_;
  std::vector<s4u::Link*> own_;  // of each flow; its load is the flow's rate
  std::vector<s4u::Host*> sources_;
  std::vector<Flow> const& flows_;
  FlowScheduler const& scheduler_;
  double starting_latency_ = 0;
  double now_ = 0;    // not SimGrid's clock, which never rewinds: its digits depend on earlier simulations
  double slack_ = 0;  // flows that end within it end together
  std::vector<std::size_t> active_;  // started and not ended
  std::vector<std::size_t> ended_;   // in this instant, not handed on yet
  std::size_t awaited_ = 0;          // how many more end in this instant
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
