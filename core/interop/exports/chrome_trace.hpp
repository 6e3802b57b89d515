#pragma once
// Writes timelines for Chrome's about:tracing and Perfetto (ui.perfetto.dev) in the Trace Event Format: "X" events, in
// microseconds.
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "lanewise/plan/trace.hpp"

namespace lanewise {

// Each trace becomes a process named after its mode (a simulation is "predicted", hardware "measured"), and each
// transfer a thread. Steps of one transfer that overlap get further threads.
nlohmann::ordered_json chrome_trace(std::span<Trace const> traces);

}  // namespace lanewise
