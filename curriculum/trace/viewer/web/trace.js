// One trace: a few numbers for every event, and the lines in blocks that are parsed when shown.

export const TROUBLE = 1;
export const MESSAGE = 2;
export const TURN = 4;
const COLUMNS = ["type", "actor", "state", "flags", "parent", "call", "elapsed"];
const KEPT_BLOCKS = 12;

export class Trace {
  /** @param {{letter: string, name: string, torn: number}} about */
  constructor(about) {
    Object.assign(this, about);
    this.count = 0;
    this.types = [];
    this.actors = [];
    for (const name of COLUMNS) this[name] = [];
    /** Indexes of events, in order. */
    this.turns = [];
    this.troubles = [];
    this.messages = [];
    this.starts = [];
    this.readers = [];
    this.open = new Map();
  }

  /** The next block: its index, and how to get its lines. */
  add(index, read) {
    this.starts.push(this.count);
    this.readers.push(read);
    this.types = index.types;
    this.actors = index.actors;
    for (const name of COLUMNS) for (const value of index[name]) this[name].push(value);
    for (const flags of index.flags) {
      if (flags & TURN) this.turns.push(this.count);
      if (flags & TROUBLE) this.troubles.push(this.count);
      if (flags & MESSAGE) this.messages.push(this.count);
      this.count += 1;
    }
  }

  /** The lines of a block, as text; the few blocks used last are kept. */
  lines(block) {
    const kept = this.open.get(block) ?? this.readers[block]().split("\n");
    this.open.delete(block);
    this.open.set(block, kept);
    if (this.open.size > KEPT_BLOCKS) this.open.delete(this.open.keys().next().value);
    return kept;
  }

  /** One event: its label and itself. */
  read(index) {
    const block = upTo(this.starts, index) - 1;
    const [label, event] = JSON.parse(this.lines(block)[index - this.starts[block]]);
    return { label, event };
  }

  /** The number of the turn that an event is in, from 1; 0 before the first. */
  turn(index) {
    return upTo(this.turns, index);
  }

  /** The events of one call, in order. */
  ofCall(call) {
    const found = [];
    for (let i = this.call.indexOf(call); i >= 0; i = this.call.indexOf(call, i + 1)) found.push(i);
    return found;
  }

  /** The last event of a type up to an index; -1 if there is none. */
  lastOf(name, index) {
    const type = this.types.indexOf(name);
    return type < 0 ? -1 : this.type.lastIndexOf(type, index);
  }
}

/** How many of the sorted numbers are at most `value`. */
export function upTo(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first of the sorted numbers behind `value`, or the last before it; undefined if none. */
export function beside(sorted, value, step) {
  return step > 0 ? sorted[upTo(sorted, value)] : sorted[upTo(sorted, value - 1) - 1];
}
