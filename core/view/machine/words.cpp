#include "core/view/machine/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/machine/path_class.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

struct Numbered {
  std::string_view stem;
  std::optional<int> number;
};

// "gpu12" as "gpu" and 12; "gpu012" has no number, because a range would lose its leading zero.
Numbered numbered(std::string_view name) {
  auto const last_letter = name.find_last_not_of("0123456789");
  auto const digits = name.substr(last_letter == std::string_view::npos ? 0 : last_letter + 1);
  constexpr std::size_t kMaxDigits = 6;
  if (digits.empty() || digits.size() > kMaxDigits || (digits.front() == '0' && digits.size() > 1)) return {name, {}};
  return {name.substr(0, name.size() - digits.size()), std::stoi(std::string(digits))};
}

bool follows(std::string_view previous, std::string_view name) {
  auto const a = numbered(previous);
  auto const b = numbered(name);
  return a.number && b.number && a.stem == b.stem && *b.number == *a.number + 1;
}

std::string_view kind_words(PciKind kind) {
  switch (kind) {
    case PciKind::RootPort: return "root port";
    case PciKind::Switch: return "PCIe switch";
    case PciKind::Gpu: return "GPU";
    case PciKind::Nic: return "NIC";
    case PciKind::Nvme: return "NVMe drive";
    case PciKind::Device: return "device";
  }
  return "";
}

std::string virtualization_words(Virtualization const& virtualization) {
  if (virtualization == Virtualization{}) return "none";
  std::vector<std::string> more;
  if (!virtualization.hypervisor.empty()) more.push_back(virtualization.hypervisor);
  if (virtualization.approval) more.emplace_back("peer-to-peer approved");
  if (virtualization.ats) more.emplace_back("ATS");
  for (auto const& clique : virtualization.cliques) more.push_back("clique " + condensed(clique));
  return fmt::format("{}{}", virtualization.passthrough ? "passthrough" : "none",
                     more.empty() ? std::string() : fmt::format(" ({})", fmt::join(more, "; ")));
}

}  // namespace

std::string condensed(std::vector<std::string> const& names) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < names.size();) {
    auto last = first;
    while (last + 1 < names.size() && follows(names[last], names[last + 1])) ++last;
    if (last - first < 2) last = first;  // two names are shorter than a range
    parts.push_back(last == first ? names[first] : fmt::format("{}..{}", names[first], names[last]));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string host_names(Machine const& machine, std::vector<HostId> const& hosts) {
  std::vector<std::string> names;
  for (auto const host : hosts) names.push_back(machine.at(host).name);
  return condensed(names);
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    auto const word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    bool const fits = column + (column > 0 ? 1 : 0) + word.size() <= width;
    if (column > 0) out += fits ? ' ' : '\n';
    column = (column > 0 && fits ? column + 1 : 0) + word.size();
    out += word;
  }
  return out;
}

std::string const& title_of(Part const& part) { return part.title.empty() ? part.name : part.title; }

std::string part_words(Machine const& machine, PciId id) {
  if (auto const* part = machine.part_of(id)) return title_of(*part);
  auto const kind = machine.at(id).kind;
  return fmt::format("{}{}", kind == PciKind::RootPort ? "" : "unknown ", kind_words(kind));
}

std::string part_words(Machine const& machine, SocketId id) {
  auto const* part = machine.part_of(id);
  return part != nullptr ? title_of(*part) : "unknown CPU";
}

std::string link_words(Machine const& machine, PciId id) {
  auto const& function = machine.at(id);
  if (function.kind == PciKind::RootPort) return "";
  if (function.link && function.max_link)
    return fmt::format("{} (max {})", to_string(*function.link), to_string(*function.max_link));
  if (function.link) return to_string(*function.link);
  auto const assumed = assumed_link(machine, id);
  return assumed ? fmt::format("(assumed {})", to_string(*assumed)) : "unknown";
}

std::string bonded_words(Part const& link_part, int count) {
  auto const name = [&]() -> std::string {
    switch (link_part.link.family) {
      case LinkFamily::NvLink: return fmt::format("NVLink {}", link_part.link.generation);
      case LinkFamily::C2c: return "NVLink-C2C";
      case LinkFamily::GpuXgmi: return "xGMI";
      case LinkFamily::GpuRoce: return "RoCE";
      default: return link_part.name;
    }
  };
  return fmt::format("{} x{}", name(), count);
}

std::string settings_words(Settings const& settings) {
  auto const page = settings.iommu_page == Settings{}.iommu_page
                        ? std::string()
                        : fmt::format(" with {} pages", exact_text(settings.iommu_page));
  return fmt::format("ACS {}; IOMMU {}{}; virtualization {}", to_string(settings.acs), to_string(settings.iommu), page,
                     virtualization_words(settings.virtualization));
}

std::string software_words(Software const& software) {
  std::array<std::pair<std::string_view, bool>, 8> const flags{{{"cuda", software.cuda},
                                                                {"peermem", software.peermem},
                                                                {"dma_buf", software.dma_buf},
                                                                {"gdrcopy", software.gdrcopy},
                                                                {"gpudirect_storage", software.gpudirect_storage},
                                                                {"fabric_manager", software.fabric_manager},
                                                                {"gpudirect_async", software.gpudirect_async},
                                                                {"geforce_peer", software.geforce_peer}}};
  std::vector<std::string> words;
  for (auto const& [name, set] : flags) words.push_back(fmt::format("{} {}", name, set ? "yes" : "no"));
  if (!software.imex) words.emplace_back("imex no");  // matters only where NVLink leads to other nodes
  if (software.mpi_messages) words.emplace_back("mpi_messages yes");
  if (software.cuda_aware_mpi) words.emplace_back("cuda_aware_mpi yes");
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace lanewise
