#pragma once
// The admission policies that drafts are tried with.
#include "core/estimate/schedule.hpp"
#include "core/planner/search_limits.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {

struct AdmissionPolicy {
  double max_utilisation = 0;  // 0: no admission control
  Priority priority = Priority::StepOrder;
};

// Of the policies tried on the bundled machines these were the best of some set.
inline constexpr AdmissionPolicy kAdmissionPolicies[] = {
    {0, Priority::StepOrder},
    {kSearchLimits.uncontended_utilisation, Priority::StepOrder},
    {kSearchLimits.one_each_way, Priority::StepOrder},
    {kSearchLimits.uncontended_utilisation, Priority::BottleneckFirst},
    {kSearchLimits.one_each_way, Priority::BottleneckFirst},
    {kSearchLimits.two_or_three, Priority::BottleneckFirst},
    {kSearchLimits.engines_only, Priority::BottleneckFirst}};

// Of sets that are not small, and with Effort::Quick. For balanced shares of large sets the last two did best; only
// they are tried there with Effort::Quick.
inline constexpr AdmissionPolicy kFewAdmissionPolicies[] = {{0, Priority::StepOrder},
                                                            {kSearchLimits.one_each_way, Priority::StepOrder},
                                                            {kSearchLimits.two_or_three, Priority::BottleneckFirst}};

}  // namespace lanewise
