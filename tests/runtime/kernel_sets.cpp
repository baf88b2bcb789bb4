#include "tests/runtime/kernel_sets.h"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

namespace axle::runtime {

namespace {

std::vector<KernelRow> models() {
  return {
      {"model of sse2", {}, 1, nullptr, &model_pairs_16},
      {"model of sse41", {}, 1, nullptr, &model_signs_16},
      {"model of avx2", {}, 1, nullptr, &model_signs_32},
      {"model of avx512", {}, 1, nullptr, &model_signs_64},
      {"model of avx_vnni", {}, 1, nullptr, &model_offset_32},
      {"model of avx512_vnni", {}, 1, nullptr, &model_offset_64},
      {"model of neon", {}, 1, nullptr, &model_byte_pairs},
      {"model of neon_dotprod", {}, 1, nullptr, &model_signed_dot},
      {"model of neon_i8mm", {}, 1, nullptr, &model_matrix},
      {"model of amx_int8", {}, 1, nullptr, &model_amx_int8},
      {"portable", {}, 1, nullptr, &portable_baseline},
  };
}

std::vector<KernelRow> find_sets() {
  std::vector<KernelRow> sets;
  if (std::getenv("AXLE_TEST_WITHOUT_MODELS") == nullptr) sets = models();
  for (const KernelRow& row : kernel_table()) {
    if (is_usable(row) && is_permitted(row)) {
      sets.push_back(row);
    } else {
      MESSAGE("only its model is tested, this machine cannot run it: ", std::string(row.name));
    }
  }
  return sets;
}

}  // namespace

const std::vector<KernelRow>& kernel_sets_to_test() {
  static const std::vector<KernelRow> sets = find_sets();
  return sets;
}

}  // namespace axle::runtime
