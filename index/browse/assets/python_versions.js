// Requires-Python (PEP 440), for final versions of Python.

const clause = /^(~=|===|==|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*)?$/i;

function compareReleases(left, right) {
  for (let i = 0; i < Math.max(left.length, right.length); ++i) {
    const order = (left[i] || 0) - (right[i] || 0);
    if (order !== 0) return order;
  }
  return 0;
}

function startsWith(version, start) {
  return start.every((number, i) => (version[i] || 0) === number);
}

/** Whether `version`, numbers, is in the set; null for one that is not understood here. */
function pythonFits(text, version) {
  let fits = true;
  for (const part of text.split(",")) {
    if (part.trim() === "") continue;
    const found = clause.exec(part.trim());
    if (!found) return null;
    const [, operator, digits, star] = found;
    const release = digits.split(".").map(Number);
    const order = compareReleases(version, release);
    if (star && operator !== "==" && operator !== "!=") return null;
    if (operator === "~=" && release.length < 2) return null;
    const holds = {
      "==": () => (star ? startsWith(version, release) : order === 0),
      "!=": () => (star ? !startsWith(version, release) : order !== 0),
      "===": () => version.join(".") === digits,
      "<=": () => order <= 0,
      ">=": () => order >= 0,
      "<": () => order < 0,
      ">": () => order > 0,
      "~=": () => order >= 0 && startsWith(version, release.slice(0, -1)),
    }[operator]();
    fits = fits && holds;
  }
  return fits;
}
