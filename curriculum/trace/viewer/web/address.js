// What a link to this page can say, behind the #: event, language, theme.

const PATIENCE_MS = 400; // browsers refuse too many changes of the address

export function readAddress() {
  return new URLSearchParams(location.hash.slice(1));
}

let timer = 0;

/** Notes the values in the address, a little later. Empty ones are left out. */
export function noteAddress(values) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const said = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
    history.replaceState(null, "", `#${said}`);
  }, PATIENCE_MS);
}
