import fc from "../../support/fc.ts";

/** Everything that acts on a terminal or is drawn as nothing, written out by number: not the expression under test. */
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
 * What the agents of CI systems act on in a log, found as they find it: in each line, with what weighs nothing left out, as
 * comparisons of texts in .NET do. Written from their sources (ActionCommand.cs, Command.cs), not from the code under test.
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

/** Commands of those agents, and pieces that become one when they meet. */
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

/** Any text, with many more of the dangerous characters than chance would give. */
export const hostile = fc.string({
  unit: fc.oneof(
    // Any character. (`unit: "binary"` lists all of them first, which takes a second.)
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

/** The same, with what means something to Markdown, HTML and code hosts. */
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
