#include "core/interop/host/files/lspci_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/interop/host/pci_names.hpp"
#include "core/interop/words.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxLspciFunctions = 16'384;
constexpr std::size_t kConfigBytes = 4096;

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// What follows a word in a text; nullopt where it is not there.
std::optional<std::string_view> after(std::string_view text, std::string_view word) {
  auto const at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + word.size());
}

std::optional<int> number_after(std::string_view text, std::string_view word, int base = 10) {
  auto const rest = after(text, word);
  return rest ? number_at_start<int>(*rest, base) : std::nullopt;
}
bool is_on(std::string_view text, std::string_view flag) {
  auto const rest = after(text, flag);
  return rest && rest->starts_with('+');
}

// "Speed 16GT/s (ok), Width x16 (ok)". A port without a device has width x0.
std::optional<PcieLink> link_in(std::string_view text) {
  auto const speed = after(text, "Speed ");
  auto const width = number_after(text, "Width x");
  if (!speed || !width) return std::nullopt;
  auto const unit = speed->find("GT/s");
  if (unit > 5) return std::nullopt;  // none, too
  return parse_pcie_link(fmt::format("{} GT/s x{}", speed->substr(0, unit), *width)).value;
}

// Base specification, ACS control register: in the order of its bits.
std::uint16_t acs_bits_in(std::string_view text) {
  constexpr std::array<std::string_view, 7> kFlags{"SrcValid",    "TransBlk",   "ReqRedir",   "CmpltRedir",
                                                   "UpstreamFwd", "EgressCtrl", "DirectTrans"};
  std::uint16_t bits = 0;
  for (std::size_t i = 0; i < kFlags.size(); ++i)
    if (is_on(text, kFlags.at(i))) bits = static_cast<std::uint16_t>(bits | 1U << i);
  return bits;
}

// "Root Port (Slot+), MSI 00" behind "Express (v2) ".
PortType port_type_in(std::string_view text) {
  if (text.starts_with("Root Port")) return PortType::RootPort;
  if (text.starts_with("Upstream Port")) return PortType::SwitchUpstream;
  if (text.starts_with("Downstream Port")) return PortType::SwitchDownstream;
  if (text.starts_with("Root Complex Integrated")) return PortType::Integrated;
  if (text.starts_with("Endpoint") || text.starts_with("Legacy Endpoint")) return PortType::Endpoint;
  return PortType::Other;
}

// "[size=32M]" of a region.
std::optional<Bytes> region_size(std::string_view text) {
  auto const size = after(text, "[size=");
  long long value = 0;
  if (!size) return std::nullopt;
  auto const [end, error] = std::from_chars(size->data(), size->data() + size->size(), value);
  if (error != std::errc() || value < 1 || value > 1'048'576 || end == size->data() + size->size()) return std::nullopt;
  switch (*end) {
    case ']': return Bytes(value);
    case 'K': return Bytes(value << 10U);
    case 'M': return Bytes(value << 20U);
    case 'G': return Bytes(value << 30U);
    case 'T': return value > 4096 ? std::nullopt : std::optional(Bytes(value << 40U));
    default: return std::nullopt;
  }
}

// The address at the start of a line, "3b:00.0 " or "10001:3b:00.0 ", with the domain that lspci leaves out when it is
// 0. Empty: the line starts with no address.
std::string address_at_start(std::string_view line) {
  auto const word = line.substr(0, line.find(' '));
  if (word.size() == line.size()) return {};
  auto const dot = word.rfind('.');
  if (dot == std::string_view::npos || dot + 2 != word.size() || word[dot + 1] < '0' || word[dot + 1] > '7') return {};
  auto const device = word.rfind(':', dot);
  if (device == std::string_view::npos || dot - device != 3 || !is_lower_hex(word.substr(device + 1, 2))) return {};
  auto const before = word.substr(0, device);  // "3b" or "0000:3b"
  auto const colon = before.find(':');
  auto const bus = colon == std::string_view::npos ? before : before.substr(colon + 1);
  auto const domain = colon == std::string_view::npos ? std::string_view("0000") : before.substr(0, colon);
  if (bus.size() != 2 || !is_lower_hex(bus) || !is_lower_hex(domain) || domain.size() < 4 || domain.size() > 8)
    return {};
  return fmt::format("{}:{}{}", domain, bus, word.substr(device));
}

class LspciReader {
 public:
  explicit LspciReader(SourceText const& source) : source_(source), drawing_(document_) {}

  LspciDocument read() {
    for (int i = 1; i <= source_.line_count(); ++i) read_line(unquoted(source_.line(i)));
    if (document_.functions.empty())
      throw InputError(
          fmt::format("{}: no line of it starts with a PCI address, as every function of lspci does", source_.name()));
    return std::move(document_);
  }

 private:
  // Mails and Markdown put a mark before every line.
  static std::string_view unquoted(std::string_view line) {
    while (line.starts_with("> ") || line.starts_with(">\t")) line.remove_prefix(line[1] == ' ' ? 2 : 1);
    return line;
  }

  void read_line(std::string_view line) {
    auto const text = trimmed(line);
    if (LspciDrawing::is_line(line)) {
      current_ = nullptr;
      return drawing_.read(line);
    }
    if (auto const address = address_at_start(text); !address.empty()) return start(address, text);
    if (current_ == nullptr || text.empty() || read_bytes(text)) return;
    if (text.starts_with("Capabilities: ")) return read_capability(text);
    if (text.starts_with("Region ")) return read_region(text);
    if (read_plain(text)) return;
    read_express(text);
  }

  // "3b:00.0 3D controller [0302]: NVIDIA Corporation GA100 [A100 SXM4 40GB] [10de:20b0] (rev a1)"
  void start(std::string const& address, std::string_view text) {
    if (document_.functions.size() == kMaxLspciFunctions && !document_.functions.contains(address))
      throw InputError(fmt::format("{}: more than {} PCI functions", source_.name(), kMaxLspciFunctions));
    auto rest = trimmed(text.substr(text.find(' ')));
    auto const colon = rest.find(": ");
    current_ = nullptr;
    if (colon == std::string_view::npos) return;
    auto kind = rest.substr(0, colon);
    rest = rest.substr(colon + 2);
    current_ = &document_.functions[address];
    current_->has_record = true;
    auto& facts = current_->facts;
    facts.bdf = address;
    read_class(kind);
    for (std::string_view const behind : {" (prog-if", " (rev "})
      rest = rest.substr(0, std::min(rest.find(behind), rest.size()));
    read_name(trimmed(rest));
  }

  void read_class(std::string_view kind) {
    auto& code = current_->facts.class_code;
    auto const bracket = kind.rfind(" [");
    if (bracket != std::string_view::npos && kind.size() == bracket + 7 && is_lower_hex(kind.substr(bracket + 2, 4)))
      code = static_cast<std::uint32_t>(*number_at_start<int>(kind.substr(bracket + 2, 4), 16)) << 8U;
    else if (kind.size() == 4 && is_lower_hex(kind))
      code = static_cast<std::uint32_t>(*number_at_start<int>(kind, 16)) << 8U;
    else if (auto const named = pci_class_of(kind); named != 0)
      code = named;
  }

  void read_name(std::string_view name) {
    auto& facts = current_->facts;
    auto const is_id = [](std::string_view text) {
      return text.size() == 9 && text[4] == ':' && is_lower_hex(text.substr(0, 4)) && is_lower_hex(text.substr(5));
    };
    if (is_id(name)) {  // of -n
      facts.id = name;
      return;
    }
    auto const bracket = name.rfind(" [");
    if (bracket != std::string_view::npos && name.ends_with(']') &&
        is_id(name.substr(bracket + 2, name.size() - bracket - 3))) {
      facts.id = name.substr(bracket + 2, 9);
      name = name.substr(0, bracket);
    }
    facts.product = name;
    if (name.find("Virtual Function") != std::string_view::npos) facts.virtual_function = true;
  }

  // "10: 00 00 a0 b8 ..." of -x; "100: ..." of -xxxx.
  bool read_bytes(std::string_view text) {
    auto const colon = text.find(": ");
    if (colon == std::string_view::npos || colon < 2 || colon > 3 || !is_lower_hex(text.substr(0, colon))) return false;
    auto const offset = static_cast<std::size_t>(*number_at_start<int>(text.substr(0, colon), 16));
    auto& config = current_->config;
    auto rest = text.substr(colon + 2);
    if (offset != config.size() || rest.size() < 2 || !is_lower_hex(rest.substr(0, 2))) return false;
    for (; rest.size() >= 2 && is_lower_hex(rest.substr(0, 2)) && config.size() < kConfigBytes;
         rest = trimmed(rest.substr(2)))
      config.push_back(static_cast<std::uint8_t>(*number_at_start<int>(rest.substr(0, 2), 16)));
    return true;
  }

  bool read_plain(std::string_view text) {
    auto& facts = current_->facts;
    if (text.starts_with("NUMA node: ")) {
      facts.numa = std::clamp(number_after(text, "NUMA node: ").value_or(-1), -1, 65'535);
    } else if (text.starts_with("IOMMU group: ")) {
      if (auto const group = number_after(text, "IOMMU group: ")) facts.iommu_group = std::to_string(*group);
    } else if (text.starts_with("Physical Slot: ")) {
      facts.slot = text.substr(std::string_view("Physical Slot: ").size());
    } else if (text.starts_with("Kernel driver in use: ")) {
      facts.driver = text.substr(std::string_view("Kernel driver in use: ").size());
    } else if (text.starts_with("Bus: primary=")) {
      current_->secondary = number_after(text, "secondary=", 16);
      if (facts.class_code == 0) facts.class_code = 0x060400;
    } else if (text.starts_with("Subsystem: ")) {
      current_->is_of_qemu = text.find("QEMU") != std::string_view::npos || text.find("Qemu") != std::string_view::npos;
    } else {
      return false;
    }
    return true;
  }

  void read_region(std::string_view text) {
    if (text.find("Memory at") == std::string_view::npos || text.find("[virtual]") != std::string_view::npos) return;
    if (auto const size = region_size(text)) current_->facts.bars.push_back(*size);
  }

  void read_capability(std::string_view text) {
    auto& config = current_->facts.config;
    if (text.find("<access denied>") != std::string_view::npos) current_->denied = true;
    auto const offset = number_after(text, "Capabilities: [", 16);
    if (!offset) return;
    config.has_capabilities = true;
    if (*offset >= 0x100) current_->lists_extended = true;
    if (auto const express = after(text, "Express ")) {
      auto rest = *express;
      if (rest.starts_with("(v")) rest.remove_prefix(std::min(rest.find(") ") + 2, rest.size()));
      config.port_type = port_type_in(rest);
    }
    if (text.find("Alternative Routing-ID Interpretation") != std::string_view::npos) config.ari = true;
    // -v names the capability, and only -vv prints its control register, in the following lines.
    if (text.find("Access Control Services") != std::string_view::npos) current_->has_acs = true;
  }

  void read_express(std::string_view text) {
    auto& config = current_->facts.config;
    if (text.starts_with("LnkCap:")) {
      config.max_link = link_in(text);
    } else if (text.starts_with("LnkSta:")) {
      config.link = link_in(text);
    } else if (text.starts_with("ACSCtl:")) {
      config.acs = {true, acs_bits_in(text)};
    } else if (text.starts_with("MaxPayload ") && text.find("MaxReadReq ") != std::string_view::npos) {
      config.max_payload = size_after(text, "MaxPayload ");
      config.max_read_request = size_after(text, "MaxReadReq ");
    } else if (text.starts_with("RlxdOrd")) {
      config.relaxed_ordering = is_on(text, "RlxdOrd");
      config.tags = is_on(text, "ExtTag") ? 256 : 32;
    } else if (text.starts_with("DevCtl2:") && is_on(text, "10BitTagReq")) {
      config.tags = 1024;
    }
  }
  static std::optional<Bytes> size_after(std::string_view text, std::string_view word) {
    auto const bytes = number_after(text, word);
    return bytes && *bytes >= 128 && *bytes <= 4096 ? std::optional(Bytes(*bytes)) : std::nullopt;
  }

  SourceText const& source_;
  LspciDocument document_;
  LspciDrawing drawing_;
  LspciFunction* current_ = nullptr;
};

}  // namespace

LspciDocument read_lspci_document(SourceText const& source) { return LspciReader(source).read(); }

}  // namespace lanewise
