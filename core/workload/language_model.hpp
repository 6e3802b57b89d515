#pragma once
#include "core/io/yaml.hpp"
#include "lanewise/workload/language_model.hpp"

namespace lanewise {

// The keys of a model's file.
MapSpec const& language_model_spec();

// What is wrong with sizes that no model has; empty: nothing.
std::string size_problem(LanguageModel const& model);

// Reports sizes that contradict one another, at the keys of `reader`.
void check_language_model(LanguageModel const& model, MapReader& reader);

}  // namespace lanewise
