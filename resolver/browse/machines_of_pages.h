#pragma once
// What the pages of an index say of machines: those that --for knows by name, as it means them.

#include <memory>

#include "index/browse/page_machines.h"

namespace axle::resolver {

[[nodiscard]] std::shared_ptr<const index::PageMachines> make_machines_of_pages();

}  // namespace axle::resolver
