#pragma once
// How far the search for schedules of a transfer set goes. docs/planner-limits.md lists the values.
#include <cstddef>

namespace lanewise {

struct ScheduleLimits {
  // ---- Schedules made from a set.
  // Up to this many transfers several column generations with different random numbers run: the makespan of few pieces
  // depends on luck by up to 4 % for four GPUs, and each generation takes milliseconds.
  std::size_t small_set = 16;
  unsigned generations_of_small_set = 3;
  // Larger sets get one column generation. If the best schedule takes at most `max_ratio_to_generate_again` times as
  // long as wanted, a second one starts from the best plan so far, and further ones while the ratio is at most
  // `max_ratio_to_go_on_generating`. `max_generations` counts them all. Plans that use host memory beside NVLink often
  // miss what they must gain by 0.1 to 2 %.
  unsigned max_generations = 6;
  double max_ratio_to_generate_again = 1.03;
  double max_ratio_to_go_on_generating = 1.01;
  // Times that schedules are made anew with the start-up costs that their pieces turned out to have.
  int max_iterations = 3;
  // Resizing shortens a schedule by up to 13 %: one further behind the best known plan than this ratio stays as it is.
  double max_ratio_to_resize = 1.25;
  // The next iteration shortens the makespan by some percent, so it is left out for schedules further behind than this.
  double max_ratio_to_iterate = 1.05;
  // Nor where the last one shortened it by less than this.
  double min_gain_to_iterate = 0.005;
  // Share of a transfer that a piece on an unused option is taken to have.
  double unused_piece_share = 0.25;

  // Number of best schedules whose divisions of bytes are tried without their order too.
  std::size_t max_kept_schedules = 3;

  // ---- Resizing the pieces of the best schedule.
  int resizing_rounds = 12;
  double max_size_change = 0.1;   // of a piece in one round
  double min_size_change = 0.01;  // rounds end when the permitted change gets smaller
  // Gradient descent of one round.
  int descent_steps = 100;
  double descent_step = 0.2;    // of the permitted change, at first; ever less
  double near_longest = 0.003;  // paths shorter than the longest by less than this, of the makespan, count too

  // ---- Column generation.
  int max_rounds = 40;              // of the first solution
  int max_more_rounds = 12;         // of later ones, which start from known configurations
  double close_enough_gap = 0.003;  // to the lower bound that the pricing search suggests
  // Of sets that are not small, rounds also end when the last ones gained less than this: schedules take 7 to 15 %
  // longer than the program says, so its last percent makes none of them shorter.
  std::size_t stall_rounds = 8;
  double min_gain_in_stall_rounds = 0.01;
  // Columns in the program, besides those in use: the configurations of the highest value at the last prices.
  std::size_t max_columns = 300;
  // Configurations that symmetries of the set make of each one in use, or a few more.
  std::size_t max_alike = 64;
  // More are generated where a program of all transfers takes longer by this, with these, than that of their kinds.
  double max_ratio_to_kinds = 0.01;
  // Places tried in the search for symmetries. Eight GPUs that are all alike need some hundred.
  std::size_t max_symmetry_tries = 2'000;

  // ---- From durations of configurations to a schedule.
  std::size_t start_orders = 4;  // each also reversed
  // Durations are also computed with a set-up cost for each configuration in use, so that few are: the mean start-up
  // time of its flows, times one of these.
  double setup_cost_weights[3] = {1, 2, 4};
  int setup_cost_rounds = 4;              // in which the set-up cost is spread over the last duration
  double min_duration_for_setup = 0.005;  // of the makespan: an unused configuration may come into use

  // ---- Pricing: iterated local search. Without perturbations it ends up to a sixth below the best of eight MI60.
  // For larger sets 10 do: more make each round longer, and schedules hardly shorter.
  int perturbations_of_small_set = 25;
  int perturbations = 10;
  int flows_removed = 2;        // by a perturbation
  double min_kept_value = 0.9;  // of the best: configurations found on the way that become columns as well
  // With more candidate flows, one that alone is worth less than what it displaces is not tried.
  std::size_t many_flows = 100;
};

inline constexpr ScheduleLimits kScheduleLimits{};

}  // namespace lanewise
