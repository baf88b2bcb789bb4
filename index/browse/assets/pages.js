// The pages themselves: without a script they are whole, with it they answer.

const root = new URL(document.body.dataset.root || "./", location.href);
const project = document.body.dataset.project;
const oldestPython = 9;
const newestPython = 15;
const usualPython = 12;

/** Commands name the address from which the page came. */
function nameTheIndex() {
  const address = shellWord(new URL("simple/", root).href);
  for (const place of document.querySelectorAll(".index")) place.textContent = address;
  const note = document.getElementById("index-note");
  if (note) note.hidden = true;
  document.querySelectorAll(".command").forEach(addCopyButton);
  return address;
}

function wheelsOf(release) {
  const rows = [];
  for (const group of release.querySelectorAll("tbody")) {
    for (const row of group.querySelectorAll("tr")) {
      const size = row.querySelector("[data-bytes]");
      if (!size) continue;
      const [name, python] = row.children;
      const link = name.querySelector("a");
      const filename = (link || name.firstChild).textContent;
      rows.push({row, filename, link: link && link.href, label: group.dataset.label, bytes: Number(size.dataset.bytes), python: python.textContent, yanked: "yanked" in row.dataset});
    }
  }
  return rows;
}

class Chooser {
  constructor(told, address) {
    this.told = told;
    this.address = address;
    this.described = JSON.parse(document.getElementById("variants").textContent);
    this.machine = document.getElementById("machine");
    this.python = document.getElementById("python");
    this.facts = document.getElementById("facts");
    this.answer = document.getElementById("answer");
    this.pasted = null;
    this.releases = [...document.querySelectorAll("details.release")].map((shown) => ({shown, version: shown.dataset.version, wheels: wheelsOf(shown)}));
  }

  start() {
    this.fillFields();
    document.getElementById("choose").hidden = false;
    this.machine.addEventListener("change", () => this.choose());
    this.python.addEventListener("change", () => this.choose());
    document.getElementById("chooser").addEventListener("submit", (event) => {
      event.preventDefault();
      this.paste();
    });
    const wanted = new URLSearchParams(location.hash.slice(1)).get("machine") || remembered.read("machine");
    if (wanted && this.told.machines.some((one) => one.name === wanted)) this.machine.value = wanted;
    this.choose();
  }

  fillFields() {
    const groups = {machine: element("optgroup", {label: "Machines"}), gpu: element("optgroup", {label: "GPUs, in a usual Linux machine"})};
    for (const one of this.told.machines) {
      const about = one.about && one.about !== one.name ? `: ${one.about}` : "";
      groups[one.kind].append(element("option", {value: one.name, text: one.name + about}));
    }
    this.machine.append(groups.machine, groups.gpu);
    for (let minor = oldestPython; minor <= newestPython; ++minor) this.python.append(element("option", {value: String(minor), text: `3.${minor}`}));
    const wanted = Number(remembered.read("python"));
    this.python.value = String(wanted >= oldestPython && wanted <= newestPython ? wanted : usualPython);
  }

  paste() {
    const error = document.getElementById("facts-error");
    try {
      this.pasted = parsePasted(this.facts.value);
    } catch (problem) {
      error.textContent = problem.message;
      this.facts.setAttribute("aria-invalid", "true");
      this.facts.focus();
      return;
    }
    error.textContent = "";
    this.facts.removeAttribute("aria-invalid");
    if (!this.machine.querySelector("[value=pasted]")) this.machine.options[0].after(element("option", {value: "pasted", text: "The pasted machine"}));
    this.machine.value = "pasted";
    this.choose();
  }

  choose() {
    const name = this.machine.value;
    const machine = name === "pasted" ? this.pasted.machine : knownMachine(this.told, name);
    const minor = Number(this.python.value);
    remembered.write("python", String(minor));
    if (name !== "pasted") {
      remembered.write("machine", name);
      history.replaceState(null, "", name ? `#machine=${encodeURIComponent(name)}` : location.pathname + location.search);
    }
    for (const release of this.releases) this.answerFor(release, machine, minor);
    this.answer.replaceChildren(...(machine ? this.renderAnswer(machine, minor) : []));
  }

  answerFor(release, machine, minor) {
    release.shown.querySelectorAll(".brief, .reasons, .badge").forEach((old) => old.remove());
    release.wheels.forEach((wheel) => wheel.row.classList.remove("chosen"));
    release.answer = null;
    if (!machine) return;
    release.answer = chooseWheel(own(this.described, release.version), release.wheels, machine, minor);
    const {chosen} = release.answer;
    if (chosen) {
      chosen.row.classList.add("chosen");
      chosen.row.firstElementChild.prepend(element("span", {class: "badge", text: "Chosen"}));
    }
    release.shown.querySelector("summary").append(...renderBrief(release.answer));
    const reasons = element("div", {class: "reasons", children: renderReasons(release.answer, machine, minor)});
    release.shown.querySelector("summary").after(reasons);
  }

  /** The newest release that an installer takes without being told which. */
  renderAnswer(machine, minor) {
    const usable = this.releases.filter(({answer}) => answer.chosen && !answer.chosen.yanked);
    const newest = usable.find(({shown}) => !("prerelease" in shown.dataset)) || usable[0];
    if (!newest) return [element("p", {class: "headline", text: `No release has a wheel for ${machine.name} with Python 3.${minor}.`})];
    const {chosen, compatible} = newest.answer;
    const parts = [element("p", {class: "headline", children: [
      element("strong", {text: machine.name}), " gets ", ...variantName(chosen.label), ` of ${newest.version}: `, ...wheelLine(chosen),
    ]})];
    const first = compatible[0] && compatible[0].best[0];
    if (first) parts.push(element("p", {children: [code(propertyText(first.run, first.value)), " is supported and ranks first."]}));
    if (machine === (this.pasted && this.pasted.machine) && this.pasted.manyGpus) {
      parts.push(element("p", {class: "note", text: "It has several GPUs that are not alike, and what is pasted has one list for all of them: “variant resolve” there looks at each."}));
    }
    parts.push(element("p", {text: "On that machine:"}), command(`variant install ${shellWord(`${project}==${newest.version}`)} --index-url ${this.address}`));
    parts.push(element("p", {class: "note", text: "Each release below says what it has for this machine, and why."}));
    return parts;
  }
}

/** A list of projects: what is typed leaves those that have it; Enter goes to the one of that name. */
function startFinding(form) {
  const field = document.getElementById("name");
  const found = document.getElementById("found");
  const isContents = document.querySelector("ul.groups") !== null;
  const items = [...document.querySelectorAll("ul.projects li")];
  form.hidden = false;
  const normalized = () => field.value.trim().toLowerCase().replace(/[-_.]+/g, "-");
  field.addEventListener("input", () => {
    const wanted = normalized();
    let count = 0;
    for (const item of items) {
      const {beginning} = item.dataset;
      const shown = isContents ? beginning.startsWith(wanted.slice(0, beginning.length)) : item.querySelector("a").textContent.includes(wanted);
      item.hidden = !shown;
      if (shown) ++count;
    }
    found.textContent = wanted === "" ? "" : isContents ? "Press Enter to go to the project." : counted(count, "project");
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = normalized();
    const left = items.filter((item) => !item.hidden);
    const exact = left.find((item) => item.querySelector("a").textContent === wanted);
    const target = exact || (left.length === 1 ? left[0] : null);
    if (isContents && /^[a-z0-9-]+$/.test(wanted)) {
      location.assign(new URL(`simple/${wanted}/page.html`, root));
    } else if (target) {
      location.assign(target.querySelector("a").href);
    }
  });
}

const address = nameTheIndex();
const finding = document.getElementById("find");
if (finding) startFinding(finding);
if (document.getElementById("choose") && globalThis.variantMachines) new Chooser(globalThis.variantMachines, address).start();
