// One event in full: who, why, what, and the call that it belongs to from request to result.

import { button, make, prose } from "./dom.js";
import { count, say } from "./words.js";

const STEPS = {
  "model.request": "requested",
  "tool.call": "proposed",
  "approval.request": "asked",
  "approval.decision": "decided",
  "tool.start": "started",
  "tool.output": "output",
  "tool.result": "ended",
  "outcome.acknowledge": "acknowledged",
};
const MOST_STEPS = 12;
const LONGEST = 20_000; // characters of one value

export class Detail {
  constructor(pane, trace, go) {
    this.trace = trace;
    this.go = go;
    this.box = pane.querySelector(".scroll");
  }

  show(index) {
    const { event } = this.trace.read(index);
    const cause = this.trace.parent[index];
    const head = make("p", "who");
    head.append(make("strong", "", event.type), " ");
    head.append(say("by", { actor: `${say(event.actor.kind)} ${event.actor.id}` }), " ");
    if (cause >= 0) {
      head.append(button(say("because", { line: count(cause + 1) }), () => this.go(cause), "link"));
    }
    const fields = make("dl", "payload");
    for (const [key, value] of Object.entries(event.payload)) {
      fields.append(make("dt", "", key), make("dd", "", shown(value)));
    }
    const whole = make("details", "", make("summary", "", say("whole")));
    const text = () => whole.append(make("pre", "", JSON.stringify(event, null, 2)));
    whole.addEventListener("toggle", text, { once: true });
    this.box.replaceChildren(head, ...this.followCall(index), fields, whole);
    this.box.scrollTop = 0;
  }

  /** The call's way: the request that it answers, its proposal, approval, start and result. */
  followCall(index) {
    const call = this.trace.call[index];
    if (call < 0) return [];
    const places = this.trace.ofCall(call);
    const request = this.trace.lastOf("model.request", places[0]);
    const way = make("ol", "call");
    way.setAttribute("aria-label", say("call"));
    const outputs = places.filter((place) => this.typeOf(place) === "tool.output").length;
    const steps = places.filter((p) => outputs < 3 || p === index || this.typeOf(p) !== "tool.output");
    if (request >= 0) steps.unshift(request);
    for (const place of steps.slice(0, MOST_STEPS)) way.append(this.step(place, index));
    return [way];
  }

  typeOf(index) {
    return this.trace.types[this.trace.type[index]];
  }

  step(place, index) {
    const { payload, type } = this.trace.read(place).event;
    const outcome = payload.decision ?? (type === "tool.result" ? payload.status : "");
    const time = `${(this.trace.elapsed[place] / 1e6).toFixed(3)} s`;
    const step = button("", () => this.go(place));
    step.append(make("b", "", say(STEPS[type] ?? type)), " ", outcome, make("small", "", time));
    if (place === index) step.setAttribute("aria-current", "step");
    return make("li", this.trace.flags[place] & 1 ? "trouble" : "", step);
  }
}

/** A value as text; a very long one is cut, and says so (the whole event has all of it). */
function shown(value) {
  const isText = typeof value === "string";
  if (!isText && (typeof value !== "object" || value === null)) return String(value);
  const text = isText ? value : JSON.stringify(value, null, 1);
  const box = isText ? prose(text, LONGEST) : make("pre", "", text.slice(0, LONGEST));
  const rest = text.length - LONGEST;
  return rest > 0 ? make("div", "", box, make("p", "quiet", say("more", { n: count(rest) }))) : box;
}
