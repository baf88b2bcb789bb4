#include "builder/job_shares.h"

#include <algorithm>

namespace axle::builder {

JobShares::JobShares(unsigned jobs, std::size_t rows)
    : free_(jobs),
      rows_left_(rows),
      rows_at_once_(static_cast<unsigned>(std::clamp<std::size_t>(rows, 1, jobs))) {}

JobShares::Share JobShares::take() {
  const std::scoped_lock lock(guard_);
  // Between those that can begin now. Rounded up, it leaves one for each of the others.
  const auto beginners =
      static_cast<unsigned>(std::min<std::size_t>(rows_at_once_ - busy_, rows_left_));
  const unsigned jobs = (free_ + beginners - 1) / beginners;
  free_ -= jobs;
  --rows_left_;
  ++busy_;
  return {*this, jobs};
}

JobShares::Share::~Share() {
  const std::scoped_lock lock(all_.guard_);
  all_.free_ += jobs_;
  --all_.busy_;
}

}  // namespace axle::builder
