#include "core/interop/machines/nccl/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/interop/load_xml.hpp"
#include "core/interop/machines/nccl/notation.hpp"
#include "core/interop/words.hpp"
#include "core/interop/xml_diagnostic.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxCpus = 64;
constexpr std::size_t kMaxFunctions = 4096;
constexpr int kMaxLinks = 1024;
class NcclReader {
 public:
  explicit NcclReader(SourceText const& source) : source_(source) {}

  NcclSystem read() {
    pugi::xml_document document;
    load_xml(source_, 0, pugi::parse_default | pugi::parse_doctype, document);
    read_document(document);
    diagnostics_.throw_if_any();
    return std::move(system_);
  }

 private:
  // ----------------------------------------------------------------------------------------------------- reporting
  void fail_at(std::size_t offset, std::string message) {
    auto found = xml_diagnostic(source_, static_cast<std::ptrdiff_t>(offset), std::move(message));
    diagnostics_.add(std::move(found.pos), std::move(found.message), found.source_line);
  }
  static std::size_t offset_of(pugi::xml_node node) {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug()));
  }
  void fail(pugi::xml_node node, std::string message) { fail_at(offset_of(node), std::move(message)); }
  // Reports at an attribute. pugixml knows only the positions of elements, so this searches the element's text.
  void fail(pugi::xml_node node, std::string_view attribute, std::string message) {
    auto const start = offset_of(node);
    auto const tag = std::string_view(source_.text()).substr(start);
    auto const within = tag.substr(0, tag.find('<')).find(fmt::format(" {}=", attribute));
    fail_at(within == std::string_view::npos ? start : start + within + 1, std::move(message));
  }
  // An odd value costs itself: it is left out, and a note says where it stands.
  void odd(pugi::xml_node node, std::string const& message) {
    constexpr std::size_t kMaxNoted = 24;
    if (++odd_ <= kMaxNoted)
      system_.notes.push_back(fmt::format("line {}: {}", source_.position(offset_of(node)).line, message));
    if (odd_ == kMaxNoted + 1) system_.notes.emplace_back("more values are odd; the first are named");
  }
  void unknown_element(pugi::xml_node node) {
    if (node.type() != pugi::node_element || !unknown_.insert(node.name()).second) return;
    constexpr std::size_t kMaxNoted = 8;
    if (unknown_.size() <= kMaxNoted)
      system_.notes.push_back(fmt::format("the element <{}> is not known; left out", node.name()));
  }

  // ----------------------------------------------------------------------------------------------------- attributes
  static std::string_view text(pugi::xml_node node, char const* name) { return node.attribute(name).as_string(); }

  // A whole number from `min` to `max`. Returns `absent` when there is no such attribute, and after noting an odd one.
  int number(pugi::xml_node node, char const* name, int absent, int min, int max) {
    auto const attribute = node.attribute(name);
    if (!attribute) return absent;
    std::string_view const given = attribute.value();
    int value = 0;
    auto const [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error == std::errc() && end == given.data() + given.size() && value >= min && value <= max) return value;
    odd(node, fmt::format("{}=\"{}\" is not a whole number from {} to {}; left out", name, cut(given, 64), min, max));
    return absent;
  }

  // ------------------------------------------------------------------------------------------------------ elements
  void read_document(pugi::xml_document const& document) {
    pugi::xml_node root;
    for (auto const node : document) {
      if (node.type() == pugi::node_doctype && root_name(document) != "topology")
        fail_at(source_.text().find("<!DOCTYPE"),
                "a DOCTYPE is not accepted: NCCL writes none, and entities can make a small file explode");
      if (node.type() != pugi::node_element) continue;
      if (root) fail(node, fmt::format("a second root element <{}>; a file holds one <system>", node.name()));
      root = node;
    }
    auto const name = root_name(document);
    if (name == "topology")
      return fail(document.document_element(),
                  "this is hwloc XML (lstopo); NCCL's topology file begins with <system>. Set NCCL_TOPO_DUMP_FILE to "
                  "have NCCL write one");
    if (name == "graphs")
      return fail(
          document.document_element(),
          "this is NCCL's graph file (NCCL_GRAPH_DUMP_FILE): it lists the channels that NCCL chose, rings and trees "
          "over the GPUs and NICs, not the machine. Set NCCL_TOPO_DUMP_FILE to have NCCL write the machine");
    if (name != "system")
      return fail(document.document_element(),
                  fmt::format("the root element is <{}>; NCCL's topology file begins with <system>", name));
    if (!diagnostics_.empty()) return;
    system_.preamble = preamble();
    auto const version = text(root, "version");
    if (version != "1" && version != "2")
      system_.notes.push_back(fmt::format("the file is version '{}'; 1 and 2 are known", version));
    for (auto const node : root) {
      if (std::string_view(node.name()) == "cpu")
        read_cpu(node);
      else
        unknown_element(node);
    }
    if (system_.cpus.empty() && diagnostics_.empty()) fail(root, "the file has no <cpu>");
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
    if (system_.cpus.size() == kMaxCpus) return fail(node, fmt::format("more than {} <cpu> elements", kMaxCpus));
    NcclCpu cpu;
    auto const host = text(node, "host_hash");
    if (!host.empty() && !host_.empty() && host != host_)
      return odd(
          node,
          "a CPU of another host (host_hash); a file of several hosts is not one machine: only the first is read");
    if (host_.empty()) host_ = host;
    cpu.numa = number(node, "numaid", -1, -1, 65535);
    if (auto const mask = text(node, "affinity"); !mask.empty()) {
      auto const cores = core_list(mask);
      if (!cores)
        odd(node,
            fmt::format("affinity=\"{}\" is not a mask of at most {} cores; left out", cut(mask, 64), kMaxMaskedCores));
      cpu.cores = cores.value_or("");
    }
    cpu.arch = text(node, "arch");
    if (auto const vendor = text(node, "vendor"); !vendor.empty()) {
      auto const family = number(node, "familyid", 0, 0, 65535);
      bool const amd = vendor == "AuthenticAMD";
      cpu.cpuid = fmt::format("{}/{}/{}", vendor, amd ? displayed_family(family) : family,
                              number(node, "modelid", 0, 0, 65535));
    }
    for (auto const child : node) {
      std::string_view const name = child.name();
      if (name == "pci")
        read_pci(child, cpu.pci, 1);
      else if (name == "nic")
        read_nic(child, cpu.nets);
      else
        unknown_element(child);
    }
    system_.cpus.push_back(std::move(cpu));
  }

  void read_pci(pugi::xml_node node, std::vector<NcclPci>& into, int depth) {
    if (depth > kMaxDepth) return fail(node, fmt::format("nested deeper than {} levels", kMaxDepth));
    if (bus_ids_.size() == kMaxFunctions) return fail(node, fmt::format("more than {} <pci> elements", kMaxFunctions));
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
        unknown_element(child);  // <pcilink> lists devices that share a switch, which the tree says too
    }
    if (!pci.device_class)
      pci.device_class = pci.gpu ? 0x030200 : !pci.nets.empty() ? 0x020000 : !pci.below.empty() ? 0x060400 : 0;
    settle_class(node, pci, into);
    if (pci.gpu && pci.repeated)
      return odd(node, fmt::format("the GPU {} stands twice; the second is left out", pci.bus_id));
    into.push_back(std::move(pci));
  }

  // What has devices below it is a bridge, and what has a <gpu> is none. Devices below a GPU become its neighbours.
  void settle_class(pugi::xml_node node, NcclPci& pci, std::vector<NcclPci>& into) {
    if (pci.gpu && pci.is_bridge()) {
      odd(node, fmt::format("{} has a <gpu> and the class of a bridge; taken for a GPU", pci.bus_id));
      pci.device_class = 0x030200;
    }
    if (pci.below.empty() || pci.is_bridge()) return;
    odd(node, fmt::format("{} has devices below it and is no bridge by its class; {}", pci.bus_id,
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
      odd(node, pci.bus_id.empty()
                    ? std::string("<pci> has no busid")
                    : fmt::format("busid=\"{}\" is not a PCI address such as 0000:3b:00.0; left out", pci.bus_id));
      pci.bus_id.clear();
      return;
    }
    auto const [known, is_new] = bus_ids_.emplace(pci.bus_id, offset_of(node));
    if (is_new) return;
    pci.repeated = true;
    odd(node,
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
      odd(node, fmt::format("class=\"{}\" is not a PCI class such as 0x030200; left out", given));
  }

  // Reads "8 GT/s" or "32.0 GT/s PCIe"; the kernel writes "" or "Unknown" where it does not know.
  void read_pcie_link(pugi::xml_node node, NcclPci& pci) {
    auto const speed = text(node, "link_speed");
    double rate = 0;
    auto const [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), rate);
    if (error == std::errc()) pci.generation = generation_of_rate(rate);
    if (pci.generation == 0 && !speed.empty())
      system_.notes.push_back(fmt::format("{}: the link speed '{}' is not one of PCIe; left out", pci.bus_id, speed));
    auto const width = text(node, "link_width").empty() ? 0 : number(node, "link_width", 0, 0, 255);
    if (parse_pcie_link(fmt::format("gen1 x{}", width)).value)
      pci.width = width;
    else if (width != 0)
      system_.notes.push_back(fmt::format("{}: a link cannot be {} lanes wide; left out", pci.bus_id, width));
  }

  void read_nic(pugi::xml_node node, std::vector<NcclNet>& into) {
    for (auto const child : node) {
      std::string_view const name = child.name();
      if (name == "coll") continue;  // the same port as seen by a collective network
      if (name != "net") {
        unknown_element(child);
        continue;
      }
      if (++nets_ > kMaxFunctions) return fail(child, fmt::format("more than {} <net> elements", kMaxFunctions));
      into.push_back({std::string(text(child, "name")), net_speed(child), text(child, "gdr") == "1"});
    }
  }

  // In Mb/s. No port is faster than 10 Tb/s; some plugins wrote kb/s (cxi of Slingshot, speed="200000000").
  int net_speed(pugi::xml_node node) {
    constexpr int kMaxSpeed = 10'000'000;
    constexpr int kMaxNumber = 2'000'000'000;
    auto const speed = number(node, "speed", 0, -1, kMaxNumber);
    if (speed <= kMaxSpeed) return speed;
    constexpr int kThousand = 1000;
    bool const in_kilobits = speed / kThousand <= 1'600'000;
    odd(node, fmt::format("speed=\"{}\" Mb/s is faster than any port; {}", speed,
                          in_kilobits ? fmt::format("taken for kb/s, {} Gb/s", speed / kThousand / kThousand)
                                      : std::string("left out")));
    return in_kilobits ? speed / kThousand : 0;
  }

  void read_gpu(pugi::xml_node node, NcclPci& pci) {
    if (pci.gpu) return odd(node, "a second <gpu> in one <pci>; left out");
    NcclGpu gpu;
    auto const device = number(node, "dev", -1, -1, 65535);
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
        unknown_element(child);
    }
    pci.gpu = std::move(gpu);
  }

  void read_link(pugi::xml_node node, NcclLink::Kind kind, NcclGpu& gpu) {
    if (++links_ > kMaxFunctions * 8) return fail(node, "too many links between GPUs");
    NcclLink link{kind, lower_case(text(node, "target")), lower_case(text(node, "tclass")),
                  number(node, "count", 1, 1, kMaxLinks), 0};
    if (kind == NcclLink::Kind::C2c)
      link.bandwidth = number(node, "bw", 0, 0, 100'000'000);
    else if (link.target.empty())
      return odd(node, fmt::format("<{}> has no target; left out", node.name()));
    gpu.links.push_back(std::move(link));
  }

  SourceText const& source_;
  Diagnostics diagnostics_;
  NcclSystem system_;
  std::map<std::string, std::size_t> bus_ids_;  // with their offsets in the text
  std::string host_;                            // the first host_hash
  std::set<std::string> unknown_;
  std::size_t nets_ = 0;
  std::size_t links_ = 0;
  std::size_t odd_ = 0;
};

}  // namespace

NcclSystem read_nccl_system(SourceText const& source) { return NcclReader(source).read(); }

}  // namespace lanewise
