#pragma once
// A model behind the C interface, for model_api.cpp and generation_api.cpp. Exceptions of the C++
// library end in `guarded`.

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <cxxabi.h>

#include "runtime/axle_runtime.h"
#include "runtime/c_runtime.h"
#include "runtime/model/generation.h"
#include "runtime/model/model.h"
#include "runtime/model/model_use.h"

struct axle_model {
  explicit axle_model(axle::runtime::Model opened) : model(std::move(opened)) {}

  /// The file or folder, for errors.
  [[nodiscard]] const char* where() const { return model.tensors().where().c_str(); }

  axle::runtime::ModelUse use;
  axle::runtime::Model model;
  axle::runtime::ModelMode mode{};
  axle::runtime::CacheForm form = axle::runtime::CacheForm::float16;
  std::optional<axle::runtime::Decoder> decoder;  ///< one of both
  std::optional<axle::runtime::Encoder> encoder;
};

namespace axle::runtime {

inline axle_status report(axle_error* error, const Failure& failure) {
  return report_failure(error, failure.status, "%s", failure.message.c_str());
}

/// Runs `work`, and makes a status of what is thrown, by the C++ library or by a function of the
/// caller's; `where` names the model. A thread that is being ended goes on ending.
template <class Work>
axle_status guarded(axle_error* error, const char* where, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return report_failure(error, AXLE_NO_MEMORY, "%s: out of memory", where);
  } catch (const std::exception& problem) {
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s", problem.what());
#ifdef __GLIBCXX__  // in other C++ libraries that is no exception
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (...) {
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s: a function of the caller's threw", where);
  }
}

/// The same for work that nothing else may be done beside on the model.
template <class Work>
axle_status guarded_alone(axle_error* error, axle_model& model, Work work) {
  switch (model.use.take()) {
    case ModelUse::Answer::by_this_thread:
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "%s: the model is in use by this thread: a function that is called "
                            "with tokens cannot work on the model that they come from",
                            model.where());
    case ModelUse::Answer::before_fork:
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "%s: the model was in use when this process was forked; open it again",
                            model.where());
    case ModelUse::Answer::taken:
      break;
  }
  struct Release {
    ModelUse& use;
    ~Release() { use.release(); }
  } const release{model.use};
  return guarded(error, model.where(), work);
}

}  // namespace axle::runtime
