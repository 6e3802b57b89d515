#pragma once
// Figures of tokens that a workload takes from files: how many each expert gets, and how long computing of as many
// takes.
#include <filesystem>
#include <string>
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

// The file that a scenario names: beside the scenario, else as it stands. Throws InputError where there is none.
std::filesystem::path file_of_scenario(SourceText const& scenario, std::string const& name);

// Tokens of each expert from a list, or from a file of numbers with commas, spaces or line ends between (a JSON list is
// one too). Problems go to the reader's diagnostics, at the key.
std::vector<double> read_expert_tokens(MapReader& reader, std::string_view key);

// A table "tokens,forward_us,backward_us" with a header, whose rows are of one micro-batch on one stage, in any order;
// what follows a '#' is a comment. Inference may leave backward_us out. Throws InputError at the line that is wrong.
ComputeTable read_compute_table(SourceText const& source);

// Between two rows the logarithm of the time is linear in that of the tokens: work that grows as a power of the tokens
// is met exactly. Nullopt outside of the table.
struct TableTimes {
  Seconds forward{0};
  std::optional<Seconds> backward;
};
std::optional<TableTimes> times_at(ComputeTable const& table, double tokens);

}  // namespace lanewise
