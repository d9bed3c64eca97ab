import fc from "../../support/fc.ts";

/**
 * Returns the characters that control a terminal or are invisible, listed by number independently of the tested
 * expression.
 */
export function dangerous(text: string, allowed = ""): string[] {
  return [...text].filter((character) => {
    if (allowed.includes(character)) return false;
    const code = character.codePointAt(0) ?? 0;
    return (
      code < 0x20 ||
      (code >= 0x7f && code <= 0x9f) ||
      [0xad, 0x34f, 0x61c, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x3164, 0xfeff, 0xffa0].includes(code) ||
      (code >= 0x600 && code <= 0x605) ||
      (code >= 0x115f && code <= 0x1160) ||
      (code >= 0x17b4 && code <= 0x17b5) ||
      (code >= 0x180b && code <= 0x180f) ||
      (code >= 0xfe00 && code <= 0xfe0f) ||
      (code >= 0xfff0 && code <= 0xfffb) ||
      (code >= 0x200b && code <= 0x200f) ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2060 && code <= 0x206f) ||
      (code >= 0xd800 && code <= 0xdfff) ||
      (code >= 0xe0000 && code <= 0xe0fff)
    );
  });
}

/**
 * Returns the lines that CI agents execute in a log. Like .NET's text comparison, the search ignores characters
 * without weight. Written from the agents' sources (ActionCommand.cs, Command.cs), not from the tested code.
 */
export function liveCommands(text: string): string[] {
  return text.split(/\r\n|\r|\n/).filter((line) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one
    const plain = line.replace(/\u001b\[[\d;]*m/g, "").replace(/(?!\s)[\p{Cc}\p{Cf}\p{M}]/gu, "");
    return (
      ["##[", "##vso[", "##teamcity["].some((prefix) => plain.includes(prefix)) || plain.trimStart().startsWith("::")
    );
  });
}

/** Commands of these agents, and pieces that form a command when joined. */
export const COMMANDS = [
  "##[error]x",
  "##vso[task.setvariable variable=A]x",
  "##teamcity[setParameter name='env.A' value='x']",
  "::set-env name=A::x",
  "\n  ::add-path::/x",
  "#\u0301#[command]x",
  ":",
  "#",
  "##vso",
  "[",
] as const;

/** Any text, with a higher share of dangerous characters. */
export const hostile = fc.string({
  unit: fc.oneof(
    // Any character. (`unit: "binary"` first lists all characters, which takes a second.)
    fc
      .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
      .map((code) => String.fromCodePoint(code)),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom(
      "\u001b[2J",
      "\u001b]8;;http://x\u0007",
      "\u009b31m",
      "\u202e",
      "\u2066",
      "\u200b",
      "\ufeff",
      "\u007f",
      "\r",
      "\n",
      "\t",
      "\u{e0041}",
      ...COMMANDS,
    ),
  ),
});

/** Any text, with a higher share of characters that have a meaning in Markdown, in HTML or for a code host. */
export const markup = fc
  .array(
    fc.oneof(
      hostile,
      fc.constantFrom(
        "`",
        "```",
        "~~~",
        "\n```\n",
        "<script>alert(1)</script>",
        "</details>",
        "</pre>",
        "-->",
        "<!--",
        "&lt;",
        "&",
        '"',
        "'",
        "@octocat",
        "#1",
        "!7",
        "[x](https://evil.example)",
        "![x](https://evil.example)",
        "https://evil.example",
        "|",
        "\\",
        "*",
        "_",
        "# heading",
        "\n\n",
        "- ",
        "$1",
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));
