#pragma once
// The bits of the ACS control register by the letters that lspci gives them.
#include "lanewise/machine/machine.hpp"

namespace lanewise::test::acs_controls {

inline constexpr auto SV = AcsControl::kSourceValidation;
inline constexpr auto TB = AcsControl::kTranslationBlocking;
inline constexpr auto RR = AcsControl::kRequestRedirect;
inline constexpr auto CR = AcsControl::kCompletionRedirect;
inline constexpr auto UF = AcsControl::kUpstreamForwarding;
inline constexpr auto EC = AcsControl::kEgressControl;
inline constexpr auto DT = AcsControl::kDirectTranslated;

}  // namespace lanewise::test::acs_controls
