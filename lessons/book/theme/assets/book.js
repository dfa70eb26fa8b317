// Each player wears the colours of the page around it, also when they change.

const players = [...document.querySelectorAll(".player iframe")];

function dress() {
  const theme = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
  for (const frame of players) {
    const address = frame.src.replace(/(&theme=\w+)?$/, `&theme=${theme}`);
    // Once it is loaded, only what stands behind the # may change, or it would begin anew.
    if (frame.dataset.loaded) frame.contentWindow.location.replace(address);
    else frame.src = address;
  }
}

for (const frame of players) {
  frame.addEventListener("load", () => {
    frame.dataset.loaded = "yes";
  });
}
new MutationObserver(dress).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
dress();

// A player says how high it is: the page cannot look into a frame that comes from a disk (file:).
addEventListener("message", ({ source, data }) => {
  const frame = players.find((each) => each.contentWindow === source);
  if (!frame || !Number.isFinite(data?.playerHeight)) return;
  frame.style.height = `${data.playerHeight + frame.offsetHeight - frame.clientHeight}px`;
});

// The theme's search waits for a key, and what is pasted with the mouse comes without one.
const query = document.querySelector(".md-search__input");
query.addEventListener("input", () => query.dispatchEvent(new Event("keyup")));

// The theme opens menu and search of a phone with labels, which keys do not reach. (It takes Enter.)
const named = { __drawer: ".md-nav--primary", __search: ".md-search__input" };
for (const [toggle, what] of Object.entries(named)) {
  const label = document.querySelector(`.md-header__inner > label[for=${toggle}]`);
  label.tabIndex = 0;
  label.role = "button";
  label.ariaLabel = document.querySelector(what).ariaLabel;
  label.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    label.click();
  });
}

// A table that is wider than its page is scrolled, so keys have to reach it.
function reachTables() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

addEventListener("load", reachTables);
addEventListener("resize", reachTables);

// A page that is found by its sections alone would be opened with no word to mark (?h=).
new MutationObserver(() => {
  const words = encodeURIComponent(query.value.trim());
  for (const link of document.querySelectorAll(".md-search-result__link[href$='?h=']")) {
    link.href += words;
  }
}).observe(document.querySelector(".md-search-result__list"), { childList: true });

// The switch of the language keeps the section: both languages have the same headings, in order.
const headings = [...document.querySelectorAll("article :is(h1, h2, h3)[id]")];
const other = document.querySelector("a.language");

other.addEventListener("click", () => {
  const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
  other.hash = passed.length > 1 ? `section-${passed.length - 1}` : "";
});
const section = headings[/^#section-(\d+)$/.exec(location.hash)?.[1]];
if (section) location.replace(`#${section.id}`);
