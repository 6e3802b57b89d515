#include "core/interop/machines/nccl/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/interop/load_xml.hpp"
#include "core/interop/machines/nccl/document_report.hpp"
#include "core/interop/machines/nccl/notation.hpp"
#include "core/interop/words.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxCpus = 64;
constexpr std::size_t kMaxNcclFunctions = 4096;
constexpr int kMaxLinks = 1024;

class NcclReader {
 public:
  explicit NcclReader(SourceText const& source) : source_(source), report_(source) {}

  NcclSystem read() {
    pugi::xml_document document;
    load_xml(source_, 0, pugi::parse_default | pugi::parse_doctype, document);
    read_document(document);
    report_.throw_if_any();
    system_.notes = report_.take_notes();
    return std::move(system_);
  }

 private:
  static std::string_view text(pugi::xml_node node, char const* name) { return node.attribute(name).as_string(); }

  void read_document(pugi::xml_document const& document) {
    pugi::xml_node root;
    for (auto const node : document) {
      if (node.type() == pugi::node_doctype && root_name(document) != "topology")
        report_.fail_at(source_.text().find("<!DOCTYPE"),
                        "a DOCTYPE is not accepted: NCCL writes none, and entities can make a small file explode");
      if (node.type() != pugi::node_element) continue;
      if (root) report_.fail(node, fmt::format("a second root element <{}>; a file holds one <system>", node.name()));
      root = node;
    }
    auto const name = root_name(document);
    if (name == "topology")
      return report_.fail(
          document.document_element(),
          "this is hwloc XML (lstopo); NCCL's topology file begins with <system>. Set NCCL_TOPO_DUMP_FILE to "
          "have NCCL write one");
    if (name == "graphs")
      return report_.fail(
          document.document_element(),
          "this is NCCL's graph file (NCCL_GRAPH_DUMP_FILE): it lists the channels that NCCL chose, rings and trees "
          "over the GPUs and NICs, not the machine. Set NCCL_TOPO_DUMP_FILE to have NCCL write the machine");
    if (name != "system")
      return report_.fail(document.document_element(),
                          fmt::format("the root element is <{}>; NCCL's topology file begins with <system>", name));
    if (!report_.has_no_errors()) return;
    system_.preamble = preamble();
    auto const version = text(root, "version");
    if (version != "1" && version != "2")
      report_.note(fmt::format("the file is version '{}'; 1 and 2 are known", version));
    for (auto const node : root) {
      if (std::string_view(node.name()) == "cpu")
        read_cpu(node);
      else
        report_.unknown_element(node);
    }
    if (system_.cpus.empty() && report_.has_no_errors()) report_.fail(root, "the file has no <cpu>");
  }
  // The file's name and the comments before its root, lower case: files of cloud images name their instance there.
  std::string preamble() const {
    constexpr std::size_t kMaxBytes = 4096;
    auto const& text = source_.text();
    auto const name = source_.name().substr(source_.name().find_last_of('/') + 1);
    return lower_case(name + "\n" + text.substr(0, std::min(kMaxBytes, std::min(text.find("<system"), text.size()))));
  }
  static std::string_view root_name(pugi::xml_document const& document) { return document.document_element().name(); }

  void read_cpu(pugi::xml_node node) {
    if (system_.cpus.size() == kMaxCpus)
      return report_.fail(node, fmt::format("more than {} <cpu> elements", kMaxCpus));
    NcclCpu cpu;
    auto const host = text(node, "host_hash");
    if (!host.empty() && !host_.empty() && host != host_)
      return report_.odd(
          node,
          "a CPU of another host (host_hash); a file of several hosts is not one machine: only the first is read");
    if (host_.empty()) host_ = host;
    cpu.numa = report_.number(node, "numaid", -1, -1, 65535);
    if (auto const mask = text(node, "affinity"); !mask.empty()) {
      auto const cores = core_list(mask);
      if (!cores)
        report_.odd(node, fmt::format("affinity=\"{}\" is not a mask of at most {} cores; left out", cut(mask, 64),
                                      kMaxMaskedCores));
      cpu.cores = cores.value_or("");
    }
    cpu.arch = text(node, "arch");
    if (auto const vendor = text(node, "vendor"); !vendor.empty()) {
      auto const family = report_.number(node, "familyid", 0, 0, 65535);
      bool const amd = vendor == "AuthenticAMD";
      cpu.cpuid = fmt::format("{}/{}/{}", vendor, amd ? displayed_family(family) : family,
                              report_.number(node, "modelid", 0, 0, 65535));
    }
    for (auto const child : node) {
      std::string_view const name = child.name();
      if (name == "pci")
        read_pci(child, cpu.pci, 1);
      else if (name == "nic")
        read_nic(child, cpu.nets);
      else
        report_.unknown_element(child);
    }
    system_.cpus.push_back(std::move(cpu));
  }

  void read_pci(pugi::xml_node node, std::vector<NcclPci>& into, int depth) {
    if (depth > kMaxDepth) return report_.fail(node, fmt::format("nested deeper than {} levels", kMaxDepth));
    if (bus_ids_.size() == kMaxNcclFunctions)
      return report_.fail(node, fmt::format("more than {} <pci> elements", kMaxNcclFunctions));
    NcclPci pci;
    read_bus_id(node, pci);
    read_class(node, pci);
    pci.id = pci_id(text(node, "vendor"), text(node, "device"));
    pci.subsystem = pci_id(text(node, "subsystem_vendor"), text(node, "subsystem_device"));
    read_pcie_link(node, pci);
    for (auto const child : node) {
      std::string_view const name = child.name();
      if (name == "pci")
        read_pci(child, pci.below, depth + 1);
      else if (name == "nic")
        read_nic(child, pci.nets);
      else if (name == "gpu")
        read_gpu(child, pci);
      else if (name != "pcilink")
        report_.unknown_element(child);  // <pcilink> lists devices that share a switch, which the tree says too
    }
    if (!pci.device_class)
      pci.device_class = pci.gpu ? 0x030200 : !pci.nets.empty() ? 0x020000 : !pci.below.empty() ? 0x060400 : 0;
    settle_class(node, pci, into);
    if (pci.gpu && pci.repeated)
      return report_.odd(node, fmt::format("the GPU {} stands twice; the second is left out", pci.bus_id));
    into.push_back(std::move(pci));
  }

  // What has devices below it is a bridge, and what has a <gpu> is none. Devices below a GPU become its neighbours.
  void settle_class(pugi::xml_node node, NcclPci& pci, std::vector<NcclPci>& into) {
    if (pci.gpu && pci.is_bridge()) {
      report_.odd(node, fmt::format("{} has a <gpu> and the class of a bridge; taken for a GPU", pci.bus_id));
      pci.device_class = 0x030200;
    }
    if (pci.below.empty() || pci.is_bridge()) return;
    report_.odd(node, fmt::format("{} has devices below it and is no bridge by its class; {}", pci.bus_id,
                                  pci.gpu ? "they are taken for its neighbours" : "taken for a bridge"));
    if (!pci.gpu) {
      pci.device_class = 0x060400;
      return;
    }
    std::move(pci.below.begin(), pci.below.end(), std::back_inserter(into));
    pci.below.clear();
  }

  void read_bus_id(pugi::xml_node node, NcclPci& pci) {
    pci.bus_id = lower_case(text(node, "busid"));
    if (!is_bus_id(pci.bus_id)) {
      report_.odd(node,
                  pci.bus_id.empty()
                      ? std::string("<pci> has no busid")
                      : fmt::format("busid=\"{}\" is not a PCI address such as 0000:3b:00.0; left out", pci.bus_id));
      pci.bus_id.clear();
      return;
    }
    auto const [known, is_new] = bus_ids_.emplace(pci.bus_id, NcclReport::offset_of(node));
    if (is_new) return;
    pci.repeated = true;
    report_.odd(
        node,
        fmt::format("the busid {} stands twice (first at line {}); taken for two devices, the second without address",
                    pci.bus_id, source_.position(known->second).line));
  }

  void read_class(pugi::xml_node node, NcclPci& pci) {
    auto const given = text(node, "class");
    if (given.empty()) return;
    auto const digits = given.starts_with("0x") ? given.substr(2) : given;
    std::uint32_t value = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error == std::errc() && end == digits.data() + digits.size() && value <= 0xffffff)
      pci.device_class = value;
    else
      report_.odd(node, fmt::format("class=\"{}\" is not a PCI class such as 0x030200; left out", given));
  }

  // Reads "8 GT/s" or "32.0 GT/s PCIe"; the kernel writes "" or "Unknown" where it does not know.
  void read_pcie_link(pugi::xml_node node, NcclPci& pci) {
    auto const speed = text(node, "link_speed");
    double rate = 0;
    auto const [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), rate);
    if (error == std::errc()) pci.generation = generation_of_rate(rate);
    if (pci.generation == 0 && !speed.empty())
      report_.note(fmt::format("{}: the link speed '{}' is not one of PCIe; left out", pci.bus_id, speed));
    auto const width = text(node, "link_width").empty() ? 0 : report_.number(node, "link_width", 0, 0, 255);
    if (parse_pcie_link(fmt::format("gen1 x{}", width)).value)
      pci.width = width;
    else if (width != 0)
      report_.note(fmt::format("{}: a link cannot be {} lanes wide; left out", pci.bus_id, width));
  }

  void read_nic(pugi::xml_node node, std::vector<NcclNet>& into) {
    for (auto const child : node) {
      std::string_view const name = child.name();
      if (name == "coll") continue;  // the same port as seen by a collective network
      if (name != "net") {
        report_.unknown_element(child);
        continue;
      }
      if (++nets_ > kMaxNcclFunctions)
        return report_.fail(child, fmt::format("more than {} <net> elements", kMaxNcclFunctions));
      into.push_back({std::string(text(child, "name")), net_speed(child), text(child, "gdr") == "1"});
    }
  }

  // In Mb/s. No port is faster than 10 Tb/s; some plugins wrote kb/s (cxi of Slingshot, speed="200000000").
  int net_speed(pugi::xml_node node) {
    constexpr int kMaxSpeed = 10'000'000;
    constexpr int kMaxNumber = 2'000'000'000;
    auto const speed = report_.number(node, "speed", 0, -1, kMaxNumber);
    if (speed <= kMaxSpeed) return speed;
    constexpr int kThousand = 1000;
    bool const in_kilobits = speed / kThousand <= 1'600'000;
    report_.odd(node, fmt::format("speed=\"{}\" Mb/s is faster than any port; {}", speed,
                                  in_kilobits ? fmt::format("taken for kb/s, {} Gb/s", speed / kThousand / kThousand)
                                              : std::string("left out")));
    return in_kilobits ? speed / kThousand : 0;
  }

  void read_gpu(pugi::xml_node node, NcclPci& pci) {
    if (pci.gpu) return report_.odd(node, "a second <gpu> in one <pci>; left out");
    NcclGpu gpu;
    auto const device = report_.number(node, "dev", -1, -1, 65535);
    if (device >= 0) gpu.device = device;
    gpu.sm = text(node, "sm");
    gpu.gcn = text(node, "gcn");
    for (auto const child : node) {
      std::string_view const name = child.name();
      if (name == "nvlink")
        read_link(child, NcclLink::Kind::NvLink, gpu);
      else if (name == "xgmi")
        read_link(child, NcclLink::Kind::Xgmi, gpu);
      else if (name == "c2c")
        read_link(child, NcclLink::Kind::C2c, gpu);
      else
        report_.unknown_element(child);
    }
    pci.gpu = std::move(gpu);
  }

  void read_link(pugi::xml_node node, NcclLink::Kind kind, NcclGpu& gpu) {
    if (++links_ > kMaxNcclFunctions * 8) return report_.fail(node, "too many links between GPUs");
    NcclLink link{kind, lower_case(text(node, "target")), lower_case(text(node, "tclass")),
                  report_.number(node, "count", 1, 1, kMaxLinks), 0};
    if (kind == NcclLink::Kind::C2c)
      link.bandwidth = report_.number(node, "bw", 0, 0, 100'000'000);
    else if (link.target.empty())
      return report_.odd(node, fmt::format("<{}> has no target; left out", node.name()));
    gpu.links.push_back(std::move(link));
  }

  SourceText const& source_;
  NcclReport report_;
  NcclSystem system_;
  std::map<std::string, std::size_t> bus_ids_;  // with their offsets in the text
  std::string host_;                            // the first host_hash
  std::size_t nets_ = 0;
  std::size_t links_ = 0;
};

}  // namespace

NcclSystem read_nccl_system(SourceText const& source) { return NcclReader(source).read(); }

}  // namespace lanewise
