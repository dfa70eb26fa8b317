// How alike two traces are, and where and why they first part.

import { button, make, prose } from "./dom.js";
import { count, say } from "./words.js";

/** @param {(i: number, index: number) => void} go an event of one of the traces was chosen */
export function showComparison(section, comparison, go) {
  const { verdict, divergence } = comparison;
  const said = say(`verdict${verdict[0].toUpperCase()}${verdict.slice(1)}`);
  section.hidden = false;
  section.replaceChildren(make("p", `verdict ${verdict}`, make("strong", "", said)));
  if (!divergence) return;
  const where = {
    turn: count(divergence.turn),
    about: say(divergence.about === "event" ? "aboutEvent" : "aboutDecision"),
    pointer: divergence.pointer ? ` (${divergence.pointer})` : "",
  };
  const first = divergence.chains[0].length ? 0 : 1;
  const jump = () => go(first, divergence.chains[first][0].index);
  section.firstChild.append(` ${say("parted")}: ${say("partedAt", where)} `);
  section.firstChild.append(button(say("toDivergence"), jump));
  const sides = divergence.chains.map((chain, i) => tell(chain, i, divergence.values[i], go));
  section.append(make("div", "two", ...sides));
}

function tell(chain, i, value, go) {
  const part = make("div", "", make("h2", "", "AB"[i]));
  if (!chain.length) {
    part.append(make("p", "", say("silent")));
    return part;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  part.append(make("p", "", `${say("has")} `, prose(text, 300)));
  const links = chain.map(({ index, label }) => {
    const line = button(say("line", { line: count(index + 1) }), () => go(i, index), "link");
    return make("li", "", line, " ", make("bdi", "", label));
  });
  part.append(make("ol", "chain", ...links));
  return part;
}
