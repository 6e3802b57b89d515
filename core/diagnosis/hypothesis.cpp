#include "core/diagnosis/hypothesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "core/diagnosis/hypothesis_groups.hpp"
#include "core/machine/path_class.hpp"
#include "core/model/resources/pcie.hpp"

namespace lanewise {
namespace {

// Link states whose rates differ by less are the same to a measurement.
constexpr double kSameRate = 0.03;

std::optional<PciId> gpu_of(Machine const& machine, std::string const& name) {
  auto const id = machine.find_function(name);
  return id && machine.at(*id).kind == PciKind::Gpu ? id : std::nullopt;
}

// Whether the flow is peer access between two GPUs of one host, or may be.
bool is_peer(Machine const& machine, MeasuredSeries const& series, MeasuredFlow const& flow) {
  auto const a = gpu_of(machine, flow.from);
  auto const b = gpu_of(machine, flow.to);
  if (!a || !b || *a == *b || machine.host_of(*a) != machine.host_of(*b)) return false;
  return !series.mechanism || series.mechanism == Mechanism::PcieP2p || series.mechanism == Mechanism::Nvlink;
}

class HypothesisFinder {
 public:
  HypothesisFinder(Machine const& machine, std::vector<SlowPoint> const& slow, Catalogue& catalogue)
      : machine_(machine), catalogue_(catalogue), slow_count_(slow.size()) {
    for (auto const& [series, point] : slow) {
      for (auto const& flow : point->flows) {
        add_end(flow.from);
        add_end(flow.to);
        peers_ = peers_ || is_peer(machine, *series, flow);
      }
      by_nvlink_ = by_nvlink_ || series->mechanism == Mechanism::Nvlink;
      if (series->collective) add_collective(*series->collective);
      if (series->mechanism == Mechanism::Gdr) gpu_direct_ = true;
    }
  }

  std::vector<Hypothesis> find() {
    if (by_library_) return find_for_library();
    links();
    settings();
    host_memory();
    peer_access();
    nvlinks();
    network();
    clocks();
    return std::move(found_);
  }

 private:
  // What holds for the whole machine, or is a variable, before what one device may have: of these there are many, and
  // one of many states of one of many devices always fits a few figures.
  std::vector<Hypothesis> find_for_library() {
    append(library_hypotheses(machine_, catalogue_, exchanges_));
    settings();
    links();
    nvlinks();
    if (crosses_nodes()) append(fabric_hypotheses(machine_, catalogue_));
    if (crosses_nodes()) append(no_data_direct(machine_, catalogue_));
    clocks();
    // A variable's values are alike, and so are the links of all devices.
    auto const family = [](Hypothesis const& hypothesis) {
      return std::pair(hypothesis.kind, hypothesis.kind == CauseKind::Library ? hypothesis.subject : std::string());
    };
    std::map<std::pair<CauseKind, std::string>, std::size_t> alike;
    for (auto const& hypothesis : found_) ++alike[family(hypothesis)];
    for (auto& hypothesis : found_) {
      bool const of_a_device = hypothesis.kind == CauseKind::Link || hypothesis.kind == CauseKind::Nvlink;
      auto const devices = of_a_device ? ends_.size() : std::size_t{1};
      hypothesis.handicap += 2 * std::log(static_cast<double>(alike[family(hypothesis)] * devices));
    }
    return std::move(found_);
  }
  // In a collective a fault of one device is the same fault of any other like it: the first of each kind stands for
  // them.
  bool is_first_of_its_kind(PciId id) {
    if (!by_library_) return true;
    auto const& function = machine_.at(id);
    auto const link = function.link ? to_string(*function.link) : std::string();
    return kinds_.emplace(function.kind, function.part ? index(*function.part) : kNoPart, link).second;
  }
  [[nodiscard]] std::string one_like(std::string const& name) const {
    return by_library_ ? fmt::format("{} or of another one like it", name) : name;
  }

  void add_end(std::string const& name) {
    auto const place = machine_.find_place(name);
    if (!place) return;
    if (auto const* numa = std::get_if<NumaId>(&*place)) {
      numas_.insert(index(*numa));
      return;
    }
    ends_.insert(index(std::get<PciId>(*place)));
  }

  void append(std::vector<Hypothesis> more) { std::move(more.begin(), more.end(), std::back_inserter(found_)); }

  [[nodiscard]] std::function<void(Machine&)> applied(Setting setting) const {
    return applying(std::move(setting), catalogue_);
  }

  // ------------------------------------------------------------------------------------------------------------ links

  // The links of the endpoints and of everything above them, and for network transfers also those of the NICs.
  void links() {
    std::set<std::size_t> functions;
    auto const add_with_ancestors = [&](std::size_t at) {
      for (std::optional<PciId> id = PciId(at); id; id = machine_.at(*id).parent) functions.insert(index(*id));
    };
    for (auto const end : ends_) add_with_ancestors(end);
    auto const hosts = hosts_of_ends();
    if (hosts.size() > 1)
      for (auto const nic : machine_.all(PciKind::Nic))
        if (hosts.contains(machine_.host_of(nic))) add_with_ancestors(index(nic));
    // Devices before switches: the cause of one slow device is more often its own slot.
    for (bool const device : {true, false})
      for (auto const function : functions) {
        auto const kind = machine_.at(PciId(function)).kind;
        bool const is_device = kind != PciKind::Switch && kind != PciKind::RootPort;
        if (is_device == device && is_first_of_its_kind(PciId(function))) links_of(PciId(function));
      }
  }

  void links_of(PciId id) {
    auto const& said = machine_.at(id).link;
    auto const usual = said ? said : assumed_link(machine_, id);
    if (!usual) return;
    std::vector<PcieLink> states;
    for (int const width : {16, 8, 4, 2, 1})
      for (int generation = usual->generation; generation >= 1; --generation)
        if (PcieLink const state{generation, width}; width <= usual->width && state != *usual) states.push_back(state);
    // Likelier first: reduced width alone (bad contacts), then generation alone, then both.
    std::stable_sort(states.begin(), states.end(), [&](PcieLink a, PcieLink b) {
      auto const wrong = [&](PcieLink s) {
        return (s.width != usual->width ? 1 : 0) + (s.generation != usual->generation ? 2 : 0);
      };
      return wrong(a) < wrong(b);
    });
    std::vector<double> rates;
    auto const first = found_.size();
    for (auto const state : states) {
      auto const rate = pcie::raw_rate(state).value();
      auto const known =
          std::find_if(rates.begin(), rates.end(), [&](double r) { return std::abs(r / rate - 1) < kSameRate; });
      if (known != rates.end()) {
        found_[first + static_cast<std::size_t>(known - rates.begin())].likewise.push_back(to_string(state));
        continue;
      }
      rates.push_back(rate);
      link(id, *usual, state);
    }
  }

  void link(PciId id, PcieLink usual, PcieLink state) {
    auto const& function = machine_.at(id);
    Setting const setting{"link@" + function.name, to_string(state)};
    auto h = hypothesis_of(CauseKind::Link, function.name,
                           fmt::format("the PCIe link of {} runs at {} instead of {}", one_like(function.name),
                                       to_string(state), to_string(usual)));
    h.check = fmt::format("lspci -vv -s {} under load: LnkSta against LnkCap; reseat the card, riser or cable",
                          function.bdf.empty() ? "(the device)" : function.bdf);
    h.settings = {setting};
    h.change = applied(setting);
    found_.push_back(std::move(h));
  }

  // --------------------------------------------------------------------------------------------------------- settings

  void settings() {
    if (peers_) {
      Setting const acs{"acs", "on"};
      auto h = hypothesis_of(CauseKind::Acs, "", "ACS redirects peer traffic through the root complex");
      h.check = "lspci -vvv: ACSCtl with ReqRedir+ above the GPUs; the firmware's ACS option, or the IOMMU, sets it";
      h.settings = {acs};
      h.change = applied(acs);
      found_.push_back(std::move(h));
      if (!by_library_) acs_of_one_switch();
    }
    if (machine_.hosts.front().settings.virtualization.ats) {
      auto h =
          hypothesis_of(CauseKind::Ats, "", "address translation services (ATS) do not work: every DMA is translated");
      h.check =
          "lspci -vvv: ATSCap and ATSCtl Enable+ of GPUs and NICs; ATS_ENABLED of the NIC's firmware, the VM's host";
      h.settings = {{"virtualization.ats", "off"}};
      h.change = applied(h.settings.front());
      found_.push_back(std::move(h));
    }
    if (translates(machine_.hosts.front().settings.iommu)) return;
    Setting const iommu{"iommu", "translated"};
    auto translated = hypothesis_of(CauseKind::Iommu, "", "the IOMMU translates DMA");
    translated.check = "/proc/cmdline and dmesg: iommu=pt or intel_iommu=off, amd_iommu=off; in a VM ask its host";
    translated.settings = {iommu};
    translated.change = applied(iommu);
    if (by_library_ && machine_.hosts.size() > 1) {
      // Linux turns ACS on with it (pci_request_acs), so that peers below a switch meet at the root complex.
      translated.text = "the IOMMU translates DMA, and Linux turns ACS on with it";
      translated.settings.push_back({"acs", "on"});
      translated.change = [first = applied(iommu), second = applied({"acs", "on"})](Machine& machine) {
        first(machine);
        second(machine);
      };
    }
    found_.push_back(std::move(translated));
  }

  void acs_of_one_switch() {
    std::set<std::size_t> switches;
    for (auto const end : ends_)
      for (auto id = machine_.at(PciId(end)).parent; id; id = machine_.at(*id).parent)
        if (machine_.at(*id).kind == PciKind::Switch) switches.insert(index(*id));
    for (auto const at : switches) {
      auto const& name = machine_.at(PciId(at)).name;
      auto h = hypothesis_of(CauseKind::Acs, name,
                             fmt::format("ACS redirects peer traffic below {} through the root complex", name));
      h.check = "lspci -vvv: ACSCtl with ReqRedir+ on the switch's downstream ports";
      h.settings = {{"acs@" + name, "on"}};
      h.change = applied(h.settings.front());
      found_.push_back(std::move(h));
    }
  }

  // ------------------------------------------------------------------------------------------------------ host memory

  void host_memory() {
    for (std::size_t i = 0; i < machine_.numa_nodes.size() && !numas_.empty(); ++i) {
      auto const name = machine_.numa_nodes[i].name;
      auto h =
          hypothesis_of(CauseKind::Numa, name, fmt::format("the host memory was on {}, not beside the device", name));
      h.check = "numactl --cpunodebind and --membind; numastat -p shows where a process has its pages";
      h.reinterpret = [name, host = machine_.host_of(Place(NumaId(i))), &machine = machine_](MeasuredSeries&,
                                                                                             MeasuredPoint& point) {
        bool changed = false;
        for (auto& flow : point.flows)
          for (auto* end : {&flow.from, &flow.to}) {
            auto const place = machine.find_place(*end);
            if (!place || !std::holds_alternative<NumaId>(*place) || machine.host_of(*place) != host) continue;
            changed = changed || *end != name;
            *end = name;
          }
        return changed;
      };
      found_.push_back(std::move(h));
    }
    if (numas_.empty()) return;
    auto h = hypothesis_of(CauseKind::Pageable, "", "the host memory was pageable, not pinned");
    h.check = "cudaHostAlloc or cudaHostRegister for the buffers; bandwidthTest --memory=pinned";
    h.reinterpret = as_pageable;
    found_.push_back(std::move(h));
    confidential();
  }

  // Copies between host and GPU of a confidential virtual machine: a core encrypts them into a bounce buffer, from
  // which the GPU reads them, chunk by chunk.
  void confidential() {
    constexpr std::array<double, 2> kEncrypted{3e9, 6e9};  // B/s by AES-GCM: assumed, no figure was found published
    for (auto const rate : kEncrypted) {
      auto h = hypothesis_of(
          CauseKind::Confidential, "",
          fmt::format("data to and from the GPUs pass encrypted bounce buffers, at {:.0f} GB/s", rate / 1e9));
      h.check = "nvidia-smi conf-compute -f: is confidential computing (CC) on?";
      h.handicap = 2 * std::log(static_cast<double>(kEncrypted.size()));
      h.change = [rate](Machine& machine) {
        for (auto& part : machine.parts)
          if (part.kind == PartKind::Cpu) part.cpu.core_copy_bandwidth = BytesPerSecond(rate);
      };
      h.reinterpret = as_pageable;
      found_.push_back(std::move(h));
    }
  }
  static bool as_pageable(MeasuredSeries& series, MeasuredPoint&) {
    if (series.pageable || (series.mechanism && series.mechanism != Mechanism::HostDma)) return false;
    return series.pageable = true;
  }

  // Low clocks slow what GPUs do, whatever its size: only several slow figures tell.
  void clocks() {
    constexpr std::size_t kMinSlowFigures = 4;
    // Handicaps: anything that slows all alike looks like it, and of a library many variables do. Tried on
    // tests/diagnosis/library_cases.json.
    constexpr double kLooksLikeMuch = 4;
    constexpr double kLooksLikeVariables = 16;
    constexpr std::array<double, 4> kSlowdowns{1.25, 1.5, 2, 3};
    if (slow_count_ < kMinSlowFigures) return;
    for (auto const slowdown : kSlowdowns) {
      auto h = hypothesis_of(CauseKind::Clock, "",
                             fmt::format("the GPUs run slowly: everything takes {:g} times as long", slowdown));
      h.check = "nvidia-smi -q -d CLOCK,POWER,PERFORMANCE under load: clocks, power limit, thermal slowdown";
      h.handicap =
          by_library_ ? kLooksLikeVariables : kLooksLikeMuch + 2 * std::log(static_cast<double>(kSlowdowns.size()));
      h.slowdown = slowdown;
      found_.push_back(std::move(h));
    }
  }

  // ------------------------------------------------------------------------------------------------------ peer access

  void peer_access() {
    if (!peers_) return;
    auto h = peer_refused();
    h.reinterpret = [&machine = machine_](MeasuredSeries& series, MeasuredPoint& point) {
      for (auto const& flow : point.flows)
        if (!is_peer(machine, series, flow)) return false;
      if (series.op != Op::Copy) return false;
      series.mechanism = Mechanism::HostStaged;
      series.by_driver = true;
      series.pulled = false;
      return true;
    };
    found_.push_back(std::move(h));
    append(small_bar1(machine_, ends_));
    if (!by_nvlink_) return;
    auto pcie = hypothesis_of(CauseKind::NotNvlink, "", "the GPUs reach each other over PCIe: NVLink is not in use");
    pcie.check = "nvidia-smi nvlink --status; the fabric manager must run on machines with NVSwitch";
    pcie.settings = {{"nvlink", "off"}};
    pcie.change = applied({"nvlink", "off"});
    pcie.reinterpret = [](MeasuredSeries& series, MeasuredPoint&) {
      if (series.mechanism != Mechanism::Nvlink) return false;
      series.mechanism = Mechanism::PcieP2p;
      return true;
    };
    found_.push_back(std::move(pcie));
  }

  void nvlinks() {
    if (!peers_) return;
    for (auto const& fabric : machine_.nvswitches)
      for (auto const& port : fabric.ports)
        if (ends_.contains(index(port.gpu)) && is_first_port(port)) port_links(port);
    bundled_links();
  }

  bool is_first_port(NvSwitch::Port const& port) {
    return !by_library_ || kinds_.emplace(PciKind::Gpu, kNoPart, fmt::format("{} NVLinks", port.count)).second;
  }

  static void set_port_links(Machine& machine, PciId gpu, int count) {
    for (auto& fabric : machine.nvswitches)
      for (auto& port : fabric.ports)
        if (port.gpu == gpu) port.count = count;
  }
  // A GPU that has lost most of its links to the switches is taken out of the fabric, and no library starts on it.
  [[nodiscard]] int fewest_links(int all) const { return by_library_ ? std::max(1, all * 2 / 3) : 1; }
  void port_links(NvSwitch::Port const& port) {
    for (int left = port.count - 1; left >= fewest_links(port.count); --left)
      nvlink(machine_.at(port.gpu).name, port.count, left,
             [gpu = port.gpu, left](Machine& machine) { set_port_links(machine, gpu, left); });
  }

  void bundled_links() {
    for (std::size_t i = 0; i < machine_.nvlinks.size(); ++i) {
      auto const& bundle = machine_.nvlinks[i];
      auto const of = [&](NvlinkEnd const& one) {
        auto const* id = std::get_if<PciId>(&one);
        return id != nullptr && ends_.contains(index(*id)) ? machine_.at(*id).name : std::string();
      };
      if (of(bundle.a).empty() || of(bundle.b).empty()) continue;
      bool const is_first =
          !by_library_ ||
          kinds_.emplace(PciKind::Gpu, index(bundle.part), fmt::format("{} of a pair", bundle.count)).second;
      for (int left = bundle.count - 1; is_first && left >= 1; --left)
        nvlink(of(bundle.a) + "-" + of(bundle.b), bundle.count, left,
               [i, left](Machine& machine) { machine.nvlinks[i].count = left; });
    }
  }

  void nvlink(std::string const& subject, int usual, int left, std::function<void(Machine&)> change) {
    auto h = hypothesis_of(CauseKind::Nvlink, subject,
                           fmt::format("{} of the {} NVLinks of {} are down", usual - left, usual, one_like(subject)));
    h.check = "nvidia-smi nvlink --status and --errorcounters";
    h.change = std::move(change);
    found_.push_back(std::move(h));
  }

  // -------------------------------------------------------------------------------------------------------- libraries

  void add_collective(MeasuredCollective const& collective) {
    by_library_ = true;
    exchanges_ = exchanges_ || collective.op == CollectiveOp::AllToAll;
    for (auto const& name : collective.among) add_end(name);
    auto const gpus = collective.among.size();
    peers_ = peers_ || gpus > 1;
  }

  // ---------------------------------------------------------------------------------------------------------- network

  [[nodiscard]] std::set<HostId> hosts_of_ends() const {
    std::set<HostId> hosts;
    for (auto const end : ends_) hosts.insert(machine_.host_of(PciId(end)));
    for (auto const numa : numas_) hosts.insert(machine_.host_of(Place(NumaId(numa))));
    return hosts;
  }

  [[nodiscard]] bool crosses_nodes() const { return machine_.fabric && hosts_of_ends().size() > 1; }

  void network() {
    if (gpu_direct_) {
      auto h = hypothesis_of(CauseKind::NoGpuDirect, "", "no GPUDirect RDMA: the transfers are staged in host memory");
      h.check = "lsmod | grep nvidia_peermem, or ibv_reg_dmabuf_mr with an open kernel driver";
      h.reinterpret = [](MeasuredSeries& series, MeasuredPoint&) {
        if (series.mechanism != Mechanism::Gdr) return false;
        series.mechanism = Mechanism::NetStaged;
        series.op = Op::Copy;
        return true;
      };
      found_.push_back(std::move(h));
    }
    if (!crosses_nodes()) return;
    append(fabric_hypotheses(machine_, catalogue_));
    append(no_data_direct(machine_, catalogue_));
    auto const hosts = hosts_of_ends();
    for (auto const& attachment : machine_.fabric->attachments) {
      auto const& nic = machine_.at(attachment.nic);
      if (!hosts.contains(machine_.host_of(attachment.nic))) continue;
      auto h = hypothesis_of(CauseKind::Nic, nic.name,
                             fmt::format("another NIC was used than {}, which is nearest", nic.name));
      h.check = "perftest -d DEVICE, UCX_NET_DEVICES or NCCL_IB_HCA: the NIC that shares a switch with the GPU";
      h.change = [id = attachment.nic](Machine& machine) {
        std::erase_if(machine.fabric->attachments, [&](Fabric::Attachment const& a) { return a.nic == id; });
      };
      found_.push_back(std::move(h));
    }
  }

  Machine const& machine_;
  Catalogue& catalogue_;
  std::size_t slow_count_;
  std::set<std::size_t> ends_, numas_;
  bool peers_ = false, by_nvlink_ = false, gpu_direct_ = false, by_library_ = false, exchanges_ = false;
  static constexpr std::size_t kNoPart = static_cast<std::size_t>(-1);
  std::set<std::tuple<PciKind, std::size_t, std::string>> kinds_;  // that a hypothesis stands for, of collectives
  std::vector<Hypothesis> found_;
};

}  // namespace

std::string_view to_string(CauseKind kind) {
  constexpr std::array<std::string_view, 17> kNames{
      "link",         "nvlink",  "acs",    "iommu", "numa", "pageable",    "peer_refused", "not_nvlink", "nic",
      "no_gpudirect", "library", "fabric", "bar1",  "ats",  "data_direct", "confidential", "clock"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Hypothesis hypothesis_of(CauseKind kind, std::string subject, std::string text) {
  Hypothesis hypothesis;
  hypothesis.kind = kind;
  hypothesis.subject = std::move(subject);
  hypothesis.text = std::move(text);
  return hypothesis;
}

std::function<void(Machine&)> applying(Setting setting, Catalogue& catalogue) {
  return [setting = std::move(setting), &catalogue](Machine& machine) { apply_setting(machine, setting, catalogue); };
}

std::vector<Hypothesis> hypotheses_for(Machine const& machine, std::vector<SlowPoint> const& slow,
                                       Catalogue& catalogue) {
  return HypothesisFinder(machine, slow, catalogue).find();
}

}  // namespace lanewise
