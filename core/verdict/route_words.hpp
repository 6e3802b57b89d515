#pragma once
// The words by which `avoids` and `through` of an expectation name a hop: its kind or its name.
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {

// Appends the name and the kinds of every hop of the route.
void add_route_words(Model const& model, Route const& route, std::vector<std::string>& words);

// Throws InputError at an expectation whose word is neither a kind of hop nor a name on the machine: such a word would
// satisfy every `avoids`.
void check_route_words(Scenario const& scenario, Machine const& machine);

}  // namespace lanewise
