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
  section.firstChild.append(` ${say("parted")}: ${say(divergence.turn ? "partedAt" : "partedBefore", where)} `);
  section.firstChild.append(button(say("toDivergence"), jump));
  const sides = divergence.chains.map((chain, i) => {
    const part = make("div", "", make("h2", "", "AB"[i]));
    const has = say(divergence.about === "event" ? "has" : "decidedOn");
    part.append(...(chain.length ? tell(chain, i, has, divergence.values[i], go) : [say("silent")]));
    return part;
  });
  section.append(make("div", "two", ...sides));
}

/** What one trace has there, and the events that led to it, the nearest first. */
function tell(chain, i, has, value, go) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const links = chain.map(({ index, label }) => {
    const line = button(say("line", { line: count(index + 1) }), () => go(i, index), "link");
    return make("li", "", line, " ", make("bdi", "", label));
  });
  return [make("p", "", `${has} `, prose(text, 300)), make("ol", "chain", ...links)];
}
