#include "runtime/kernel_table.h"

#include "runtime/cpu.h"
#include "runtime/kernels/sets.h"

namespace axle::runtime {
namespace {

using enum detect::Capability;

#if defined(AXLE_KERNEL_AMX_INT8)
#define AXLE_IF_AMX_INT8(set) &(set)
#else
#define AXLE_IF_AMX_INT8(set) nullptr
#endif
#if defined(AXLE_KERNEL_AVX512_VNNI)
#define AXLE_IF_AVX512_VNNI(set) &(set)
#else
#define AXLE_IF_AVX512_VNNI(set) nullptr
#endif
#if defined(AXLE_KERNEL_AVX_VNNI)
#define AXLE_IF_AVX_VNNI(set) &(set)
#else
#define AXLE_IF_AVX_VNNI(set) nullptr
#endif
#if defined(AXLE_KERNEL_AVX512)
#define AXLE_IF_AVX512(set) &(set)
#else
#define AXLE_IF_AVX512(set) nullptr
#endif
#if defined(AXLE_KERNEL_AVX2)
#define AXLE_IF_AVX2(set) &(set)
#else
#define AXLE_IF_AVX2(set) nullptr
#endif

constexpr detect::Capability for_amx_int8[] = {amx_tile, amx_int8, avx512f, avx512bw};
constexpr detect::Capability for_avx512_vnni[] = {avx512f, avx512bw, avx512_vnni};
constexpr detect::Capability for_avx_vnni[] = {avx2, avx_vnni};
constexpr detect::Capability for_avx512[] = {avx512f, avx512bw};
constexpr detect::Capability for_avx2[] = {avx2};

constexpr KernelRow rows[] = {
    {"amx_int8", for_amx_int8, 16, true, AXLE_IF_AMX_INT8(kernel_set_amx_int8)},
    {"avx512_vnni", for_avx512_vnni, 1, false, AXLE_IF_AVX512_VNNI(kernel_set_avx512_vnni)},
    {"avx_vnni", for_avx_vnni, 1, false, AXLE_IF_AVX_VNNI(kernel_set_avx_vnni)},
    {"avx512", for_avx512, 1, false, AXLE_IF_AVX512(kernel_set_avx512)},
    {"avx2", for_avx2, 1, false, AXLE_IF_AVX2(kernel_set_avx2)},
    {"baseline", {}, 1, false, &kernel_set_baseline},
};

}  // namespace

std::span<const KernelRow> kernel_table() { return rows; }

const KernelRow* find_kernel(std::string_view name) {
  for (const KernelRow& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool is_usable(const KernelRow& row) {
  if (row.set == nullptr) return false;
  for (const detect::Capability capability : row.required) {
    if (!machine_has(capability)) return false;
  }
  return true;
}

}  // namespace axle::runtime
