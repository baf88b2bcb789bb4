#pragma once
// What is said of distributions that install the same modules, and of builds of unlike backends.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/family/alternatives.h"
#include "resolver/request/want.h"

namespace axle::resolver {

/// Two of one group are wanted.
[[nodiscard]] Error same_modules(std::string_view name, std::string_view other,
                                 const index::Alternatives& group);
/// The same, with who wants them.
[[nodiscard]] Error same_modules_wanted(Error same_modules, const std::vector<const Want*>& wants);

/// One of a group that would come beside another that is installed. "onnxruntime-gpu 1.20".
struct Replacement {
  std::string installed;          ///< name
  std::string installed_version;  ///< of it
  std::string name;               ///< of the new one
  std::string version;
  const index::Alternatives* group = nullptr;
};

[[nodiscard]] Error refused_replacement(const Replacement& replacement);

struct BuildFor {
  std::string build;    ///< "torch 2.15.0+cu132"
  std::string backend;  ///< "CUDA 13", or a label of its family
};

[[nodiscard]] Error unlike_platforms(const std::vector<BuildFor>& builds);
/// Of members of one family.
[[nodiscard]] Error unlike_labels(const std::vector<BuildFor>& builds);

/// "onnxruntime-gpu" or "jax[cuda13]".
[[nodiscard]] std::string render_member(const index::AlternativeMember& member);

}  // namespace axle::resolver
