#include "core/view/catalogue/catalogue_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "core/text/markdown.hpp"
#include "core/view/catalogue/part_figures.hpp"
#include "core/view/machine/words.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kIntroduction = R"(# Catalogue

Written by `lanewise export catalogue`; do not edit.

Every part that comes with lanewise, with the figures that people choose it by. A letter says what a figure rests on:
**d**, its maker, a standard or source code says it; **m**, somebody read it from the device or measured it; **e**, it is
estimated: another part's, customary, or derived with an assumption. Rates that are estimated have wider ranges. The
sources are below each table; `lanewise show PART` has those of every figure, and `lanewise list parts PATTERN` finds a
part. What to know about parts in general, and which products are left out and why, is in [parts](parts.md).
)";

std::string_view heading(PartKind kind) {
  switch (kind) {
    case PartKind::Cpu: return "CPUs";
    case PartKind::Gpu: return "GPUs and other accelerators";
    case PartKind::Nic: return "Network adapters";
    case PartKind::Switch: return "PCIe switches";
    case PartKind::Nvme: return "Drives";
    case PartKind::Device: return "Other devices";
    case PartKind::Link: return "Links";
    case PartKind::NvSwitch: return "NVSwitch";
    case PartKind::NetworkSwitch: return "Network switches";
  }
  return "";
}

// The letter of a kind of source.
std::string letter(FigureSource const* source) {
  return source == nullptr ? std::string() : " " + std::string(to_string(source->kind).substr(0, 1));
}

bool is_generic(Part const& part) { return part.spread.has_value(); }

class Section {
 public:
  Section(PartKind kind, std::vector<Part const*> parts) : kind_(kind), parts_(std::move(parts)) {}

  [[nodiscard]] std::string text() const {
    return fmt::format("\n## {}\n\n", heading(kind_)) + table() + sources() + wanted();
  }

 private:
  [[nodiscard]] std::string table() const {
    std::vector<std::string> header{"part", "product", "year"};
    for (auto const& key : key_figures(kind_)) header.push_back(key);
    auto text = markdown_header(header);
    for (auto const* part : parts_) {
      std::vector<std::string> row{part->name, title_of(*part), part->year ? std::to_string(*part->year) : ""};
      auto const figures = figures_of(*part);
      for (auto const& key : key_figures(kind_)) {
        auto const* figure = figure_named(key, figures);
        row.push_back(figure == nullptr ? "" : figure->value + letter(figure->source));
      }
      text += markdown_row(row);
    }
    return text;
  }

  // The sources of the table's figures, the same text of several figures once.
  [[nodiscard]] std::string sources() const {
    std::string text;
    for (auto const* part : parts_) {
      std::vector<std::pair<std::string, std::string>> by_text;  // source, figures
      for (auto const& key : key_figures(kind_)) {
        auto const* source = part->source_of(key);
        if (source == nullptr) continue;
        auto const said = fmt::format("{}: {}", to_string(source->kind), source->text);
        auto found = std::find_if(by_text.begin(), by_text.end(), [&](auto const& one) { return one.first == said; });
        if (found == by_text.end())
          by_text.emplace_back(said, key);
        else
          found->second += ", " + key;
      }
      for (auto const& [said, keys] : by_text) text += markdown_row({part->name, keys, said});
    }
    if (text.empty()) return text;
    return "\n<details><summary>Sources</summary>\n\n" + markdown_header({"part", "figures", "source"}) + text +
           "\n</details>\n";
  }

  // Figures that most parts of the kind have and some lack, and key figures that are only estimated.
  [[nodiscard]] std::string wanted() const {
    std::map<std::string, std::vector<std::string>> missing;
    std::map<std::string, std::vector<std::string>> estimated;
    for (auto const* part : parts_) {
      if (is_generic(*part)) continue;
      auto const figures = figures_of(*part);
      for (auto const& key : key_figures(kind_)) {
        auto const* figure = figure_named(key, figures);
        if (figure == nullptr && key != "nvlink_ports") missing[key].push_back(part->name);
        if (figure != nullptr && figure->source != nullptr && figure->source->kind == SourceKind::Estimated)
          estimated[key].push_back(part->name);
      }
    }
    std::string text;
    for (auto const& [key, names] : missing)
      text += fmt::format("- `{}` is not known of {}\n", key, fmt::join(names, ", "));
    for (auto const& [key, names] : estimated)
      text += fmt::format("- `{}` is only estimated of {}\n", key, fmt::join(names, ", "));
    return text.empty() ? text : "\nWanted:\n\n" + text;
  }

  PartKind kind_;
  std::vector<Part const*> parts_;
};

}  // namespace

std::string catalogue_page(Catalogue& catalogue) {
  std::map<PartKind, std::vector<Part const*>> by_kind;
  for (auto const& name : catalogue.part_names()) {
    auto const* part = catalogue.part(name);
    by_kind[part->kind].push_back(part);
  }
  std::string text(kIntroduction);
  for (auto const& [kind, parts] : by_kind) text += Section(kind, parts).text();
  return text;
}

}  // namespace lanewise
