// Compatibility tags (PEP 425, 600, 656), in the order of packaging.tags.sys_tags.

const architecturesWithManylinux = ["x86_64", "aarch64", "ppc64", "ppc64le", "s390x", "i686", "loongarch64", "riscv64", "armv7l", "armv8l"];
const legacyManylinux = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"};
const highestMinor = 255;

const windowsPlatforms = {x86_64: "win_amd64", aarch64: "win_arm64", i686: "win32"};

/** packaging.tags.mac_platforms of `version`, [15, 3]: since 11 the major version alone counts. */
function macPlatforms([major, minor], arch) {
  const formats = {x86_64: ["x86_64", "intel", "fat64", "fat3", "universal2", "universal"], aarch64: ["arm64", "universal2"]}[arch] || [];
  const named = (ten, of) => of.map((format) => `macosx_${ten}_${format}`);
  const platforms = [];
  if (major === 10) {
    for (let one = Math.min(minor, highestMinor); one >= 4; --one) platforms.push(...named(`10_${one}`, formats));
  }
  for (let one = Math.min(major, highestMinor); one >= 11; --one) platforms.push(...named(`${one}_0`, formats));
  for (let one = major >= 11 ? 16 : 0; one >= 4; --one) platforms.push(...named(`10_${one}`, arch === "x86_64" ? formats : ["universal2"]));
  return platforms;
}

/** The platforms of a machine, best first. */
function platformsOf(machine) {
  if (machine.system === "Windows") return windowsPlatforms[machine.arch] ? [windowsPlatforms[machine.arch]] : [];
  if (machine.system === "Darwin") return machine.macos ? macPlatforms(machine.macos, machine.arch) : [];
  const architectures = machine.arch === "armv8l" ? ["armv8l", "armv7l"] : [machine.arch];
  const platforms = architectures.map((arch) => `linux_${arch}`);
  const [family, major, minor] = machine.libc;
  for (const arch of architectures) {
    if (family === "glibc" && major === 2 && architecturesWithManylinux.includes(arch)) {
      const oldest = arch === "x86_64" || arch === "i686" ? 5 : 17;
      for (let one = Math.min(minor, highestMinor); one >= oldest; --one) {
        platforms.push(`manylinux_2_${one}_${arch}`);
        if (legacyManylinux[one]) platforms.push(`${legacyManylinux[one]}_${arch}`);
      }
    }
    if (family === "musl") {
      for (let one = Math.min(minor, highestMinor); one >= 0; --one) platforms.push(`musllinux_${major}_${one}_${arch}`);
    }
  }
  return platforms;
}

/** The place of each tag that CPython 3.`minor` on `machine` accepts, the best being 0. */
function supportedTags(minor, machine) {
  const places = new Map();
  const platforms = platformsOf(machine);
  const add = (python, abi, platform) => {
    const tag = `${python}-${abi}-${platform}`;
    if (!places.has(tag)) places.set(tag, places.size);
  };
  const addAll = (python, abi) => platforms.forEach((platform) => add(python, abi, platform));
  const own = `cp3${minor}`;
  addAll(own, own);
  addAll(own, "abi3");
  addAll(own, "none");
  for (let older = minor - 1; older >= 2; --older) addAll(`cp3${older}`, "abi3");
  const pure = [`py3${minor}`, "py3"];
  for (let older = minor - 1; older >= 0; --older) pure.push(`py3${older}`);
  pure.forEach((python) => addAll(python, "none"));
  add(own, "none", "any");
  pure.forEach((python) => add(python, "none", "any"));
  return places;
}

/** A wheel's name, whose label is known: its tags, and its build number as a pair. */
function parseWheelName(filename, label) {
  let stem = filename.replace(/\.whl$/i, "");
  if (label) stem = stem.slice(0, -label.length - 1);
  const parts = stem.split("-");
  const [pythons, abis, platforms] = parts.slice(-3).map((set) => set.toLowerCase().split("."));
  const build = parts.length === 6 ? /^(\d+)(.*)$/.exec(parts[2]) : null;
  return {pythons: pythons || [], abis: abis || [], platforms: platforms || [], build: build ? [BigInt(build[1]), build[2]] : null};
}

/** The best place of a wheel's tags; Infinity: none is supported. */
function bestTag(name, supported) {
  let best = Infinity;
  for (const python of name.pythons)
    for (const abi of name.abis)
      for (const platform of name.platforms) best = Math.min(best, supported.get(`${python}-${abi}-${platform}`) ?? Infinity);
  return best;
}
