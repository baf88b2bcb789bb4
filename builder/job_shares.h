#pragma once
// How many files each row compiles at once: `--jobs` is for all rows together, since memory and
// the neighbours on a machine are what a user limits it for.

#include <cstddef>
#include <mutex>

namespace axle::builder {

class JobShares {
 public:
  /// `jobs` is at least 1.
  JobShares(unsigned jobs, std::size_t rows);

  [[nodiscard]] unsigned rows_at_once() const { return rows_at_once_; }

  /// What one row may compile at once, at least one file; it is free again when this ends.
  class Share {
   public:
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();

    [[nodiscard]] unsigned jobs() const { return jobs_; }

   private:
    friend class JobShares;
    Share(JobShares& all, unsigned jobs) : all_(all), jobs_(jobs) {}

    JobShares& all_;
    unsigned jobs_;
  };

  /// For a row that begins: its part of what is free. The last one gets all of that. At most
  /// rows_at_once() shares are held at once, and one is taken for each row.
  [[nodiscard]] Share take();

 private:
  std::mutex guard_;
  unsigned free_;
  std::size_t rows_left_;  ///< that have not begun
  unsigned rows_at_once_;
  unsigned busy_ = 0;
};

}  // namespace axle::builder
