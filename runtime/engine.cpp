#include "runtime/engine.h"

#include <cstdio>
#include <cstring>

namespace axle::runtime {

void list_missing(const KernelRow& row, char* to, std::size_t size) {
  std::size_t used = 0;
  to[0] = '\0';
  for (const detect::Capability capability : row.required) {
    if (machine_has(capability)) continue;
    const std::string_view name = detect::row(capability).name;
    const int written = std::snprintf(to + used, size - used, "%s%.*s", used == 0 ? "" : " ",
                                      static_cast<int>(name.size()), name.data());
    if (written < 0 || static_cast<std::size_t>(written) >= size - used) return;
    used += static_cast<std::size_t>(written);
  }
}

axle_status Engine::choose_kernels(const char* kernel, axle_error* error) {
  if (kernel == nullptr || kernel[0] == '\0') {
    count_ = 0;
    forced_ = false;
    for (const KernelRow& row : kernel_table()) {
      if (count_ < most_kernels && is_usable(row)) kernels_[count_++] = &row;
    }
    return AXLE_OK;
  }
  const KernelRow* const row = find_kernel(kernel);
  if (row == nullptr)
    return report_failure(error, AXLE_BAD_ARGUMENT, "there is no kernel set named '%.64s'", kernel);
  if (row->set == nullptr)
    return report_failure(error, AXLE_UNSUPPORTED, "this build has no kernel set '%s'", row->name);
  if (!is_usable(*row)) {
    char missing[128];
    list_missing(*row, missing, sizeof missing);
    return report_failure(error, AXLE_UNSUPPORTED, "kernel set '%s': this machine lacks %s",
                          row->name, missing);
  }
  if (!is_permitted(*row))
    return report_failure(error, AXLE_UNSUPPORTED,
                          "kernel set '%s': the system refuses the permission to use %s", row->name,
                          row->permission->subject);
  use_only(*row);
  return AXLE_OK;
}

void Engine::use_only(const KernelRow& row) {
  kernels_[0] = &row;
  count_ = 1;
  forced_ = true;
}

bool Engine::may_use(std::size_t index) {
  Permission answer = permissions_[index].load();
  if (answer == Permission::unasked) {
    answer = is_permitted(*kernels_[index]) ? Permission::granted : Permission::refused;
    permissions_[index].store(answer);
  }
  return answer == Permission::granted;
}

namespace {

std::size_t least_rows(const KernelRow& row, axle_mode mode) {
  const std::size_t own = mode == AXLE_A16F8 ? row.set->narrow->least_f8_rows : 0;
  return own != 0 ? own : row.least_rows;
}

}  // namespace

const KernelRow& Engine::kernel_for(std::size_t rows, axle_mode mode) {
  if (forced_) return *kernels_[0];
  for (std::size_t i = 0; i < count_; ++i) {
    const KernelRow& row = *kernels_[i];
    if (rows >= least_rows(row, mode) && may_use(i)) return row;
  }
  return kernel_table().back();
}

PassChoice Engine::choice_for(const LayerShape& shape, std::size_t rows) {
  const LayerChoices::Choice* const made =
      forced_ || !heeds_choices_ ? nullptr : choices_.find(shape, rows);
  if (made != nullptr && may_use(made->kernel))
    return {kernels_[made->kernel], made->threads, made->chunk_bytes};
  return {&kernel_for(plane_rows(rows, shape.mode), shape.mode)};
}

bool Engine::choose(const LayerShape& shape, std::size_t bucket, const PassChoice& choice) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (kernels_[i] != choice.kernel) continue;
    return choices_.add(shape, bucket,
                        {.kernel = static_cast<std::uint8_t>(i),
                         .made = true,
                         .threads = static_cast<std::uint16_t>(choice.threads),
                         .chunk_bytes = static_cast<std::uint32_t>(choice.chunk_bytes)});
  }
  return false;
}

}  // namespace axle::runtime
