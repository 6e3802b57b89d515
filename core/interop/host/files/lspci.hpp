#pragma once
// Facts of a host from what `lspci` prints, with or without -t, -D, -n, -nn, -k, -x and any number of -v. Only
// `sudo lspci -vvv` says everything: links, ACS and the kinds of ports.
#include <string_view>

#include "core/interop/host/facts.hpp"
#include "core/interop/likeness.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

Likeness recognise_lspci(std::string_view text);
// Throws InputError when the text has no PCI function.
HostFacts read_lspci(SourceText const& source);

}  // namespace lanewise
