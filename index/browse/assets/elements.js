// Elements of a page. Text is only ever set as text, never read as HTML.

function element(name, {text, children = [], ...attributes} = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

const code = (text) => element("code", {text});

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** As the pages write sizes: powers of ten, three digits. */
function renderBytes(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB", "PB", "EB"];
  let value = bytes / 1000;
  let unit = 0;
  const rounded = () => Number(value.toPrecision(3));
  while (rounded() >= 1000 && unit + 1 < units.length) {
    value /= 1000;
    ++unit;
  }
  const digits = rounded() >= 100 ? 0 : rounded() >= 10 ? 1 : 2;
  return `${rounded().toFixed(digits)} ${units[unit]}`;
}

/** A command that can be copied, where the browser lets pages copy. */
function command(text) {
  const shown = element("p", {class: "command", children: [code(text)]});
  addCopyButton(shown);
  return shown;
}

function addCopyButton(shown) {
  if (!navigator.clipboard) return;
  const button = element("button", {type: "button", class: "copy", text: "Copy", "aria-label": "Copy the command"});
  const say = (word) => {
    button.textContent = word;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(shown.querySelector("code").textContent).then(() => say("Copied"), () => say("No access"));
  });
  shown.append(button);
}

/** A word for a shell. */
function shellWord(word) {
  return /^[-+._=/:@%,A-Za-z0-9]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Remembered for the other pages of the index; some browsers allow it to none. */
const remembered = {
  read(key) {
    try {
      return localStorage.getItem(`variant-index-${key}`);
    } catch {
      return null;
    }
  },
  write(key, value) {
    try {
      localStorage.setItem(`variant-index-${key}`, value);
    } catch {
      // A choice that is forgotten is made again.
    }
  },
};
