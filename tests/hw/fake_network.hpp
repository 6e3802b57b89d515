#pragma once
// A network in memory: both ends of a queue pair see everything at once and in order, until a link is broken.
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "hw/network/network_run.hpp"
#include "hw/nodes/group.hpp"

namespace lanewise::hw::test {

class FakeNetwork {
 public:
  explicit FakeNetwork(Layout const& layout) : layout_(layout) {}

  // On this link request number `request` (from 1, counting both ends) and all later ones fail.
  void break_link(LinkId link, int request) { breaks_[link] = request; }
  // Notifications on this link vanish without a failure, as if the other process had died.
  void swallow(LinkId link) { swallowed_ = link; }

  int queues(LinkId link, int rank) const {
    auto const& spec = layout_.links[index(link)];
    return spec.ranks[0] == rank || spec.ranks[1] == rank ? spec.queues : 0;
  }

  void post(LinkId link, int queue, int rank, WorkRequest const& request) {
    std::lock_guard const lock(mutex_);
    auto const& spec = layout_.links[index(link)];
    auto const peer = spec.ranks[0] == rank ? spec.ranks[1] : spec.ranks[0];
    auto const broken = breaks_.find(link);
    if (broken != breaks_.end() && ++requests_[link] >= broken->second) {
      done_[rank].push_back({link, queue, false, request.number, 0, "transport retry counter exceeded"});
      return;
    }
    move(link, queue, peer, request);
    if (request.immediate && swallowed_ != link) done_[peer].push_back({link, queue, true, 0, *request.immediate, ""});
    if (request.signalled) done_[rank].push_back({link, queue, false, request.number, 0, ""});
  }

  void post_receive(LinkId link, int queue, int rank, std::byte* local) {
    std::lock_guard const lock(mutex_);
    expected_[{link, queue, rank}].push_back(local);
  }

  void take(int rank, std::vector<WorkCompletion>& done) {
    std::lock_guard const lock(mutex_);
    auto& mine = done_[rank];
    done.insert(done.end(), mine.begin(), mine.end());
    mine.clear();
  }

 private:
  void move(LinkId link, int queue, int peer, WorkRequest const& request) {
    auto* const remote = reinterpret_cast<std::byte*>(request.remote);  // all processes of the test share memory
    bool const takes_receive = request.verb == Verb::Send || request.immediate.has_value();
    std::byte* into = nullptr;
    if (takes_receive) {
      auto& receives = expected_[{link, queue, peer}];
      if (receives.empty()) throw std::logic_error("the receiver was not ready");
      into = receives.front();
      receives.pop_front();
    }
    if (request.bytes == 0) return;
    switch (request.verb) {
      case Verb::Send: std::memcpy(into, request.local, request.bytes); break;
      case Verb::Read: std::memcpy(request.local, remote, request.bytes); break;
      default: std::memcpy(remote, request.local, request.bytes);
    }
  }

  Layout const& layout_;
  std::mutex mutex_;
  std::map<int, std::vector<WorkCompletion>> done_;
  std::map<std::tuple<LinkId, int, int>, std::deque<std::byte*>> expected_;
  std::map<LinkId, int> breaks_, requests_;
  std::optional<LinkId> swallowed_;
};

// One process's end of the network.
class FakeTransport : public MessageTransport {
 public:
  FakeTransport(FakeNetwork& network, int rank, QueueDepth depth) : network_(network), rank_(rank), depth_(depth) {}
  [[nodiscard]] int queues(LinkId link) const override { return network_.queues(link, rank_); }
  [[nodiscard]] QueueDepth depth(LinkId /*link*/) const override { return depth_; }
  void post(LinkId link, int queue, WorkRequest const& request) override { network_.post(link, queue, rank_, request); }
  void post_receive(LinkId link, int queue, std::byte* local, std::uint32_t /*key*/, std::uint32_t /*bytes*/) override {
    network_.post_receive(link, queue, rank_, local);
  }
  void poll(std::vector<WorkCompletion>& done) override { network_.take(rank_, done); }
  void wait_briefly() override { std::this_thread::yield(); }
  std::vector<std::pair<LinkId, std::string>> lost_links() override { return {}; }
  void abort(LinkId /*link*/) override {}
  [[nodiscard]] std::string text(LinkId link, int queue) const override {
    return "link " + std::to_string(index(link)) + ", queue pair " + std::to_string(queue);
  }

 private:
  FakeNetwork& network_;
  int rank_;
  QueueDepth depth_;
};

// A group whose processes learn at once that another has failed.
class FakeGroup : public Group {
 public:
  FakeGroup(int rank, int size, std::atomic<bool>& failed)
      : rank_(rank), hosts_(static_cast<std::size_t>(size)), failed_(failed) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] std::vector<std::string> const& hosts() const override { return hosts_; }
  [[nodiscard]] std::string about() const override { return "fake"; }
  std::string broadcast(std::string text) override { return text; }
  std::vector<std::string> all_gather(std::string text) override { return {std::move(text)}; }
  Seconds clock_offset() override { return Seconds(0); }
  void announce_failure() override { failed_ = true; }
  bool failed_elsewhere() override { return failed_; }

 private:
  int rank_;
  std::vector<std::string> hosts_;
  std::atomic<bool>& failed_;
};

}  // namespace lanewise::hw::test
