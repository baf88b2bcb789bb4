#include "runtime/kernel_table.h"

#include <array>

#include "runtime/kernels/sets.h"

namespace axle::runtime {
namespace {

using enum detect::Capability;

template <detect::Capability... capabilities>
constexpr std::array<detect::Capability, sizeof...(capabilities)> required{capabilities...};

constexpr const Permission* nothing = nullptr;
constexpr const Permission* tiles = &tile_permission;

// CMake says of each file of the table what this build makes of it (AXLE_KERNEL_<file>): built,
// left_out, or foreign, of another architecture.
#define AXLE_ROW_built(file, name, architecture, least_rows, permission, ...) \
  KernelRow{#name, required<__VA_ARGS__>, least_rows, permission, &kernel_set_##file},
#define AXLE_ROW_left_out(file, name, architecture, least_rows, permission, ...) \
  KernelRow{#name, required<__VA_ARGS__>, least_rows, permission, nullptr},
#define AXLE_ROW_foreign(...)
#define AXLE_JOINED(left, right) left##right
#define AXLE_ROW(state, ...) AXLE_JOINED(AXLE_ROW_, state)(__VA_ARGS__)
#define AXLE_KERNEL_SET(file, ...) AXLE_ROW(AXLE_KERNEL_##file, file, __VA_ARGS__)

constexpr KernelRow rows[] = {
#include "runtime/kernels/kernel_sets.inc"
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

bool is_permitted(const KernelRow& row) {
  return row.permission == nullptr || row.permission->request();
}

}  // namespace axle::runtime
