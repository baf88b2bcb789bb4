#include "detect/drivers/visible_devices.h"

#include <doctest/doctest.h>

using namespace axle::detect;
using Visible = std::vector<bool>;

TEST_CASE("masks by number and by the beginning of a name") {
  const std::vector<std::string> uuids{"GPU-aaaa", "GPU-bbbb", "GPU-bccc"};
  CHECK(visible_by_list("0,2", uuids) == Visible{true, false, true});
  CHECK(visible_by_list(" 1 ", uuids) == Visible{false, true, false});
  CHECK(visible_by_list("GPU-bc", uuids) == Visible{false, false, true});
  CHECK(visible_by_list("", uuids) == Visible{false, false, false});
  CHECK(visible_by_list("-1", uuids) == Visible{false, false, false});
  CHECK(visible_by_list("NoDevFiles", uuids) == Visible{false, false, false});
}

TEST_CASE("a mask ends at the first entry that names no device") {
  const std::vector<std::string> uuids{"GPU-aaaa", "GPU-bbbb", "GPU-cccc"};
  CHECK(visible_by_list("0,7,1", uuids) == Visible{true, false, false});
  CHECK(visible_by_list("0,-1,1", uuids) == Visible{true, false, false});
  CHECK(visible_by_list("0,,1", uuids) == Visible{true, false, false});
}

TEST_CASE("a MIG instance is the driver's to resolve") {
  CHECK(visible_by_list("MIG-01234567", {"GPU-aaaa"}) == Visible{true});
}

TEST_CASE("Level Zero masks name devices and sub-devices") {
  CHECK(visible_by_affinity("0,2.1", 3) == Visible{true, false, true});
  CHECK(visible_by_affinity("", 2) == Visible{true, true});
  CHECK(visible_by_affinity("7", 2) == Visible{false, false});
}

TEST_CASE("an id hides nothing if some device's id is unknown") {
  CHECK(visible_by_list("GPU-c", {"GPU-a", ""}) == std::vector<bool>{true, true});
  CHECK(visible_by_list("GPU-a", {"GPU-a", ""}) == std::vector<bool>{true, false});
  CHECK(visible_by_list("GPU-c", {"GPU-a", "GPU-b"}) == std::vector<bool>{false, false});
  CHECK(visible_by_list("7", {"", ""}) == std::vector<bool>{false, false});
}
