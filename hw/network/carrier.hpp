#pragma once
// What carries the network steps of plans: RDMA verbs or MPI's messages. Each is a library of its own, loaded when a
// plan needs it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/memory/memory.hpp"
#include "hw/network/layout.hpp"
#include "hw/network/transport.hpp"
#include "hw/nodes/group.hpp"
#include "hw/options/network_options.hpp"

namespace lanewise::hw {

// How requests name memory: `local` by its own process, `remote` by the others.
struct MemoryKeys {
  std::uint32_t local = 0;
  std::uint32_t remote = 0;
};

// All processes of a plan call these in this order, keys() for each of its ends, and exchange what the calls return.
class NetworkCarrier {
 public:
  NetworkCarrier() = default;
  NetworkCarrier(NetworkCarrier const&) = delete;
  NetworkCarrier& operator=(NetworkCarrier const&) = delete;
  virtual ~NetworkCarrier() = default;

  // Opens what this process's links of the plan need. Returns it for people: "node0/nic0 (mlx5_0)". Throws MissingError
  // where it is not here.
  virtual std::vector<std::string> open(NetworkPlan const& plan, Layout const& layout) = 0;
  // The keys of memory at this process's end of a link, which stays valid until the memory is freed. Zeros where that
  // end of a spare link is missing. Throws DeviceError.
  virtual MemoryKeys keys(LinkId link, Memory const& memory, Bytes bytes) = 0;
  // This process's addresses, for the others.
  virtual std::string addresses() = 0;
  // Connects with the addresses of all processes, by rank. The transport is valid until close().
  virtual MessageTransport& connect(std::vector<std::string> const& addresses) = 0;
  // Ends the connections; memory stays known. `End::Failed`: a run or one of these calls has failed, in all processes,
  // so messages may still be under way.
  enum class End : std::uint8_t { Clean, Failed };
  virtual void close(End end) noexcept = 0;
};

inline constexpr auto* kNoVerbs =
    "the RDMA executor is not in this build: install libibverbs (package libibverbs-dev) and build again";

// The carrier of a plan, loaded at the first call. Throws MissingError where this build or this run has it not.
class Carriers {
 public:
  Carriers(Group& group, Completion completion) : group_(group), completion_(completion) {}
  NetworkCarrier& of(Carrier carrier);

 private:
  Group& group_;
  Completion completion_;
  std::unique_ptr<NetworkCarrier> verbs_, mpi_;
};

}  // namespace lanewise::hw

// The entry points of liblanewise_verbs.so and liblanewise_mpi.so. The group must outlive the carrier.
extern "C" lanewise::hw::NetworkCarrier* lanewise_make_verbs_carrier(lanewise::hw::Group* group,
                                                                     lanewise::hw::Completion completion);
extern "C" lanewise::hw::NetworkCarrier* lanewise_make_mpi_carrier(lanewise::hw::Group* group);
