#include "core/measurement/worklist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "core/measurement/measured_transfer.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

using namespace literals;

// From sizes where latency dominates to sizes where bandwidth does.
std::vector<Bytes> const kSizes{4_B,   1_KiB, 4_KiB,  16_KiB, 64_KiB,  256_KiB,
                                1_MiB, 4_MiB, 16_MiB, 64_MiB, 256_MiB, 1_GiB};
// A size that hides the time to start, and one that training jobs send.
std::vector<Bytes> const kPatternSizes{16_MiB, 128_MiB};
constexpr Bytes kBothWays = 256_MiB;  // in each direction
// Of drives: from a block, of which a read shows the latency, to what keeps all of a drive's channels at work.
std::vector<Bytes> const kSmallOfDrives{4_KiB, 64_KiB};
std::vector<Bytes> const kLargeOfDrives{1_MiB, 16_MiB, 256_MiB, 1_GiB};

using Pair = std::pair<std::string, std::string>;

class List {
 public:
  List(Model const& model, Worklist const& wanted) : machine_(model.machine()), planner_(model), wanted_(wanted) {
    for (auto const gpu : machine_.all(PciKind::Gpu)) gpus_.push_back(machine_.at(gpu).name);
    for (auto const& numa : machine_.numa_nodes) memories_.push_back(numa.name);
  }

  std::vector<MeasuredSeries> take() {
    if (machine_.hosts.size() > 1) return between_nodes();
    if (wanted_.singles) singles();
    if (wanted_.singles) drives();
    if (wanted_.patterns) patterns();
    if (wanted_.patterns) patterns_of_drives();
    return std::move(series_);
  }

 private:
  [[nodiscard]] bool legal(MeasuredSeries const& series, MeasuredPoint const& point) const {
    try {
      auto const requests = requests_of(machine_, series, point);
      return std::all_of(requests.begin(), requests.end(),
                         [&](Request const& request) { return planner_.choose(request).chosen.has_value(); });
    } catch (PlanError const&) {
      return false;
    }
  }

  void add(MeasuredSeries series, std::vector<MeasuredPoint> points) {
    std::erase_if(points, [&](MeasuredPoint const& point) {
      return std::any_of(point.flows.begin(), point.flows.end(),
                         [&](MeasuredFlow const& flow) { return point.bytes_of(flow) > wanted_.max_bytes; }) ||
             !legal(series, point);
    });
    if (points.empty()) return;
    series.points = std::move(points);
    series_.push_back(std::move(series));
  }

  static std::vector<MeasuredPoint> each(std::vector<Pair> const& pairs, std::vector<Bytes> const& sizes) {
    std::vector<MeasuredPoint> points;
    for (auto const bytes : sizes)
      for (auto const& [from, to] : pairs) points.push_back({.flows = {{from, to}}, .bytes = bytes});
    return points;
  }
  static std::vector<MeasuredPoint> both_ways(std::vector<Pair> const& pairs, Bytes bytes) {
    std::vector<MeasuredPoint> points;
    for (auto const& [from, to] : pairs) points.push_back({.flows = {{from, to}, {to, from}}, .bytes = bytes});
    return points;
  }

  [[nodiscard]] std::vector<Pair> gpu_pairs() const {
    std::vector<Pair> pairs;
    for (auto const& from : gpus_)
      for (auto const& to : gpus_)
        if (from != to) pairs.emplace_back(from, to);
    return pairs;
  }
  [[nodiscard]] std::vector<Pair> unordered_gpu_pairs() const {
    auto pairs = gpu_pairs();
    std::erase_if(pairs, [](Pair const& pair) { return pair.first > pair.second; });
    return pairs;
  }
  [[nodiscard]] std::vector<Pair> host_pairs(bool to_device) const {
    std::vector<Pair> pairs;
    for (auto const& memory : memories_)
      for (auto const& gpu : gpus_) pairs.push_back(to_device ? Pair(memory, gpu) : Pair(gpu, memory));
    return pairs;
  }

  // ---------------------------------------------------------------------------------------------------- between nodes

  // What stands for each node: its first GPU, and the memory beside it or its first.
  struct NodePlaces {
    std::string memory, gpu;
  };
  [[nodiscard]] std::vector<NodePlaces> places_of_nodes() const {
    std::vector<NodePlaces> nodes(machine_.hosts.size());
    for (auto const& numa : machine_.numa_nodes) {
      auto& node = nodes[index(machine_.at(numa.socket).host)];
      if (node.memory.empty()) node.memory = numa.name;
    }
    for (auto const gpu : machine_.all(PciKind::Gpu)) {
      auto& node = nodes[index(machine_.host_of(gpu))];
      if (!node.gpu.empty()) continue;
      node.gpu = machine_.at(gpu).name;
      node.memory = machine_.at(machine_.numa_of(gpu)).name;
    }
    return nodes;
  }

  // Each node with the next and, in the middle of the order, with the one furthest from it: near and far in a network
  // of any shape. Every node sends and receives as often as all others.
  [[nodiscard]] static std::vector<std::size_t> distances_of(std::size_t nodes) {
    if (nodes < 4) return {1};
    return {1, nodes / 2};
  }
  [[nodiscard]] static std::vector<Pair> shifted(std::vector<std::string> const& places, std::size_t by) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < places.size(); ++i) pairs.emplace_back(places[i], places[(i + by) % places.size()]);
    return pairs;
  }

  std::vector<MeasuredSeries> between_nodes() {
    std::vector<std::string> memories;
    std::vector<std::string> gpus;
    for (auto const& node : places_of_nodes()) {
      memories.push_back(node.memory);
      if (!node.gpu.empty()) gpus.push_back(node.gpu);
    }
    for (auto const* places : {&memories, &gpus}) {
      if (places->size() != machine_.hosts.size()) continue;
      auto const what = std::string(places == &gpus ? "gpus" : "hosts");
      std::vector<Pair> pairs;
      for (auto const by : distances_of(places->size()))
        for (auto const& pair : shifted(*places, by)) pairs.push_back(pair);
      if (wanted_.singles) singles_between(what, pairs);
      if (wanted_.patterns) patterns_between(what, *places);
    }
    if (wanted_.singles && !wanted_.quick) by_other_nics();
    return std::move(series_);
  }

  // By rank of a place within its node: "its second GPU" of every node. Ends where a node has no more.
  [[nodiscard]] std::vector<std::vector<std::string>> places_by_rank(bool gpus) const {
    std::vector<std::vector<std::string>> of_node(machine_.hosts.size());
    if (gpus)
      for (auto const gpu : machine_.all(PciKind::Gpu))
        of_node[index(machine_.host_of(gpu))].push_back(machine_.at(gpu).name);
    else
      for (auto const& numa : machine_.numa_nodes) of_node[index(machine_.at(numa.socket).host)].push_back(numa.name);
    std::vector<std::vector<std::string>> by_rank;
    for (std::size_t rank = 0;; ++rank) {
      std::vector<std::string> places;
      for (auto const& names : of_node)
        if (rank < names.size()) places.push_back(names[rank]);
      if (places.size() < of_node.size()) return by_rank;
      by_rank.push_back(std::move(places));
    }
  }

  // The NIC that a transfer between two places leaves by; absent: by none, or it has no legal way.
  [[nodiscard]] std::optional<PciId> nic_of(Pair const& pair) const {
    try {
      auto const choice = planner_.choose(
          {.id = "nic", .from = machine_.place(pair.first), .to = machine_.place(pair.second), .bytes = 64_MiB});
      return choice.chosen ? choice.evaluated[*choice.chosen].way.nic_from : std::nullopt;
    } catch (PlanError const&) {
      return std::nullopt;
    }
  }

  // The first GPU and memory of a node use one NIC or two. What uses another is measured too, in a few sizes.
  void by_other_nics() {
    std::set<PciId> measured;
    auto const first = places_of_nodes();
    for (auto const& [from, to] : {Pair(first[0].memory, first[1].memory), Pair(first[0].gpu, first[1].gpu)})
      if (!from.empty() && !to.empty())
        if (auto const nic = nic_of({from, to})) measured.insert(*nic);
    std::vector<Pair> pairs;
    for (bool const gpus : {true, false})
      for (auto const& places : places_by_rank(gpus)) {
        auto const here = shifted(places, 1);
        auto const nic = nic_of(here.front());
        if (nic && measured.insert(*nic).second) pairs.insert(pairs.end(), here.begin(), here.end());
      }
    if (pairs.empty()) return;
    add({.name = "by-other-nics-small", .quantity = MeasuredQuantity::Latency}, each(pairs, {4_KiB}));
    add({.name = "by-other-nics"}, each(pairs, {1_MiB, 64_MiB}));
  }

  void singles_between(std::string const& what, std::vector<Pair> const& pairs) {
    auto const name = "between-" + what;
    if (wanted_.quick) {
      add({.name = name + "-small", .quantity = MeasuredQuantity::Latency}, each(pairs, {4_KiB}));
      return add({.name = name}, each(pairs, {16_MiB}));
    }
    sweep({.name = name}, pairs);
    std::vector<Bytes> const large{kSizes.begin() + 4, kSizes.end()};
    auto const ops = what == "hosts" ? std::vector{Op::Write, Op::Read, Op::Send} : std::vector{Op::Write};
    for (auto const op : ops)  // what GPUs stage is written only
      add({.name = fmt::format("{}-by-{}", name, to_string(op)), .op = op}, each(pairs, large));
    add({.name = name + "-both-ways"}, both_ways(pairs, kBothWays));
  }

  void patterns_between(std::string const& what, std::vector<std::string> const& places) {
    auto const count = places.size();
    auto const named = [&](std::string const& pattern_name) { return fmt::format("{}-of-{}", pattern_name, what); };
    if (wanted_.quick) return pattern(named("shift-1"), shifted(places, 1));
    for (auto const by : distances_of(count)) pattern(named(fmt::format("shift-{}", by)), shifted(places, by));
    std::vector<Pair> all;
    std::vector<Pair> in;
    std::vector<Pair> out;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < count; ++k) {
        if (i == k) continue;
        all.emplace_back(places[i], places[k]);
        if (k == 0) in.emplace_back(places[i], places[k]);
        if (i == 0) out.emplace_back(places[i], places[k]);
      }
    constexpr std::size_t kMaxNodesOfAllToAll = 16;  // more steps than these take minutes to prepare
    if (count <= kMaxNodesOfAllToAll) pattern(named("all-to-all"), all);
    if (count > 2) {
      pattern(named("fan-in"), in);
      pattern(named("fan-out"), out);
    }
  }

  // --------------------------------------------------------------------------------------------------------- singles

  void singles() {
    auto const pairs = gpu_pairs();
    for (auto const mechanism : {Mechanism::Nvlink, Mechanism::PcieP2p}) between_gpus(mechanism, pairs);
    std::vector<Pair> own;
    for (auto const& gpu : gpus_) own.emplace_back(gpu, gpu);
    sweep({.name = "local-copies", .mechanism = Mechanism::Local}, own);
    for (auto const mechanism : {Mechanism::Nvlink, Mechanism::HostDma}) with_host(mechanism);
    host_memories();
    for (bool const by_driver : {true, false}) {
      MeasuredSeries series{.name = by_driver ? "staged-by-the-driver" : "staged",
                            .mechanism = Mechanism::HostStaged,
                            .by_driver = by_driver};
      sweep(series, pairs);
    }
  }

  // Copies of many sizes: the time of small ones, the bandwidth of large ones.
  void sweep(MeasuredSeries series, std::vector<Pair> const& pairs) {
    auto small = series;
    small.name += "-small";
    small.quantity = MeasuredQuantity::Latency;
    add(std::move(small), each(pairs, {kSizes.begin(), kSizes.begin() + 4}));
    add(std::move(series), each(pairs, {kSizes.begin() + 4, kSizes.end()}));
  }

  void between_gpus(Mechanism mechanism, std::vector<Pair> const& pairs) {
    auto const name = std::string(mechanism == Mechanism::Nvlink ? "nvlink" : "pcie");
    sweep({.name = name + "-copies", .mechanism = mechanism}, pairs);
    sweep({.name = name + "-pulled-copies", .mechanism = mechanism, .pulled = true}, pairs);
    std::vector<Bytes> const by_kernel{kSizes.begin() + 4, kSizes.end()};
    add({.name = name + "-writes", .op = Op::Write, .mechanism = mechanism}, each(pairs, by_kernel));
    add({.name = name + "-reads", .op = Op::Read, .mechanism = mechanism}, each(pairs, by_kernel));
    add({.name = name + "-copies-both-ways", .mechanism = mechanism}, both_ways(unordered_gpu_pairs(), kBothWays));
    add({.name = name + "-writes-both-ways", .op = Op::Write, .mechanism = mechanism},
        both_ways(unordered_gpu_pairs(), kBothWays));
  }

  // Over PCIe, or over NVLink between a GPU and its CPU.
  void with_host(Mechanism mechanism) {
    auto const name = std::string(mechanism == Mechanism::Nvlink ? "host-nvlink" : "host");
    sweep({.name = name + "-to-device", .mechanism = mechanism}, host_pairs(true));
    sweep({.name = name + "-from-device", .mechanism = mechanism}, host_pairs(false));
    add({.name = name + "-both-ways", .mechanism = mechanism}, both_ways(host_pairs(true), kBothWays));
    std::vector<Bytes> const by_kernel{1_MiB, 64_MiB, 256_MiB};
    add({.name = name + "-reads", .op = Op::Read, .mechanism = mechanism}, each(host_pairs(true), by_kernel));
    add({.name = name + "-writes", .op = Op::Write, .mechanism = mechanism}, each(host_pairs(false), by_kernel));
    add({.name = name + "-pageable", .mechanism = mechanism, .pageable = true}, each(host_pairs(true), {64_MiB}));
    add({.name = name + "-pageable-back", .mechanism = mechanism, .pageable = true}, each(host_pairs(false), {64_MiB}));
  }

  // The bandwidth of a NUMA node's memory with all of its cores, which also limits devices. Copies exceed the caches.
  void host_memories() {
    for (auto const& numa : machine_.numa_nodes) {
      auto const cores = static_cast<int>(numbers_of_list(numa.cores).size());
      if (cores == 0) continue;
      add({.name = fmt::format("memory-of-{}-by-all-cores", numa.name), .mechanism = Mechanism::Local, .cores = cores},
          each({{numa.name, numa.name}}, {512_MiB, 1_GiB}));
    }
  }

  // ---------------------------------------------------------------------------------------------------------- drives

  [[nodiscard]] static std::vector<Pair> each_with(std::vector<std::string> const& drives,
                                                   std::vector<std::string> const& others, bool from_drive) {
    std::vector<Pair> pairs;
    for (auto const& drive : drives)
      for (auto const& other : others) pairs.push_back(from_drive ? Pair(drive, other) : Pair(other, drive));
    return pairs;
  }

  void drives() {
    for (bool const reads : {true, false}) {
      auto const series = [&](std::string const& way, Mechanism mechanism, std::vector<std::string> const& others) {
        MeasuredSeries made{.name = fmt::format("drive-{}-{}", reads ? "reads" : "writes", way),
                            .mechanism = mechanism};
        auto const pairs = each_with(wanted_.drives, others, reads);
        auto small = made;
        small.name += "-small";
        small.quantity = MeasuredQuantity::Latency;
        add(std::move(small), each(pairs, kSmallOfDrives));
        add(std::move(made), each(pairs, kLargeOfDrives));
      };
      series("host", Mechanism::HostDma, memories_);
      series("staged", Mechanism::StorageStaged, gpus_);
      series("direct", Mechanism::StorageDirect, gpus_);
    }
  }

  // All drives at once: into host memory, and staged to one GPU and to one each.
  void patterns_of_drives() {
    if (wanted_.drives.size() < 2 || memories_.empty()) return;
    auto const first_memory = std::vector<std::string>{memories_.front()};
    pattern("all-drives-read", each_with(wanted_.drives, first_memory, true));
    pattern("all-drives-written", each_with(wanted_.drives, first_memory, false));
    if (gpus_.empty()) return;
    pattern("all-drives-to-one-gpu", each_with(wanted_.drives, {gpus_.front()}, true));
    std::vector<Pair> spread;
    for (std::size_t i = 0; i < wanted_.drives.size(); ++i)
      spread.emplace_back(wanted_.drives[i], gpus_[i % gpus_.size()]);
    if (gpus_.size() > 1) pattern("drives-to-all-gpus", spread);
  }

  // -------------------------------------------------------------------------------------------------------- patterns

  void pattern(std::string const& name, std::vector<Pair> const& pairs) {
    std::vector<MeasuredFlow> flows;
    for (auto const& [from, to] : pairs) flows.push_back({from, to});
    std::vector<MeasuredPoint> points;
    for (auto const bytes : kPatternSizes) points.push_back({.flows = flows, .bytes = bytes});
    add({.name = "pattern-" + name, .quantity = MeasuredQuantity::Makespan}, std::move(points));
  }

  void patterns() {
    auto const count = gpus_.size();
    if (count < 2) return;  // its two directions are among the singles
    shifts_and_exchanges();
    if (count > 2) {
      pattern("all-to-all", gpu_pairs());
      for (auto const& one : gpus_) {
        std::vector<Pair> in;
        std::vector<Pair> out;
        for (auto const& other : gpus_) {
          if (other == one) continue;
          in.emplace_back(other, one);
          out.emplace_back(one, other);
        }
        pattern("fan-in-" + one, in);
        pattern("fan-out-" + one, out);
      }
    }
    with_the_host();
    uneven();
  }

  void shifts_and_exchanges() {
    auto const count = gpus_.size();
    for (std::size_t by = 1; by < count; ++by) {
      std::vector<Pair> pairs;
      for (std::size_t i = 0; i < count; ++i) pairs.emplace_back(gpus_[i], gpus_[(i + by) % count]);
      pattern(fmt::format("shift-{}", by), pairs);
    }
    for (std::size_t bit = 1; bit < count; bit *= 2) {
      std::vector<Pair> pairs;
      for (std::size_t i = 0; i < count; ++i)
        if ((i ^ bit) < count) pairs.emplace_back(gpus_[i], gpus_[i ^ bit]);
      pattern(fmt::format("exchange-{}", bit), pairs);
    }
  }

  [[nodiscard]] std::string memory_of(std::string const& gpu) const {
    return machine_.at(machine_.numa_of(*machine_.find_function(gpu))).name;
  }

  void with_the_host() {
    std::vector<Pair> in;
    std::vector<Pair> out;
    for (auto const& gpu : gpus_) {
      in.emplace_back(memory_of(gpu), gpu);
      out.emplace_back(gpu, memory_of(gpu));
    }
    auto const joined = [](std::vector<Pair> one, std::vector<Pair> const& other) {
      one.insert(one.end(), other.begin(), other.end());
      return one;
    };
    pattern("all-to-device", in);
    pattern("all-from-device", out);
    pattern("all-both-ways", joined(in, out));
    std::vector<Pair> ring;
    for (std::size_t i = 0; i < gpus_.size(); ++i) ring.emplace_back(gpus_[i], gpus_[(i + 1) % gpus_.size()]);
    pattern("ring-and-to-device", joined(ring, in));
    pattern("ring-and-from-device", joined(ring, out));
  }

  // Transfers of different sizes between all neighbours in a ring, in both directions, and from host memory.
  void uneven() {
    MeasuredPoint point;
    auto const count = gpus_.size();
    for (std::size_t i = 0; i < count; ++i) {
      auto const unit = static_cast<std::int64_t>(i + 1);
      point.flows.push_back({gpus_[i], gpus_[(i + 1) % count], 16_MiB * unit});
      point.flows.push_back({gpus_[i], gpus_[(i + count - 1) % count], 8_MiB * unit});
      point.flows.push_back({memory_of(gpus_[i]), gpus_[i], 4_MiB * unit});
    }
    add({.name = "pattern-uneven", .quantity = MeasuredQuantity::Makespan}, {point});
  }

  Machine const& machine_;
  Planner planner_;
  Worklist const& wanted_;
  std::vector<std::string> gpus_, memories_;
  std::vector<MeasuredSeries> series_;
};

}  // namespace

std::vector<MeasuredSeries> series_to_measure(Model const& model, Worklist const& wanted) {
  return List(model, wanted).take();
}

}  // namespace lanewise
