#pragma once
// The flows that are under way, and new rates for those that a beginning or an end concerns. So an event among a few
// flows of many costs what these few cost.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "core/estimate/water_filling.hpp"

namespace lanewise {

// Rates are max-min fair exactly where each flow has its cap or a bottleneck: a full resource on which no flow is
// faster (Bertsekas & Gallager, Data Networks, 1987, 6.5.2). So only the flows that began, and those whose bottleneck
// was left by one that ended, get new rates beside all others; then those that have lost their bottleneck by that or
// are faster at the bottleneck of another, until there are none.
class ActiveFlows {
 public:
  // Each of `classes` stands for all flows with its uses and cap, which have one rate. Both must outlive it.
  ActiveFlows(std::span<double const> capacities, std::span<Sharing::Flow> classes);

  // One flow of this class begins or ends.
  void begin(std::uint32_t flow_class);
  void end(std::uint32_t flow_class);
  // Sets the rates of all classes that have flows.
  void share();

 private:
  // A use of a resource by a class that has flows.
  struct User {
    std::uint32_t flow_class = 0;
    std::uint32_t use = 0;  // its number among the uses of all classes
  };

  void enter(std::uint32_t flow_class);
  void leave(std::uint32_t flow_class);
  void add(std::uint32_t flow_class);
  void add_held_by(std::uint32_t resource);
  void add_faster(std::uint32_t resource, double level);
  void add_all_that_may_change();
  bool add_disturbed();
  void fill();
  std::uint32_t number_of(std::uint32_t resource);
  void keep_rates();
  [[nodiscard]] double weight(Sharing::Use const& use, std::uint32_t flow_class) const {
    return use.weight * count_[flow_class];
  }
  [[nodiscard]] bool is_added(std::uint32_t flow_class) const { return added_in_[flow_class] == share_; }
  [[nodiscard]] bool is_shared(std::uint32_t resource) const { return users_[resource].size() > 1; }

  std::span<double const> capacities_;
  std::span<Sharing::Flow> classes_;
  // Of a resource, and after all one for caps and what a class has for itself.
  std::vector<std::vector<User>> users_;
  std::vector<double> kept_;           // what classes take of it that keep their rates
  std::vector<std::uint32_t> holds_;   // of these classes, those whose bottleneck it is
  std::vector<double> level_;          // and their rate
  std::vector<std::uint32_t> number_;  // while rates are filled: in reached_ and filling_
  // Of a class.
  std::vector<std::uint32_t> count_;       // its flows
  std::vector<std::uint32_t> bottleneck_;  // a resource
  std::vector<std::uint32_t> place_;       // while it has flows: in active_
  std::vector<std::uint32_t> first_use_;
  std::vector<std::uint32_t> position_;  // of a use, among the users of its resource
  std::vector<std::uint32_t> active_;    // classes that have flows
  std::vector<std::uint32_t> ended_;     // classes of which flows have ended since the last share()
  double lowest_ended_rate_ = std::numeric_limits<double>::infinity();  // since then; 0: flows began, too
  // Of one share(), with what has begun since the last one.
  std::uint32_t share_ = 1;              // its number
  std::vector<std::uint32_t> added_in_;  // of a class: the last share() that gave it a rate
  std::vector<std::uint32_t> added_;     // classes that get a new rate
  std::vector<std::uint32_t> reached_;   // the resources that they share
  WaterFilling filling_;
};

}  // namespace lanewise
