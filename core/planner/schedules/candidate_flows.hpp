#pragma once
// The flows that a schedule of a transfer set can consist of: every option of every transfer, and the rates at which
// those that run side by side share the machine.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "core/planner/sets/transfer_set.hpp"

namespace lanewise {

// An option of a transfer.
struct CandidateFlow {
  std::size_t transfer = 0;
  std::size_t option = 0;
  double rate = 0;     // alone, gigabytes a second
  double latency = 0;  // milliseconds
  InlineVector<EngineId, 4> engines;

  // Slots of the engine that it holds.
  [[nodiscard]] int slots_of(EngineId engine) const {
    return static_cast<int>(std::count(engines.begin(), engines.end(), engine));
  }
};

// Flows that run side by side: their engines suffice, and the rates are those of max-min fair sharing.
struct Configuration {
  std::vector<std::uint32_t> flows;  // ascending
  std::vector<double> rates;         // gigabytes a second
};

// In the order of first_options().
class CandidateFlows {
 public:
  // `model` must outlive it.
  CandidateFlows(TransferSet const& set, Model const& model);
  CandidateFlows(CandidateFlows const&) = delete;  // shared_ refers to uses_
  CandidateFlows& operator=(CandidateFlows const&) = delete;
  ~CandidateFlows() = default;

  [[nodiscard]] std::size_t size() const { return flows_.size(); }
  [[nodiscard]] CandidateFlow const& operator[](std::size_t flow) const { return flows_[flow]; }
  // Without the resources that never limit any flow.
  [[nodiscard]] std::span<Sharing::Use const> uses(std::size_t flow) const { return uses_[flow]; }
  [[nodiscard]] std::vector<double> const& capacities() const { return sharing_.capacities(); }
  [[nodiscard]] int slots(EngineId engine) const { return model_.resources().at(engine).slots; }
  [[nodiscard]] std::size_t engine_count() const { return model_.resources().engine_count(); }
  // Bits of the flows that share a resource with this one, in words_for(size()) words.
  [[nodiscard]] std::span<std::uint64_t const> neighbours(std::size_t flow) const { return neighbours_[flow]; }

  // Sets what a flow has alone. Configurations made before must be shared anew.
  void set_speed(std::uint32_t flow, double rate, double latency);

  // Shares the machine among these flows; rate() then says at which rate each runs.
  void share(std::span<std::uint32_t const> flows);
  [[nodiscard]] double rate(std::uint32_t flow) const { return shared_[flow].rate; }
  // Sets the rates of a configuration.
  void share(Configuration& configuration);

  // What a configuration moves in a millisecond, at these prices of a megabyte of each transfer.
  [[nodiscard]] double value_of(Configuration const& configuration, std::vector<double> const& prices) const;

 private:
  [[nodiscard]] bool share_a_resource(std::uint32_t one, std::uint32_t other) const;

  Model const& model_;
  std::vector<CandidateFlow> flows_;
  std::vector<std::vector<Sharing::Use>> uses_;         // by flow
  std::vector<Sharing::Flow> shared_;                   // by flow
  std::vector<std::vector<std::uint64_t>> neighbours_;  // by flow
  Sharing sharing_;
  std::vector<Sharing::Flow*> sharing_flows_;  // scratch
};

}  // namespace lanewise
