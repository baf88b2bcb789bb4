// Which wheel of a release a machine gets.

/** Lower tags, then the higher build number, then the name. */
function compareWheels(left, right) {
  if (left.place !== right.place) return left.place - right.place;
  const [a, b] = [left.name.build, right.name.build];
  if (a === null || b === null) {
    if (a !== b) return a === null ? 1 : -1;
  } else if (a[0] !== b[0]) {
    return a[0] > b[0] ? -1 : 1;
  } else if (a[1] !== b[1]) {
    return a[1] > b[1] ? -1 : 1;
  }
  return left.filename < right.filename ? -1 : left.filename > right.filename ? 1 : 0;
}

/**
 * `wheels`: {filename, label, bytes, python, yanked}. The answer: {chosen: a wheel or null, ranking, compatible: variants that have
 * a wheel for this platform, best first, leftOut: {tags, python}: how many wheels are for others}.
 */
function chooseWheel(release, wheels, machine, pythonMinor) {
  const supported = machine.tagsOf(pythonMinor);
  const leftOut = {tags: 0, python: 0};
  const usable = [];
  for (const wheel of wheels) {
    const name = parseWheelName(wheel.filename, wheel.label);
    const place = bestTag(name, supported);
    if (wheel.python && pythonFits(wheel.python, [3, pythonMinor, 0]) === false) {
      ++leftOut.python;
    } else if (place === Infinity) {
      ++leftOut.tags;
    } else {
      usable.push({...wheel, name, place});
    }
  }
  usable.sort(compareWheels);
  const firstOf = (label) => usable.find((wheel) => wheel.label === label) || null;
  const ranking = release ? rankVariants(release, machine) : null;
  const withWheel = (variants) => variants.map((one) => ({...one, wheel: firstOf(one.label)}));
  const compatible = ranking ? withWheel(ranking.ranked).filter((one) => one.wheel) : [];
  const undecided = ranking ? withWheel(ranking.undecided).filter((one) => one.wheel) : [];
  const rejected = ranking ? withWheel(ranking.rejected).filter((one) => one.wheel) : [];
  const plain = firstOf("");
  const chosen = compatible.length > 0 ? compatible[0].wheel : plain;
  return {chosen, compatible, rejected, undecided, plain, leftOut, isUndescribed: !release && usable.some((wheel) => wheel.label)};
}
