// Two traces on one axis: the same index until they part, and from there side by side.

export class Alignment {
  /** @param {Trace[]} traces one or two @param {object|null} parted the first divergence */
  constructor(traces, parted) {
    this.traces = traces;
    this.parts = parted && traces.map((trace, i) => parted.chains[i][0]?.index ?? trace.count);
  }

  /** How many positions there are. */
  get count() {
    return Math.max(...this.traces.map((trace, i) => this.position(i, trace.count)));
  }

  /** The event of a trace at a position; its last one when it has ended, -1 for none at all. */
  index(i, position) {
    const [here, there] = this.ends(i);
    const index = position < here ? Math.min(position, there - 1) : position - here + there;
    return Math.min(Math.max(index, 0), this.traces[i].count - 1);
  }

  /** The position of an event. */
  position(i, index) {
    const [here, there] = this.ends(i);
    return index < there ? index : index - there + here;
  }

  ends(i) {
    return this.parts ? [this.parts[0], this.parts[i]] : [0, 0];
  }
}
