// A position that moves by itself while it plays; pauses follow the trace, within bounds.

const SHORTEST_MS = 120; // so that events of one millisecond can be seen one by one
const LONGEST_MS = 1000;

export class Player {
  /** @param {() => number} count @param {(position: number) => number} elapsed µs @param {() => void} changed */
  constructor(count, elapsed, changed) {
    Object.assign(this, { count, elapsed, changed, position: 0, speed: 1, timer: 0 });
  }

  get isPlaying() {
    return this.timer !== 0;
  }

  go(position) {
    this.stop();
    this.position = Math.min(Math.max(0, position), Math.max(0, this.count() - 1));
    this.changed();
  }

  toggle() {
    if (this.isPlaying) {
      this.stop();
    } else {
      if (this.position >= this.count() - 1) this.position = 0;
      this.schedule();
    }
    this.changed();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  schedule() {
    const here = this.elapsed(this.position);
    const pause = (this.elapsed(this.position + 1) - here) / 1000;
    const bounded = Math.min(Math.max(pause || 0, SHORTEST_MS), LONGEST_MS) / this.speed;
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.position = Math.min(this.position + 1, Math.max(0, this.count() - 1));
      if (this.position < this.count() - 1) this.schedule();
      this.changed();
    }, bounded);
  }
}
