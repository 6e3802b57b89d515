#pragma once
// A reliable connection between two NICs: made, addressed, brought up to send.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hw/verbs/nic.hpp"
#include "hw/verbs/transport.hpp"

namespace lanewise::hw {

// How long a sender goes on without an answer.
struct RetryPolicy {
  // 4.096 us x 2^timeout between attempts, which the NIC may stretch fourfold; InfiniBand Architecture Specification
  // volume 1, 9.7.6.1.3. 15: 0.13 s, so a link that is gone is known after one to four seconds.
  std::uint8_t timeout = 15;
  std::uint8_t retries = 6;  // rxe takes 7 for ever, as of receivers (Linux drivers/infiniband/sw/rxe/rxe_comp.c)
  std::uint8_t receiver_retries = 7;  // of a receiver that is not ready; 7: for ever, the run's own deadline ends it
  std::uint8_t receiver_pause = 12;   // that a receiver asks for: 0.64 ms (the same, table 45)
};

// What the other end must know.
struct QueuePairAddress {
  PortAddress port;
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;  // its sequence number
  int reads = 1;                   // RDMA reads that it answers at once
};
void to_json(nlohmann::json& json, QueuePairAddress const& address);
void from_json(nlohmann::json const& json, QueuePairAddress& address);

class QueuePair {
 public:
  // In the state INIT: it can be given receives. Throws DeviceError.
  QueuePair(Nic const& nic, QueueDepth depth);

  [[nodiscard]] QueuePairAddress address() const;
  // INIT to RTR to RTS.
  void connect(QueuePairAddress const& peer, RetryPolicy patience);
  // To the state ERR: everything outstanding comes back flushed.
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
