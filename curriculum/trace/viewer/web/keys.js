// Keys and the deeds that they stand for. A control that has its own use for a key keeps it.

import { make } from "./dom.js";
import { say } from "./words.js";

const DEEDS = {
  " ": "play",
  ArrowRight: "next",
  ArrowLeft: "back",
  Home: "first",
  End: "last",
  n: "nextTurn",
  p: "turnBefore",
  e: "nextError",
  E: "errorBefore",
  d: "divergence",
  "/": "search",
  "?": "help",
  "+": "faster",
  "=": "faster",
  "-": "slower",
};
const HELP = [
  ["space", "keyPlay"],
  ["→ ←", "keyStep"],
  ["↓ ↑", "keyList"],
  ["Home End", "keyEnds"],
  ["n p", "keyTurns"],
  ["e E", "keyErrors"],
  ["/", "keySearch"],
  ["+ -", "keySpeed"],
  ["d", "keyDivergence"],
  ["?", "keyHelp"],
];
const OWN = {
  button: [" "],
  summary: [" "],
  range: ["ArrowRight", "ArrowLeft", "Home", "End"],
  checkbox: [" "],
};

/** Calls `act(deed)` for every key that means one. */
export function listen(act) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const { target } = event;
    if (target instanceof HTMLSelectElement || target.type === "search") return;
    const kind = target.type ?? target.tagName?.toLowerCase();
    if (OWN[kind]?.includes(event.key)) return;
    if (!Object.hasOwn(DEEDS, event.key)) return;
    event.preventDefault();
    act(DEEDS[event.key]);
  });
}

/** Fills the list of keys. */
export function explain(list) {
  const parts = HELP.flatMap(([keys, what]) => [make("dt", "", keys), make("dd", "", say(what))]);
  list.replaceChildren(...parts);
}
