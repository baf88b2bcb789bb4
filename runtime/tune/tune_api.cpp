// The C interface of tuning tables. Exceptions of the C++ library end here.
#include <exception>
#include <new>

#include "runtime/axle_runtime.h"
#include "runtime/c_runtime.h"
#include "runtime/tune/tuning_table.h"

using axle::runtime::report_failure;

namespace {

axle_status load_tuning(axle_runtime& runtime, const char* path, axle_error* error) {
  const std::string file = path != nullptr ? path : axle::runtime::shipped_tuning_path();
  const auto table = axle::runtime::read_tuning(file);
  if (!table)
    return report_failure(error, table.error().status, "%s", table.error().message.c_str());
  const auto taken = axle::runtime::apply_tuning(*table, runtime.engine);
  if (!taken)
    return report_failure(error, taken.error().status, "%s: %s", file.c_str(),
                          taken.error().message.c_str());
  return AXLE_OK;
}

}  // namespace

axle_status axle_runtime_load_tuning(axle_runtime* runtime, const char* path, axle_error* error) {
  axle::runtime::clear_failure(error);
  if (runtime == nullptr) return axle::runtime::missing_argument(error, "runtime");
  if (path != nullptr && path[0] == '\0')
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "path is empty; NULL is the table beside the library");
  try {
    return load_tuning(*runtime, path, error);
  } catch (const std::bad_alloc&) {
    return report_failure(error, AXLE_NO_MEMORY, "no memory");
  } catch (const std::exception& problem) {
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s", problem.what());
  }
}
