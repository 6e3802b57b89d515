#include "core/planner/schedules/candidate_flows.hpp"

#include <algorithm>

#include "core/solver/linear_program.hpp"
#include "core/units/bits.hpp"

namespace lanewise {
namespace {

std::vector<double> capacities_of(Model const& model) {
  std::vector<double> capacities;
  for (std::size_t r = 0; r < model.resources().count(); ++r) {
    auto const capacity = model.capacity(ResourceId(r));
    capacities.push_back(capacity ? capacity->value() / kGigabyteASecond : kUnlimited.value());
  }
  return capacities;
}

}  // namespace

CandidateFlows::CandidateFlows(TransferSet const& set, Model const& model)
    : model_(model), sharing_(capacities_of(model)) {
  for (std::size_t i = 0; i < set.transfers.size(); ++i)
    for (std::size_t o = 0; o < set.transfers[i].options.size(); ++o) {
      auto const& option = set.transfers[i].options[o];
      flows_.push_back({i, o, option.rate.value() / kGigabyteASecond, option.demand.latency() / Seconds(kMillisecond),
                        option.demand.engines});
      auto& uses = uses_.emplace_back();
      for (auto const& use : option.demand.uses)
        uses.push_back({static_cast<std::uint32_t>(index(use.resource)), use.weight.ratio()});
    }
  for (std::size_t flow = 0; flow < size(); ++flow) shared_.push_back({uses_[flow], flows_[flow].rate, 0});
  auto const never = never_binding(sharing_.capacities(), shared_);
  for (std::size_t flow = 0; flow < size(); ++flow) {
    std::erase_if(uses_[flow], [&](Sharing::Use const& use) { return never[use.resource]; });
    shared_[flow].uses = uses_[flow];
  }
  for (std::uint32_t flow = 0; flow < size(); ++flow) {
    auto& bits = neighbours_.emplace_back(words_for(size()), 0);
    for (std::uint32_t other = 0; other < size(); ++other)
      if (share_a_resource(flow, other)) set_bit(bits, other);
  }
}

bool CandidateFlows::share_a_resource(std::uint32_t one, std::uint32_t other) const {
  return std::any_of(uses_[one].begin(), uses_[one].end(), [&](Sharing::Use const& use) {
    return std::any_of(uses_[other].begin(), uses_[other].end(),
                       [&](Sharing::Use const& of_other) { return of_other.resource == use.resource; });
  });
}

void CandidateFlows::set_speed(std::uint32_t flow, double rate, double latency) {
  flows_[flow].rate = rate;
  flows_[flow].latency = latency;
  shared_[flow].cap = rate;
}

void CandidateFlows::share(std::span<std::uint32_t const> flows) {
  sharing_flows_.clear();
  for (auto const flow : flows) sharing_flows_.push_back(&shared_[flow]);
  sharing_.share(sharing_flows_);
}

void CandidateFlows::share(Configuration& configuration) {
  share(std::span<std::uint32_t const>(configuration.flows));
  configuration.rates.clear();
  for (auto const flow : configuration.flows) configuration.rates.push_back(rate(flow));
}

double CandidateFlows::value_of(Configuration const& configuration, std::vector<double> const& prices) const {
  double value = 0;
  for (std::size_t k = 0; k < configuration.flows.size(); ++k)
    value += prices[flows_[configuration.flows[k]].transfer] * configuration.rates[k];
  return value;
}

}  // namespace lanewise
