// What the model sees: the messages up to an event, the newest last.

import { button, make, prose } from "./dom.js";
import { count, say } from "./words.js";
import { upTo } from "./trace.js";

const STEP = 30; // messages shown at first, and more at each request
const LONGEST = 4000; // characters of one message
const MOST_ROLES = 12;

/** The role and the text of the message that an event adds. */
function messageOf({ type, payload }) {
  if (type === "user.message") return ["user", payload.content];
  if (type === "tool.result") return ["tool", `${payload.status}: ${payload.output}`];
  const calls = payload.tool_calls.map((call) => `→ ${call.name} ${call.arguments}`);
  return ["assistant", [payload.content, ...calls].filter(Boolean).join("\n")];
}

export class Messages {
  constructor(pane, trace, go) {
    this.trace = trace;
    this.go = go;
    this.box = pane.querySelector(".scroll");
    this.note = pane.querySelector(".note");
    this.most = STEP;
    this.drawn = "";
  }

  show(index) {
    const end = upTo(this.trace.messages, index);
    const key = `${document.documentElement.lang} ${end} ${this.most}`;
    this.tellRequest(index);
    if (key === this.drawn) return;
    this.drawn = key;
    const begin = Math.max(0, end - this.most);
    const parts = [];
    if (begin > 0) {
      const more = () => {
        this.most += STEP;
        this.show(index);
      };
      parts.push(button(say("earlier", { n: count(begin) }), more));
    }
    const places = this.trace.messages.slice(begin, end);
    parts.push(...places.map((place) => this.draw(place)));
    if (!places.length) parts.push(make("p", "quiet", say("noMessage")));
    this.box.replaceChildren(...parts);
    this.box.scrollTop = this.box.scrollHeight;
  }

  draw(place) {
    const [role, text] = messageOf(this.trace.read(place).event);
    const line = button(say("line", { line: count(place + 1) }), () => this.go(place), "link");
    const message = make("article", `message ${role}`, make("h4", "", say(role)), line);
    message.append(prose(text, LONGEST));
    const rest = text.length - LONGEST;
    if (rest > 0) message.append(make("p", "quiet", say("more", { n: count(rest) })));
    return message;
  }

  /** What the latest request showed: compaction may make it less than all messages. */
  tellRequest(index) {
    const place = this.trace.lastOf("model.request", index);
    const parts = [];
    const resumed = this.trace.count ? this.trace.read(0).event.payload.resumed_from : null;
    if (resumed) parts.push(say("resumed", { n: count(resumed.roles.length) }));
    if (place >= 0) {
      const { roles } = this.trace.read(place).event.payload;
      const named = roles.slice(-MOST_ROLES).map((role) => say(role));
      if (roles.length > MOST_ROLES) named.unshift("…");
      parts.push(say("request", { n: count(roles.length), roles: named.join(", ") }));
    }
    this.note.textContent = parts.join(" ");
  }
}
