#pragma once
// Timelines for Chrome's about:tracing and Perfetto (ui.perfetto.dev): the Trace Event Format, "X" events in
// microseconds.
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "core/plan/trace.hpp"

namespace lanewise {

// Each trace is a process, named after its mode (a simulation is "predicted", hardware "measured"), each transfer a
// thread; steps of one transfer that overlap get threads of their own.
nlohmann::ordered_json chrome_trace(std::span<Trace const> traces);

}  // namespace lanewise
