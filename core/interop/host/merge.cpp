#include "core/interop/host/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace lanewise {
namespace {

// How much a file says about how the host is built.
std::size_t detail(HostFacts const& facts) {
  auto const count = [&](auto const& test) {
    return static_cast<std::size_t>(std::count_if(facts.pci.begin(), facts.pci.end(), test));
  };
  constexpr std::size_t kConfig = 1'000'000;  // more than any number of functions
  constexpr std::size_t kTree = 1'000;
  return kConfig * count([](PciFacts const& f) { return f.config.max_link.has_value(); }) +
         kTree * count([](PciFacts const& f) { return !f.above.empty(); }) + facts.pci.size();
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
    for (auto& function : other.pci) add_function(function, file.file);
    add_cpu(other, file.file);
    if (merged_.platform.product.empty()) merged_.platform.product = other.platform.product;
    if (merged_.platform.hypervisor.empty()) merged_.platform.hypervisor = other.platform.hypervisor;
    add_nics(other);
    add_gpus(other, file.file);
    if (merged_.xgmi.empty()) merged_.xgmi = other.xgmi;
    merged_.source += " and " + other.source;
  }

  // What a file lacks is not worth a note where another has it.
  static bool is_answered(std::string const& note) { return note.find("'sudo lspci -vvv'") != std::string::npos; }

  void add_function(PciFacts& other, std::string const& file) {
    auto const known = std::find_if(merged_.pci.begin(), merged_.pci.end(),
                                    [&](PciFacts const& function) { return function.bdf == other.bdf; });
    if (known == merged_.pci.end()) {
      from_.emplace(other.bdf, file);
      merged_.pci.push_back(other);
      return;
    }
    auto const& first = from_.at(other.bdf);
    auto const whole = [](std::string const& id) { return id.size() > 5; };  // "10de:" names only the vendor
    if (whole(known->id) && whole(other.id) && known->id != other.id)
      contradict(known->bdf, known->id, first, other.id, file);
    if (!whole(known->id) && !other.id.empty()) known->id = other.id;
    if (known->numa >= 0 && other.numa >= 0 && known->numa != other.numa)
      contradict(known->bdf, fmt::format("NUMA node {}", known->numa), first, fmt::format("{}", other.numa), file);
    if (known->numa < 0) known->numa = other.numa;
    if (!known->above.empty() && !other.above.empty() && known->above != other.above)
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
    if (known->class_code == 0) known->class_code = other.class_code;
    if (known->bars.empty()) known->bars = other.bars;
    known->is_accelerator = known->is_accelerator || other.is_accelerator;
    if (!known->config.has_capabilities) known->config = other.config;
  }
  static void take(std::string& known, std::string const& other) {
    if (known.empty()) known = other;
  }

  // A link at gen1 may have slept while another file was written, so it contradicts nothing.
  void add_links(PciFacts& known, PciFacts const& other, std::string const& first, std::string const& file) {
    auto const of = [](PciFacts const& function) { return function.link ? function.link : function.config.link; };
    auto const max_of = [](PciFacts const& f) { return f.max_link ? f.max_link : f.config.max_link; };
    auto const mine = of(known);
    auto const theirs = of(other);
    if (mine && theirs && *mine != *theirs) {
      bool const sleeps = mine->generation == 1 || theirs->generation == 1;
      if (!sleeps || mine->width != theirs->width)
        contradict(known.bdf, "link " + to_string(*mine), first, to_string(*theirs), file);
      if (sleeps && theirs->generation > mine->generation) known.link = theirs;
    }
    if (!mine) known.link = theirs;
    if (!max_of(known)) known.max_link = max_of(other);
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

  void add_nics(HostFacts& other) {
    for (auto& nic : other.nics) {
      bool const known = std::any_of(merged_.nics.begin(), merged_.nics.end(),
                                     [&](NicFacts const& mine) { return mine.name == nic.name; });
      if (!known) merged_.nics.push_back(std::move(nic));
    }
    merged_.lists_nics = merged_.lists_nics || other.lists_nics;
    merged_.links_may_sleep = merged_.links_may_sleep || other.links_may_sleep;
    merged_.says_software = merged_.says_software || other.says_software;
  }

  void add_gpus(HostFacts& other, std::string const& file) {
    take(merged_.nvml.driver_version, other.nvml.driver_version);
    for (auto& gpu : other.nvml.gpus) {
      auto const known = std::find_if(merged_.nvml.gpus.begin(), merged_.nvml.gpus.end(),
                                      [&](NvmlGpu const& mine) { return mine.bdf == gpu.bdf; });
      if (known == merged_.nvml.gpus.end()) {
        merged_.nvml.gpus.push_back(std::move(gpu));
        continue;
      }
      if (!known->links.empty() && !gpu.links.empty() && known->links.size() != gpu.links.size())
        contradict(known->bdf, fmt::format("{} NVLinks", known->links.size()), from_.at(gpu.bdf),
                   fmt::format("{}", gpu.links.size()), file);
      if (known->links.empty()) known->links = gpu.links;
      take(known->id, gpu.id);
      take(known->name, gpu.name);
      take(known->uuid, gpu.uuid);
      if (!known->bar1) known->bar1 = gpu.bar1;
      if (!known->memory) known->memory = gpu.memory;
      if (!known->mig) known->mig = gpu.mig;
      if (!known->fabric) known->fabric = gpu.fabric;
    }
  }

  std::vector<FactsOfFile> files_;
  HostFacts merged_;
  std::map<std::string, std::string> from_;  // by address, the file that a function comes from
};

}  // namespace

HostFacts merge_facts(std::vector<FactsOfFile> files) { return Merger(std::move(files)).merge(); }

}  // namespace lanewise
