#pragma once
// Who talks to whom over what: the connections that a plan needs between its processes, and for each step its
// processes, its connections, and who must be told that it is done. Every process works this out for itself from the
// same plan and gets the same.
#include <cstddef>
#include <vector>

#include "hw/verbs/network_plan.hpp"

namespace lanewise::hw {

enum class LinkId : std::size_t {};

// One or more queue pairs between two NICs of two processes, for both directions.
struct LinkSpec {
  int ranks[2] = {0, 0};
  std::size_t nics[2] = {0, 0};  // of the plan
  int queues = 1;
  bool for_messages = false;  // for the messages of one step only: what arrives goes into its receives in turn
  friend bool operator==(LinkSpec const&, LinkSpec const&) = default;
};

struct StepLayout {
  int source = 0, target = 0;  // ranks
  int driver = 0;              // of the two, the one that asks the NIC, and knows first when it is done
  std::vector<LinkId> links;   // that it uses, then one to go on with
  std::vector<int> listeners;  // ranks that wait for it and hear of it from its driver only
};

struct Layout {
  std::vector<LinkSpec> links;
  std::vector<StepLayout> steps;
};

// `ranks`: of each of the plan's nodes. Steps of a node with several ranks go round among them.
Layout layout_of(NetworkPlan const& plan, std::vector<std::vector<int>> const& ranks);

// The messages that a step is cut into, and on how many queue pairs they go.
struct Messages {
  std::int64_t count = 0;
  int queues = 1;
};
inline constexpr std::int64_t kMaxMessageBytes = 1 << 20;
Messages messages_of(NetworkStep const& step);

}  // namespace lanewise::hw
