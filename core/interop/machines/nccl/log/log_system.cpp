#include "core/interop/machines/nccl/log/log_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// NCCL src/graph/topo.cc: a PCIe link counts as its lanes times 15, 30, 60, 120, 240 or 480 over 80 GB/s. Several
// links have one rate; the widest of an endpoint's usual widths is taken.
std::optional<PcieLink> link_of_rate(double rate) {
  constexpr std::array<std::pair<double, PcieLink>, 8> kLinks{{{96, {6, 16}},
                                                               {48, {5, 16}},
                                                               {24, {4, 16}},
                                                               {12, {3, 16}},
                                                               {6, {3, 8}},
                                                               {3, {3, 4}},
                                                               {1.5, {3, 2}},
                                                               {0.75, {3, 1}}}};
  for (auto const& [of, link] : kLinks)
    if (std::abs(rate - of) <= 0.06) return link;
  return std::nullopt;
}

// NCCL src/graph/topo.h: GB/s that one NVLink counts for, by compute capability; 21 in versions before 2.8.
struct NvlinkRate {
  double rate;
  std::string_view sm;
};
constexpr std::array<NvlinkRate, 6> kNvlinkRates{
    {{40.1, "100"}, {20.6, "90"}, {20.0, "80"}, {21.0, "70"}, {18.0, "60"}, {12.0, "86"}}};

std::optional<std::pair<int, std::string>> nvlinks_of_rate(double rate) {
  for (auto const& [one, sm] : kNvlinkRates) {
    auto const count = std::round(rate / one);
    if (count >= 1 && count <= 36 && std::abs(rate - count * one) <= 0.06)
      return std::pair(static_cast<int>(count), std::string(sm));
  }
  return std::nullopt;
}

constexpr double kMegabitsPerGigabyte = 8000;
constexpr int kMaxMegabits = 100'000'000;

class TreeBuilder {
 public:
  explicit TreeBuilder(NcclLogHost const& host) : host_(host) {}

  NcclSystem build() {
    add_cut_cpu();
    for (std::size_t i = 0; i < end();) i = is_cpu(i) ? add_cpu(i) : i + 1;
    if (system_.cpus.empty()) add_unplaced();
    for (auto& cpu : system_.cpus)
      for (auto& net : cpu.nets)
        if (net.name.empty()) net.name = "net";  // the log does not say it
    return std::move(system_);
  }

 private:
  void note(std::string text) {
    auto& notes = system_.notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
  }
  [[nodiscard]] NcclTreeLine const& at(std::size_t i) const { return host_.tree[i]; }
  [[nodiscard]] std::size_t end() const { return host_.tree.size(); }

  // "CPU/0 (1/2/-1)": architecture, vendor, model as NCCL numbers them (src/include/graph.h).
  static void describe_cpu(std::string const& detail, NcclCpu& cpu) {
    if (detail.starts_with('2')) cpu.arch = "ppc64";
    if (detail.starts_with('3')) cpu.arch = "arm64";
    if (!detail.starts_with('1')) return;
    cpu.arch = "x86_64";
    if (detail == "1/1/1") cpu.cpuid = "GenuineIntel/6/79";   // Broadwell
    if (detail == "1/1/3") cpu.cpuid = "GenuineIntel/6/143";  // Sapphire Rapids
  }

  [[nodiscard]] bool is_cpu(std::size_t line) const { return at(line).type == "CPU" && at(line).link.empty(); }
  static std::uint64_t number_of(std::string const& id) {
    std::uint64_t number = 0;
    std::from_chars(id.data(), id.data() + id.size(), number, 16);
    return number;
  }

  // Where somebody cut the log, devices come before the first CPU: they are of one whose own line is lost.
  void add_cut_cpu() {
    std::size_t first = 0;
    while (first < end() && !is_cpu(first)) ++first;
    bool devices = false;
    std::set<std::uint64_t> others;
    for (std::size_t i = 0; i < end(); ++i) {
      devices = devices || (i < first && at(i).link == "PCI");
      if (at(i).type == "CPU" && (i < first || is_cpu(i))) others.insert(number_of(at(i).id));
    }
    if (!devices) return;
    NcclCpu cpu;
    while (others.contains(static_cast<std::uint64_t>(cpu.numa))) ++cpu.numa;
    for (std::size_t line = 0; line < first;) line = add_below(line, at(line).column, cpu.pci, cpu);
    system_.cpus.push_back(std::move(cpu));
    note(fmt::format("inferred: the log begins below a CPU whose line is cut; taken for NUMA node {}",
                     system_.cpus.front().numa));
  }

  // Adds the CPU at a line with everything below it; the line after that. A CPU that is listed twice counts once.
  std::size_t add_cpu(std::size_t line) {
    NcclCpu cpu;
    auto const numa = number_of(at(line).id);
    cpu.numa = numa > 4096 ? -1 : static_cast<int>(numa);
    describe_cpu(at(line).detail, cpu);
    auto next = line + 1;
    while (next < end() && !at(next).link.empty()) next = add_below(next, at(next).column, cpu.pci, cpu);
    bool const known = std::any_of(system_.cpus.begin(), system_.cpus.end(),
                                   [&](NcclCpu const& other) { return other.numa == cpu.numa; });
    if (!known) system_.cpus.push_back(std::move(cpu));
    return next;
  }

  // Adds what is on a line at this column and everything further in; the line after that.
  std::size_t add_below(std::size_t line, std::size_t column, std::vector<NcclPci>& into, NcclCpu& cpu) {
    auto const& entry = at(line);
    auto next = line + 1;
    if (entry.link != "PCI" || (entry.type != "PCI" && entry.type != "GPU" && entry.type != "NIC")) {
      if (entry.type == "NET") cpu.nets.push_back(net(entry));
      return next;
    }
    NcclPci pci;
    pci.bus_id = bus_id_of_nccl(entry.id);
    describe(entry, pci);
    while (next < end() && belongs(next, column, entry)) {
      auto const& inner = at(next);
      if (inner.type == "NET") {
        pci.nets.push_back(net(inner));
        ++next;
      } else if (entry.type == "GPU") {
        add_gpu_link(inner, *pci.gpu);
        ++next;
      } else {
        // Only a bridge has devices below it. Where the lines of others are lost, theirs are its neighbours.
        next = add_below(next, inner.column, entry.type == "PCI" ? pci.below : into, cpu);
      }
    }
    enter(std::move(pci), entry, into, cpu);
    return next;
  }

  // Deeper columns are below. Where somebody's paste lost the indentation, links of GPUs and networks still follow
  // what they are of.
  [[nodiscard]] bool belongs(std::size_t line, std::size_t column, NcclTreeLine const& above) const {
    auto const& entry = at(line);
    if (entry.link.empty()) return false;
    if (entry.column > column) return true;
    bool const flat = entry.column == column;
    return flat && ((above.type == "GPU" && entry.link != "PCI" && entry.link != "SYS" && entry.link != "NET") ||
                    (above.type == "NIC" && entry.link == "NET"));
  }

  void describe(NcclTreeLine const& entry, NcclPci& pci) {
    if (auto const link = link_of_rate(entry.bandwidth)) {
      pci.generation = link->generation;
      pci.width = link->width;
      note(
          "inferred: generation and width of PCIe links, for the log has only their rates (12.0: gen3 x16; it could be "
          "gen4 x8)");
    }
    if (entry.type == "PCI") {
      pci.device_class = 0x060400;
      bool const has_ids =
          entry.detail.size() == 16 && entry.detail.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
      if (has_ids) pci.id = entry.detail.substr(0, 4) + ":" + entry.detail.substr(4, 4);
    } else if (entry.type == "GPU") {
      pci.device_class = 0x030200;
      pci.gpu.emplace();
      auto const known = host_.gpus.find(pci.bus_id);
      if (known != host_.gpus.end() && known->second >= 0) pci.gpu->device = known->second;
    } else {
      pci.device_class = 0x020000;
    }
  }

  void enter(NcclPci pci, NcclTreeLine const& entry, std::vector<NcclPci>& into, NcclCpu& cpu) {
    // NICs without an address are at 0: sockets and virtual interfaces.
    bool const unplaced =
        entry.type == "NIC" && (pci.bus_id.empty() || entry.id.find_first_not_of('0') == std::string::npos);
    if (unplaced) {
      cpu.nets.insert(cpu.nets.end(), pci.nets.begin(), pci.nets.end());
      return;
    }
    if (seen_.contains(pci.bus_id)) return note(fmt::format("the log lists {} twice; the first is taken", pci.bus_id));
    seen_.insert(pci.bus_id);
    into.push_back(std::move(pci));
  }

  void add_gpu_link(NcclTreeLine const& entry, NcclGpu& gpu) {
    NcclLink link;
    link.target = bus_id_of_nccl(entry.id);
    if (entry.link == "NVL") {
      auto const count = nvlinks_of_rate(entry.bandwidth);
      if (!count)
        return note(
            fmt::format("a link NVL[{}] is no multiple of what one NVLink counts for; left out", entry.bandwidth));
      link.count = count->first;
      if (gpu.sm.empty()) gpu.sm = count->second;
      link.target_class = entry.type == "NVS" ? "0x068000" : entry.type == "CPU" ? "0x068001" : "0x030200";
      note(fmt::format("inferred: {} NVLinks of compute capability {} for NVL[{}]", count->first, count->second,
                       entry.bandwidth));
    } else if (entry.link == "C2C") {
      link.kind = NcclLink::Kind::C2c;
      link.bandwidth = entry.bandwidth * 1000;
    } else if (entry.link == "XGMI" && entry.type == "GPU") {
      link.kind = NcclLink::Kind::Xgmi;
    } else {
      return;
    }
    gpu.links.push_back(std::move(link));
  }

  // "NET/1 (7a852d0003f6ceb8/1/25.000000)": GUID, port, GB/s.
  [[nodiscard]] NcclNet net(NcclTreeLine const& entry) const {
    NcclNet net;
    int number = 0;
    std::from_chars(entry.id.data(), entry.id.data() + entry.id.size(), number, 16);
    auto const name = host_.nets.find(number);
    if (name != host_.nets.end()) net.name = name->second;
    auto const rate = entry.detail.substr(entry.detail.rfind('/') + 1);
    double gigabytes = 0;
    std::from_chars(rate.data(), rate.data() + rate.size(), gigabytes);
    if (gigabytes > 0 && gigabytes * kMegabitsPerGigabyte < kMaxMegabits)
      net.speed = static_cast<int>(std::lround(gigabytes * kMegabitsPerGigabyte));
    net.gpudirect = host_.gpudirect && !host_.dma_buf;
    return net;
  }

  // Without a tree: every GPU and NIC that a line names, on one NUMA node.
  void add_unplaced() {
    NcclCpu cpu;
    cpu.numa = -1;
    auto const add = [&](std::string const& bus, std::optional<int> device) {
      NcclPci pci;
      pci.bus_id = bus;
      pci.device_class = 0x030200;
      pci.gpu.emplace();
      pci.gpu->device = device;
      cpu.pci.push_back(std::move(pci));
    };
    for (auto const& [bus, device] : host_.gpus) add(bus, device >= 0 ? std::optional(device) : std::nullopt);
    if (host_.gpus.empty())
      for (auto const device : host_.devices) add({}, device);
    for (auto const& [number, name] : host_.nets) cpu.nets.push_back({.name = name, .gpudirect = false});
    system_.cpus.push_back(std::move(cpu));
    note(
        "the log has no tree (NCCL_DEBUG_SUBSYS=INIT,GRAPH prints it): the places of GPUs and NICs, switches, NUMA "
        "nodes and NVLink are unknown");
  }

  NcclLogHost const& host_;
  std::set<std::string> seen_;
  NcclSystem system_;
};

}  // namespace

NcclSystem system_of_log(NcclLogHost const& host) { return TreeBuilder(host).build(); }

}  // namespace lanewise
