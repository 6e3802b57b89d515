#include "hw/verbs/verbs_transport.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// wait_briefly() sleeps no longer than this, because the run checks the other processes and the user in between.
constexpr int kMaxWaitMilliseconds = 1;
// Completions taken from a NIC by one call.
constexpr int kBatch = 32;

// The usual reason.
std::string hint_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return ": no answer came; is the other end's link up, its process alive, and the network's MTU as large as "
             "theirs?";
    case IBV_WC_RNR_RETRY_EXC_ERR: return ": the other end had no receive ready";
    case IBV_WC_REM_ACCESS_ERR: return ": the other end's memory is not registered for this, or under another key";
    case IBV_WC_LOC_PROT_ERR: return ": this end's memory is not registered for this";
    default: return "";
  }
}

}  // namespace

VerbsTransport::VerbsTransport(Layout const& layout, int rank, std::vector<Nic*> const& nics, Completion completion,
                               std::optional<RetryPolicy> patience)
    : layout_(layout), rank_(rank), completion_(completion), patience_(patience) {
  std::set<Nic*> in_use;
  for (auto const& spec : layout.links) {
    auto& link = links_.emplace_back();
    for (int end = 0; end < 2; ++end)
      if (spec.ranks[end] == rank) link.nic = nics[spec.nics[end]];
    if (link.nic == nullptr) continue;
    in_use.insert(link.nic);
    for (int i = 0; i < spec.queues; ++i) {
      link.pairs.emplace_back(*link.nic, QueueDepth{});
      places_[{link.nic, link.pairs.back().number()}] = {LinkId(links_.size() - 1), i};
    }
  }
  in_use_.assign(in_use.begin(), in_use.end());
  for (auto* nic : in_use_) nic->arm();
  std::vector<WorkCompletion> stale;  // completions of an earlier run's queue pairs
  do {
    stale.clear();
    poll(stale);
  } while (!stale.empty());
}

// By link: the addresses of its queue pairs, none where this process has no end of it.
std::string VerbsTransport::addresses() const {
  auto json = nlohmann::json::array();
  for (auto const& link : links_) {
    auto& of_link = json.emplace_back(nlohmann::json::array());
    for (auto const& pair : link.pairs) of_link.push_back(pair.address());
  }
  return json.dump();
}

void VerbsTransport::connect(std::vector<std::string> const& addresses) {
  std::vector<nlohmann::json> of_ranks;
  for (auto const& text : addresses) of_ranks.push_back(nlohmann::json::parse(text));
  for (std::size_t i = 0; i < links_.size(); ++i) {
    auto const& spec = layout_.links[i];
    auto& link = links_[i];
    if (link.nic == nullptr) continue;
    auto const peer = spec.ranks[0] == rank_ ? spec.ranks[1] : spec.ranks[0];
    auto const& theirs = of_ranks[static_cast<std::size_t>(peer)][i];
    if (theirs.size() != link.pairs.size()) {  // the other end has no such NIC
      link.pairs.clear();
      continue;
    }
    for (std::size_t k = 0; k < link.pairs.size(); ++k)
      link.pairs[k].connect(theirs[k].get<QueuePairAddress>(),
                            patience_.value_or(link.nic->is_soft() ? RetryPolicy::soft() : RetryPolicy{}));
  }
}

int VerbsTransport::queues(LinkId link) const { return static_cast<int>(links_[index(link)].pairs.size()); }

QueueDepth VerbsTransport::depth(LinkId link) const { return links_[index(link)].pairs.front().depth(); }

void VerbsTransport::post(LinkId link, int queue, WorkRequest const& request) {
  auto const& pair = this->pair(link, queue);
  ibv_sge piece{reinterpret_cast<std::uint64_t>(request.local), request.bytes, request.local_key};
  ibv_send_wr work{};
  work.wr_id = request.number;
  work.sg_list = &piece;
  work.num_sge = request.bytes > 0 ? 1 : 0;
  work.send_flags = request.signalled ? IBV_SEND_SIGNALED : 0;
  if (request.verb != Verb::Read && request.bytes <= pair.inline_bytes()) work.send_flags |= IBV_SEND_INLINE;
  if (request.verb == Verb::Send) {
    work.opcode = request.immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
  } else {
    work.opcode = request.verb == Verb::Read ? IBV_WR_RDMA_READ
                  : request.immediate        ? IBV_WR_RDMA_WRITE_WITH_IMM
                                             : IBV_WR_RDMA_WRITE;
    work.wr.rdma.remote_addr = request.remote;
    work.wr.rdma.rkey = request.remote_key;
  }
  if (request.immediate) work.imm_data = htobe32(*request.immediate);
  ibv_send_wr* bad = nullptr;
  if (auto const code = ibv_post_send(pair.get(), &work, &bad); code != 0)
    verbs_failed(pair.text(), "ibv_post_send", code);
}

void VerbsTransport::post_receive(LinkId link, int queue, std::byte* local, std::uint32_t key, std::uint32_t bytes) {
  auto const& pair = this->pair(link, queue);
  ibv_sge piece{reinterpret_cast<std::uint64_t>(local), bytes, key};
  ibv_recv_wr work{};
  work.sg_list = &piece;
  work.num_sge = bytes > 0 ? 1 : 0;
  ibv_recv_wr* bad = nullptr;
  if (auto const code = ibv_post_recv(pair.get(), &work, &bad); code != 0)
    verbs_failed(pair.text(), "ibv_post_recv", code);
}

void VerbsTransport::poll(std::vector<WorkCompletion>& done) {
  std::array<ibv_wc, kBatch> completions{};
  for (auto* nic : in_use_) {
    auto const count = ibv_poll_cq(nic->completions(), kBatch, completions.data());
    if (count < 0) verbs_failed(nic->text(), "ibv_poll_cq", EIO);
    for (int i = 0; i < count; ++i) {
      auto const& completion = completions[static_cast<std::size_t>(i)];
      auto const place = places_.find({nic, completion.qp_num});
      if (place == places_.end()) continue;
      WorkCompletion one;
      one.link = place->second.link;
      one.queue = place->second.queue;
      one.number = completion.wr_id;
      if (completion.status != IBV_WC_SUCCESS) {
        one.problem = fmt::format("{} (status {}){}", ibv_wc_status_str(completion.status),
                                  static_cast<int>(completion.status), hint_of(completion.status));
      } else if ((completion.opcode & IBV_WC_RECV) != 0) {
        if ((completion.wc_flags & IBV_WC_WITH_IMM) == 0) continue;  // not the last message
        one.arrival = true;
        one.immediate = be32toh(completion.imm_data);
      }
      done.push_back(std::move(one));
    }
  }
}

void VerbsTransport::wait_briefly() {
  if (completion_ == Completion::Polling) return;
  std::vector<pollfd> interrupts;
  for (auto* nic : in_use_) interrupts.push_back({nic->descriptor(), POLLIN, 0});
  if (::poll(interrupts.data(), interrupts.size(), kMaxWaitMilliseconds) <= 0) return;
  for (std::size_t i = 0; i < in_use_.size(); ++i) {
    if (interrupts[i].revents == 0) continue;
    in_use_[i]->take_interrupt();
    in_use_[i]->arm();  // the next poll finds what arrives in between
  }
}

std::vector<std::pair<LinkId, std::string>> VerbsTransport::lost_links() {
  std::vector<std::pair<LinkId, std::string>> lost;
  for (auto* nic : in_use_)
    for (auto const& event : nic->async_events())
      for (auto const& [pair, place] : places_)
        if (pair.first == nic && (event.queue_pair ? *event.queue_pair == pair.second : place.queue == 0))
          lost.emplace_back(place.link, event.text);
  return lost;
}

void VerbsTransport::abort(LinkId link) {
  for (auto& pair : links_[index(link)].pairs) pair.abort();
}

std::string VerbsTransport::text(LinkId link, int queue) const { return pair(link, queue).text(); }

}  // namespace lanewise::hw
