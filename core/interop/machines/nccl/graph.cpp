#include "core/interop/machines/nccl/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>
#include <string_view>

#include "core/interop/load_xml.hpp"
#include "core/interop/xml_diagnostic.hpp"
#include "core/planner/libraries/nccl/graph_search.hpp"
#include "core/planner/libraries/nccl/topology.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxGpus = 1024;      // of a channel
constexpr std::size_t kMaxChannels = 1024;  // of a graph
constexpr double kSameRate = 0.05;          // NCCL writes one decimal

class GraphReader {
 public:
  explicit GraphReader(SourceText const& source) : source_(source) {}

  std::vector<NcclGraph> read() {
    pugi::xml_document document;
    load_xml(source_, 0, pugi::parse_default, document);
    auto const graphs = document.child("graphs");
    if (!graphs) refuse_xml(source_, 0, "expected <graphs>, as NCCL_GRAPH_DUMP_FILE has it");
    std::vector<NcclGraph> result;
    for (auto const node : graphs.children("graph")) result.push_back(graph(node));
    if (!diagnostics_.empty()) throw InputError(diagnostics_);
    return result;
  }

 private:
  using Node = pugi::xml_node;

  void fail(Node node, std::string message) {
    auto const place = xml_diagnostic(source_, node.offset_debug(), std::move(message));
    diagnostics_.push_back(place);
  }

  NcclGraph graph(Node node) {
    NcclGraph graph;
    graph.id = node.attribute("id").as_int(-1);
    if (graph.id < 0) fail(node, "a graph has an 'id': 0 for rings, 1 for trees");
    graph.speed_intra = rate(node, "speedintra");
    graph.speed_inter = rate(node, "speedinter");
    graph.type_intra = node.attribute("typeintra").value();
    graph.type_inter = node.attribute("typeinter").value();
    for (auto const channel : node.children("channel")) {
      if (graph.channels.size() == kMaxChannels) {
        fail(channel, fmt::format("more than {} channels", kMaxChannels));
        break;
      }
      graph.channels.push_back(gpus_of(channel));
    }
    return graph;
  }
  double rate(Node node, char const* name) {
    auto const value = node.attribute(name).as_double(0);
    if (value >= 0 && std::isfinite(value)) return value;
    fail(node, fmt::format("'{}' is a rate in GB/s", name));
    return 0;
  }

  // `dev` is hexadecimal; newer dumps write `rank`, decimal.
  std::vector<std::size_t> gpus_of(Node channel) {
    std::vector<std::size_t> gpus;
    for (auto const gpu : channel.children("gpu")) {
      bool const has_rank = !gpu.attribute("rank").empty();
      std::string_view const text = has_rank ? gpu.attribute("rank").value() : gpu.attribute("dev").value();
      std::size_t number = 0;
      auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, has_rank ? 10 : 16);
      if (error != std::errc() || end != text.data() + text.size() || number >= kMaxGpus || gpus.size() == kMaxGpus) {
        fail(gpu, fmt::format("a GPU has a 'dev' (hexadecimal) or 'rank' below {}, not '{}'", kMaxGpus, text));
        return gpus;
      }
      gpus.push_back(number);
    }
    return gpus;
  }

  SourceText const& source_;
  std::vector<Diagnostic> diagnostics_;
};

// A ring has no beginning: it starts at its lowest GPU.
std::vector<std::size_t> turned(std::vector<std::size_t> ring) {
  std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
  return ring;
}

std::string order_text(std::vector<std::size_t> const& ring) { return fmt::format("{}", fmt::join(ring, " ")); }

}  // namespace

std::vector<NcclGraph> read_nccl_graphs(SourceText const& source) { return GraphReader(source).read(); }

std::vector<TopoDifference> compare_nccl_graph(SourceText const& source, Machine const& machine) {
  auto const graphs = read_nccl_graphs(source);
  auto const found = std::find_if(graphs.begin(), graphs.end(), [](NcclGraph const& graph) { return graph.id == 0; });
  if (found == graphs.end() || found->channels.empty() || found->channels.front().empty())
    throw InputError(fmt::format("{}: no rings (graph 0 with channels of GPUs)", source.name()));
  if (machine.hosts.size() > 1)
    throw InputError(
        fmt::format("'{}' is a cluster; a graph is of one node: name the machine of a node", machine.name));
  auto const gpus = machine.all(PciKind::Gpu);
  for (auto const& channel : found->channels)
    for (auto const gpu : channel)
      if (gpu >= gpus.size())
        throw InputError(fmt::format("{}: a ring passes GPU {}, and '{}' has {} GPUs", source.name(), gpu, machine.name,
                                     gpus.size()));
  auto used = turned(found->channels.front());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.size() < 2) throw InputError(fmt::format("{}: a ring passes two GPUs at least", source.name()));
  std::vector<PciId> taking_part;
  for (auto const gpu : used) taking_part.push_back(gpus[gpu]);
  Library const library;
  nccl::Topology const topology(machine, taking_part, library, machine.library_environment);
  auto const predicted = nccl::search_rings(topology, false, library);
  std::vector<TopoDifference> differences;
  auto const differ = [&](std::string subject, auto const& file, auto const& expected) {
    differences.push_back({std::move(subject),
                           fmt::format("the file says {}, {} would have {} here", file, to_string(library), expected)});
  };
  if (found->channels.size() != predicted.channels.size())
    differ("channels", found->channels.size(), predicted.channels.size());
  if (std::abs(found->speed_intra - predicted.rate) > kSameRate * predicted.rate)
    differ("rate of a channel", fmt::format("{:.3g} GB/s", found->speed_intra), fmt::format("{:.3g}", predicted.rate));
  if (!found->type_intra.empty() && found->type_intra != to_string(predicted.intra))
    differ("type within the node", found->type_intra, to_string(predicted.intra));
  for (std::size_t i = 0; i < std::min(found->channels.size(), predicted.channels.size()); ++i) {
    std::vector<std::size_t> expected;
    for (auto const gpu : predicted.channels[i].gpus) expected.push_back(used[gpu]);
    if (turned(found->channels[i]) != turned(expected))
      differ(fmt::format("channel {}", i), order_text(found->channels[i]), order_text(expected));
  }
  return differences;
}

}  // namespace lanewise
