import fc from "../../support/fc.ts";

/** Everything that acts on a terminal or is drawn as nothing, written out by number: not the expression under test. */
export function dangerous(text: string, allowed = ""): string[] {
  return [...text].filter((character) => {
    if (allowed.includes(character)) return false;
    const code = character.codePointAt(0) ?? 0;
    return (
      code < 0x20 ||
      (code >= 0x7f && code <= 0x9f) ||
      [0xad, 0x61c, 0x180e, 0xfeff].includes(code) ||
      (code >= 0x200b && code <= 0x200f) ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2060 && code <= 0x206f) ||
      (code >= 0xd800 && code <= 0xdfff) ||
      (code >= 0xe0000 && code <= 0xe0fff)
    );
  });
}

/** Any text, with many more of the dangerous characters than chance would give. */
export const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
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
