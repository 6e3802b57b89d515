#include "core/machine/comparison/host_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/machine/comparison/field_text.hpp"
#include "core/machine/machine_fields.hpp"

namespace lanewise {
namespace {

std::string known(IommuMode mode) { return mode == IommuMode::Unknown ? std::string() : std::string(to_string(mode)); }

class HostComparer {
 public:
  HostComparer(Machine const& first, Machine const& second, DeviceMatching const& match)
      : first_(first), second_(second), match_(match) {}

  std::vector<MachineDifference> compare() {
    compare_host();
    compare_overrides();
    return std::move(differences_);
  }

 private:
  void differ(DifferenceKind kind, std::string const& subject, std::string const& key, std::string first,
              std::string second) {
    if (first != second) differences_.push_back({kind, subject, key, std::move(first), std::move(second), {}, {}});
  }
  // Only where both say something.
  void differ_if_both(DifferenceKind kind, std::string const& subject, std::string const& key, std::string const& first,
                      std::string const& second) {
    if (!first.empty() && !second.empty()) differ(kind, subject, key, first, second);
  }

  void compare_host() {
    auto const& first = first_.hosts.front();
    auto const& second = second_.hosts.front();
    auto const& a = first.settings;
    auto const& b = second.settings;
    // The ACS of ports is compared where the ports are.
    if (first_.functions.empty() && second_.functions.empty())
      differ(DifferenceKind::Acs, "settings", "acs", known(a.acs), known(b.acs));
    differ(DifferenceKind::Iommu, "settings", "iommu", known(a.iommu), known(b.iommu));
    differ(DifferenceKind::Iommu, "settings", "iommu_page", exact_text(a.iommu_page), exact_text(b.iommu_page));
    for (auto const& field : settings_fields()) {
      auto const& key = field.spec.name;
      if (key == "firmware")
        differ_if_both(DifferenceKind::Firmware, "settings", key, said(field, a), said(field, b));
      else if (key != "acs" && key != "iommu" && key != "iommu_page")
        differ(DifferenceKind::Setting, "settings", key, said(field, a), said(field, b));
    }
    for (auto const& field : virtualization_fields()) {
      auto const texts = std::pair(said(field, a.virtualization), said(field, b.virtualization));
      if (field.not_in_fingerprint.empty())
        differ(DifferenceKind::Setting, "virtualization", field.spec.name, texts.first, texts.second);
      else
        differ_if_both(DifferenceKind::Setting, "virtualization", field.spec.name, texts.first, texts.second);
    }
    differ(DifferenceKind::Setting, "virtualization", "cliques", cliques(a, false), cliques(b, true));
    for (auto const& field : software_fields())
      differ(DifferenceKind::Software, "software", field.spec.name, first.software.*field.flag ? "yes" : "no",
             second.software.*field.flag ? "yes" : "no");
  }

  // In the names of the first machine.
  [[nodiscard]] std::string name_in_first(std::string const& second_name) const {
    auto const id = second_.find_function(second_name);
    auto const back = id ? match_.functions_back[index(*id)] : std::nullopt;
    return back ? first_.at(*back).name : second_name;
  }
  [[nodiscard]] std::string cliques(Settings const& settings, bool of_second) const {
    std::set<std::string> texts;
    for (auto clique : settings.virtualization.cliques) {
      if (of_second)
        for (auto& name : clique) name = name_in_first(name);
      std::sort(clique.begin(), clique.end());
      texts.insert(fmt::format("{}", fmt::join(clique, "+")));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  [[nodiscard]] std::map<std::string, Override const*> overrides(Machine const& machine, bool of_second) const {
    std::map<std::string, Override const*> by_way;
    for (auto const& entry : machine.overrides) {
      auto const name = [&](Place const& place) {
        return of_second ? name_in_first(machine.name_of(place)) : machine.name_of(place);
      };
      by_way.emplace(fmt::format("{} > {}{}", name(entry.from), name(entry.to),
                                 entry.op ? fmt::format(" ({})", to_string(*entry.op)) : ""),
                     &entry);
    }
    return by_way;
  }
  void compare_overrides() {
    auto const text = [](Override const* entry) {
      if (entry == nullptr) return std::string(kAbsent);
      return fmt::format("{} {}", entry->bandwidth ? exact_text(*entry->bandwidth) : "-",
                         entry->latency ? exact_text(*entry->latency) : "-");
    };
    auto const first = overrides(first_, false);
    auto const second = overrides(second_, true);
    for (auto const& [way, entry] : first) {
      auto const other = second.find(way);
      differ(DifferenceKind::Figure, way, "override", text(entry),
             text(other == second.end() ? nullptr : other->second));
    }
    for (auto const& [way, entry] : second)
      if (!first.contains(way)) differ(DifferenceKind::Figure, way, "override", kAbsent, text(entry));
  }

  Machine const& first_;
  Machine const& second_;
  DeviceMatching const& match_;
  std::vector<MachineDifference> differences_;
};

}  // namespace

std::vector<MachineDifference> host_differences(Machine const& first, Machine const& second,
                                                DeviceMatching const& matching) {
  return HostComparer(first, second, matching).compare();
}

}  // namespace lanewise
