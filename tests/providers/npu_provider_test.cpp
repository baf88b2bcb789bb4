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
  return find_provider(ns)->fact(machine, {}, feature, value);
}

TEST_CASE("ascend: kinds, driver and toolkit, each value once") {
  Machine machine;
  for (const char* type : {"910b", "910b", "310p"}) {
    Npu& npu = machine.npus.emplace_back(working_npu(NpuKind::ascend, type));
    npu.driver_version = "24.1.rc3";
    npu.toolkit_version = "8.0.0";
  }
  CHECK(supported("ascend", machine) == Features{{"npu_type", true, {"310p", "910b"}},
                                                 {"driver_version", false, {"24.1.rc3"}},
                                                 {"cann_version", false, {"8.0.0"}}});
  CHECK(fact("ascend", machine, "npu_type", "a3") == "the NPU is 310p, 910b, the build is for a3");
  CHECK(fact("ascend", machine, "cann_version", "8.1.0") ==
        "the system has CANN 8.0.0, the build is for 8.1.0");
  machine.npus[0].driver_version = "23.0";
  CHECK(fact("ascend", machine, "driver_version", "23.0") ==
        "it is not known which driver_version the NPU has");
}

TEST_CASE(
    "ascend: what does not work, is not known or is no value of the format counts for nothing") {
  Machine machine;
  CHECK(fact("ascend", machine, "npu_type", "910b") == "no Ascend NPU");
  machine.npus.push_back(working_npu(NpuKind::ascend, "Ascend 910"));
  CHECK(supported("ascend", machine).empty());
  machine.npus[0].type = "910b";
  machine.npus[0].usable = Presence::unknown;
  CHECK(supported("ascend", machine).empty());
  CHECK(fact("ascend", machine, "npu_type", "910b") ==
        "it is not known whether the Ascend NPU is usable");
  machine.npus[0].usable = Presence::blocked;
  machine.npus[0].reason = "no device nodes";
  CHECK(supported("ascend", machine).empty());
  CHECK(fact("ascend", machine, "npu_type", "910b") ==
        "Ascend NPU present but not usable: no device nodes");
  CHECK(fact("ascend", machine, "colour", "red") ==
        "the provider of ascend knows no property ascend :: colour :: red");
}

TEST_CASE("tpu: true where one works, false where there is none, nothing where nobody looked") {
  Machine machine;
  CHECK(supported("tpu", machine).empty());
  machine.os.system = "Linux";
  CHECK(supported("tpu", machine) == Features{{"present", false, {"false"}}});
  CHECK(fact("tpu", machine, "present", "true") == "there is no TPU");
  machine.npus.push_back(working_npu(NpuKind::ascend, "910b"));
  CHECK(supported("tpu", machine).at(0).values == Values{"false"});
  machine.npus.push_back(working_npu(NpuKind::tpu, "v5e"));
  CHECK(supported("tpu", machine).at(0).values == Values{"true"});
  CHECK(fact("tpu", machine, "present", "false") == "there is a TPU v5e");
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
        "the wheel brings its own OpenMP runtime, llvm");
  CHECK(fact("openmp", Machine{}, "provider", "acme") ==
        "the provider of openmp knows no property openmp :: provider :: acme");
}

}  // namespace
}  // namespace axle::providers
