// Compatibility and ranking of the variants of a release (PEP 825, "Variant ordering").

/** What an object has itself: a document may name anything "constructor". */
function own(object, key) {
  return object && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The place of a name in what a document prefers and then in what is supported; -1: not supported. */
function placeIn(preferred, supported, name) {
  const place = supported.indexOf(name);
  if (place < 0 || preferred.length === 0) return place;
  const first = preferred.indexOf(name);
  return first >= 0 ? first : preferred.length + place;
}

function featureTable(release, ns, feature) {
  const table = (own(release.values, ns) || []).find(([name]) => name === feature);
  return table ? table[1] : [];
}

/** What is supported of a namespace: [[feature, [value, …]], …], best first. */
function supportedOf(release, ns, lists, there) {
  const origin = own(own(release.origins, there) || release.origins.any, ns);
  if (origin === "machine") return own(lists, ns) || [];
  return (origin && origin.lists) || [];
}

/** The properties of one feature, of which the best supported counts. */
function featuresOf(properties) {
  const runs = [];
  for (const [ns, feature, value] of properties) {
    const last = runs[runs.length - 1];
    if (last && last.ns === ns && last.feature === feature) {
      last.values.push(value);
    } else {
      runs.push({ns, feature, values: [value]});
    }
  }
  return runs;
}

/** Which of the supported values it is, the best being 0: a table also names values that are not supported. */
function preferenceOf(table, values, value) {
  const place = placeIn(table, values, value);
  return values.filter((other) => placeIn(table, values, other) < place).length;
}

/** With its key (places of namespace, feature and value), or null where no value is supported. */
function bestValue(release, run, lists, there) {
  const nsPlace = release.namespaces.indexOf(run.ns);
  if (nsPlace < 0) return null;
  const supported = supportedOf(release, run.ns, lists, there);
  const names = supported.map(([name]) => name);
  const at = names.indexOf(run.feature);
  if (at < 0) return null;
  const featurePlace = placeIn(own(release.features, run.ns) || [], names, run.feature);
  const table = featureTable(release, run.ns, run.feature);
  const values = supported[at][1];
  let best = null;
  for (const value of run.values) {
    const place = placeIn(table, values, value);
    if (place >= 0 && (best === null || place < best.key[2])) best = {run, value, key: [nsPlace, featurePlace, place]};
  }
  return best && {...best, rank: preferenceOf(table, values, best.value), count: values.length};
}

function compareKeys(left, right) {
  for (let i = 0; i < 3; ++i) if (left[i] !== right[i]) return left[i] - right[i];
  return 0;
}

function compareVariants(left, right) {
  if (left.isNull !== right.isNull) return left.isNull ? 1 : -1;
  for (let i = 0; i < Math.min(left.best.length, right.best.length); ++i) {
    const order = compareKeys(left.best[i].key, right.best[i].key);
    if (order !== 0) return order;
  }
  if (left.best.length !== right.best.length) return right.best.length - left.best.length;
  return left.label < right.label ? -1 : left.label > right.label ? 1 : 0;
}

/** One variant on one set of lists: what each of its features gets, or the most important one that fails. */
function examine(release, label, lists, there) {
  const best = [];
  let failed = null;
  let failedPlace = Infinity;
  for (const run of featuresOf(release.variants[label])) {
    const found = bestValue(release, run, lists, there);
    const place = release.namespaces.indexOf(run.ns);
    if (found) {
      best.push(found);
    } else if (failed === null || (place >= 0 && place < failedPlace)) {
      failed = run;
      failedPlace = place >= 0 ? place : Infinity;
    }
  }
  best.sort((left, right) => compareKeys(left.key, right.key));
  return {label, best, failed, isNull: release.null.includes(label)};
}

/** Whether what a variant needs depends on the versions of other packages. */
function needsVersions(release, label) {
  return release.variants[label].some(([ns]) => own(release.origins.any, ns) === "versions" || ns === "abi_dependency");
}

/**
 * {ranked: best first, rejected, undecided}. With several unlike GPUs a variant has to fit each of them, and the first one ranks.
 */
function rankVariants(release, machine) {
  const views = machine.views.length > 0 ? machine.views : [machine.lists];
  const ranking = {ranked: [], rejected: [], undecided: []};
  for (const label of Object.keys(release.variants).sort()) {
    if (needsVersions(release, label)) {
      ranking.undecided.push({label});
      continue;
    }
    const seen = views.map((lists) => examine(release, label, lists, machine.place));
    const against = seen.find((one) => one.failed);
    (against ? ranking.rejected : ranking.ranked).push(against || seen[0]);
  }
  ranking.ranked.sort(compareVariants);
  return ranking;
}
