#pragma once
// The connections that a plan needs between its processes, and for each step its processes, its connections and the
// processes that must be notified of its end. Every process computes this from the same plan and gets the same result.
#include <cstddef>
#include <vector>

#include "hw/network/network_plan.hpp"

namespace lanewise::hw {

enum class LinkId : std::size_t {};

// One or more queue pairs between two NICs of two processes, for both directions.
struct LinkSpec {
  int ranks[2] = {0, 0};
  std::size_t nics[2] = {0, 0};  // NICs of the plan
  int queues = 1;
  bool for_messages = false;  // for the messages of one step only, which arrive in its receives in order
  friend bool operator==(LinkSpec const&, LinkSpec const&) = default;
};

struct StepLayout {
  int source = 0, target = 0;  // ranks
  int driver = 0;              // the rank of the two that posts the requests and first knows when the step has ended
  std::vector<LinkId> links;   // the one that it uses, then a spare
  std::vector<int> listeners;  // ranks that wait for it and are notified by its driver
};

struct Layout {
  std::vector<LinkSpec> links;
  std::vector<StepLayout> steps;
  std::vector<int> buffers;  // the rank that has each
};

// `ranks`: by node of the plan. Steps of a node with several ranks are dealt out to them in turn.
Layout layout_of(NetworkPlan const& plan, std::vector<std::vector<int>> const& ranks);

// How many messages a step is cut into, and how many queue pairs carry them.
struct Messages {
  std::int64_t count = 0;
  int queues = 1;
};
inline constexpr std::int64_t kMaxMessageBytes = 1 << 20;
Messages messages_of(NetworkStep const& step);

}  // namespace lanewise::hw
