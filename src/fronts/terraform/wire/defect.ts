/**
 * What V8 itself says of a defect. It speaks of names in our sources; other messages may quote a value, and a value may be
 * a secret.
 */
const ABOUT_THE_SOURCE = [
  /^Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '[\w$]+'\)$/,
  /^[\w$.()[\]]+ is not (?:a function|a constructor|iterable|defined)$/,
  /^Maximum call stack size exceeded$/,
  /^Assignment to constant variable\.$/,
  /^Cannot access '[\w$]+' before initialization$/,
  /^Class constructor [\w$]+ cannot be invoked without 'new'$/,
];

/**
 * An error that no part of the provider expected, in words that can hold no secret: what kind it is and where it was
 * thrown; its message only when that is about the source.
 */
export function describeDefect(error: unknown): { readonly summary: string; readonly stack: string } {
  if (!(error instanceof Error)) return { summary: `a ${typeof error} was thrown`, stack: "" };
  const message = ABOUT_THE_SOURCE.some((form) => form.test(error.message)) ? `: ${error.message}` : "";
  const code =
    "code" in error && typeof error.code === "string" && /^[A-Z][A-Z0-9_]*$/.test(error.code) ? error.code : "";
  const kind = /^[\w$]+$/.test(error.name) ? error.name : "Error";
  return { summary: `${kind}${code && ` (${code})`}${message}`, stack: framesOf(error.stack ?? "") };
}

/** The lines `at …` alone: what stands before them is the message, which may have many lines. */
function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^ {4}at (?:async )?(?:[\w$.<>#[\] ]+ \()?(?:file:|node:|\/|[A-Z]:\\|native)[^\n]*$/.test(line))
    .join("\n");
}
