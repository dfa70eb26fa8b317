// The timeline of one trace: a lane for each actor, turns and troubles marked, and a playhead.

import { make } from "./dom.js";

const LANES = ["user", "model", "tool", "harness", "policy"];
const LANE = 6; // px
const HEIGHT = LANES.length * LANE;

export class Strip {
  constructor(trace, seek) {
    this.trace = trace;
    this.canvas = make("canvas");
    this.head = make("div", "head");
    this.mark = make("div", "mark");
    this.mark.hidden = true;
    this.element = make("div", "strip", this.canvas, this.mark, this.head);
    this.element.setAttribute("aria-hidden", "true");
    const toIndex = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      seek(Math.min(trace.count - 1, Math.max(0, Math.floor(share * trace.count))));
    };
    this.element.addEventListener("pointerdown", (event) => {
      if (!trace.count || event.button) return;
      this.element.setPointerCapture(event.pointerId);
      toIndex(event);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (this.element.hasPointerCapture(event.pointerId)) toIndex(event);
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Every event is one box in its actor's lane; many events share a pixel. */
  draw() {
    const { trace, canvas } = this;
    const width = Math.max(1, this.element.clientWidth);
    const sharp = window.devicePixelRatio || 1;
    canvas.width = width * sharp;
    canvas.height = HEIGHT * sharp;
    const brush = canvas.getContext("2d");
    brush.scale(sharp, sharp);
    const colours = LANES.map((name) => this.colour(name));
    const lanes = trace.actors.map((name) => LANES.indexOf(name));
    const step = width / Math.max(1, trace.count);
    const size = Math.max(1, step - (step > 4 ? 1 : 0));
    const drawn = new Uint8Array(LANES.length * (width + 1));
    const box = (index, top, height, colour) => {
      brush.fillStyle = colour;
      brush.fillRect(index * step, top, size, height);
    };
    for (let i = 0; i < trace.count; i += 1) {
      const lane = lanes[trace.actor[i]];
      const pixel = lane * (width + 1) + Math.floor(i * step);
      if (lane < 0 || (step < 1 && drawn[pixel])) continue;
      drawn[pixel] = 1;
      box(i, lane * LANE, LANE - 1, colours[lane]);
    }
    if (trace.turns.length < width / 3) {
      brush.fillStyle = this.colour("muted");
      for (const i of trace.turns) brush.fillRect(i * step, 0, 1, HEIGHT);
    }
    brush.fillStyle = this.colour("trouble");
    const thin = Math.min(size, 4);
    for (const i of trace.troubles) brush.fillRect(i * step + (size - thin) / 2, 0, thin, HEIGHT);
  }

  /** A colour of the style as the theme has it. */
  colour(name) {
    this.element.style.color = `var(--${name})`;
    return getComputedStyle(this.element).color;
  }

  show(index) {
    this.place(this.head, index);
  }

  /** Mark where this trace parts from the other. */
  part(index) {
    this.mark.hidden = false;
    this.place(this.mark, index);
  }

  place(element, index) {
    element.style.left = `${(100 * (index + 0.5)) / Math.max(1, this.trace.count)}%`;
  }
}
