#pragma once
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A short text that changes whenever anything in the machine does that a plan or a measurement rests on: its hardware,
// parts, wiring, settings and measured overrides. Plans, traces and measurements carry it, so that none is used with
// another machine. Titles, notes, sources, and names and addresses that only this host uses are left out.
// FNV-1a of 64 bits: against mistakes, not against malice. Never throws.
std::string fingerprint(Machine const& machine);

}  // namespace lanewise
