/** Removes what must never be shown from text that will be. `more`: further secret values, of this request's body. */
export type Redact = (text: string, more?: readonly string[]) => string;

const MARK = "[redacted]";
const LONGEST = 400;
/** What of a text is looked through for names of secrets: that takes a minute in a long one, and little of it is shown. */
const LOOKED_THROUGH = 10_000;

/** Values that follow a name like these in JSON or query text, whole or cut off. */
const NAMED =
  /("?\b[\w-]*(?:password|secret|token|authorization|api_?key|sso_?url)[\w-]*"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|[^\s,;&}\]]+)/gi;
const BEARER = /\b(bearer)\s+[^\s"',;]+/gi;

/**
 * Makes the one function through which every text of the server passes before it becomes part of an error: takes out
 * the token (whole, URL-encoded, and the part after Laravel's `id|`), bearer credentials, the values of fields named
 * like secrets, and `more`; then folds white space and control characters and shortens to 400 characters.
 */
export function createRedact(token: string): Redact {
  const own = tokenForms(token);
  return (text, more = []) => {
    let shown = text;
    const values = [...own, ...more, ...more.map((value) => JSON.stringify(value).slice(1, -1))];
    for (const value of values) {
      if (value !== "") shown = shown.replaceAll(value, MARK);
    }
    // Both patterns take a value that is cut off, too.
    shown = shown.slice(0, LOOKED_THROUGH).replace(BEARER, `$1 ${MARK}`).replace(NAMED, `$1${MARK}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
    shown = shown.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
  };
}

/** The forms in which a token may come back in a text: whole, URL-encoded, as JSON writes it, and the part after `id|`. */
export function tokenForms(token: string): readonly string[] {
  const parts = token.split("|").filter((part) => part.length >= 8);
  // The whole before its part, or the rest of it would stay.
  return [token, encodeURIComponent(token), JSON.stringify(token).slice(1, -1), ...parts];
}
