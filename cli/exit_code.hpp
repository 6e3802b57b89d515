#pragma once

namespace lanewise::cli {

// Interrupted is 128 + SIGINT, as in shells.
enum class ExitCode : int { Fine = 0, ExpectationFailed = 1, BadInput = 2, Missing = 3, Defect = 4, Interrupted = 130 };

}  // namespace lanewise::cli
