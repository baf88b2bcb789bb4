// Namespaces `ascend` and `tpu`, and the two that say nothing of machines.

#include <doctest/doctest.h>

#include "providers/provider.h"

namespace axle::providers {
namespace {

using detect::Machine;
using detect::Npu;
using detect::NpuKind;
using detect::Presence;

using Values = std::vector<std::string>;

Npu working_npu(NpuKind kind, std::string_view type) {
  Npu npu;
  npu.kind = kind;
  npu.type = type;
  npu.usable = Presence::present;
  return npu;
}

Features supported(std::string_view ns, const Machine& machine) {
  return find_provider(ns)->supported(machine, {});
}

std::string fact(std::string_view ns, const Machine& machine, std::string_view feature,
                 std::string_view value) {
  return render_facts(find_provider(ns)->facts(machine, {}, feature, value));
}

TEST_CASE("ascend: kind, driver and toolkit, where all NPUs agree") {
  Machine machine;
  for (int i = 0; i < 2; ++i) {
    Npu& npu = machine.npus.emplace_back(working_npu(NpuKind::ascend, "910b"));
    npu.driver_version = "24.1.rc3";
    npu.toolkit_version = "8.0.0";
  }
  CHECK(supported("ascend", machine) == Features{{"npu_type", false, {"910b"}},
                                                 {"driver_version", false, {"24.1.rc3"}},
                                                 {"cann_version", false, {"8.0.0"}}});
  CHECK(fact("ascend", machine, "npu_type", "a3") == "the NPU is 910b, and the build is for a3");
  CHECK(fact("ascend", machine, "cann_version", "8.1.0") ==
        "the system has CANN 8.0.0, and the build is for 8.1.0");
  machine.npus[0].driver_version = "23.0";
  machine.npus[1].type = "310p";
  CHECK(supported("ascend", machine) == Features{{"cann_version", false, {"8.0.0"}}});
  CHECK(fact("ascend", machine, "npu_type", "910b") ==
        "the NPUs differ (310p and 910b), so none of them counts; the build is for 910b");
  CHECK(fact("ascend", machine, "driver_version", "23.0") ==
        "the NPU driver has several versions (23.0 and 24.1.rc3), so none of them counts; the "
        "build is for 23.0");
}

TEST_CASE("ascend: versions as the published provider reads them, forced ones as they are") {
  const auto cann = [](std::string_view found, const char* source) {
    Machine machine;
    Npu& npu = machine.npus.emplace_back(working_npu(NpuKind::ascend, ""));
    npu.toolkit_version = found;
    npu.sources["toolkit_version"] = source;
    const Features held = supported("ascend", machine);
    return held.empty() ? std::string() : held.at(0).values.at(0);
  };
  for (const auto& [found, value] : {std::pair{"8.0.RC2.alpha001", "8.0.rc2"},
                                     {"8.0.RC3", "8.0.rc3"},
                                     {"24.1.rc3", "24.1"},
                                     {"08.00.RC01", "8.0.rc1"},
                                     {"24.1.0.b021", "24.1.0"},
                                     {"24.1.0.3", "24.1.0"},
                                     {"8.0.0.alpha003", "8.0.0"},
                                     {"8.1.RC", "8.1"},
                                     {"8.1", "8.1"},
                                     {"8.1-2", "8.1"},
                                     {"8", ""},
                                     {"8.RC1", ""},
                                     {"V100R001", ""}}) {
    CAPTURE(found);
    CHECK(cann(found, "install-info") == value);
  }
  CHECK(cann("8.0.0.alpha003", "override") == "8.0.0.alpha003");
  CHECK(cann("8.0.RC2", "override").empty());
}

TEST_CASE(
    "ascend: what does not work, is not known or is not a valid value of the format counts for "
    "nothing") {
  Machine machine;
  CHECK(fact("ascend", machine, "npu_type", "910b") == "no Ascend NPU");
  machine.npus.push_back(working_npu(NpuKind::ascend, "Ascend 910"));
  CHECK(supported("ascend", machine).empty());
  machine.npus[0].type = "910b";
  machine.npus[0].usable = Presence::unknown;
  CHECK(supported("ascend", machine).empty());
  CHECK(fact("ascend", machine, "npu_type", "910b") ==
        "it is unknown whether the Ascend NPU is usable");
  machine.npus[0].usable = Presence::blocked;
  machine.npus[0].reason = "no device nodes";
  CHECK(supported("ascend", machine).empty());
  CHECK(fact("ascend", machine, "npu_type", "910b") ==
        "Ascend NPU present but not usable: no device nodes");
  CHECK(fact("ascend", machine, "colour", "red") ==
        "the provider of ascend does not know the property ascend :: colour :: red");
}

TEST_CASE("tpu: true if one works, false if there is none, no value if the bus was not examined") {
  Machine machine;
  CHECK(supported("tpu", machine).empty());
  machine.os.system = "Linux";
  CHECK(supported("tpu", machine) == Features{{"present", false, {"false"}}});
  CHECK(fact("tpu", machine, "present", "true") == "no TPU");
  machine.npus.push_back(working_npu(NpuKind::ascend, "910b"));
  CHECK(supported("tpu", machine).at(0).values == Values{"false"});
  machine.npus.push_back(working_npu(NpuKind::tpu, "v5e"));
  CHECK(supported("tpu", machine).at(0).values == Values{"true"});
  CHECK(fact("tpu", machine, "present", "false") == "there is a working TPU v5e");
  machine.npus.back().usable = Presence::unknown;
  CHECK(supported("tpu", machine).empty());
  machine.npus.back().usable = Presence::absent;
  CHECK(supported("tpu", machine).at(0).values == Values{"false"});
  CHECK(fact("tpu", machine, "present", "true") ==
        "TPU present but not usable: no program can reach it");
}

TEST_CASE("blas_lapack and openmp: every value everywhere, in the published order") {
  const Values blas{"accelerate", "openblas", "mkl"};
  const Values openmp{"gnu", "intel", "llvm"};
  CHECK(supported("blas_lapack", Machine{}) == Features{{"provider", false, blas}});
  CHECK(supported("openmp", Machine{}) == Features{{"provider", false, openmp}});
  for (const char* ns : {"blas_lapack", "openmp"}) {
    CHECK(find_provider(ns)->every_value_fits);
    CHECK(find_provider(ns)->all() == supported(ns, Machine{}));
  }
  CHECK(fact("openmp", Machine{}, "provider", "llvm") ==
        "the wheel bundles its own OpenMP runtime, llvm");
  CHECK(fact("openmp", Machine{}, "provider", "acme") ==
        "the provider of openmp does not know the property openmp :: provider :: acme");
}

}  // namespace
}  // namespace axle::providers
