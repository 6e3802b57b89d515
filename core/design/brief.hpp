#pragma once
// A design brief: which machines are compared, by which jobs, at what cost, within what limits.
#include <optional>
#include <string>
#include <vector>

#include "core/design/generator.hpp"
#include "core/design/prices.hpp"
#include "core/io/yaml.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/planner/libraries/library_name.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {

struct DesignCandidate {
  std::string name;                              // the machine's, with its settings, unless it has one of its own
  std::string machine;                           // or cluster: a name or a file
  std::string source = {};                       // of a generated one: its file; else empty
  std::string node_name = {}, node_source = {};  // of a generated cluster: its nodes' machine and its file
  std::vector<Setting> settings;
  std::optional<Watts> power;  // instead of the sum of its parts
  friend bool operator==(DesignCandidate const&, DesignCandidate const&) = default;
};

struct DesignJob {
  std::string name;
  Scenario scenario;
  double weight = 1;
  std::string digest = {};  // changes with everything that the job asks for, but for the weight
  friend bool operator==(DesignJob const&, DesignJob const&) = default;
};

struct JobLimit {
  std::string job;
  Seconds at_most{0};
  friend bool operator==(JobLimit const&, JobLimit const&) = default;
};

struct DesignLimits {
  std::optional<Money> price;  // at most
  std::optional<Watts> power;  // at most
  std::vector<JobLimit> jobs;
  friend bool operator==(DesignLimits const&, DesignLimits const&) = default;
};

enum class FaultScope : std::uint8_t { None, Each, Pairs };
std::string_view to_string(FaultScope scope);
Parsed<FaultScope> parse_fault_scope(std::string_view text);

struct DesignBrief {
  std::string name;
  std::string title;
  std::vector<DesignCandidate> candidates;
  std::vector<CandidateGenerator> generators;
  std::vector<DesignJob> jobs;
  std::optional<Library> library;  // by which candidates are ranked; nullopt: as well as possible
  std::string prices;              // a file beside the brief; empty: none
  DesignLimits limits;
  FaultScope faults = FaultScope::None;
  bool sensitivity = false;
  friend bool operator==(DesignBrief const&, DesignBrief const&) = default;
};

// The keys of `lanewise: design/1`.
MapSpec const& design_brief_spec();
// Reads a brief and the scenarios that it names, which are looked for beside it. Throws InputError listing every
// problem.
DesignBrief read_design_brief(SourceText const& source);

// The job of one word, "all_reduce:1 GiB", or of a scenario's name or file. Throws InputError.
DesignJob job_named(std::string const& text);

}  // namespace lanewise
