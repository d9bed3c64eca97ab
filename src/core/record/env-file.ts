/** Characters that mean themselves to a shell and to every reader of `.env` files. */
const PLAIN = /^[A-Za-z0-9_./+=@%,-]+$/;

/** `NAME=value` with the place of the value; what a quoted value holds, line breaks too, is no assignment of its own. */
const ASSIGNMENT =
  /^([^\S\r\n]*(?:export[^\S\r\n]+)?)([A-Za-z_][\w.-]*)[^\S\r\n]*=[^\S\r\n]*(?:(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*")[^\r\n]*|[^\r\n]*)/gm;

/**
 * A text of `NAME=value` lines in which every line of this name has the value; appended when there is none. All other
 * lines stay as they are.
 * @param quoted as {@link quoteValue} gives it.
 */
export function withAssignment(text: string, name: string, quoted: string): string {
  let found = false;
  const replaced = text.replace(ASSIGNMENT, (line, lead: string, own: string) => {
    if (own !== name) return line;
    found = true;
    return `${lead}${name}=${quoted}`;
  });
  if (found) return replaced;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const open = text !== "" && !text.endsWith("\n");
  return `${text}${open ? end : ""}${name}=${quoted}${end}`;
}

/**
 * A value in a notation that a shell (`set -a; . ./.env`) and dotenv readers understand alike; undefined when there is
 * none: dotenv knows no escapes that a shell knows too, so a value with both kinds of quotes cannot be written.
 */
export function quoteValue(value: string): string | undefined {
  if (PLAIN.test(value)) return value;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\0-\x1f\x7f]/.test(value)) return undefined;
  if (!value.includes("'")) return `'${value}'`;
  return /["$`\\]/.test(value) ? undefined : `"${value}"`;
}
