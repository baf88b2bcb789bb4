#include "resolver/solver/incompatibility.h"

#include <algorithm>
#include <utility>

namespace axle::resolver {

IntegerSet Incompatibility::values_of(PackageId package) const {
  const auto found = std::ranges::lower_bound(terms, package, {}, &Term::package);
  return found != terms.end() && found->package == package ? found->values : IntegerSet::all();
}

Incompatibility resolvent(const Incompatibility& left, IncompatibilityId left_id,
                          const Incompatibility& right, IncompatibilityId right_id,
                          PackageId package) {
  Incompatibility result;
  result.cause = Cause::derived;
  result.left = left_id;
  result.right = right_id;
  auto l = left.terms.begin();
  auto r = right.terms.begin();
  while (l != left.terms.end() || r != right.terms.end()) {
    const bool take_left =
        r == right.terms.end() || (l != left.terms.end() && l->package <= r->package);
    const bool take_right =
        l == left.terms.end() || (r != right.terms.end() && r->package <= l->package);
    Term term = take_left ? *l : *r;
    if (take_left && take_right) {
      term.values = term.package == package ? l->values | r->values : l->values & r->values;
    }
    if (take_left) ++l;
    if (take_right) ++r;
    if (!term.values.is_all()) result.terms.push_back(std::move(term));
  }
  return result;
}

}  // namespace axle::resolver
