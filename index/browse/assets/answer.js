// What is said of a choice.

const ordinal = (number) => {
  const ends = {1: "st", 2: "nd", 3: "rd"};
  const teen = number % 100 > 10 && number % 100 < 14;
  return `${number}${(!teen && ends[number % 10]) || "th"}`;
};

const propertyText = (run, value) => `${run.ns} :: ${run.feature} :: ${value}`;

/** Why a variant fits, in the order in which its properties count. */
function reasonsFor(variant) {
  return variant.best.map((one) => {
    const place = one.count > 1 ? `is supported, the ${ordinal(one.rank + 1)} of ${one.count} on this machine` : "is supported";
    return element("li", {children: [code(propertyText(one.run, one.value)), ` ${place}`]});
  });
}

function reasonAgainst(variant) {
  const {failed} = variant;
  if (failed.values.length === 1) return [code(propertyText(failed, failed.values[0])), " is not supported"];
  return [code(`${failed.ns} :: ${failed.feature}`), ": none of ", code(failed.values.join(", ")), " is supported"];
}

function variantName(label) {
  return label ? ["variant ", code(label)] : ["the wheel without a variant"];
}

function wheelLine(wheel) {
  const {link} = wheel;
  const name = link ? element("a", {href: link, text: wheel.filename}) : element("bdi", {text: wheel.filename});
  const children = [name, `, ${renderBytes(wheel.bytes)}`];
  if (wheel.yanked) children.push(element("strong", {class: "yanked", text: " Yanked"}));
  return children;
}

function list(kind, title, items) {
  if (items.length === 0) return [];
  return [element("h4", {text: title}), element(kind, {children: items})];
}

function leftOutText({leftOut}, pythonMinor) {
  const parts = [];
  if (leftOut.tags > 0) parts.push(`${counted(leftOut.tags, "wheel")} for other platforms or Pythons`);
  if (leftOut.python > 0) parts.push(`${counted(leftOut.python, "wheel")} that need another Python than 3.${pythonMinor}`);
  return parts.length > 0 ? [element("p", {class: "note", text: `Left out: ${parts.join(", ")}.`})] : [];
}

/** Of one release. */
function renderReasons(answer, machine, pythonMinor) {
  const {chosen, compatible, rejected, undecided, plain} = answer;
  const parts = [];
  if (chosen) {
    parts.push(element("p", {class: "chosen", children: [`${machine.name} gets `, ...variantName(chosen.label), ": ", ...wheelLine(chosen)]}));
  } else {
    parts.push(element("p", {class: "chosen none", text: `No wheel of this release is for ${machine.name}.`}));
  }
  if (answer.isUndescribed) {
    parts.push(element("p", {class: "note", text: "What its variants need is not on this page, so that none is considered: “variant resolve” says what a machine gets."}));
  }
  const best = compatible[0];
  if (best && best.best.length > 0) parts.push(...list("ol", "Why", reasonsFor(best)));
  if (best && best.best.length === 0) parts.push(element("p", {text: "No variant that needs something fits, and this one needs nothing."}));
  if (!best && chosen && rejected.length > 0) parts.push(element("p", {text: "No variant fits, and this wheel needs nothing."}));
  const others = compatible.slice(1).map((one) => element("li", {children: [...variantName(one.label), `, ${renderBytes(one.wheel.bytes)}`]}));
  if (plain && chosen !== plain) others.push(element("li", {children: [...variantName(""), `, ${renderBytes(plain.bytes)}`]}));
  parts.push(...list("ol", "Also fits, best first", others));
  parts.push(...list("ul", "Does not fit", rejected.map((one) => element("li", {children: [...variantName(one.label), ": ", ...reasonAgainst(one)]}))));
  parts.push(...list("ul", "Depends on the versions of other packages", undecided.map((one) => element("li", {children: variantName(one.label)}))));
  if (undecided.length > 0) parts.push(element("p", {class: "note", text: "“variant resolve” chooses among these, too, once the other versions are known."}));
  parts.push(...leftOutText(answer, pythonMinor));
  return parts;
}

/** In a few words, for the line of a release. */
function renderBrief({chosen}) {
  if (!chosen) return [element("span", {class: "brief none", text: "no wheel"})];
  return [element("span", {class: "brief", children: chosen.label ? [code(chosen.label)] : ["without a variant"]})];
}
