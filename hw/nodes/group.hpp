#pragma once
// The processes that run one plan on several nodes, and how they speak with one another before and after a run. During
// a run nothing passes here but the news that one of them failed.
//
//   auto const group = make_group();               // MPI's where a launcher started us, else this process alone
//   auto const plan = group->broadcast(text);     // what the first has, at all
//   auto const said = group->all_gather("ready");         // what each says, by rank: also a barrier
#include <memory>
#include <string>
#include <vector>

#include "core/units/quantity.hpp"

namespace lanewise::hw {

class Group {
 public:
  Group() = default;
  Group(Group const&) = delete;
  Group& operator=(Group const&) = delete;
  virtual ~Group() = default;

  [[nodiscard]] virtual int rank() const = 0;
  // The name of the node that each process is on, by rank.
  [[nodiscard]] virtual std::vector<std::string> const& hosts() const = 0;
  [[nodiscard]] int size() const { return static_cast<int>(hosts().size()); }
  // "Open MPI v4.1.4", or "this process alone".
  [[nodiscard]] virtual std::string about() const = 0;

  // These are called by all processes together, and wait for all: after Ctrl-C too, so that all hear the same and can
  // tell one another, but no longer than some seconds. Then they throw Interrupted, and whoever is left is on his own:
  // the group says and hears nothing any more.
  virtual std::string broadcast(std::string text) = 0;
  virtual std::vector<std::string> all_gather(std::string text) = 0;
  // Called by all together as well; it does not look for Ctrl-C. How far this process's monotonic clock is ahead of the
  // first's: half of the shortest of many round trips is how wrong that can be.
  virtual Seconds clock_offset() = 0;

  // Tells the others that this run is lost, without waiting; and whether one of them has said so. all_gather() forgets
  // it.
  virtual void announce_failure() = 0;
  virtual bool failed_elsewhere() = 0;
};

// Whether a launcher (mpirun, srun) started this process as one of several, by what it leaves in the environment.
bool launched_with_others();
// Throws MissingError when a launcher started several and this build has no MPI.
std::unique_ptr<Group> make_group();

// The nodes' processes: of each of the plan's nodes the ranks on it, in their order. The k-th node of the plan is the
// k-th host in the order of ranks; where all are on fewer hosts than nodes, with one rank a node, the k-th rank. Throws
// MissingError saying how to start it when that does not add up.
std::vector<std::vector<int>> ranks_of_nodes(std::vector<std::string> const& hosts, std::size_t nodes);

// This process's monotonic clock.
Seconds monotonic_now();

}  // namespace lanewise::hw

// What liblanewise_mpi.so offers.
extern "C" lanewise::hw::Group* lanewise_make_mpi_group();
