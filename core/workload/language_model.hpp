#pragma once
#include "core/io/yaml.hpp"
#include "lanewise/workload/language_model.hpp"

namespace lanewise {

// The keys of a model's file.
MapSpec const& language_model_spec();

// What is wrong with sizes that no model has; empty: nothing.
std::string size_problem(LanguageModel const& model);

// Sizes that contradict one another; `key`: of a model's file.
struct ModelProblem {
  std::string key, why;
};
std::vector<ModelProblem> problems_of(LanguageModel const& model);

}  // namespace lanewise
