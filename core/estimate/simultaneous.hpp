#pragma once
// When ends of steps count as one event. In the estimate and in the simulator, what ends within an instant ends when
// the last of it does, and is handed on in the order of the steps. So which step starts next does not depend on
// rounding.

namespace lanewise {

// Seconds after `now` (seconds since the run began) that still belong to the same instant. Ends that are equal by
// arithmetic differ by some 1e-16 of the time in doubles; sizes that differ by one byte at 10 GB/s end 1e-10 s apart,
// which is more than this in runs below one second.
constexpr double simultaneous_within(double now) { return now * 1e-10 + 1e-16; }

}  // namespace lanewise
