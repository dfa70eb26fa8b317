// One trace on the page: its messages, its events as a list, and the event in full.

import { byId, make } from "./dom.js";
import { Detail } from "./detail.js";
import { WindowedList } from "./list.js";
import { Messages } from "./messages.js";
import { TROUBLE, TURN, upTo } from "./trace.js";
import { count, relabel, say } from "./words.js";

export class Side {
  /** @param {(index: number) => void} go an event of this trace was chosen */
  constructor(trace, go, isOneOfTwo) {
    this.isOneOfTwo = isOneOfTwo;
    this.trace = trace;
    this.element = byId("side").content.firstElementChild.cloneNode(true);
    this.index = -1;
    this.parted = -1;
    /** Indexes that are listed, or null for all. */
    this.shown = null;
    const find = (kind) => this.element.querySelector(kind);
    this.messages = new Messages(find(".messages"), trace, go);
    this.detail = new Detail(find(".detail"), trace, go);
    this.box = find(".list");
    const draw = (row, place) => this.drawRow(row, this.at(place));
    this.list = new WindowedList(this.box, draw, (place) => go(this.at(place)));
    this.title();
  }

  title() {
    const { name, torn } = this.trace;
    const letter = this.isOneOfTwo ? `${this.trace.letter.toUpperCase()} ` : "";
    const rest = torn ? ` — ${say("torn", { n: count(torn) })}` : "";
    this.element.querySelector("h2").replaceChildren(letter, make("bdi", "", name), rest);
    relabel(this.element);
  }

  /** The index of the event in one row. */
  at(place) {
    return this.shown ? this.shown[place] : place;
  }

  drawRow(row, index) {
    const { trace } = this;
    const { label } = trace.read(index);
    const type = trace.types[trace.type[index]];
    const actor = trace.actors[trace.actor[index]];
    const rest = label.startsWith(type) ? label.slice(type.length) : ` ${label}`;
    const told = make("bdi", "", rest);
    told.dir = "ltr"; // our own words stand first, whatever comes behind them
    const words = make("span", "words", make("b", "", type), told);
    const who = make("span", `actor ${actor}`, say(actor));
    const time = make("span", "time", (trace.elapsed[index] / 1e6).toFixed(3));
    row.replaceChildren(make("span", "line", count(index + 1)), time, who, words);
    if (index === this.parted) row.append(make("span", "badge", say("parted")));
    const flags = trace.flags[index];
    row.className = "row";
    row.classList.toggle("trouble", Boolean(flags & TROUBLE));
    row.classList.toggle("turn", Boolean(flags & TURN));
    row.classList.toggle("parted", index === this.parted);
    row.classList.toggle("same-call", this.index >= 0 && trace.call[index] >= 0 && trace.call[index] === trace.call[this.index]);
    row.id = `event-${trace.letter}-${index}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(index === this.index));
    row.setAttribute("aria-setsize", String(this.list.count));
    row.setAttribute("aria-posinset", String(this.placeOf(index) + 1));
  }

  /** The row of an event; of the last listed before it, if it is not listed. */
  placeOf(index) {
    return this.shown ? upTo(this.shown, index) - 1 : index;
  }

  /** List only some events (null: all). */
  narrow(shown) {
    this.shown = shown;
    this.list.resize(shown ? shown.length : this.trace.count);
    if (this.index >= 0) this.list.reveal(Math.max(0, this.placeOf(this.index)));
  }

  show(index) {
    this.index = index;
    if (index < 0) return;
    const hadFocus = this.element.contains(document.activeElement);
    this.list.reveal(Math.max(0, this.placeOf(index)));
    this.box.setAttribute("aria-activedescendant", `event-${this.trace.letter}-${index}`);
    this.messages.show(index);
    this.detail.show(index);
    // The button that was pressed may be gone now; the keyboard goes on from the list.
    if (hadFocus && !this.element.contains(document.activeElement)) {
      this.box.focus({ preventScroll: true });
    }
  }
}
