// The loop's state machine: the current state is lit, and said in words.

import { say } from "./words.js";

export const STATES = [
  "idle", "asking", "streaming", "answered", "approving", "acting", "waiting", "failed", "stopped",
];

/** @param {HTMLElement} figure @param {(number|undefined)[]} lit of each trace, its state */
export function showStates(figure, lit) {
  for (const node of figure.querySelectorAll(".state")) {
    const name = node.dataset.state;
    node.querySelector("text").textContent = say(name);
    lit.forEach((state, place) => node.classList.toggle("ab"[place], STATES[state] === name));
  }
  const named = lit.map((state) => say(STATES[state] ?? "nothing"));
  const two = named.map((state, place) => say("stateOf", { letter: "AB"[place], state }));
  const said = named.length > 1 ? two.join(" · ") : say("state", { state: named[0] });
  figure.querySelector("figcaption").textContent = said;
}
