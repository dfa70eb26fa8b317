// Where events come from: the data elements of the page, or the server that follows a file.

import { byId } from "./dom.js";
import { Trace } from "./trace.js";

/** What the page shows, as Python wrote it. */
export function readAbout() {
  return JSON.parse(byId("about").textContent);
}

/** The traces in this page. A block's text stays in its element until it is shown. */
export function readTraces(about) {
  return about.traces.map((one) => {
    const trace = new Trace(one);
    const indexes = document.querySelectorAll(`script[data-${one.letter}-index]`);
    const lines = document.querySelectorAll(`script[data-${one.letter}-lines]`);
    indexes.forEach((element, place) => {
      trace.add(JSON.parse(element.textContent), () => lines[place].textContent);
    });
    return trace;
  });
}

/** Follow a growing file. Tells of every block, of trouble with the file, and of the connection. */
export function follow(address, trace, tell) {
  const stream = new EventSource(address);
  stream.addEventListener("block", (message) => {
    const { index, lines } = JSON.parse(message.data);
    trace.add(index, () => lines);
    tell.grown();
  });
  stream.addEventListener("fault", (message) => {
    stream.close();
    tell.said(JSON.parse(message.data));
  });
  stream.addEventListener("open", () => tell.said(""));
  stream.addEventListener("error", () => tell.lost());
}
