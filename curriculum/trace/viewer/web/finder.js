// Which events are listed: by type, by actor, and by a text anywhere in them.

const SLICE_MS = 10; // work between two breaths, so that the page stays smooth

/**
 * The indexes of the events that fit, or null for all of them. Gives the browser a breath every
 * few milliseconds; `alive()` says whether the answer is still wanted.
 */
export async function find(trace, wanted, alive, progress) {
  const { query, types, actors } = wanted;
  if (!query && !types.size && !actors.size) return null;
  const typeFits = trace.types.map((name) => !types.size || types.has(name));
  const actorFits = trace.actors.map((name) => !actors.size || actors.has(name));
  const needle = query.toLowerCase();
  const rough = asEmbedded(needle);
  const found = [];
  let since = performance.now();
  for (let block = 0; block < trace.starts.length; block += 1) {
    const begin = trace.starts[block];
    const end = trace.starts[block + 1] ?? trace.count;
    const lines = needle ? trace.readers[block]().split("\n") : null;
    for (let i = begin; i < end; i += 1) {
      if (!typeFits[trace.type[i]] || !actorFits[trace.actor[i]]) continue;
      if (!lines || holds(lines[i - begin], rough, needle)) found.push(i);
    }
    if (performance.now() - since > SLICE_MS) {
      progress(Math.floor((100 * end) / trace.count));
      await breath();
      if (!alive()) return null;
      since = performance.now();
    }
  }
  return found;
}

/** Whether a line's label or any value has the text; keys do not count. */
function holds(line, rough, needle) {
  return line.toLowerCase().includes(rough) && hasText(JSON.parse(line), needle);
}

function hasText(node, needle) {
  if (typeof node === "string") return node.toLowerCase().includes(needle);
  if (typeof node !== "object" || node === null) return String(node).includes(needle);
  return Object.values(node).some((child) => hasText(child, needle));
}

/** A text as it stands in the JSON of the page. */
function asEmbedded(text) {
  return JSON.stringify(text).slice(1, -1).replaceAll("<", "\\u003c");
}

function breath() {
  return new Promise((resolve) => setTimeout(resolve));
}
