#include "core/interop/machines/nccl/log/nccl_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/log/log_system.hpp"
#include "core/interop/machines/nccl/topology.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

NcclLogHost const& fullest_host(NcclLogFacts const& facts) {
  auto const worth = [](auto const& entry) {
    auto const& host = entry.second;
    return std::tuple(host.tree.size(), host.gpus.size(), host.devices.size(), host.lines);
  };
  return std::max_element(facts.hosts.begin(), facts.hosts.end(),
                          [&](auto const& a, auto const& b) { return worth(a) < worth(b); })
      ->second;
}

// The first few of a list of words.
template <class Words>
std::string some(Words const& words) {
  constexpr std::size_t kMax = 16;
  std::vector<std::string> shown;
  for (auto const& word : words)
    if (shown.size() < kMax) shown.push_back(word);
  return fmt::format("{}{}", fmt::join(shown, ", "), words.size() > kMax ? ", ..." : "");
}

std::vector<std::string> notes_of(NcclLogFacts const& facts, NcclLogHost const& host) {
  std::vector<std::string> notes;
  auto head = facts.version.empty() ? std::string("NCCL") : "NCCL " + facts.version;
  if (facts.ranks) head += fmt::format(", {} ranks", *facts.ranks);
  if (facts.channels) head += fmt::format(", {} channels", *facts.channels);
  if (!facts.network.empty()) head += fmt::format(", network {}", facts.network);
  notes.push_back("of the log: " + head);
  if (facts.hosts.size() > 1)
    notes.push_back(
        fmt::format("the log has lines of {} hosts; this is the one about which it says most", facts.hosts.size()));
  if (!host.transports.empty()) notes.push_back("transports in use: " + some(host.transports));
  if (!host.net_uses.empty()) notes.push_back("networks in use: " + some(host.net_uses));
  if (host.gpudirect) notes.emplace_back("GPUDirect RDMA is enabled for at least one NIC");
  if (host.no_gpudirect) notes.emplace_back("GPUDirect RDMA is disabled for at least one NIC or GPU");
  return notes;
}

// The catalogue's GPU with this title, such as "NVIDIA H100 80GB HBM3" has; empty: none or several.
std::string gpu_named(std::vector<std::string> const& names, Catalogue& catalogue) {
  if (names.empty() || std::any_of(names.begin(), names.end(), [&](auto const& name) { return name != names.front(); }))
    return {};
  for (auto const& name : catalogue.part_names())
    if (auto const* part = catalogue.part(name); part->kind == PartKind::Gpu && part->title == names.front())
      return name;
  return {};
}

}  // namespace

Likeness recognise_nccl_log(std::string_view text) {
  auto const has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (!has("NCCL INFO")) return Likeness::None;
  // Benchmarks print NCCL's lines between their own; their rows are worth more than these.
  if (has("=== System : max")) return Likeness::Certain;
  return has("nccl-tests") || has("out-of-place") ? Likeness::Possible : Likeness::Likely;
}

NcclLoggedHost read_nccl_logged_host(SourceText const& source) {
  auto const facts = read_nccl_log_facts(source.text());
  if (facts.hosts.empty())
    throw InputError(fmt::format("{}: no line of NCCL (\"NCCL INFO\") is in it; NCCL_DEBUG=INFO makes it write them",
                                 source.name()));
  auto const& host = fullest_host(facts);
  if (host.tree.empty() && host.gpus.empty() && host.devices.empty())
    throw InputError(
        fmt::format("{}: no line names a GPU; NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH prints "
                    "the tree of GPUs and NICs",
                    source.name()));
  auto system = system_of_log(host);
  auto notes = notes_of(facts, host);
  system.notes.insert(system.notes.begin(), notes.begin(), notes.end());
  return {host, std::move(system)};
}

Machine read_nccl_log(SourceText const& source, TopoOptions const& parts, Catalogue& catalogue) {
  auto [host, system] = read_nccl_logged_host(source);
  auto named = parts;
  if (named.gpu.empty()) named.gpu = gpu_named(host.gpu_names, catalogue);
  auto machine = machine_of_nccl(std::move(system), machine_name_from(source.name()), named, catalogue);
  machine.hosts.front().software.dma_buf = host.dma_buf && host.gpudirect;
  return machine;
}

}  // namespace lanewise
