/** Nothing that is sent as an event is nested deeper. To write out what is could take more stack than there is. */
const DEEPEST = 64;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Whether a text, if it is JSON, is nested deeper than anything that is written out again. */
export function isDeep(json: string): boolean {
  let [depth, quoted] = [0, false];
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (quoted) {
      if (character === BACKSLASH) at += 1;
      else if (character === QUOTE) quoted = false;
    } else if (character === QUOTE) quoted = true;
    else if (OPENING.has(character)) depth += 1;
    else if (CLOSING.has(character)) depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
}
