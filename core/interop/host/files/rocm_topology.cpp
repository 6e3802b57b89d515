#include "core/interop/host/files/rocm_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "core/interop/machines/roles.hpp"
#include "core/interop/words.hpp"

namespace lanewise {
namespace {

constexpr int kMaxRocmGpus = 256;

std::optional<int> number(std::string_view text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool is_label(std::string_view word) {
  return is_pci_address(word) || (word.starts_with("GPU") && number(word.substr(3)).value_or(-1) >= 0);
}

// What either tool says of its GPUs, by a label: "GPU0" or "0000:05:00.0".
class Topology {
 public:
  // Finds or adds; nullopt where it is no label, or there are too many.
  std::optional<std::size_t> gpu(std::string_view label) {
    if (!is_label(label)) return std::nullopt;
    auto const known = std::find(labels_.begin(), labels_.end(), label);
    if (known != labels_.end()) return static_cast<std::size_t>(known - labels_.begin());
    if (labels_.size() == static_cast<std::size_t>(kMaxRocmGpus)) return std::nullopt;
    labels_.emplace_back(label);
    return labels_.size() - 1;
  }
  void set_type(std::string_view a, std::string_view b, std::string_view type) {
    auto const from = gpu(a);
    auto const to = gpu(b);
    if (from && to && from != to && (type == "XGMI" || type == "PCIE")) types_[{*from, *to}] = type;
  }
  void set_hops(std::string_view a, std::string_view b, std::string_view hops) {
    auto const from = gpu(a);
    auto const to = gpu(b);
    if (auto const count = number(hops); from && to && from != to && count && *count > 0) hops_[{*from, *to}] = *count;
  }
  void set_numa(std::string_view label, std::string_view node) {
    auto const at = gpu(label);
    if (auto const value = number(node); at && value && *value >= 0 && *value < 65'536) numa_[*at] = *value;
  }
  [[nodiscard]] bool says_something() const { return !types_.empty() || !numa_.empty() || labels_.size() == 1; }

  [[nodiscard]] HostFacts facts() {
    sort();
    HostFacts facts;
    facts.source = "the table";
    facts.lists_nics = false;
    facts.shows_config = false;
    facts.says_software = false;
    for (std::size_t i = 0; i < labels_.size(); ++i) facts.pci.push_back(function(i));
    add_links(facts);
    for (auto const node : nodes()) facts.cpu.nodes.push_back({node, "", {node}});
    if (facts.cpu.nodes.size() > 1)
      facts.notes.emplace_back("inferred: each NUMA node is a socket; the table does not say which share one");
    if (types_.empty() && labels_.size() > 1)
      facts.notes.emplace_back("missing: how the GPUs are linked; 'rocm-smi --showtopo' prints it, whole");
    facts.notes.emplace_back(
        "the table shows GPUs alone: parts, the PCI tree, PCIe links, NICs and ACS are unknown; --gpu and --cpu name "
        "parts, "
        "and 'sudo lspci -vvv' of the same host shows the rest");
    return facts;
  }

 private:
  // The NUMA nodes of the host: those up to the highest that a GPU is on, for some may have no GPU. Of hosts with
  // numbers beyond any count of nodes, those that GPUs are on.
  [[nodiscard]] std::set<int> nodes() const {
    constexpr int kMaxTopologyNodes = 16;
    std::set<int> nodes{0};
    for (auto const& [gpu, node] : numa_) nodes.insert(node);
    if (*nodes.rbegin() < kMaxTopologyNodes)
      for (int i = 0; i < *nodes.rbegin(); ++i) nodes.insert(i);
    return nodes;
  }

  // Puts GPU2 before GPU10, in whatever order they were named.
  void sort() {
    std::vector<std::size_t> order(labels_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    auto const place = [&](std::size_t i) {
      return is_pci_address(labels_[i]) ? 0 : number(std::string_view(labels_[i]).substr(3)).value_or(0);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    std::vector<std::size_t> rank(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    std::vector<std::string> labels(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) labels[rank[i]] = labels_[i];
    labels_ = std::move(labels);
    types_ = renumbered(types_, rank);
    hops_ = renumbered(hops_, rank);
    std::map<std::size_t, int> numa;
    for (auto const& [gpu, node] : numa_) numa[rank[gpu]] = node;
    numa_ = std::move(numa);
  }
  template <class Value>
  using ByPair = std::map<std::pair<std::size_t, std::size_t>, Value>;
  template <class Value>
  static ByPair<Value> renumbered(ByPair<Value> const& values, std::vector<std::size_t> const& rank) {
    ByPair<Value> result;
    for (auto const& [ends, value] : values) result[{rank[ends.first], rank[ends.second]}] = value;
    return result;
  }

  [[nodiscard]] PciFacts function(std::size_t i) const {
    PciFacts function;
    function.address_unknown = !is_pci_address(labels_[i]);
    // An address that no real device has, so that GPUs without one stay apart.
    function.bdf = function.address_unknown ? fmt::format("fffffff0:{:02x}:00.0", i) : labels_[i];
    function.root_bus = function.bdf.substr(0, function.bdf.rfind(':'));
    function.above_unknown = true;
    function.class_code = 0x038000;
    function.id = "1002:";
    function.is_accelerator = true;
    if (auto const node = numa_.find(i); node != numa_.end()) function.numa = node->second;
    return function;
  }

  void add_links(HostFacts& facts) const {
    for (auto const& [ends, type] : types_) {
      auto const [a, b] = ends;
      if (type != "XGMI" || (a > b && types_.contains({b, a}))) continue;
      auto const hops = hops_.find(ends);
      facts.xgmi.push_back({facts.pci[a].bdf, facts.pci[b].bdf, std::nullopt, hops == hops_.end() ? 0 : hops->second});
    }
  }

  std::vector<std::string> labels_;
  ByPair<std::string> types_;
  ByPair<int> hops_;
  std::map<std::size_t, int> numa_;
};

// Tables below headings; each has a row of labels above it and a label before each row.
class RocmTextReader {
 public:
  RocmTextReader(SourceText const& source, Topology& topology) : source_(source), topology_(topology) {}

  void read() {
    for (int i = 1; i <= source_.line_count(); ++i) {
      std::string line(source_.line(i));
      std::replace_if(
          line.begin(), line.end(), [](char c) { return c == '|' || c == '*'; }, ' ');
      read_line(line);
    }
  }

 private:
  enum class Table : std::uint8_t { None, Type, Hops, Other };

  void read_line(std::string const& line) {
    auto const has = [&](std::string_view mark) { return line.find(mark) != std::string::npos; };
    if (has("between two GPUs") || has("Between Two GPUs") || has("TABLE")) {
      table_ = has("Link Type") || has("LINK TYPE") ? Table::Type
               : has("Hops") || has("HOPS")         ? Table::Hops
                                                    : Table::Other;
      columns_.clear();
      return;
    }
    if (has("Numa Node:") || has("NUMA Node:")) return read_numa(line);
    auto const words = words_of(line);
    if (words.empty() || !is_label(words.front().text)) return;
    bool const header = std::all_of(words.begin(), words.end(), [](Word const& word) { return is_label(word.text); });
    if (header && (columns_.empty() || words.size() > 1)) {
      columns_.clear();
      for (auto const& word : words) columns_.emplace_back(word.text);
      return;
    }
    for (std::size_t i = 1; i < words.size() && i <= columns_.size(); ++i) {
      if (table_ == Table::Type) topology_.set_type(words.front().text, columns_[i - 1], words[i].text);
      if (table_ == Table::Hops) topology_.set_hops(words.front().text, columns_[i - 1], words[i].text);
    }
  }

  // "GPU[0]          : (Topology) Numa Node: 0", in older versions "GPU 0          : ...".
  void read_numa(std::string line) {
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '[' || c == ']'; }, ' ');
    auto const words = words_of(line);
    if (words.size() > 3 && words[0].text == "GPU")
      topology_.set_numa(fmt::format("GPU{}", words[1].text), words.back().text);
  }

  SourceText const& source_;
  Topology& topology_;
  Table table_ = Table::None;
  std::vector<std::string> columns_;
};

std::string text_of(nlohmann::json const& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_integer() ? std::to_string(value.get<long long>()) : std::string();
}
std::string field(nlohmann::json const& object, char const* name) {
  auto const at = object.find(name);
  return at == object.end() ? std::string() : text_of(*at);
}

// amd-smi: a list of GPUs, each with a list of links.
void read_amd_smi(nlohmann::json const& gpus, Topology& topology) {
  for (auto const& gpu : gpus) {
    if (!gpu.is_object() || !gpu.contains("links") || !gpu["links"].is_array()) continue;
    auto const from = field(gpu, "bdf");
    for (auto const& link : gpu["links"]) {
      if (!link.is_object() || from.empty() || field(link, "bdf").empty()) continue;
      topology.set_type(from, field(link, "bdf"), field(link, "link_type"));
      topology.set_hops(from, field(link, "bdf"), field(link, "num_hops"));
    }
  }
}

// rocm-smi: "(Topology) Link type between DRM devices 0 and 1": "XGMI" in "system"; NUMA nodes in "card0".
void read_rocm_smi(nlohmann::json const& root, Topology& topology) {
  for (auto const& [card, entries] : root.items()) {
    if (!entries.is_object()) continue;
    for (auto const& [key, value] : entries.items()) {
      if (key == "(Topology) Numa Node" && card.starts_with("card"))
        topology.set_numa("GPU" + card.substr(4), text_of(value));
      auto const between = key.find(" between DRM devices ");
      if (between == std::string::npos) continue;
      auto const words = words_of(std::string_view(key).substr(between));
      if (words.size() != 6) continue;  // between DRM devices 0 and 1
      auto const a = fmt::format("GPU{}", words[3].text);
      auto const b = fmt::format("GPU{}", words[5].text);
      if (key.find("Link type") != std::string::npos) topology.set_type(a, b, text_of(value));
      if (key.find("Hops") != std::string::npos) topology.set_hops(a, b, text_of(value));
    }
  }
}

}  // namespace

Likeness recognise_rocm_topology(std::string_view text) {
  auto const has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (has("Link Type between two GPUs") || has("between DRM devices") || has("LINK TYPE TABLE"))
    return Likeness::Certain;
  if (has("\"link_type\"") && has("\"num_hops\"")) return Likeness::Certain;
  if (has("(Topology) Numa Node")) return Likeness::Likely;
  return has("Hops between two GPUs") || has("Weight between two GPUs") ? Likeness::Likely : Likeness::None;
}

HostFacts read_rocm_topology(SourceText const& source) {
  Topology topology;
  auto const& text = source.text();
  auto const start = text.find_first_of("{[");
  auto const json =
      start == std::string::npos || text.find('"') == std::string::npos
          ? nlohmann::json(nlohmann::json::value_t::discarded)
          : nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(start), text.end(), nullptr, false);
  if (json.is_array())
    read_amd_smi(json, topology);
  else if (json.is_object())
    read_rocm_smi(json, topology);
  else
    RocmTextReader(source, topology).read();
  if (!topology.says_something())
    throw InputError(
        fmt::format("{}: no table of the types of links between GPUs, as 'rocm-smi --showtopo' and "
                    "'amd-smi topology' print, and no NUMA nodes of GPUs",
                    source.name()));
  return topology.facts();
}

}  // namespace lanewise
