// An agency's plan, from a real run: a declaration is applied to a sandbox, edited, and planned again. The same each time.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { runCli } from "../../src/cli/cli.ts";
import { startSandbox } from "../../src/sandbox/index.ts";
import { testClock } from "../../test/support/clock.ts";
import { fakeIo } from "../../test/support/io.ts";

const SITES = 12;
const CLIENTS = ["Borjomi Bakery", "Tbilisi Tours"];

type Block = Readonly<Record<string, unknown>>;

/** The services of the declaration; before its edit with the ids under which they are imported. */
function servicesOf(ids: readonly string[], domains: readonly string[], isEdited: boolean): Record<string, Block> {
  const blocks = domains.map((domain, at): [string, Block] => {
    const suspended = isEdited ? at < 2 : at >= 3 && at < 6;
    return [
      `c${at + 1}`,
      {
        ...(!isEdited && { import: ids[at] }),
        plan_id: 12,
        currency: "USD",
        domain,
        ...(at < 2 && { client: CLIENTS[at] }),
        ...(at === 2 && { deletion_policy: "suspend" }),
        ...(at !== 2 && at < 6 && { suspended }),
        ...(at === 9 && isEdited && { grants: { "dev@acme.example": "manage" } }),
        ...(at === 10 && { grants: { "old@acme.example": isEdited ? "view" : "manage" } }),
      },
    ];
  });
  return Object.fromEntries(blocks.filter((_, at) => !(isEdited && at === 2)));
}

const ORDERS: Record<string, Block> = {
  new: { plan_id: 11, currency: "USD", domain: "www.acme.example", client: CLIENTS[0] },
  geo: { plan_id: 31, currency: "GEL", term: 12, reference: "geo" },
};

/** The page and the comment of the plan. */
export async function agencyPlan(): Promise<{ readonly html: string; readonly markdown: string }> {
  const clock = testClock();
  const sandbox = await startSandbox({ clock, sleep: async () => undefined, provisioningSeconds: 0 });
  const cwd = await mkdtemp(path.join(tmpdir(), "hostform-agency-"));
  const env = {
    HOSTING_BASE_URL: sandbox.url,
    HOSTING_TOKEN: sandbox.tokens.agency,
    HOSTING_MONEY_SCALE: "2",
    CI: "1",
  };
  const run = async (...line: readonly string[]) => {
    let shown = "";
    const write = (text: string) => {
      shown += text;
    };
    const code = await runCli(line, { ...fakeIo({ cwd, clock, env }), out: write, err: write });
    if (code !== 0) throw new Error(`hostform ${line.join(" ")} ended with ${code}:\n${shown}`);
    clock.advance(60_000);
  };
  const declare = (more: object) => writeFile(path.join(cwd, "hosting.yaml"), stringify({ project: "acme", ...more }));
  const file = (name: string) => path.join(cwd, name);
  try {
    const made = sandbox.control.seedServices({ count: SITES, plan_id: 12, domain_prefix: "client" });
    const ids = made.map(({ id }) => String(id));
    const domains = made.map(({ domain }) => domain ?? "");
    await declare({ services: servicesOf(ids, domains, false) });
    await run("apply", "--auto-approve");
    const registrant_contact = { first_name: "Ana", last_name: "Acme", email: "ana@acme.example" };
    const domain = {
      domain: "acme.example",
      years: 1,
      currency: "USD",
      nameserver_mode: "default",
      registrant_contact,
    };
    await declare({ services: { ...servicesOf(ids, domains, true), ...ORDERS }, domains: { acme: domain } });
    await run("plan", "--report", file("plan.html"), "--report", file("plan.md"));
    const texts = await Promise.all(["plan.html", "plan.md"].map((name) => readFile(file(name), "utf8")));
    // The sandbox has another port each time.
    const [html = "", markdown = ""] = texts.map((text) => text.replaceAll(/127\.0\.0\.1:\d+/g, "api.host.example"));
    return { html, markdown };
  } finally {
    await sandbox.close();
    await rm(cwd, { recursive: true, force: true });
  }
}
