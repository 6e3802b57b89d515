#pragma once
// The interface between the protocol of a run and what carries it: queue pairs of verbs, messages of MPI, and a fake in
// tests.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/network/layout.hpp"

namespace lanewise::hw {

// One request to a queue pair. Without a local address it only carries its immediate.
struct WorkRequest {
  Verb verb = Verb::Write;
  std::byte* local = nullptr;
  std::uint32_t local_key = 0;
  std::uint64_t remote = 0;
  std::uint32_t remote_key = 0;
  std::uint32_t bytes = 0;
  std::optional<std::uint32_t> immediate;  // that the other end receives with the last byte
  bool signalled = false;                  // it completes, which acknowledges the requests before it too
  std::uint64_t number = 0;                // comes back with its completion
};

// A signalled request that has ended, or an arrival with an immediate, or a failure of either.
struct WorkCompletion {
  LinkId link{};
  int queue = 0;
  bool arrival = false;
  std::uint64_t number = 0;     // of the request
  std::uint32_t immediate = 0;  // of the arrival
  std::string problem;          // empty: success
};

// How many requests and how many receives a queue pair holds.
struct QueueDepth {
  int send = 128;
  int receive = 512;
};

class MessageTransport {
 public:
  MessageTransport() = default;
  MessageTransport(MessageTransport const&) = delete;
  MessageTransport& operator=(MessageTransport const&) = delete;
  virtual ~MessageTransport() = default;

  // Queue pairs of a link; 0 where this process has no end of it, or one of its ends has no NIC.
  [[nodiscard]] virtual int queues(LinkId link) const = 0;
  [[nodiscard]] virtual QueueDepth depth(LinkId link) const = 0;
  // Posts a request. Throws DeviceError, as post_receive does.
  virtual void post(LinkId link, int queue, WorkRequest const& request) = 0;
  // Posts a receive: the bytes of the next message go to `local`.
  virtual void post_receive(LinkId link, int queue, std::byte* local, std::uint32_t key, std::uint32_t bytes) = 0;
  // Appends what has completed. Never waits.
  virtual void poll(std::vector<WorkCompletion>& done) = 0;
  // Sleeps until something completes, at most for about a millisecond; returns at once where completions are polled.
  virtual void wait_briefly() = 0;
  // Called again and again once this process has nothing left to do in a run, with poll() in between: true when no
  // other process needs this one any more. Where NICs answer by themselves none does.
  virtual bool ended() { return true; }
  // Links that the NICs report as lost since the last call, with their reason.
  virtual std::vector<std::pair<LinkId, std::string>> lost_links() = 0;
  // Ends a link: everything outstanding completes as failed.
  virtual void abort(LinkId link) = 0;
  // "node0/nic0 (mlx5_0), queue pair 17"
  [[nodiscard]] virtual std::string text(LinkId link, int queue) const = 0;
};

// Of a plan whose steps all stay within their nodes.
class NoTransport : public MessageTransport {
 public:
  [[nodiscard]] int queues(LinkId /*link*/) const override { return 0; }
  [[nodiscard]] QueueDepth depth(LinkId /*link*/) const override { return {}; }
  void post(LinkId /*link*/, int /*queue*/, WorkRequest const& /*request*/) override {}
  void post_receive(LinkId /*link*/, int /*queue*/, std::byte* /*local*/, std::uint32_t /*key*/,
                    std::uint32_t /*bytes*/) override {}
  void poll(std::vector<WorkCompletion>& /*done*/) override {}
  void wait_briefly() override {}
  std::vector<std::pair<LinkId, std::string>> lost_links() override { return {}; }
  void abort(LinkId /*link*/) override {}
  [[nodiscard]] std::string text(LinkId /*link*/, int /*queue*/) const override { return {}; }
};

}  // namespace lanewise::hw
