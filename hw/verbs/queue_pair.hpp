#pragma once
// One end of a reliable connection between two NICs.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hw/network/transport.hpp"
#include "hw/verbs/nic.hpp"

namespace lanewise::hw {

// How long a sender retries without an answer.
struct RetryPolicy {
  // 4.096 us x 2^timeout between attempts, which the NIC may stretch fourfold (InfiniBand Architecture Specification
  // volume 1, 9.7.6.1.3). 15 means 0.13 s, so a lost link is known after one to four seconds.
  std::uint8_t timeout = 15;
  std::uint8_t retries = 6;           // not 7, which rxe takes as endless (Linux drivers/infiniband/sw/rxe/rxe_comp.c)
  std::uint8_t receiver_retries = 7;  // while the receiver is not ready; 7: endless, and the run's stall limit ends it
  std::uint8_t receiver_pause = 12;   // the pause that a receiver asks for: 0.64 ms (same volume, table 45)

  // For Soft-RoCE, whose answers wait for a processor that others use too. Sent again although nothing is lost, packets
  // can end as 'remote invalid request' at rxe of Linux 6.1 (rxe_req.c, req_retry). So there are few attempts, far
  // apart: 2.1 s, and a lost link is known after 4.3 s.
  static constexpr RetryPolicy soft() { return {.timeout = 19, .retries = 1}; }
};

// What the other end must know to connect.
struct QueuePairAddress {
  PortAddress port;
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;  // sequence number of the first packet
  int reads = 1;                   // RDMA reads that it answers at a time
};
void to_json(nlohmann::json& json, QueuePairAddress const& address);
void from_json(nlohmann::json const& json, QueuePairAddress& address);

class QueuePair {
 public:
  // Creates it in the state INIT, in which receives can be posted. Throws DeviceError.
  QueuePair(Nic const& nic, QueueDepth depth);

  [[nodiscard]] QueuePairAddress address() const;
  // Goes from INIT through RTR to RTS. Throws DeviceError.
  void connect(QueuePairAddress const& peer, RetryPolicy patience);
  // Goes to the state ERR: everything outstanding completes with a failure.
  void abort() const;

  [[nodiscard]] std::uint32_t number() const { return handle_.get()->qp_num; }
  [[nodiscard]] std::uint32_t inline_bytes() const { return inline_bytes_; }
  [[nodiscard]] QueueDepth depth() const { return depth_; }
  [[nodiscard]] ibv_qp* get() const { return handle_.get(); }
  // "node0/nic0 (rxe_nic0), queue pair 17"
  [[nodiscard]] std::string text() const;

 private:
  void modify(ibv_qp_attr& attributes, int mask, char const* to) const;

  Nic const* nic_;
  QueueDepth depth_;
  std::uint32_t inline_bytes_ = 0;
  QueuePairHandle handle_;
};

}  // namespace lanewise::hw
