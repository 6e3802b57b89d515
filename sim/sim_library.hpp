#pragma once
// The simulator as the program sees it: a library that is loaded at the first call, so that commands which simulate
// nothing do not pay for SimGrid (about 20 ms).
#include <memory>
#include <string>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::sim {

// An executor that simulates; the model must outlive it. Throws MissingError saying what to install when this build has
// no simulator.
std::unique_ptr<Executor> make_executor(Model const& model);
// The same, or nullptr when this build has no simulator.
std::unique_ptr<Executor> make_executor_if_available(Model const& model);
// "SimGrid 3.32.0", or "no: " and what is missing. Loads nothing: the version is that which the build found.
std::string about();

}  // namespace lanewise::sim
