// Runs hostform for the actions in this folder: `node run.mjs plan|apply|status`. Writes the job summary and the outputs of the step.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { artifactFolder, eventOf, fail, input, notice } from "./runner.mjs";

const { env } = process;

/** Events whose commit is on a branch of the repository. A workflow of any other event may plan a commit of a stranger. */
const TRUSTED = ["push", "schedule", "workflow_dispatch"];

/** A team may trust its own pull requests and its merge queue. Nobody can trust a fork. */
function isUntrusted() {
  if (!["", "true", "false"].includes(input("UNTRUSTED")))
    fail(`The input untrusted is ${JSON.stringify(input("UNTRUSTED"))}. Use true or false.`);
  const { GITHUB_EVENT_NAME: name, GITHUB_REPOSITORY: repository } = env;
  const { pull_request: request } = eventOf();
  if (TRUSTED.includes(name)) return input("UNTRUSTED") === "true";
  const isOwn = name === "merge_group" || request?.head.repo?.full_name === repository;
  return !isOwn || input("UNTRUSTED") !== "false";
}

/** Returns the lines of an input. Each line is one argument, so no shell splits it. */
function linesOf(name) {
  const lines = input(name).split(/\r?\n/).flatMap((line) => line.trim() || []);
  const [, option, value] = lines.map((line) => /^(--?[\w-]+)\s+(.*)/.exec(line)).find(Boolean) ?? [];
  if (option !== undefined)
    fail(
      `Each line of the input ${name.toLowerCase().replace("_", "-")} is one argument. Write "${option} ${value}" as ` +
        `${option.startsWith("--") ? `"${option}=${value}"` : "two lines"}.`,
    );
  return lines;
}

/** Runs hostform. The runner reads both streams, so hostform may write annotations and masks. */
function hostform(...words) {
  const args = ["-C", input("WORKING_DIRECTORY") || ".", ...linesOf("ARGS"), ...words];
  process.stdout.write(`hostform ${args.join(" ")}\n`);
  const child = spawn("hostform", args, {
    env: { ...env, HOSTFORM_ADD_MASK: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = ["stdout", "stderr"].map((name) => {
    const chunks = [];
    child[name].on("data", (chunk) => {
      chunks.push(chunk);
      process[name].write(chunk);
    });
    // Lines for the runner contain secrets. hostform escapes all other lines that begin with `::`.
    return () => Buffer.concat(chunks).toString().replace(/^::.*\n?/gm, "");
  });
  // The runner sends a second signal after 7.5 seconds, which would stop hostform before it has recorded the answers.
  let isStopping = false;
  for (const signal of ["SIGINT", "SIGTERM"])
    process.on(signal, () => {
      if (!isStopping) child.kill(signal);
      isStopping = true;
    });
  return new Promise((resolve) => {
    child.on("error", ({ message }) => fail(`hostform did not start: ${message}. Run the action setup first.`));
    child.on("close", (code) => resolve({ code: code ?? 1, out: texts[0](), err: texts[1]() }));
  });
}

/** Returns the end of a text as a block of Markdown that no line of the text can close. */
function fenced(text) {
  const end = text.length > 60_000 ? `…${text.slice(-60_000)}` : text;
  const fence = "`".repeat(Math.max(2, ...Array.from(end.matchAll(/`+/g), ([run]) => run.length)) + 1);
  return `${fence}text\n${end.trimEnd()}\n${fence}\n`;
}

const summarize = (text) => appendFileSync(env.GITHUB_STEP_SUMMARY, `${text}\n`);

function setOutputs(outputs) {
  for (const [name, value] of Object.entries(outputs))
    appendFileSync(env.GITHUB_OUTPUT, `${name}=${String(value).replace(/[\r\n]+/g, " ")}\n`);
}

const sha256 = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");

async function plan() {
  const folder = artifactFolder();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  setOutputs({ folder });
  const file = (name) => path.join(folder, name);
  const untrusted = isUntrusted();
  const isBlind = untrusted && !env.HOSTING_TOKEN;
  const flags = untrusted ? ["--untrusted"] : ["--out", file("hostform.plan")];
  if (untrusted) notice("hostform treats this commit as untrusted (--untrusted), and saves no plan to apply.");
  const reports = ["md", "html", "json"].flatMap((extension) => ["--report", file(`plan.${extension}`)]);
  const { code, out, err } = isBlind
    ? await hostform("validate", "--untrusted", "--no-color")
    : await hostform("plan", "--no-color", ...flags, ...reports, ...linesOf("PLAN_ARGS"));
  const title = isBlind ? "### hostform validate: no token, so no plan\n\n" : "### hostform plan failed\n\n";
  const report = existsSync(file("plan.md")) ? readFileSync(file("plan.md"), "utf8") : title + fenced(out + err);
  const note = untrusted ? "\nPlanned with `--untrusted`.\n" : "";
  writeFileSync(file("report.md"), report + note);
  summarize(report + note);
  const planned = existsSync(file("plan.json")) ? JSON.parse(readFileSync(file("plan.json"), "utf8")) : { errored: true };
  const { applyable, errored, resource_changes: changes = [], hostform: own } = planned;
  // A plan with an error may have no effects, so its outputs are unknown.
  const known = (value) => (errored && !own?.effects.length ? "unknown" : value());
  setOutputs({
    "has-changes": known(() => applyable || changes.some(({ change }) => change.actions[0] !== "no-op")),
    offline: known(() => own.figures.sites_going_offline),
    orders: known(() => own.effects.filter(({ kind }) => kind === "order").length),
    now: known(() => own.billed_now),
    "needs-attention": known(() => own.conditions.length),
    digest: existsSync(file("hostform.plan")) ? sha256(file("hostform.plan")) : "",
  });
  return code;
}

async function apply() {
  const file = path.join(artifactFolder(), "hostform.plan");
  if (!existsSync(file)) fail("The artifact contains no saved plan.");
  const digest = sha256(file);
  if (digest !== input("DIGEST"))
    fail(`The digest of the plan is ${digest}, not the approved ${input("DIGEST")}. No request was sent.`);
  const words = ["apply", file, "--no-color", "--lock-timeout", input("LOCK_TIMEOUT"), ...linesOf("APPLY_ARGS")];
  if (input("APPROVERS")) env.HOSTFORM_APPROVERS = input("APPROVERS");
  if (input("MANDATE")) {
    const mandate = path.join(artifactFolder(), "hostform.mandate");
    // Inputs lose the last line end, which belongs to a mandate.
    writeFileSync(mandate, `${input("MANDATE").replaceAll("\r\n", "\n").trimEnd()}\n`);
    words.push("--mandate", mandate);
  }
  const { code, out, err } = await hostform(...words);
  summarize(`### hostform apply ${code === 0 ? "is complete" : `failed (exit code ${code})`}\n\n${fenced(out + err)}`);
  return code;
}

async function status() {
  const words = ["--format", "markdown", "--fail-on", input("FAIL_ON"), ...linesOf("STATUS_ARGS")];
  const { code, out, err } = await hostform("status", ...words);
  summarize(out + (code === 0 ? "" : `\n${fenced(err)}`));
  return code;
}

process.exitCode = await { plan, apply, status }[process.argv[2]]();
