#include "core/machine/comparison/device_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

// What each function is and what hangs from it, as a text: equal texts look alike.
class Likenesses {
 public:
  explicit Likenesses(Machine const& machine) : machine_(machine) {
    for (std::size_t i = 0; i < machine.functions.size(); ++i) texts_.push_back(own(PciId(i)));
    add_nvlinks();
    add_children();
  }
  std::vector<std::size_t> take() { return std::move(texts_); }

 private:
  static std::size_t digest(std::string const& text) { return std::hash<std::string>{}(text); }

  [[nodiscard]] std::size_t own(PciId id) const {
    auto const& f = machine_.at(id);
    auto const* part = machine_.part_of(id);
    auto const link = f.link ? f.link : assumed_link(machine_, id);
    return digest(fmt::format("{} {} {} {} {} {} {}", to_string(f.kind), part == nullptr ? "-" : part->name,
                              link ? to_string(*link) : "-", to_string(machine_.acs_above(id)),
                              machine_.at(machine_.numa_of(id)).os_index, f.mig, f.rail.value_or(-1)));
  }

  // The order in which the links of a device are listed does not matter: sums of digests.
  void add_nvlinks() {
    auto const before = texts_;
    auto const seen_from = [&](NvlinkEnd const& end, int count) {
      auto const* gpu = std::get_if<PciId>(&end);
      return digest(fmt::format("link {} {}", gpu == nullptr ? 0 : before[index(*gpu)], count));
    };
    for (auto const& bundle : machine_.nvlinks) {
      if (auto const* gpu = std::get_if<PciId>(&bundle.a)) texts_[index(*gpu)] += seen_from(bundle.b, bundle.count);
      if (auto const* gpu = std::get_if<PciId>(&bundle.b)) texts_[index(*gpu)] += seen_from(bundle.a, bundle.count);
    }
    for (auto const& domain : machine_.nvswitches)
      for (auto const& port : domain.ports) texts_[index(port.gpu)] += digest(fmt::format("switch {}", port.count));
  }

  void add_children() {
    for (std::size_t i = machine_.functions.size(); i-- > 0;)
      if (auto const parent = machine_.functions[i].parent)
        texts_[index(*parent)] += digest(fmt::format("below {}", texts_[i]));
  }

  Machine const& machine_;
  std::vector<std::size_t> texts_;
};

class DeviceMatcher {
 public:
  DeviceMatcher(Machine const& first, Machine const& second)
      : first_(first), second_(second), looks_(Likenesses(first).take()), second_looks_(Likenesses(second).take()) {
    match_.sockets.resize(first.sockets.size());
    match_.sockets_back.resize(second.sockets.size());
    match_.functions.resize(first.functions.size());
    match_.functions_back.resize(second.functions.size());
  }

  DeviceMatching match() {
    match_sockets();
    match_addresses();
    match_parents();
    match_below();
    match_names();
    return std::move(match_);
  }

 private:
  using Functions = std::vector<PciId>;

  static std::vector<int> numa_numbers(Machine const& machine, SocketId socket) {
    std::vector<int> numbers;
    for (auto const& numa : machine.numa_nodes)
      if (numa.socket == socket) numbers.push_back(numa.os_index);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  // By the numbers of their NUMA nodes, then by name, then by order.
  void match_sockets() {
    auto const pair_up = [&](auto const& alike) {
      for (std::size_t a = 0; a < first_.sockets.size(); ++a)
        for (std::size_t b = 0; b < second_.sockets.size() && !match_.sockets[a]; ++b)
          if (!match_.sockets_back[b] && alike(SocketId(a), SocketId(b))) {
            match_.sockets[a] = SocketId(b);
            match_.sockets_back[b] = SocketId(a);
          }
    };
    pair_up([&](SocketId a, SocketId b) { return numa_numbers(first_, a) == numa_numbers(second_, b); });
    pair_up([&](SocketId a, SocketId b) { return first_.at(a).name == second_.at(b).name; });
    pair_up([](SocketId, SocketId) { return true; });
  }

  void join(PciId a, PciId b) {
    match_.functions[index(a)] = b;
    match_.functions_back[index(b)] = a;
  }
  [[nodiscard]] bool is_free(PciId a, PciId b) const {
    return !match_.functions[index(a)] && !match_.functions_back[index(b)];
  }

  void match_addresses() {
    std::map<std::string, PciId> by_address;
    for (std::size_t b = 0; b < second_.functions.size(); ++b)
      if (!second_.functions[b].bdf.empty()) by_address.emplace(second_.functions[b].bdf, PciId(b));
    for (std::size_t a = 0; a < first_.functions.size(); ++a) {
      auto const found = by_address.find(first_.functions[a].bdf);
      if (found != by_address.end() && first_.functions[a].kind == second_.at(found->second).kind &&
          is_free(PciId(a), found->second))
        join(PciId(a), found->second);
    }
  }

  // Ports and switches above matched devices; children come after their parents, so from the end.
  void match_parents() {
    for (std::size_t a = first_.functions.size(); a-- > 0;) {
      if (!match_.functions[a]) continue;
      auto const above = first_.functions[a].parent;
      auto const other = second_.at(*match_.functions[a]).parent;
      if (above && other && first_.at(*above).kind == second_.at(*other).kind && is_free(*above, *other))
        join(*above, *other);
    }
  }

  static std::vector<Functions> children(Machine const& machine) {
    std::vector<Functions> below(machine.functions.size());
    for (std::size_t i = 0; i < machine.functions.size(); ++i)
      if (auto const parent = machine.functions[i].parent) below[index(*parent)].push_back(PciId(i));
    return below;
  }
  static std::vector<Functions> tops(Machine const& machine) {
    std::vector<Functions> tops(machine.sockets.size());
    for (std::size_t i = 0; i < machine.functions.size(); ++i)
      if (!machine.functions[i].parent) tops[index(machine.socket_of(PciId(i)))].push_back(PciId(i));
    return tops;
  }

  void match_below() {
    auto const first_tops = tops(first_);
    auto const second_tops = tops(second_);
    for (std::size_t a = 0; a < first_tops.size(); ++a)
      if (auto const b = match_.sockets[a]) match_group(first_tops[a], second_tops[index(*b)]);
    auto const first_below = children(first_);
    auto const second_below = children(second_);
    for (std::size_t a = 0; a < first_below.size(); ++a)
      if (auto const b = match_.functions[a]) match_group(first_below[a], second_below[index(*b)]);
  }

  // The functions of one place: those that look alike and have the same name, then alike, then named alike, then by
  // order.
  void match_group(Functions const& first, Functions const& second) {
    using F = PciFunction;
    auto const kind = [](F const& f) { return std::string(to_string(f.kind)); };
    auto const look = [](std::size_t number) { return fmt::format(" {}", number); };
    match_by(first, second, [&](Machine const&, F const& f, std::size_t n) { return kind(f) + f.name + look(n); });
    match_by(first, second, [&](Machine const&, F const& f, std::size_t n) { return kind(f) + look(n); });
    match_by(first, second, [&](Machine const&, F const& f, std::size_t) { return kind(f) + f.name; });
    match_by(first, second, [&](Machine const&, F const& f, std::size_t) { return kind(f); });
  }

  template <class Key>
  void match_by(Functions const& first, Functions const& second, Key const& key) {
    std::map<std::string, Functions> waiting;  // in reverse order
    for (auto b = second.rbegin(); b != second.rend(); ++b)
      if (!match_.functions_back[index(*b)])
        waiting[key(second_, second_.at(*b), second_looks_[index(*b)])].push_back(*b);
    for (auto const a : first) {
      if (match_.functions[index(a)]) continue;
      auto const found = waiting.find(key(first_, first_.at(a), looks_[index(a)]));
      if (found == waiting.end() || found->second.empty()) continue;
      join(a, found->second.back());
      found->second.pop_back();
    }
  }

  // Devices that moved to another place: the same name and the same part.
  void match_names() {
    auto const devices = [](Machine const& machine) {
      Functions found;
      for (std::size_t i = 0; i < machine.functions.size(); ++i)
        if (machine.functions[i].kind != PciKind::RootPort) found.push_back(PciId(i));
      return found;
    };
    match_by(devices(first_), devices(second_), [](Machine const& machine, PciFunction const& f, std::size_t) {
      return fmt::format("{} {} {}", to_string(f.kind), f.name, f.part ? machine.at(*f.part).name : "-");
    });
  }

  Machine const& first_;
  Machine const& second_;
  std::vector<std::size_t> looks_, second_looks_;
  DeviceMatching match_;
};

}  // namespace

DeviceMatching match_devices(Machine const& first, Machine const& second) {
  return DeviceMatcher(first, second).match();
}

}  // namespace lanewise
