// Links the simulator and says which version of SimGrid it is.
#include <iostream>

#include "sim/simgrid_executor.hpp"

int main() { std::cout << "SimGrid " << lanewise_sim_version() << '\n'; }
