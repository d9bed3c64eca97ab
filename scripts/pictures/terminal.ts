// The first minute at a terminal, as SVG: the commands of the README and what they print. Its text can be selected.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { html } from "hono/html";
import { runCli } from "../../src/cli/cli.ts";
import { startSandbox } from "../../src/sandbox/index.ts";
import { testClock } from "../../test/support/clock.ts";
import { fakeIo } from "../../test/support/io.ts";

const COLUMNS = 84;
const LINE = 18;
const COLUMN = 8.1;
const MARGIN = 16;

const DECLARATION = `project: acme

services:
  acme-www:
    plan_id: 11
    currency: USD
    domain: www.acme.example
    grants:
      dev@acme.example: manage
`;

const COMMANDS: readonly (readonly string[])[] = [["plan"], ["apply", "--auto-approve"], ["plan"]];

/** The commands and what they print on a terminal of {@link COLUMNS} columns, in colours; the plan that an apply repeats is left out. */
async function session(): Promise<string> {
  const clock = testClock();
  const sandbox = await startSandbox({ clock, sleep: async () => undefined, provisioningSeconds: 0 });
  const cwd = await mkdtemp(path.join(tmpdir(), "hostform-minute-"));
  try {
    await writeFile(path.join(cwd, "hosting.yaml"), DECLARATION);
    let text = `$ cat hosting.yaml\n${DECLARATION}\n`;
    for (const command of COMMANDS) {
      let shown = "";
      const write = (part: string) => {
        shown += part;
      };
      const env = {
        HOSTING_BASE_URL: sandbox.url,
        HOSTING_TOKEN: sandbox.tokens.agency,
        HOSTING_MONEY_SCALE: "2",
        // No line is painted over.
        CI: "1",
      };
      const io = fakeIo({ cwd, clock, terminal: true, columns: COLUMNS, env });
      const code = await runCli(command, { ...io, out: write, err: write });
      if (code !== 0) throw new Error(`hostform ${command.join(" ")} ended with ${code}:\n${shown}`);
      const begin = command[0] === "apply" ? shown.lastIndexOf("\n", shown.indexOf("Ordering...")) + 1 : 0;
      text += `$ hostform ${command.join(" ")}\n${shown.slice(begin)}\n`;
      clock.advance(60_000);
    }
    return text.trimEnd();
  } finally {
    await sandbox.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

/** The colours of the terminal by their codes, as classes. */
const CLASSES: Readonly<Record<string, string>> = { 1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 36: "c" };

/** One line in pieces of one look each. @param looks what the line before it left on: a colour may go on over a break. */
function spans(line: string, looks: Set<string>): string {
  return (
    line
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
      .split(/(\u001b\[\d+m)/)
      .map((part) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
        const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
        if (code === undefined) {
          const text = String(html`${part}`);
          return looks.size === 0 || part === "" ? text : `<tspan class="${[...looks].join(" ")}">${text}</tspan>`;
        }
        const look = CLASSES[code];
        if (look !== undefined) looks.add(look);
        // 22 ends bold and dim, 39 a colour.
        else for (const ended of code === "22" ? ["b", "d"] : ["r", "g", "y", "c"]) looks.delete(ended);
        return "";
      })
      .join("")
  );
}

const STYLE = `
svg { --page: #fff; --ink: #1f2328; --d: #656d76; --r: #b3261e; --g: #1a7f37; --y: #8a5a00; --c: #0b6e8f; --line: #d1d9e0 }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3; --d: #8b949e; --r: #ff7b72; --g: #3fb950; --y: #d29922; --c: #56d4dd; --line: #30363d } }
rect { fill: var(--page); stroke: var(--line) }
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--ink); white-space: pre }
.b, .p { font-weight: 700 } .d { fill: var(--d) } .r { fill: var(--r) } .g { fill: var(--g) } .y { fill: var(--y) } .c { fill: var(--c) }`;

/** The picture: the same each time. */
export async function firstMinute(): Promise<string> {
  // The sandbox has another port each time.
  const lines = (await session()).replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080").split("\n");
  const [width, height] = [Math.ceil(COLUMNS * COLUMN) + 2 * MARGIN, lines.length * LINE + 2 * MARGIN];
  const looks = new Set<string>();
  const rows = lines.map((line, at) => {
    const y = MARGIN + at * LINE + 13;
    const own = line.startsWith("$ ") ? `<tspan class="p">${html`${line}`}</tspan>` : spans(line, looks);
    return line === "" ? "" : `<text x="${MARGIN}" y="${y}" xml:space="preserve">${own}</text>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The first minute with hostform at a terminal">
<style>${STYLE}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${rows.join("")}</svg>
`;
}
