#pragma once
// Carries the links of a plan by queue pairs of real NICs.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/network/transport.hpp"
#include "hw/verbs/queue_pair.hpp"

namespace lanewise::hw {

class VerbsTransport : public MessageTransport {
 public:
  // `nics`: by NIC of the plan; nullptr where it belongs to another process or is missing. Throws DeviceError.
  VerbsTransport(Layout const& layout, int rank, std::vector<Nic*> const& nics, Completion completion,
                 std::optional<RetryPolicy> patience = std::nullopt);
  // The addresses of this process's queue pairs, for all others; and connect() takes those of all processes, by rank.
  // It must be called before anything is posted. Throws DeviceError.
  [[nodiscard]] std::string addresses() const;
  void connect(std::vector<std::string> const& addresses);

  [[nodiscard]] int queues(LinkId link) const override;
  [[nodiscard]] QueueDepth depth(LinkId link) const override;
  void post(LinkId link, int queue, WorkRequest const& request) override;
  void post_receive(LinkId link, int queue, std::byte* local, std::uint32_t key, std::uint32_t bytes) override;
  void poll(std::vector<WorkCompletion>& done) override;
  void wait_briefly() override;
  std::vector<std::pair<LinkId, std::string>> lost_links() override;
  void abort(LinkId link) override;
  [[nodiscard]] std::string text(LinkId link, int queue) const override;

 private:
  struct Link {
    Nic* nic = nullptr;  // of this process's end
    std::vector<QueuePair> pairs;
  };
  struct Place {
    LinkId link{};
    int queue = 0;
  };
  [[nodiscard]] QueuePair const& pair(LinkId link, int queue) const {
    return links_[index(link)].pairs[static_cast<std::size_t>(queue)];
  }

  Layout const& layout_;
  int rank_;
  std::vector<Link> links_;
  std::vector<Nic*> in_use_;
  std::map<std::pair<Nic const*, std::uint32_t>, Place> places_;  // by NIC and number of the queue pair
  Completion completion_;
  std::optional<RetryPolicy> patience_;  // absent: the NIC's usual one
};

}  // namespace lanewise::hw
