#pragma once
// Plans the collectives of one model, and keeps what it found: a question that was answered before costs nothing.
//
//   CollectivePlanner planner(model, Keep::All);
//   Plan const& plan = planner.best(all_reduce);
//   for (auto const& other : planner.all(all_reduce)) ...  // no algorithm is weighed again
#include <list>
#include <vector>

#include "lanewise/planner/choice/plan_collective.hpp"

namespace lanewise {

class CollectivePlanner {
 public:
  // `model` must outlive the planner. `keep`: Keep::All where all() will be asked for the collectives of best().
  explicit CollectivePlanner(Model const& model, Keep keep = Keep::Best, Detail detail = Detail::Folded)
      : model_(model), keep_(keep), detail_(detail) {}

  // What plan_collective() and plans_of_collective() return. References stay valid.
  Plan const& best(Collective const& collective);
  std::vector<Plan> const& all(Collective const& collective);

  [[nodiscard]] Model const& model() const { return model_; }

 private:
  struct Answer {
    Collective collective;
    Keep keep;
    std::vector<Plan> plans;
  };

  [[nodiscard]] Plan const* known_best(Collective const& collective) const;
  std::vector<Plan> const& evaluate(Collective const& collective, Keep keep);

  Model const& model_;
  Keep keep_;
  Detail detail_;
  std::list<Answer> answers_;
};

}  // namespace lanewise
