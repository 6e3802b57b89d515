#include "hw/nodes/group.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "core/io/own_library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

class SingleProcess : public Group {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] std::vector<std::string> const& hosts() const override { return hosts_; }
  [[nodiscard]] std::string about() const override { return "this process alone"; }
  std::string broadcast(std::string text) override { return text; }
  std::vector<std::string> all_gather(std::string text) override { return {std::move(text)}; }
  Seconds clock_offset() override { return Seconds(0); }
  void announce_failure() override {}
  bool failed_elsewhere() override { return false; }

 private:
  std::vector<std::string> hosts_{"this node"};
};

// How many processes the launcher started, as Open MPI, MPICH and other PMI launchers, and Slurm say. SLURM_PROCID is
// set in Slurm's steps only.
int launched() {
  constexpr std::array kCounts{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
  auto const number = [](char const* text) {
    int count = 1;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), count);
    return count;
  };
  int largest = 1;
  for (auto const* name : kCounts) largest = std::max(largest, number(std::getenv(name)));
  if (std::getenv("SLURM_PROCID") != nullptr && std::getenv("PMIX_RANK") != nullptr)
    largest = std::max(largest, number(std::getenv("SLURM_NTASKS")));
  return largest;
}

}  // namespace

bool launched_with_others() { return launched() > 1; }

std::unique_ptr<Group> make_group() {
  if (!launched_with_others()) return std::make_unique<SingleProcess>();
  auto* const library = own_library("liblanewise_mpi.so");
  if (library == nullptr)
    throw MissingError(fmt::format(
        "a launcher started {} processes, but liblanewise_mpi.so cannot be loaded ({}): install MPI (package "
        "libopenmpi-dev) and build again",
        launched(), dlerror()));
  return std::unique_ptr<Group>(own_entry_point<Group*()>(library, "liblanewise_mpi.so", "lanewise_make_mpi_group")());
}

std::vector<std::vector<int>> ranks_of_nodes(std::vector<std::string> const& hosts, std::size_t nodes) {
  std::vector<std::string> distinct;
  std::vector<std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    auto const at = std::find(distinct.begin(), distinct.end(), hosts[rank]) - distinct.begin();
    if (at == static_cast<std::ptrdiff_t>(distinct.size())) {
      distinct.push_back(hosts[rank]);
      ranks.emplace_back();
    }
    ranks[static_cast<std::size_t>(at)].push_back(static_cast<int>(rank));
  }
  if (ranks.size() == nodes) return ranks;
  if (hosts.size() != nodes)
    throw MissingError(fmt::format(
        "the cluster has {} nodes, and {} {} started on {} {}: start one on each node, as in `mpirun --host "
        "node0,node1 -n 2 lanewise ...`",
        nodes, hosts.size(), hosts.size() == 1 ? "process was" : "processes were", distinct.size(),
        distinct.size() == 1 ? "host" : "hosts"));
  ranks.clear();
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) ranks.push_back({static_cast<int>(rank)});
  return ranks;
}

std::map<std::string, std::size_t> nodes_of_hosts(std::vector<std::string> const& hosts,
                                                  std::vector<std::vector<int>> const& ranks) {
  std::map<std::string, std::size_t> counts;
  for (auto const& of_node : ranks) ++counts[hosts[static_cast<std::size_t>(of_node.front())]];
  return counts;
}

std::size_t node_of(int rank, std::vector<std::vector<int>> const& ranks) {
  for (std::size_t node = 0; node < ranks.size(); ++node)
    if (std::find(ranks[node].begin(), ranks[node].end(), rank) != ranks[node].end()) return node;
  throw MissingError(fmt::format("process {} is of no node", rank));
}

Seconds monotonic_now() {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

}  // namespace lanewise::hw
