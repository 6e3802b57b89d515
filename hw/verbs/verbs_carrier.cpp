// Carries plans by RDMA verbs: opens NICs, registers memory with them and connects queue pairs.
#include <fmt/format.h>

#include <map>
#include <set>

#include "hw/network/carrier.hpp"
#include "hw/verbs/region_cache.hpp"
#include "hw/verbs/verbs_transport.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Entries of a NIC's completion queue: enough for some tens of queue pairs with full queues. A NIC that holds fewer
// gets fewer.
constexpr int kCompletionEntries = 16384;

class VerbsCarrier : public NetworkCarrier {
 public:
  VerbsCarrier(Group& group, Completion completion) : rank_(group.rank()), completion_(completion) {}

  // NICs that only spare links use may be missing.
  std::vector<std::string> open(NetworkPlan const& plan, Layout const& layout) override {
    layout_ = &layout;
    auto const needed = nics_here(first_links(layout));
    of_plan_.assign(plan.nics.size(), nullptr);
    std::vector<std::string> devices;
    for (auto const number : nics_here(layout.links)) {
      auto const& nic = plan.nics[number];
      auto& open = nics_[nic.name];
      try {
        if (!open) open = std::make_unique<Nic>(nic, kCompletionEntries, completion_);
      } catch (MissingError const&) {
        if (needed.contains(number)) throw;
        continue;
      }
      of_plan_[number] = open.get();
      devices.push_back(open->text());
    }
    return devices;
  }

  MemoryKeys keys(LinkId link, Memory const& memory, Bytes bytes) override {
    auto const& spec = layout_->links[index(link)];
    auto const* nic = of_plan_[spec.nics[spec.ranks[0] == rank_ ? 0 : 1]];
    if (nic == nullptr) return {};
    auto const& region = regions_.region(*nic, memory, bytes);
    return {region.lkey, region.rkey};
  }

  std::string addresses() override {
    transport_.emplace(*layout_, rank_, of_plan_, completion_);
    return transport_->addresses();
  }

  MessageTransport& connect(std::vector<std::string> const& addresses) override {
    transport_->connect(addresses);
    return *transport_;
  }

  void close(End /*end*/) noexcept override { transport_.reset(); }

 private:
  // The links that steps use as long as nothing fails.
  static std::vector<LinkSpec> first_links(Layout const& layout) {
    std::vector<LinkSpec> links;
    for (auto const& step : layout.steps)
      if (!step.links.empty()) links.push_back(layout.links[index(step.links.front())]);
    return links;
  }
  [[nodiscard]] std::set<std::size_t> nics_here(std::vector<LinkSpec> const& links) const {
    std::set<std::size_t> nics;
    for (auto const& link : links)
      for (int end = 0; end < 2; ++end)
        if (link.ranks[end] == rank_) nics.insert(link.nics[end]);
    return nics;
  }

  int rank_;
  Completion completion_;
  Layout const* layout_ = nullptr;
  // Destroyed in reverse order: queue pairs and regions before the NICs that they belong to.
  std::map<std::string, std::unique_ptr<Nic>> nics_;  // by name
  std::vector<Nic*> of_plan_;                         // by NIC of the plan
  RegionCache regions_;
  std::optional<VerbsTransport> transport_;
};

}  // namespace
}  // namespace lanewise::hw

lanewise::hw::NetworkCarrier* lanewise_make_verbs_carrier(lanewise::hw::Group* group,
                                                          lanewise::hw::Completion completion) {
  return new lanewise::hw::VerbsCarrier(*group, completion);
}
