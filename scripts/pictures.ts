// `npm run pictures`: the pictures of README and docs, from real runs against sandboxes, through Chromium (`CHROMIUM` names it).
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { html } from "hono/html";
import { stringify } from "yaml";
import { runCli } from "../src/cli/cli.ts";
import { startSandbox } from "../src/sandbox/index.ts";
import { openBrowser, openPage } from "../test/support/browser.ts";
import { testClock } from "../test/support/clock.ts";
import { fakeIo } from "../test/support/io.ts";

export const FOLDER = path.resolve(import.meta.dirname, "../docs/images");
/** Hashes of the sources of the pictures. A test compares them. */
export const RECORD = "made-from.json";
export const FIRST_MINUTE = "first-minute.svg";

const COLUMNS = 84;

/** A project against a sandbox of its own. The same commands print the same each time, but for the port. */
async function openProject() {
  const clock = testClock();
  const sandbox = await startSandbox({ clock, sleep: async () => undefined, provisioningSeconds: 0 });
  const cwd = await mkdtemp(path.join(tmpdir(), "hostform-pictures-"));
  // CI: no line is painted over.
  const account = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency };
  const io = fakeIo({
    ...{ cwd, clock, terminal: true, columns: COLUMNS },
    env: { ...account, HOSTING_MONEY_SCALE: "2", CI: "1", HOSTFORM_AUTHOR: "nino", HOSTFORM_STATE_HOME: cwd },
  });
  return {
    ...{ sandbox, cwd },
    declare: (text: string) => writeFile(path.join(cwd, "hosting.yaml"), text),
    async run(...line: string[]): Promise<string> {
      let shown = "";
      const write = (part: string) => {
        shown += part;
      };
      clock.advance(20_000);
      const code = await runCli(line, { ...io, out: write, err: write });
      if (code !== 0) throw new Error(`hostform ${line.join(" ")} ended with ${code}:\n${shown}`);
      return shown;
    },
    async close() {
      await sandbox.close();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

const DECLARATION = `project: acme

services:
  acme-www:
    plan_id: 11
    currency: USD
    domain: www.acme.example
    grants:
      dev@acme.example: manage
`;

/** Classes of a terminal's colours, and the classes that a code ends. */
const STARTS: Readonly<Record<string, string>> = { 1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 36: "c" };
const ENDS: Readonly<Record<string, string>> = { 22: "bd", 39: "rgyc" };

const STYLE = `
svg { --page: #fff; --ink: #1f2328; --d: #656d76; --r: #b3261e; --g: #1a7f37; --y: #8a5a00; --c: #0b6e8f; --line: #d1d9e0 }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3; --d: #8b949e; --r: #ff7b72; --g: #3fb950; --y: #d29922; --c: #56d4dd; --line: #30363d } }
rect { fill: var(--page); stroke: var(--line) }
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--ink); white-space: pre }
.b, .p { font-weight: 700 } .d { fill: var(--d) } .r { fill: var(--r) } .g { fill: var(--g) } .y { fill: var(--y) } .c { fill: var(--c) }`;

/** Draws the first minute at a terminal as SVG, whose text can be selected. */
export async function firstMinute(): Promise<string> {
  const { run, declare, close } = await openProject();
  let session = `$ cat hosting.yaml\n${DECLARATION}\n`;
  try {
    await declare(DECLARATION);
    for (const command of [["plan"], ["apply", "--auto-approve"], ["plan"]]) {
      const shown = await run(...command);
      // An apply repeats the plan.
      const from = command[0] === "apply" ? shown.lastIndexOf("\n", shown.indexOf("Ordering...")) + 1 : 0;
      session += `$ hostform ${command.join(" ")}\n${shown.slice(from)}\n`;
    }
  } finally {
    await close();
  }
  const lines = session
    .trimEnd()
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080")
    .split("\n");
  const [margin, width, height] = [16, Math.ceil(COLUMNS * 8.1) + 32, lines.length * 18 + 32];
  const looks = new Set<string>();
  const rows = lines.map((line, at) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
    const pieces = line.split(/\u001b\[(\d+)m/).map((piece, odd) => {
      if (odd % 2 === 1) {
        for (const ended of ENDS[piece] ?? "") looks.delete(ended);
        if (piece in STARTS) looks.add(STARTS[piece] ?? "");
        return "";
      }
      const look = line.startsWith("$ ") ? "p" : [...looks].join(" ");
      return String(look === "" || piece === "" ? html`${piece}` : html`<tspan class="${look}">${piece}</tspan>`);
    });
    const place = `x="${margin}" y="${margin + at * 18 + 13}"`;
    return line === "" ? "" : `<text ${place} xml:space="preserve">${pieces.join("")}</text>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The first minute with hostform at a terminal">
<style>${STYLE}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${rows.join("")}</svg>
`;
}

interface Picture {
  readonly name: string;
  readonly height: number;
  /** The page: another one makes another picture. */
  readonly source: string;
  /** Its address; absent: the browser shows the source. */
  readonly url?: string;
}

/** The page of an agency's plan, and the dashboard of its sandbox, which runs until `close`. */
export async function agencyPages(): Promise<{ readonly pictures: readonly Picture[]; close(): Promise<void> }> {
  const { sandbox, cwd, run, declare, close } = await openProject();
  const sites = sandbox.control.seedServices({ count: 9, plan_id: 12, domain_prefix: "client" });
  const clients = ["Borjomi Bakery", "Tbilisi Tours"];
  const block = (at: number, more: object) => [
    `c${at + 1}`,
    { plan_id: 12, currency: "USD", domain: sites[at]?.domain, client: clients[at], ...more },
  ];
  const blocks = (more: (at: number) => object) => sites.map((_, at) => block(at, more(at)));
  const declaration = (entries: readonly (readonly unknown[])[], more = {}) =>
    declare(stringify({ project: "acme", services: Object.fromEntries(entries as [string, object][]), ...more }));
  await declaration(
    blocks((at) => ({ import: String(sites[at]?.id), ...(at === 2 && { deletion_policy: "suspend" }) })),
  );
  await run("apply", "--auto-approve");
  const edited = blocks((at) => ({
    ...(at < 2 && { suspended: true }),
    ...(at === 7 && { grants: { "dev@acme.example": "manage" } }),
  }));
  const orders = [
    ["new", { plan_id: 11, currency: "USD", domain: "www.acme.example", client: clients[0] }],
    ["geo", { plan_id: 31, currency: "GEL", term: 12, reference: "geo" }],
  ];
  const registrant_contact = {
    ...{ first_name: "Ana", last_name: "Acme", email: "ana@acme.example", phone: "+995.322000000" },
    ...{ address: "1 Rustaveli Ave", city: "Tbilisi", postcode: "0108", country: "GE" },
  };
  const domain = { domain: "acme.example", years: 1, currency: "USD", nameserver_mode: "default", registrant_contact };
  await declaration([...edited.filter((_, at) => at !== 2), ...orders], { domains: { acme: domain } });
  await run("plan", "--report", path.join(cwd, "plan.html"));
  const page = await readFile(path.join(cwd, "plan.html"), "utf8");
  sandbox.control.suspendService(sites[5]?.id ?? 0);
  // One by one: orders at the same time have their invoices in any order.
  for (const address of ["hosting_service.new", "hosting_service.geo", "hosting_domain.acme"])
    await run("apply", "--auto-approve", "--target", address);
  const textOf = async (at: string) =>
    (await fetch(`${sandbox.controlUrl}${at}`, { headers: { accept: "text/html" } })).text();
  // Requests at the same time are listed in any order.
  const [overview = ""] = (await textOf("/")).split("Latest requests");
  const source = overview + (await textOf("/dashboard/style.css"));
  const status = await run("status", "--format", "html");
  const pictures = [
    { name: "plan-page.webp", height: 1150, source: page },
    { name: "status-page.webp", height: 1150, source: status },
    { name: "dashboard-overview.webp", height: 800, source, url: sandbox.controlUrl },
  ];
  const steady = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+/g, "api.host.example");
  return { pictures: pictures.map((picture) => ({ ...picture, source: steady(picture.source) })), close };
}

export const hashOf = ({ source, height }: Picture): string =>
  createHash("sha256").update(`${height} ${source}`).digest("hex");

if (path.resolve(process.argv[1] ?? "") === import.meta.filename) {
  await writeFile(path.join(FOLDER, FIRST_MINUTE), await firstMinute());
  const browser = await openBrowser();
  const { pictures, close } = await agencyPages();
  try {
    for (const { name, height, source, url } of pictures) {
      const { page } = await openPage(browser, { width: 1100, height, dark: false }, () => undefined);
      await (url === undefined ? page.setContent(source) : page.goto(url));
      await writeFile(path.join(FOLDER, name), await page.screenshot({ type: "webp", quality: 82 }));
      await page.close();
    }
    const record = Object.fromEntries(pictures.map((picture) => [picture.name, hashOf(picture)]));
    await writeFile(path.join(FOLDER, RECORD), `${JSON.stringify(record, null, 2)}\n`);
  } finally {
    await browser.close();
    await close();
  }
}
