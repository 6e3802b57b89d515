#include "core/workload/trace_workload_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/workload/chakra/trace_reader.hpp"
#include "core/workload/token_tables.hpp"
#include "core/workload/trace_traffic.hpp"

namespace lanewise {
namespace {

constexpr int kMaxTracedRanks = 1 << 16;
constexpr std::string_view kRankMark = "%d";

std::string name_of_rank(std::string const& pattern, int rank) {
  auto name = pattern;
  return name.replace(name.find(kRankMark), kRankMark.size(), std::to_string(rank));
}

// The files of all ranks from 0; of a name without "%d" the one that stands for all.
std::vector<std::filesystem::path> trace_files(SourceText const& scenario, std::string const& name) {
  auto const at = name.find('%');
  if (at == std::string::npos) return {file_of_scenario(scenario, name)};
  if (name.find(kRankMark) != at || name.find('%', at + 1) != std::string::npos)
    throw InputError(fmt::format("'{}' has one %d, where the rank's number stands, or none", name));
  auto const name_of_first = name_of_rank(name, 0);
  auto const first = file_of_scenario(scenario, name_of_first);
  auto const folder = first.string().substr(0, first.string().size() - name_of_first.size());
  std::vector<std::filesystem::path> files{first};
  std::error_code error;
  for (int rank = 1; rank <= kMaxTracedRanks; ++rank) {
    std::filesystem::path const file = folder + name_of_rank(name, rank);
    if (!std::filesystem::is_regular_file(file, error)) return files;
    files.push_back(file);
  }
  throw InputError(fmt::format("more than {} traces", kMaxTracedRanks));
}

// Every send of every rank once.
std::vector<TracedSend> sends_in(std::vector<std::filesystem::path> const& files, ExecutionTrace const& first) {
  std::vector<TracedSend> sends;
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    auto const own = static_cast<int>(rank);
    auto const trace = rank == 0 ? first : read_execution_trace(files[rank]);
    for (auto const& node : trace.nodes) {
      if (!node.peer || node.bytes == 0) continue;
      if (*node.peer >= static_cast<int>(files.size()) || *node.peer == own)
        refuse_at({trace.file, 0, 0},
                  fmt::format("node {}: rank {} exchanges a message with rank {}; there are {} traces", node.id, own,
                              *node.peer, files.size()));
      if (node.kind == TraceNodeKind::Send) sends.push_back({node.bytes, own, *node.peer});
      if (node.kind == TraceNodeKind::Receive) sends.push_back({node.bytes, *node.peer, own});
    }
  }
  std::sort(sends.begin(), sends.end());
  sends.erase(std::unique(sends.begin(), sends.end()), sends.end());
  return sends;
}

TracedStep read_traced_step(MapReader& reader, std::string const& name) {
  TracedStep step;
  step.file = name;
  auto const files = trace_files(reader.source(), name);
  step.trace = read_execution_trace(files.front());
  step.trace.file = files.front().string();
  step.one_for_all = name.find(kRankMark) == std::string::npos;
  if (auto const groups = reader.text("comm_groups"))
    step.groups = read_rank_groups(SourceText::load(file_of_scenario(reader.source(), *groups)));
  int highest = 0;
  for (auto const& [group, ranks] : step.groups)
    highest = std::max(highest, *std::max_element(ranks.begin(), ranks.end()));
  step.ranks = step.one_for_all ? highest + 1 : static_cast<int>(files.size());
  if (step.one_for_all && step.groups.empty())
    throw InputError("the trace of one rank stands for all; 'comm_groups' says which ranks there are");
  if (highest >= step.ranks)
    throw InputError(fmt::format("'comm_groups' has rank {}, and there are {} traces", highest, step.ranks));
  auto const& nodes = step.trace.nodes;
  bool const sends = std::any_of(nodes.begin(), nodes.end(), [](auto const& node) { return node.peer.has_value(); });
  if (sends && !step.one_for_all) step.sends = sends_in(files, step.trace);
  bool const computes = std::any_of(nodes.begin(), nodes.end(), [](auto const& n) { return n.duration > Seconds(0); });
  if (traffic_of_trace(step).patterns.empty() && !computes)
    throw InputError(fmt::format("{}: nothing in it takes time", step.trace.file));
  return step;
}

}  // namespace

std::map<std::string, std::vector<int>> read_rank_groups(SourceText const& source) {
  auto const root = parse_yaml(source);
  auto const refuse = [&](YamlNode const& at, std::string const& message) {
    refuse_at({source.name(), at.line, at.column}, message);
  };
  if (root.kind != YamlKind::Map) refuse(root, "groups of ranks are a mapping: {\"1\": [0, 1, 2, 3]}");
  std::map<std::string, std::vector<int>> groups;
  for (auto const& entry : root.entries) {
    auto& ranks = groups[entry.key];
    for (auto const& item : entry.value.items) {
      auto const rank = whole_number_in(item, 0, kMaxTracedRanks - 1);
      if (!rank)
        refuse(item, fmt::format("group '{}': a rank is a number from 0 to {}", entry.key, kMaxTracedRanks - 1));
      if (std::find(ranks.begin(), ranks.end(), *rank) != ranks.end())
        refuse(item, fmt::format("group '{}' has rank {} twice", entry.key, *rank));
      ranks.push_back(*rank);
    }
    if (ranks.empty()) refuse(entry.value, fmt::format("group '{}' is a list of ranks", entry.key));
  }
  return groups;
}

void read_trace(MapReader& reader, Workload& workload) {
  for (auto const& entry : reader.self().entries)
    if (entry.key != "trace" && entry.key != "comm_groups" && entry.key != "ranks" && entry.key != "library")
      reader.fail_at_key(entry.key,
                         fmt::format("'{}' does not go with 'trace', which says all of it; allowed beside it: "
                                     "comm_groups, library, ranks",
                                     entry.key));
  auto const name = reader.text("trace");
  if (!name || !reader.diagnostics().empty()) return;
  try {
    workload.trace = read_traced_step(reader, *name);
    workload.parallel.dp = workload.trace->ranks;
  } catch (InputError const& error) {
    reader.fail(*reader.node("trace"), error.what());
  }
}

}  // namespace lanewise
