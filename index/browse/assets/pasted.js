// Machines: those that the index knows, and one that is pasted. What is pasted may be anything.

const longestPasted = 4 << 20;

/** For choosing: its lists by namespace, or those of each of several unlike GPUs. */
function asMachine({name, about, arch, system, libc, macos, lists, views}) {
  const tags = new Map();
  return {
    name, about, arch, system, libc, macos, lists, views,
    place: system === "Linux" ? arch : `${system} ${arch}`,  // as release.origins names it
    tagsOf(minor) {
      if (!tags.has(minor)) tags.set(minor, supportedTags(minor, this));
      return tags.get(minor);
    },
  };
}

/** `told`: what machines.js has. */
function knownMachine(told, name) {
  const found = told.machines.find((one) => one.name === name);
  if (!found) return null;
  const listsOf = (numbers) => Object.fromEntries(Object.entries(numbers).map(([ns, number]) => [ns, told.lists[number]]));
  return asMachine({...found, lists: listsOf(found.lists), views: (found.views || []).map(listsOf)});
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value) {
  return typeof value === "string" && value !== "";
}

/** {ns: {feature: [value, …]}} as lists; throws what is wrong with it. */
function parseProperties(properties) {
  if (!isObject(properties)) throw new Error("“properties” is not an object.");
  const lists = Object.create(null);
  for (const [ns, features] of Object.entries(properties)) {
    if (!isObject(features)) throw new Error(`“properties.${ns}” is not an object.`);
    lists[ns] = Object.entries(features).map(([feature, values]) => {
      if (!Array.isArray(values) || !values.every(isText)) throw new Error(`“properties.${ns}.${feature}” is not a list of names.`);
      return [feature, values];
    });
  }
  return lists;
}

/** The machine that `variant detect --properties --json` describes. Throws an Error with a message for the reader. */
function parsePasted(text) {
  const again = "Paste the whole output of “variant detect --properties --json”.";
  if (text.trim() === "") throw new Error(`There is nothing to read. ${again}`);
  if (text.length > longestPasted) throw new Error(`This is longer than any machine’s description. ${again}`);
  let told;
  try {
    told = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error.message}. ${again}`);
  }
  if (!isObject(told)) throw new Error(`This is JSON, but not what “variant detect” writes. ${again}`);
  if (!("properties" in told)) {
    const known = isObject(told.cpu);
    throw new Error(known ? `This describes a machine, but not which properties it supports: add --properties. ${again}` : `It has no “properties”. ${again}`);
  }
  const lists = parseProperties(told.properties);
  const {cpu, libc, os} = told;
  if (!isObject(cpu) || !isText(cpu.arch)) throw new Error(`“cpu.arch” is missing: the architecture decides which wheels fit. ${again}`);
  const system = isObject(os) && ["Darwin", "Windows"].includes(os.system) ? os.system : "Linux";
  if (system === "Linux" && (!isObject(libc) || !isText(libc.family))) throw new Error(`“libc” is missing: the C library decides which wheels fit. ${again}`);
  const number = (value) => (Number.isSafeInteger(value) && value >= 0 ? value : 0);
  const version = (text) => text.split(".").map((part) => number(Number(part)));
  const {family, version: ofLibc, major, minor} = system === "Linux" ? libc : {};
  const [first, second] = isText(ofLibc) ? version(ofLibc) : [number(major), number(minor)];
  const macos = system === "Darwin" && isText(os.name) ? /^macOS (\d+(?:\.\d+)*)$/.exec(os.name) : null;
  if (system === "Darwin" && !macos) throw new Error(`“os.name” is not a version of macOS: it decides which wheels fit. ${again}`);
  return {
    machine: asMachine({
      name: "the pasted machine", about: "", arch: cpu.arch === "other" && isText(cpu.machine) ? cpu.machine : cpu.arch,
      system, libc: [family || "", number(first), number(second)], macos: macos && version(macos[1]), lists, views: [],
    }),
    manyGpus: isText(told.gpu_policy),
  };
}
