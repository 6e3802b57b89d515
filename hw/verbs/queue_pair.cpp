#include "hw/verbs/queue_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Messages up to this size are copied into the request itself, so the NIC need not fetch them. It is what fits beside
// the header of a request on common NICs; where the NIC refuses it, half is tried, and so on.
constexpr std::uint32_t kInlineBytes = 220;
// The first packet of a reliable connection may have any 24-bit number; one other than 0 lets stale packets be told
// apart.
constexpr std::uint32_t kFirstPacket = 0x10203;

ibv_gid gid_of(std::string const& text) {
  ibv_gid gid{};
  for (std::size_t i = 0; i < sizeof gid.raw && 2 * i + 2 <= text.size(); ++i)
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, gid.raw[i], 16);
  return gid;
}

}  // namespace

void to_json(nlohmann::json& json, QueuePairAddress const& address) {
  json = {{"ethernet", address.port.ethernet},
          {"lid", address.port.lid},
          {"gid", address.port.gid},
          {"mtu", address.port.mtu},
          {"number", address.number},
          {"first_packet", address.first_packet},
          {"reads", address.reads}};
}

void from_json(nlohmann::json const& json, QueuePairAddress& address) {
  json.at("ethernet").get_to(address.port.ethernet);
  json.at("lid").get_to(address.port.lid);
  json.at("gid").get_to(address.port.gid);
  json.at("mtu").get_to(address.port.mtu);
  json.at("number").get_to(address.number);
  json.at("first_packet").get_to(address.first_packet);
  json.at("reads").get_to(address.reads);
}

QueuePair::QueuePair(Nic const& nic, QueueDepth depth) : nic_(&nic), depth_(depth) {
  depth_.send = std::min(depth_.send, nic.limits().max_qp_wr);
  depth_.receive = std::min(depth_.receive, nic.limits().max_qp_wr);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = nic.completions();
  wanted.recv_cq = nic.completions();
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = static_cast<std::uint32_t>(depth_.send);
  wanted.cap.max_recv_wr = static_cast<std::uint32_t>(depth_.receive);
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  for (auto inline_bytes = kInlineBytes;; inline_bytes /= 2) {
    auto attributes = wanted;
    attributes.cap.max_inline_data = inline_bytes;
    handle_ = QueuePairHandle(ibv_create_qp(nic.domain(), &attributes));
    if (handle_.get() != nullptr) {
      inline_bytes_ = inline_bytes;
      break;
    }
    if (inline_bytes == 0) verbs_failed(nic.text(), "ibv_create_qp", errno);
  }
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = nic.port();
  attributes.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "ibv_modify_qp to INIT");
}

QueuePairAddress QueuePair::address() const {
  return {nic_->address(), number(), kFirstPacket, std::max(1, nic_->limits().max_qp_rd_atom)};
}

void QueuePair::connect(QueuePairAddress const& peer, RetryPolicy patience) {
  if (peer.port.ethernet != nic_->address().ethernet)
    throw DeviceError(text(), EINVAL, "one end is InfiniBand and the other is Ethernet");
  ibv_qp_attr ready{};
  ready.qp_state = IBV_QPS_RTR;
  // Ports with different MTUs use the smaller one.
  ready.path_mtu = static_cast<ibv_mtu>(std::min(nic_->address().mtu, peer.port.mtu));
  ready.dest_qp_num = peer.number;
  ready.rq_psn = peer.first_packet;
  ready.max_dest_rd_atomic = static_cast<std::uint8_t>(std::clamp(nic_->limits().max_qp_rd_atom, 1, 16));
  ready.min_rnr_timer = patience.receiver_pause;
  ready.ah_attr.port_num = nic_->port();
  ready.ah_attr.dlid = peer.port.lid;
  constexpr std::uint8_t kHops = 64;
  if (peer.port.ethernet) {
    ready.ah_attr.is_global = 1;
    ready.ah_attr.grh.dgid = gid_of(peer.port.gid);
    ready.ah_attr.grh.sgid_index = nic_->gid_index();
    ready.ah_attr.grh.hop_limit = kHops;
  }
  modify(ready,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER,
         "ibv_modify_qp to RTR");
  ibv_qp_attr sending{};
  sending.qp_state = IBV_QPS_RTS;
  sending.timeout = patience.timeout;
  sending.retry_cnt = patience.retries;
  sending.rnr_retry = patience.receiver_retries;
  sending.sq_psn = kFirstPacket;
  sending.max_rd_atomic = static_cast<std::uint8_t>(std::clamp(peer.reads, 1, 16));
  modify(sending,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
         "ibv_modify_qp to RTS");
}

void QueuePair::abort() const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(get(), &attributes, IBV_QP_STATE);  // it may be there already, or its device gone
}

std::string QueuePair::text() const { return fmt::format("{}, queue pair {}", nic_->text(), number()); }

void QueuePair::modify(ibv_qp_attr& attributes, int mask, char const* to) const {
  if (auto const code = ibv_modify_qp(get(), &attributes, mask); code != 0) verbs_failed(text(), to, code);
}

}  // namespace lanewise::hw
