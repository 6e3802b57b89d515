#pragma once
#include "core/io/yaml.hpp"
#include "lanewise/workload/language_model.hpp"

namespace lanewise {

// The keys of a model's file.
MapSpec const& language_model_spec();

// Reports sizes that contradict one another, at the keys of `reader`.
void check_language_model(LanguageModel const& model, MapReader& reader);

}  // namespace lanewise
