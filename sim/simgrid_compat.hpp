#pragma once
// The one place that knows what differs between SimGrid 3.32 (Debian 12) and 4.x.
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/routing/StarZone.hpp>
#include <simgrid/s4u.hpp>

#include <simgrid/version.h>  // not first: it does not compile by itself
#if SIMGRID_VERSION < 33400
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>  // the latency factor's setter moved to NetZone in 3.34
#endif
#include <xbt/log.h>

#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace lanewise::sim::compat {

namespace s4u = simgrid::s4u;
using LatencyFactor = std::function<double(double, s4u::Host const*, s4u::Host const*, std::vector<s4u::Link*> const&,
                                           std::unordered_set<s4u::NetZone*> const&)>;

// Once a process, before the first zone: plain sharing without TCP's corrections, and silence.
inline void configure() {
  xbt_log_control_set("root.thresh:critical");
  // Lazily, SimGrid takes the next event's date off the process's clock; so it takes what is left over the rate.
  s4u::Engine::set_config("network/optim:Full");
  // Seconds, and a share of a link's rate: the defaults (1e-9 and 1e-5) merge events of short messages and let shares
  // be off by 1e-5. Later releases know these keys under new names as well.
  s4u::Engine::set_config("surf/precision:1e-18");
  s4u::Engine::set_config("maxmin/precision:1e-12");
#if SIMGRID_VERSION >= 33600
  s4u::Engine::set_config("network/model:raw");
#else
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/TCP-gamma:1e30");
#endif
}

// A zone that is asked for a comm's route when the comm starts. SimGrid's own zones keep a route for every host, so
// each flow would need a host of its own; here all flows go from one host to another, and what a route takes is freed
// with its comm. Links may repeat in a route, and every route has the same latency.
class PathZone : public simgrid::kernel::routing::StarZone {
 public:
  using Links = decltype(simgrid::kernel::routing::Route::link_list_);

  // `path`: the links of the comm that starts now.
  PathZone(std::string const& name, double latency, std::function<Links const&()> path)
      : StarZone(name), latency_(latency), path_(std::move(path)) {}

  void get_local_route(simgrid::kernel::routing::NetPoint const* /*from*/,
                       simgrid::kernel::routing::NetPoint const* /*to*/, simgrid::kernel::routing::Route* route,
                       double* latency) override {
    auto const& path = path_();
    route->link_list_.insert(route->link_list_.end(), path.begin(), path.end());
    *latency += latency_;
  }

 private:
  double latency_;
  std::function<Links const&()> path_;
};

// The engine owns the zone.
inline s4u::NetZone* path_zone([[maybe_unused]] s4u::Engine& engine, std::string const& name, double latency,
                               std::function<PathZone::Links const&()> path) {
  auto* zone = new PathZone(name, latency, std::move(path));
#if SIMGRID_VERSION >= 40000
  return zone->set_parent(engine.get_netzone_root()->get_impl())->get_iface();
#else
  return zone->get_iface();
#endif
}

inline s4u::Host* add_host(s4u::NetZone* zone, std::string const& name) {
#if SIMGRID_VERSION >= 40000
  return zone->add_host(name, 1.0);
#else
  return zone->create_host(name, 1.0);
#endif
}

inline s4u::Link* add_link(s4u::NetZone* zone, std::string const& name, double bytes_per_second) {
#if SIMGRID_VERSION >= 40000
  return zone->add_link(name, bytes_per_second);
#else
  return zone->create_link(name, bytes_per_second);
#endif
}

inline void set_latency_factor(s4u::NetZone* zone, LatencyFactor const& factor) {
#if SIMGRID_VERSION >= 33400
  zone->set_latency_factor_cb(factor);
#else
  zone->get_network_model()->set_lat_factor_cb(factor);
#endif
}

// What moves the bytes of the comm that was started last; it lives until the comm has ended. Nullptr: nothing does.
inline simgrid::kernel::resource::Action const* last_action(s4u::Engine const& engine) {
  for (auto* model : engine.get_all_models())
    if (auto* started = model->get_started_action_set(); !started->empty()) return &started->back();
  return nullptr;
}

#if SIMGRID_VERSION < 33400
// Names the private member s4u::Activity::on_completion: access is not checked in an explicit instantiation
// ([temp.spec.general] of the C++ standard), and SimGrid offers no way to disconnect from this signal.
using CompletionSignal = simgrid::xbt::signal<void(s4u::Activity const&)>;
CompletionSignal& completion_signal();
template <CompletionSignal* Signal>
struct CompletionSignalOf {
  friend CompletionSignal& completion_signal() { return *Signal; }
};
template struct CompletionSignalOf<&s4u::Activity::on_completion>;
#endif

// Calls done(s4u::Comm const&) whenever a comm completes. Call it before the first zone of each engine. SimGrid 3.32
// connects callbacks of its own for every engine and never removes them, so each simulation would take longer than the
// one before. Here all callbacks are removed first, also those of others: the signal does not tell them apart. Later
// releases need one connection a process.
template <class Done>
void reconnect_comm_completion(Done done) {
#if SIMGRID_VERSION >= 33400
  static bool const connected = [&] {
    s4u::Comm::on_completion_cb(done);
    return true;
  }();
  static_cast<void>(connected);
#else
  completion_signal().disconnect_slots();
  s4u::Activity::on_completion_cb([done](s4u::Activity const& activity) {
    if (auto const* comm = dynamic_cast<s4u::Comm const*>(&activity)) done(*comm);
  });
#endif
}

// Starts a comm that setting its ends did not start already. Starting twice would move its bytes twice.
inline void start_once(s4u::CommPtr const& comm) {
  using State = s4u::Activity::State;
  if (comm->get_state() != State::INITED && comm->get_state() != State::STARTING) return;
#if SIMGRID_VERSION >= 33400
  comm->start();
#else
  comm->vetoable_start();
#endif
}

}  // namespace lanewise::sim::compat
