#pragma once
// The processes that run one plan on several nodes, and how they communicate before and after a run. During a run
// nothing passes here except the notification that one of them failed.
//
//   auto const group = make_group();               // MPI's where a launcher started us, else this process alone
//   auto const plan = group->broadcast(text);      // the first process's text, in all of them
//   auto const all = group->all_gather("ready");   // each process's text, by rank; also a barrier
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

class Group {
 public:
  Group() = default;
  Group(Group const&) = delete;
  Group& operator=(Group const&) = delete;
  virtual ~Group() = default;

  [[nodiscard]] virtual int rank() const = 0;
  // The name of each process's node, by rank.
  [[nodiscard]] virtual std::vector<std::string> const& hosts() const = 0;
  [[nodiscard]] int size() const { return static_cast<int>(hosts().size()); }
  // "Open MPI v4.1.4", or "this process alone".
  [[nodiscard]] virtual std::string about() const = 0;

  // All processes must call these together; each call waits for all. After Ctrl-C they still wait some seconds, so that
  // the processes can tell one another; then they throw Interrupted, and the group cannot be used any more.
  // The first process's text, in every process.
  virtual std::string broadcast(std::string text) = 0;
  // Every process's text, by rank, in every process.
  virtual std::vector<std::string> all_gather(std::string text) = 0;
  // How far this process's monotonic clock is ahead of the first's, within half of the shortest of many round trips
  // (Cristian's algorithm, 1989). All processes must call it together; it does not react to Ctrl-C.
  virtual Seconds clock_offset() = 0;

  // announce_failure() tells the other processes that this run is lost, without waiting. failed_elsewhere() says
  // whether another process has announced that since the last all_gather().
  virtual void announce_failure() = 0;
  virtual bool failed_elsewhere() = 0;
};

// Whether a launcher (mpirun, srun) started this process as one of several, judged by its environment variables.
bool launched_with_others();
// The group of MPI where a launcher started several processes, else this process alone. Throws MissingError when a
// launcher started several and this build has no MPI.
std::unique_ptr<Group> make_group();

// The ranks on each of the plan's nodes, in order. The k-th node of the plan is the k-th host in the order of ranks.
// Where there are fewer hosts than nodes but one rank for each node, it is the k-th rank. Throws MissingError saying
// how to start the processes when neither fits.
std::vector<std::vector<int>> ranks_of_nodes(std::vector<std::string> const& hosts, std::size_t nodes);

// How many nodes each host has. `ranks`: by node, as ranks_of_nodes() gives them.
std::map<std::string, std::size_t> nodes_of_hosts(std::vector<std::string> const& hosts,
                                                  std::vector<std::vector<int>> const& ranks);

// The node of a rank. Throws MissingError if it is of none.
std::size_t node_of(int rank, std::vector<std::vector<int>> const& ranks);

// The time on this process's monotonic clock.
Seconds monotonic_now();

}  // namespace lanewise::hw

// The entry point of liblanewise_mpi.so.
extern "C" lanewise::hw::Group* lanewise_make_mpi_group();
