// The page as a whole: everything shows one position, and everything can move it.

import { noteAddress, readAddress } from "./address.js";
import { Alignment } from "./alignment.js";
import { showComparison } from "./comparison.js";
import { byId } from "./dom.js";
import { offer, rename, ticked, untick } from "./filters.js";
import { find } from "./finder.js";
import { explain, listen } from "./keys.js";
import { showStates } from "./machine.js";
import { Player } from "./player.js";
import { Side } from "./side.js";
import { follow, readAbout, readTraces } from "./source.js";
import { Strip } from "./strip.js";
import { beside } from "./trace.js";
import { count, relabel, say, speak } from "./words.js";

const about = readAbout();
const traces = readTraces(about);
const axis = new Alignment(traces, about.comparison?.divergence ?? null);
const scrubber = byId("scrubber");
const query = byId("query");
const chosen = { lang: "", theme: "" };

const elapsed = (position) => traces[0].elapsed[axis.index(0, position)] ?? 0;
const player = new Player(() => axis.count, elapsed, show);
const goTo = (i) => (index) => player.go(axis.position(i, index));
const sides = traces.map((trace, i) => new Side(trace, goTo(i), traces.length > 1));
const strips = traces.map((trace, i) => new Strip(trace, goTo(i)));

// region: show
function show() {
  const { position } = player;
  const places = traces.map((_, i) => axis.index(i, position));
  places.forEach((index, i) => {
    if (index !== sides[i].index) sides[i].show(index);
    strips[i].show(index);
  });
  scrubber.max = String(Math.max(0, axis.count - 1));
  scrubber.value = String(position);
  showStates(byId("machine"), places.map((index, i) => traces[i].state[index]));
  const [trace, index] = [traces[0], places[0]];
  const values = {
    n: count(position + 1),
    count: count(axis.count),
    turn: count(trace.turn(index)),
    turns: count(trace.turns.length),
    seconds: ((trace.elapsed[index] ?? 0) / 1e6).toFixed(3),
  };
  const where = axis.count ? say("where", values) : say("nothing");
  byId("where").textContent = where;
  byId("where").setAttribute("aria-live", player.isPlaying ? "off" : "polite");
  scrubber.setAttribute("aria-valuetext", where);
  const play = byId("play");
  play.textContent = player.isPlaying ? "❚❚" : "▶";
  play.dataset.label = player.isPlaying ? "doPause" : "doPlay";
  play.setAttribute("aria-label", say(play.dataset.label));
  noteAddress({ ...chosen, event: position ? String(position + 1) : "" });
}

function showAll() {
  relabel(document);
  document.title = `${traces.map((trace) => trace.name).join(" | ")} · ${say("title")}`;
  byId("shown").textContent = traces.map((trace) => trace.name.split("/").at(-1)).join(" | ");
  for (const side of sides) {
    side.title();
    side.list.render();
    side.show(side.index);
  }
  for (const box of [byId("types"), byId("actors")]) rename(box);
  for (const strip of strips) strip.draw();
  if (about.comparison) showComparison(byId("comparison"), about.comparison, (i, index) => goTo(i)(index));
  explain(byId("keys"));
  tellFound();
  show();
}
// endregion

// region: find
let search = 0;

function tellFound() {
  const some = sides.filter((side) => side.shown);
  const numbers = (side) => ({ n: count(side.shown.length), count: count(side.trace.count) });
  byId("found").textContent = some.map((side) => say("found", numbers(side))).join(" · ");
}

async function seek() {
  search += 1;
  const mine = search;
  const wanted = { query: query.value, types: ticked(byId("types")), actors: ticked(byId("actors")) };
  const alive = () => mine === search;
  const progress = (percent) => {
    byId("found").textContent = say("searching", { percent });
  };
  for (const side of sides) {
    const shown = await find(side.trace, wanted, alive, progress);
    if (!alive()) return;
    side.narrow(shown);
  }
  tellFound();
}

function offerFilters() {
  offer(byId("types"), traces.flatMap((trace) => trace.types), seek);
  offer(byId("actors"), traces.flatMap((trace) => trace.actors), seek);
}
// endregion

// region: deeds
/** One step through what is listed. */
function step(by) {
  const [side] = sides;
  const next = side.shown ? beside(side.shown, side.index, by) : undefined;
  if (next !== undefined) goTo(0)(next);
  else if (!side.shown) player.go(player.position + by);
}

/** To the nearest mark of any trace that way. */
function jump(marks, by) {
  const all = traces.flatMap((trace, i) => trace[marks].map((index) => axis.position(i, index)));
  const next = beside(all.sort((a, b) => a - b), player.position, by);
  if (next === undefined) byId("where").textContent = say("noFurther");
  else player.go(next);
}

function changeSpeed(by) {
  const speed = byId("speed");
  speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + by, 0), speed.length - 1);
  player.speed = Number(speed.value);
}

const deeds = {
  play: () => player.toggle(),
  next: () => step(1),
  back: () => step(-1),
  first: () => player.go(0),
  last: () => player.go(axis.count - 1),
  nextTurn: () => jump("turns", 1),
  turnBefore: () => jump("turns", -1),
  nextError: () => jump("troubles", 1),
  errorBefore: () => jump("troubles", -1),
  divergence: () => axis.parts && player.go(axis.parts[0]),
  search: () => query.focus(),
  help: () => byId("help").showModal(),
  faster: () => changeSpeed(1),
  slower: () => changeSpeed(-1),
};
// endregion

// region: controls
function chooseTheme(theme) {
  chosen.theme = theme;
  document.documentElement.dataset.theme = theme;
  byId("theme").value = theme;
}

/** The address has changed: its theme, and its event if it names one. */
function heed() {
  chooseTheme(askedTheme());
  if (readAddress().has("event")) player.go(askedPosition());
  showAll();
}

function connect() {
  listen((deed) => deeds[deed]());
  for (const element of document.querySelectorAll("[data-do]")) {
    element.addEventListener("click", () => deeds[element.dataset.do]());
  }
  byId("show-help").addEventListener("click", deeds.help);
  scrubber.addEventListener("input", () => player.go(Number(scrubber.value)));
  byId("speed").addEventListener("change", () => changeSpeed(0));
  byId("language").addEventListener("change", (event) => {
    chosen.lang = speak(event.target.value);
    showAll();
  });
  byId("theme").addEventListener("change", (event) => {
    chooseTheme(event.target.value);
    showAll();
  });
  window.addEventListener("hashchange", heed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
  query.addEventListener("input", seek);
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    query.value = "";
    seek();
    sides[0].box.focus();
  });
  byId("finder").addEventListener("submit", (event) => event.preventDefault());
  byId("all").addEventListener("click", () => {
    query.value = "";
    untick(byId("types"));
    untick(byId("actors"));
    seek();
  });
  sides.forEach((side, i) => {
    side.box.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const next = side.shown ? beside(side.shown, side.index, by) : side.index + by;
      if (next !== undefined) goTo(i)(next);
    });
  });
}

function followServer() {
  const banner = byId("live");
  banner.hidden = false;
  const tell = (text) => {
    banner.textContent = text;
  };
  let drawn = traces[0].count;
  let frame = 0;
  const draw = () => {
    frame = 0;
    const wasAtEnd = player.position >= drawn - 1;
    drawn = traces[0].count;
    offerFilters();
    if (sides[0].shown) seek();
    else sides[0].list.resize(drawn);
    strips[0].draw();
    if (wasAtEnd && !player.isPlaying) player.go(axis.count - 1);
    else show();
  };
  follow(about.live, traces[0], {
    // Many blocks may come at once; they are drawn together.
    grown: () => {
      frame ||= requestAnimationFrame(draw);
    },
    said: (text) => tell(text || say("following")),
    lost: () => tell(say("interrupted")),
  });
}
// endregion

/** The position that the address names; the first if it names none that there is. */
function askedPosition() {
  const line = Number(readAddress().get("event")) || 1;
  return Math.min(Math.max(0, Math.floor(line) - 1), Math.max(0, axis.count - 1));
}

/** The theme that the address names, or none. */
function askedTheme() {
  return ["light", "dark"].find((theme) => theme === readAddress().get("theme")) ?? "";
}

// In a frame, language and theme are those of the page around it.
const isFramed = window.top !== window;
document.documentElement.classList.toggle("framed", isFramed);
if (isFramed) {
  const root = document.documentElement;
  const tell = () => parent.postMessage({ playerHeight: Math.ceil(root.getBoundingClientRect().height) }, "*");
  new ResizeObserver(tell).observe(root);
}
chosen.lang = readAddress().get("lang") ?? "";
byId("language").value = speak(chosen.lang || navigator.language);
chooseTheme(askedTheme());
byId("strips").append(...strips.map((strip) => strip.element));
byId("sides").append(...sides.map((side) => side.element));
byId("sides").classList.toggle("two", sides.length > 1);
axis.parts?.forEach((index, i) => {
  sides[i].parted = index;
  strips[i].part(index);
});
player.position = askedPosition();
offerFilters();
byId("filters").open = !isFramed && matchMedia("(min-width: 821px)").matches; // where there is room
for (const side of sides) side.narrow(null);
connect();
showAll();
if (about.live) followServer();
