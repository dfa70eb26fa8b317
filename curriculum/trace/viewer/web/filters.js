// The boxes that choose types and actors. None ticked means all.

import { make } from "./dom.js";
import { say } from "./words.js";

/** Adds a box for each name that has none yet; keeps what is ticked. */
export function offer(box, names, changed) {
  const known = new Set([...box.querySelectorAll("input")].map((input) => input.value));
  for (const name of names) {
    if (known.has(name)) continue;
    known.add(name);
    const input = make("input");
    input.type = "checkbox";
    input.value = name;
    input.addEventListener("change", changed);
    box.append(make("label", "", input, " ", make("bdi", "", say(name))));
  }
}

/** The words again, in the language of now. */
export function rename(box) {
  for (const label of box.children) label.lastChild.textContent = say(label.firstChild.value);
}

/** The names that are ticked. */
export function ticked(box) {
  return new Set([...box.querySelectorAll("input:checked")].map((input) => input.value));
}

/** Ticks none. */
export function untick(box) {
  for (const input of box.querySelectorAll("input:checked")) input.checked = false;
}
