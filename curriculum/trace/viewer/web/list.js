// A list of any length: only the rows in view exist. All rows have one height.

import { make } from "./dom.js";

const ROW = 30; // px, as in style.css
const TALLEST = 8_000_000; // px; browsers lose precision not far above

export class WindowedList {
  /**
   * @param {HTMLElement} box scrolls; holds .spacer and .rows
   * @param {(row: HTMLElement, place: number) => void} draw fills a row
   * @param {(place: number) => void} pick a row was clicked
   */
  constructor(box, draw, pick) {
    this.box = box;
    this.spacer = box.querySelector(".spacer");
    this.rows = box.querySelector(".rows");
    this.draw = draw;
    this.count = 0;
    this.first = 0;
    box.addEventListener("scroll", () => this.render());
    new ResizeObserver(() => this.render()).observe(box);
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) pick(this.first + [...this.rows.children].indexOf(row));
    });
  }

  resize(count) {
    this.count = count;
    this.spacer.style.height = `${this.height()}px`;
    this.render();
  }

  height() {
    return Math.min(this.count * ROW, TALLEST);
  }

  /** How many real pixels one pixel of scrolling stands for; 1 for all but very long lists. */
  scale() {
    const room = this.height() - this.box.clientHeight;
    return room > 0 ? (this.count * ROW - this.box.clientHeight) / room : 1;
  }

  render() {
    const top = this.box.scrollTop * this.scale();
    this.first = Math.max(0, Math.floor(top / ROW));
    const fitting = Math.ceil(this.box.clientHeight / ROW) + 1;
    const shown = Math.max(0, Math.min(fitting, this.count - this.first));
    while (this.rows.children.length < shown) this.rows.append(make("div", "row"));
    while (this.rows.children.length > shown) this.rows.lastChild.remove();
    this.rows.style.transform = `translateY(${this.box.scrollTop - (top - this.first * ROW)}px)`;
    for (let i = 0; i < shown; i += 1) this.draw(this.rows.children[i], this.first + i);
  }

  /** Scroll so that a row is in view, a third from the top if it was out of it. */
  reveal(place) {
    const top = this.box.scrollTop * this.scale();
    const room = this.box.clientHeight;
    if (place * ROW < top || (place + 1) * ROW > top + room) {
      this.box.scrollTop = Math.max(0, place * ROW - room / 3) / this.scale();
    }
    this.render();
  }
}
