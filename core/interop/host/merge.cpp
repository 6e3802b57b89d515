#include "core/interop/host/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/interop/machines/roles.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Whether an id names a device; "10de:" names only its vendor.
bool is_whole(std::string const& id) { return id.size() > 5; }

// How much a file says about how the host is built.
std::size_t detail(HostFacts const& facts) {
  auto const count = [&](auto const& test) {
    return static_cast<std::size_t>(std::count_if(facts.pci.begin(), facts.pci.end(), test));
  };
  constexpr std::size_t kConfig = 1'000'000;  // more than any number of functions
  constexpr std::size_t kTree = 1'000;
  return kConfig * count([](PciFacts const& f) { return f.config.max_link.has_value(); }) +
         kTree * count([](PciFacts const& f) { return !f.above.empty(); }) + facts.pci.size() +
         count([](PciFacts const& f) { return is_whole(f.id); });
}

class Merger {
 public:
  explicit Merger(std::vector<FactsOfFile> files) : files_(std::move(files)) {}

  HostFacts merge() {
    std::stable_sort(files_.begin(), files_.end(),
                     [](FactsOfFile const& a, FactsOfFile const& b) { return detail(a.facts) > detail(b.facts); });
    for (auto& file : files_) give_addresses(file.facts);
    merged_ = std::move(files_.front().facts);
    for (auto const& function : merged_.pci) from_.emplace(function.bdf, files_.front().file);
    for (auto const& gpu : merged_.nvml.gpus) links_from_.emplace(gpu.bdf, files_.front().file);
    for (auto const& nic : merged_.nics) nic_from_.emplace(nic.name, files_.front().file);
    for (std::size_t i = 1; i < files_.size(); ++i) add(files_[i]);
    std::sort(merged_.pci.begin(), merged_.pci.end(),
              [](PciFacts const& a, PciFacts const& b) { return a.bdf < b.bdf; });
    return std::move(merged_);
  }

 private:
  void contradict(std::string const& subject, std::string const& taken, std::string const& taken_file,
                  std::string const& other, std::string const& other_file) {
    merged_.notes.push_back(fmt::format("contradiction: {}: {} says {}, {} says {}; {} is taken", subject, taken_file,
                                        taken, other_file, other, taken_file));
  }

  // Puts the k-th GPU of a file without addresses at the address of the k-th GPU of AMD that the best file has.
  void give_addresses(HostFacts& facts) {
    bool const lacks = std::any_of(facts.pci.begin(), facts.pci.end(), [](auto const& f) { return f.address_unknown; });
    if (!lacks) return;
    std::vector<std::string> known;
    for (auto const& function : files_.front().facts.pci)
      if (!function.address_unknown && function.id.starts_with("1002:") &&
          (function.class_code >> 16U == 0x03 || function.class_code >> 8U == 0x1200))
        known.push_back(function.bdf);
    std::sort(known.begin(), known.end());
    if (known.size() != facts.pci.size()) {
      if (!known.empty())
        facts.notes.push_back(fmt::format("one file has {} GPUs without addresses and another {} with; they stay apart",
                                          facts.pci.size(), known.size()));
      return;
    }
    std::map<std::string, std::string> renamed;
    for (std::size_t i = 0; i < known.size(); ++i) {
      renamed[facts.pci[i].bdf] = known[i];
      facts.pci[i].bdf = known[i];
      facts.pci[i].address_unknown = false;
    }
    for (auto& pair : facts.xgmi) {
      pair.a = renamed.at(pair.a);
      pair.b = renamed.at(pair.b);
    }
    facts.notes.emplace_back("inferred: GPUs without addresses are those of the other file in the order of addresses");
  }

  void add(FactsOfFile& file) {
    auto& other = file.facts;
    for (auto& note : other.notes)
      if (std::find(merged_.notes.begin(), merged_.notes.end(), note) == merged_.notes.end() && !is_answered(note))
        merged_.notes.push_back(note);
    for (auto& function : other.pci) add_function(function, other, file.file);
    add_cpu(other, file.file);
    take(merged_.platform.product, other.platform.product);
    take(merged_.platform.firmware, other.platform.firmware);
    take(merged_.platform.hypervisor, other.platform.hypervisor);
    add_nics(other, file.file);
    add_gpus(other, file.file);
    if (merged_.xgmi.empty()) merged_.xgmi = other.xgmi;
    take(merged_.gpu_part, other.gpu_part);
    if (merged_.source.find(other.source) == std::string::npos) merged_.source += " and " + other.source;
  }

  // What a file lacks is not worth a note where another has it.
  static bool is_answered(std::string const& note) { return note.find("'sudo lspci -vvv'") != std::string::npos; }

  void add_function(PciFacts& other, HostFacts const& facts, std::string const& file) {
    auto const known = std::find_if(merged_.pci.begin(), merged_.pci.end(),
                                    [&](PciFacts const& function) { return function.bdf == other.bdf; });
    if (known == merged_.pci.end()) {
      note_unseen(other, file);
      from_.emplace(other.bdf, file);
      merged_.pci.push_back(other);
      return;
    }
    auto const& first = from_.at(other.bdf);
    if (is_whole(known->id) && is_whole(other.id) && known->id != other.id)
      contradict(known->bdf, known->id, first, other.id, file);
    if (!is_whole(known->id) && !other.id.empty()) known->id = other.id;
    if (known->numa >= 0 && other.numa >= 0 && known->numa != other.numa)
      contradict(known->bdf, fmt::format("NUMA node {}", known->numa), first, fmt::format("{}", other.numa), file);
    if (known->numa < 0) known->numa = other.numa;
    if (has_other_place(*known, other, facts))
      contradict(known->bdf, "below " + known->above, first, "below " + other.above, file);
    if (known->above_unknown && !other.above_unknown) {
      known->above = other.above;
      known->root_bus = other.root_bus;
      known->above_unknown = false;
    }
    add_links(*known, other, first, file);
    take(known->subsystem, other.subsystem);
    take(known->iommu_group, other.iommu_group);
    take(known->iommu_type, other.iommu_type);
    take(known->driver, other.driver);
    take(known->product, other.product);
    take(known->slot, other.slot);
    take(known->firmware, other.firmware);
    if (known->class_code == 0) known->class_code = other.class_code;
    if (known->bars.empty()) known->bars = other.bars;
    known->is_accelerator = known->is_accelerator || other.is_accelerator;
    if (!known->config.has_capabilities && other.config.has_capabilities) known->config = other.config;
  }
  // A GPU or NIC where the file with the tree has nothing.
  void note_unseen(PciFacts const& other, std::string const& file) {
    bool const has_tree = std::any_of(merged_.pci.begin(), merged_.pci.end(),
                                      [](PciFacts const& function) { return function.is_bridge(); });
    if (has_tree && !other.address_unknown && (other.is_accelerator || other.is_nic()))
      merged_.notes.push_back(fmt::format("contradiction: {}: {} has a {} there, {} nothing; it is added", other.bdf,
                                          file, other.is_accelerator ? "GPU" : "NIC", files_.front().file));
  }

  // Whether two files put a function below different bridges. A file without every port (NCCL's) names a bridge further
  // up, and root ports that nobody knows.
  [[nodiscard]] bool has_other_place(PciFacts const& known, PciFacts const& other, HostFacts const& facts) const {
    if (known.above.empty() || other.above.empty() || known.above == other.above) return false;
    if (facts.lists_ports && merged_.lists_ports) return true;
    auto const& upper = facts.lists_ports ? known : other;
    return is_pci_address(upper.above) && !is_virtual(upper.above) &&
           !is_below(facts.lists_ports ? other.above : known.above, upper.above,
                     facts.lists_ports ? facts.pci : merged_.pci);
  }
  // A group of devices that someone wrote by hand.
  static bool is_virtual(std::string const& bdf) { return bdf.starts_with("ffff:"); }
  static bool is_below(std::string const& bdf, std::string const& bridge, std::vector<PciFacts> const& functions) {
    auto at = bdf;
    for (std::size_t i = 0; i <= functions.size() && !at.empty(); ++i) {
      if (at == bridge) return true;
      auto const found = std::find_if(functions.begin(), functions.end(),
                                      [&](PciFacts const& function) { return function.bdf == at; });
      at = found == functions.end() ? std::string() : found->above;
    }
    return false;
  }
  static void take(std::string& known, std::string const& other) {
    if (known.empty()) known = other;
  }

  // A link at gen1 may have slept while another file was written, so it contradicts nothing. What the ends are capable
  // of says nothing of the link as trained, and a bandwidth is that of several links.
  void add_links(PciFacts& known, PciFacts const& other, std::string const& first, std::string const& file) {
    auto const of = [](PciFacts const& function) { return function.link ? function.link : function.config.link; };
    auto const max_of = [](PciFacts const& f) { return f.max_link ? f.max_link : f.config.max_link; };
    auto const mine = of(known);
    auto const theirs = of(other);
    if (mine && theirs && *mine != *theirs && reads_better(known, *mine, other, *theirs)) {
      known.link = theirs;
      known.link_reading = other.link_reading;
    } else if (mine && theirs && *mine != *theirs && is_comparable(known, *mine, other, *theirs)) {
      bool const sleeps = mine->generation == 1 || theirs->generation == 1;
      if (!sleeps || mine->width != theirs->width)
        contradict(known.bdf, "link " + to_string(*mine), first, to_string(*theirs), file);
      if (sleeps && theirs->generation > mine->generation) known.link = theirs;
    }
    if (!mine) {
      known.link = theirs;
      known.link_reading = other.link_reading;
    }
    if (!max_of(known)) known.max_link = max_of(other);
  }

  static bool same_bandwidth(PcieLink a, PcieLink b) {
    constexpr double kTolerance = 0.05;  // of encodings
    auto const rate = [](PcieLink link) { return gigatransfers_per_second(link.generation) * link.width; };
    return std::abs(rate(a) - rate(b)) <= kTolerance * rate(a);
  }
  static bool reads_better(PciFacts const& known, PcieLink mine, PciFacts const& other, PcieLink theirs) {
    if (known.link_reading == LinkReading::Capability) return other.link_reading != LinkReading::Capability;
    return known.link_reading == LinkReading::Bandwidth && other.link_reading == LinkReading::Trained &&
           same_bandwidth(mine, theirs);
  }
  static bool is_comparable(PciFacts const& known, PcieLink mine, PciFacts const& other, PcieLink theirs) {
    if (known.link_reading == LinkReading::Trained && other.link_reading == LinkReading::Trained) return true;
    bool const both_capable =
        known.link_reading == LinkReading::Capability && other.link_reading == LinkReading::Capability;
    bool const one_capable =
        known.link_reading == LinkReading::Capability || other.link_reading == LinkReading::Capability;
    return (both_capable || !one_capable) && !same_bandwidth(mine, theirs);
  }

  void add_cpu(HostFacts& facts, std::string const& file) {
    auto& cpu = merged_.cpu;
    auto& other = facts.cpu;
    auto const has_cores = [](CpuFacts const& of) {
      return std::any_of(of.nodes.begin(), of.nodes.end(), [](NumaFacts const& node) { return !node.cores.empty(); });
    };
    // Only a file with cores has really seen the sockets.
    if (!has_cores(cpu) && (has_cores(other) || other.nodes.size() > cpu.nodes.size())) cpu.nodes = other.nodes;
    if (!cpu.model_name.empty() && !other.model_name.empty() && cpu.model_name != other.model_name)
      contradict("CPU", cpu.model_name, files_.front().file, other.model_name, file);
    bool const inferred = cpu.model_name.empty() && !other.model_name.empty();
    if (cpu.cpuid.empty() || (inferred && !other.cpuid.empty())) cpu.cpuid = other.cpuid;
    take(cpu.model_name, other.model_name);
    take(cpu.part, other.part);
    cpu.hypervisor = cpu.hypervisor || other.hypervisor;
  }

  void add_nics(HostFacts& other, std::string const& file) {
    for (auto& nic : other.nics) {
      auto const known = std::find_if(merged_.nics.begin(), merged_.nics.end(),
                                      [&](NicFacts const& mine) { return mine.name == nic.name; });
      if (known != merged_.nics.end()) {
        add_nic(*known, nic, file);
        continue;
      }
      nic_from_.emplace(nic.name, file);
      merged_.nics.push_back(std::move(nic));
    }
    merged_.lists_nics = merged_.lists_nics || other.lists_nics;
    merged_.links_may_sleep = merged_.links_may_sleep || other.links_may_sleep;
    merged_.shows_config = merged_.shows_config || other.shows_config;
    merged_.says_software = merged_.says_software || other.says_software;
    merged_.lists_nvlinks = merged_.lists_nvlinks || other.lists_nvlinks;
  }

  void add_nic(NicFacts& known, NicFacts const& other, std::string const& file) {
    auto const& first = nic_from_.at(known.name);
    if (!known.bdf.empty() && !other.bdf.empty() && known.bdf != other.bdf)
      contradict(known.name, "at " + known.bdf, first, other.bdf, file);
    if (known.rate && other.rate && *known.rate != *other.rate)
      contradict(known.name, rounded_text(*known.rate), first, rounded_text(*other.rate), file);
    take(known.bdf, other.bdf);
    take(known.firmware, other.firmware);
    if (!known.rate) known.rate = other.rate;
    known.rdma = known.rdma || other.rdma;
    known.up = known.up || other.up;
  }

  void add_gpus(HostFacts& other, std::string const& file) {
    take(merged_.nvml.driver_version, other.nvml.driver_version);
    for (auto& gpu : other.nvml.gpus) {
      auto const known = std::find_if(merged_.nvml.gpus.begin(), merged_.nvml.gpus.end(),
                                      [&](NvmlGpu const& mine) { return mine.bdf == gpu.bdf; });
      if (known == merged_.nvml.gpus.end()) {
        links_from_.emplace(gpu.bdf, file);
        merged_.nvml.gpus.push_back(std::move(gpu));
        continue;
      }
      if (!known->links.empty() && !gpu.links.empty() && known->links.size() != gpu.links.size())
        contradict(known->bdf, fmt::format("{} NVLinks", known->links.size()), links_from_.at(gpu.bdf),
                   fmt::format("{}", gpu.links.size()), file);
      if (known->links.empty() && !gpu.links.empty()) {
        known->links = gpu.links;
        links_from_[gpu.bdf] = file;
      }
      known->c2c = known->c2c || gpu.c2c;
      take(known->compute_capability, gpu.compute_capability);
      take(known->id, gpu.id);
      take(known->name, gpu.name);
      take(known->uuid, gpu.uuid);
      take(known->firmware, gpu.firmware);
      if (!known->bar1) known->bar1 = gpu.bar1;
      if (!known->memory) known->memory = gpu.memory;
      if (!known->mig) known->mig = gpu.mig;
      if (!known->fabric) known->fabric = gpu.fabric;
    }
  }

  std::vector<FactsOfFile> files_;
  HostFacts merged_;
  // The files that facts come from: functions and NVLinks by address, network devices by name.
  std::map<std::string, std::string> from_, links_from_, nic_from_;
};

}  // namespace

HostFacts merge_facts(std::vector<FactsOfFile> files) { return Merger(std::move(files)).merge(); }

}  // namespace lanewise
