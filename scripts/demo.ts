// `npm run demo`: the main job against the embedded sandbox, with its limit of 60 requests a minute. Each step runs the command line in this
// process and checks the result.
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { styleText } from "node:util";
import { runCli } from "../src/cli/cli.ts";
import { systemIo } from "../src/cli/system-io.ts";
import { startSandbox } from "../src/sandbox/index.ts";

const root = path.resolve(import.meta.dirname, "..");
const color = process.stdout.isTTY === true && !process.env.NO_COLOR;
const styled = (style: "bold" | "dim", text: string) =>
  color ? styleText(style, text, { validateStream: false }) : text;
const print = (style: "bold" | "dim", text: string) => console.log(styled(style, text));

const sandbox = await startSandbox();
const folder = await mkdtemp(path.join(tmpdir(), "hostform-demo-"));
const file = path.join(folder, "hosting.yaml");
const { control } = sandbox;

const system = { ...systemIo(), outIsTerminal: false, errIsTerminal: false };
const env = {
  ...process.env,
  HOSTING_BASE_URL: sandbox.url,
  HOSTING_TOKEN: sandbox.tokens.agency,
  HOSTING_MONEY_SCALE: "2",
  ...(color && { FORCE_COLOR: "1" }),
};

let step = 0;
const heading = (text: string) => print("bold", `\n${++step}. ${text}`);
const check = (truth: boolean, what: string) => {
  if (!truth) throw new Error(`expected: ${what}`);
};

/** Runs `hostform ARGS` in the demo's folder and prints its output. */
async function hostform(...args: string[]): Promise<string> {
  print("dim", `$ hostform ${args.join(" ")}`);
  let output = "";
  const show = (chunk: string) => {
    output += chunk;
  };
  const code = await runCli(args, { ...system, cwd: folder, env, out: show, err: show });
  // Another step shows the plan that an apply repeats.
  process.stdout.write(args[0] === "apply" ? output.slice(Math.max(0, output.indexOf("Plan: "))) : output);
  check(code === 0, `\`hostform ${args.join(" ")}\` to end with exit 0, not ${code}`);
  return output;
}

async function edit(from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  check(text.includes(from), `the declaration to contain ${JSON.stringify(from)}`);
  await writeFile(file, text.replace(from, to));
  const lines = (sign: string, of: string, other: string) => {
    for (const line of of.split("\n"))
      if (line !== "" && !other.includes(line)) print("dim", `  hosting.yaml: ${sign} ${line}`);
  };
  lines("-", from, to);
  lines("+", to, from);
}

/** The services of the agency, the account that the demo works in. */
const services = () => control.state().services.filter(({ customer_id }) => customer_id === 1);
const status = () => services().find(({ domain }) => domain === "www.acme.example")?.status;

try {
  await cp(path.join(root, "examples/quickstart"), folder, { recursive: true });
  console.log(`A sandbox of the Hosting Automation API runs on ${sandbox.url}, with 60 requests a minute per token.`);
  print("dim", await readFile(file, "utf8"));

  heading("The plan: what is declared and does not exist yet");
  await hostform("plan");

  heading("Apply: services are ordered, each with an invoice");
  check((await hostform("apply", "--auto-approve")).includes("Invoices raised"), "invoices");
  check(services().length === 2, "two services ordered");

  heading("A plan right after: nothing to do, although the services still wait for payment");
  check((await hostform("plan")).includes("No changes"), "no changes");

  heading("The invoices are paid in the dashboard; the services go live");
  for (const invoice of control.state().invoices) if (invoice.status === "unpaid") control.payInvoice(invoice.id);
  for (const service of services()) control.provisionService(service.id);
  check(status() === "active", "the service to be active");
  console.log("  paid and provisioned");

  heading("Two minutes later, someone deletes the webhook in the dashboard: drift, shown and repaired");
  // Lists may lag: an object that was created less than a minute ago may be missing.
  control.advanceClock({ minutes: 2 });
  for (const webhook of control.state().webhooks) control.remove("webhooks", webhook.id);
  await hostform("plan");
  await hostform("apply", "--auto-approve");
  check(control.state().webhooks.length === 1, "the webhook to be back");

  heading("A client does not pay: suspend (a queued job, waited for)");
  await edit("    domain: www.acme.example\n", "    domain: www.acme.example\n    suspended: true\n");
  await hostform("apply", "--auto-approve");
  check(status() === "suspended", "the service to be suspended");

  heading("… and pays: unsuspend");
  await edit("suspended: true", "suspended: false");
  await hostform("apply", "--auto-approve");
  check(status() === "active", "the service to be active");

  heading("The developer leaves: the grant is revoked");
  await edit("    grants:\n      dev@acme.example: manage\n", "");
  await hostform("apply", "--auto-approve");
  check(control.state().grants.length === 0, "no grant to be left");

  heading("Nothing is left to do");
  check((await hostform("plan")).includes("No changes"), "no changes");

  const sent = control.requests();
  const refused = sent.filter((request) => request.status === 429).length;
  const orders = sent.filter(({ method, path: to }) => method === "POST" && to === "/api/v1/services").length;
  check(refused === 0 && orders === 2, "two orders and no refused request");
  console.log(`\n${styled("bold", "Done.")} ${sent.length} API requests, ${orders} orders, none refused.`);
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}
