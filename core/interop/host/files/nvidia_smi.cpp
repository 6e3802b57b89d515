#include "core/interop/host/files/nvidia_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/interop/load_xml.hpp"
#include "core/interop/machines/roles.hpp"
#include "core/interop/words.hpp"
#include "core/interop/xml_diagnostic.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxGpus = 1024;

// The text of an element somewhere below, "pci/pci_bus_id"; empty for "N/A" and the like.
std::string_view at(pugi::xml_node node, char const* path) {
  std::string_view const text = node.first_element_by_path(path).text().as_string();
  return text == "N/A" || text == "[N/A]" || text == "Not Supported" ? std::string_view() : text;
}

std::optional<PcieLink> link_of(std::string_view generation, std::string_view width) {
  auto const g = number_at_start<long long>(generation);
  auto const w = number_at_start<long long>(width);
  return g && w ? parse_pcie_link(fmt::format("gen{} x{}", *g, *w)).value : std::nullopt;
}

// "00000000:3B:00.0", with eight digits of domain, as the kernel writes it: "0000:3b:00.0".
std::string address(std::string_view text) {
  auto bdf = lower_case(text);
  if (bdf.find(':') == 8 && bdf.starts_with("0000")) bdf.erase(0, 4);
  return is_pci_address(bdf) ? bdf : std::string();
}

// "20B010DE", device before vendor.
std::string pci_id_from(std::string_view text) {
  constexpr std::size_t kDigits = 8;
  if (text.starts_with("0x")) text.remove_prefix(2);
  auto const digits = lower_case(text);
  if (digits.size() != kDigits || digits.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  return digits.substr(4) + ":" + digits.substr(0, 4);
}

std::optional<Bytes> mebibytes(std::string_view text) {
  constexpr long long kMost = 1LL << 30U;
  auto const value = number_at_start<long long>(text);
  return value && *value > 0 && *value < kMost ? std::optional(Bytes(*value << 20U)) : std::nullopt;
}

std::optional<FabricState> fabric_state(std::string_view text) {
  if (text == "Completed") return FabricState::Completed;
  if (text == "In Progress") return FabricState::InProgress;
  if (text == "Not Started") return FabricState::NotStarted;
  return std::nullopt;
}

class NvidiaSmiReader {
 public:
  explicit NvidiaSmiReader(SourceText const& source) : source_(source) {}

  HostFacts read() {
    pugi::xml_document document;
    auto const& buffer = source_.text();
    // Prompts and the line of the command may stand before the XML.
    auto const start = std::min(buffer.find('<'), buffer.size());
    load_xml(source_, start, pugi::parse_default, document);
    auto const log = document.child("nvidia_smi_log");
    if (!log)
      refuse_xml(source_, static_cast<std::ptrdiff_t>(start),
                 fmt::format("the root element is <{}>; 'nvidia-smi -q -x' begins with <nvidia_smi_log>",
                             document.document_element().name()));
    facts_.source = "nvidia-smi";
    facts_.lists_nics = false;
    facts_.shows_config = false;
    facts_.says_software = false;
    facts_.links_may_sleep = true;
    facts_.lists_nvlinks = false;
    facts_.nvml.probe.found = true;
    facts_.nvml.driver_version = at(log, "driver_version");
    for (auto const gpu : log.children("gpu")) read_gpu(gpu);
    facts_.cpu.nodes.push_back({0, "", {0}});
    facts_.notes.emplace_back(
        "'nvidia-smi -q -x' shows GPUs alone: the PCI tree, sockets, NICs and ACS are unknown; 'sudo lspci -vvv' shows "
        "them, and 'nvidia-smi topo -m' the NVLinks");
    return std::move(facts_);
  }

 private:
  void read_gpu(pugi::xml_node node) {
    auto bdf = address(at(node, "pci/pci_bus_id"));
    if (bdf.empty()) bdf = address(node.attribute("id").as_string());
    if (bdf.empty() || facts_.pci.size() == kMaxGpus || !seen_.insert(bdf).second) {
      facts_.notes.emplace_back("a GPU without a bus id of its own is left out");
      return;
    }
    NvmlGpu gpu;
    gpu.bdf = bdf;
    gpu.id = pci_id_from(at(node, "pci/pci_device_id"));
    gpu.name = cut(at(node, "product_name"), 128);
    gpu.uuid = at(node, "uuid");
    gpu.firmware = cut(at(node, "vbios_version"), 64);
    auto const links = node.first_element_by_path("pci/pci_gpu_link_info");
    gpu.link = link_of(at(links, "pcie_gen/current_link_gen"), at(links, "link_widths/current_link_width"));
    gpu.max_link = link_of(at(links, "pcie_gen/max_link_gen"), at(links, "link_widths/max_link_width"));
    gpu.bar1 = mebibytes(at(node, "bar1_memory_usage/total"));
    gpu.memory = mebibytes(at(node, "fb_memory_usage/total"));
    if (auto const mig = at(node, "mig_mode/current_mig"); !mig.empty()) gpu.mig = mig == "Enabled";
    read_virtualization(at(node, "gpu_virtualization_mode/virtualization_mode"), gpu);
    gpu.fabric = fabric_state(at(node, "fabric/state"));

    PciFacts function;
    function.bdf = bdf;
    function.root_bus = bdf.substr(0, bdf.rfind(':'));
    function.above_unknown = true;
    function.class_code = 0x030200;
    function.id = gpu.id.empty() ? "10de:" : gpu.id;
    function.product = gpu.name;
    function.link = gpu.link;
    function.max_link = gpu.max_link;
    facts_.pci.push_back(std::move(function));
    facts_.nvml.gpus.push_back(std::move(gpu));
  }

  void read_virtualization(std::string_view mode, NvmlGpu& gpu) {
    if (mode.empty()) return;
    gpu.virtualization = mode == "Pass-Through" ? "passthrough" : lower_case(mode);
    if (mode == "Pass-Through" || mode == "VGPU") facts_.cpu.hypervisor = true;
  }

  SourceText const& source_;
  HostFacts facts_;
  std::set<std::string> seen_;
};

}  // namespace

Likeness recognise_nvidia_smi(std::string_view text) {
  return text.find("<nvidia_smi_log") == std::string_view::npos ? Likeness::None : Likeness::Certain;
}

HostFacts read_nvidia_smi(SourceText const& source) { return NvidiaSmiReader(source).read(); }

}  // namespace lanewise
