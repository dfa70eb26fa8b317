// The only ways in which this page makes elements. Text is always a text node, never markup.

/** @param {string} tag @param {string} [kind] class names @param {...(Node|string)} inside */
export function make(tag, kind, ...inside) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...inside);
  return element;
}

/** A button that does one thing. */
export function button(label, act, kind = "") {
  const element = make("button", kind, label);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

/** Text that keeps its direction to itself, with its line breaks. */
export function prose(text, most = 4000) {
  const element = make("bdi", "prose", text.slice(0, most));
  element.dir = "auto";
  return element;
}

/** @returns {HTMLElement} */
export function byId(id) {
  return document.getElementById(id);
}
