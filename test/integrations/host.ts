/** A repository with a declaration, a sandbox and a state server, for the scripts of the pipelines. */
import { spawn } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { residentProgram } from "../docs/resident.ts";
import { temporaryFolder } from "../support/folder.ts";
import { HttpBackend } from "../support/http-backend.ts";
import { startSandbox } from "../support/sandbox.ts";

/** Nothing listens on this port. */
export const CLOSED = "http://127.0.0.1:9";

const GIT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "nino",
  GIT_AUTHOR_EMAIL: "nino@acme.example",
  GIT_COMMITTER_NAME: "nino",
  GIT_COMMITTER_EMAIL: "nino@acme.example",
};

/** Credentials of the state servers. */
export const STATE = { TF_HTTP_USERNAME: "gitlab-ci-token", TF_HTTP_PASSWORD: "job-token" };

async function stateServer(): Promise<HttpBackend> {
  const credentials = `${STATE.TF_HTTP_USERNAME}:${STATE.TF_HTTP_PASSWORD}`;
  const backend = await HttpBackend.start({ flavour: "gitlab", credentials });
  onTestFinished(() => backend.close());
  return backend;
}

/** Returns a declaration with a state server. */
const declared = (backend: HttpBackend, site: string, query: string, name = "acme") => `project: ${name}
backend:
  http:
${Object.entries({ ...backend.settings, address: `${backend.url}${query}` })
  .map(([name, value]) => `    ${name}: ${value}`)
  .join("\n")}
services:
  ${name}-www:
${site.replace(/^/gm, "    ")}
`;

export const SITE = "plan_id: 11\ncurrency: USD\ndomain: www.acme.example\ndeletion_policy: suspend";

/** Creates the repository `origin` with the branch `main`, and a checkout of it. @param query of the state's address. */
export async function host(query = "") {
  const base = temporaryFolder();
  const checkout = path.join(base, "checkout");
  const sandbox = await startSandbox({ rateLimit: 0, jobSeconds: 0, provisioningSeconds: 0 });
  onTestFinished(() => sandbox.close());
  const backend = await stateServer();
  const bin = path.join(base, "bin");
  mkdirSync(bin);
  const program = (name: string, lines: string) => {
    writeFileSync(path.join(bin, name), lines);
    chmodSync(path.join(bin, name), 0o755);
  };
  const resident = await residentProgram();
  onTestFinished(() => resident.close());
  program("hostform", resident.script);
  program("npm", '#!/bin/sh\necho "npm $*"\n[ "$1" != pack ] || echo package > hostform-0.1.0.tgz\n');
  const env: Record<string, string> = {
    PATH: [bin, path.dirname(process.execPath), process.env.PATH].join(path.delimiter),
    HOME: base,
    TMPDIR: base,
    HOSTFORM_STATE_HOME: path.join(base, "home"),
    HOSTING_BASE_URL: sandbox.url,
    HOSTFORM_ALLOWED_ORIGINS: [sandbox.url, new URL(backend.url).origin, CLOSED].join(),
    HOSTING_MONEY_SCALE: "2",
    ...GIT,
  };
  let runs = 0;
  /** Runs a command in the checkout. Its streams are files, because the resident program opens them again. */
  const run = async (shell: readonly string[], more: Readonly<Record<string, string>> = {}, cwd = checkout) => {
    const [command = "", ...args] = shell;
    const files = ["out", "err"].map((name) => path.join(base, `${++runs}.${name}`));
    const streams = files.map((file) => openSync(file, "a"));
    const child = spawn(command, args, { cwd, env: { ...env, ...more }, stdio: ["ignore", ...streams] });
    const status = await new Promise<number | null>((resolve) => child.once("exit", resolve));
    for (const stream of streams) closeSync(stream);
    const [stdout = "", stderr = ""] = files.map((file) => readFileSync(file, "utf8"));
    return { status, stdout, text: stdout + stderr };
  };
  const write = (file: string, content: string, folder = checkout) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), content);
  };
  const commit = (folder: string) =>
    run(["sh", "-ec", "git add --all && git commit --quiet --allow-empty --message=Change"], {}, folder);
  mkdirSync(path.join(base, "seed"));
  write("hosting.yaml", declared(backend, SITE, query), path.join(base, "seed"));
  await run(["git", "init", "--quiet", "--initial-branch=main"], {}, path.join(base, "seed"));
  await commit(path.join(base, "seed"));
  await run(["git", "clone", "--quiet", "--bare", "seed", "origin"], {}, base);
  await run(["git", "clone", "--quiet", `file://${base}/origin`, "checkout"], {}, base);
  /** Commits everything to the branch `main`. */
  const push = async () => {
    await commit(checkout);
    await run(["git", "push", "--quiet", "origin", "HEAD:main"]);
  };
  /** Writes a project with its own state to a folder of the checkout. */
  const project = async (folder: string) => {
    const own = await stateServer();
    env.HOSTFORM_ALLOWED_ORIGINS += `,${new URL(own.url).origin}`;
    const name = path.basename(folder);
    write(`${folder}/hosting.yaml`, declared(own, SITE.replace("www", name), query, name));
    return own;
  };
  /** Returns the domains of the ordered services. */
  const ordered = () =>
    sandbox.control.list("services").flatMap(({ domain }) => (domain?.endsWith("acme.example") ? domain : []));
  return { base, checkout, sandbox, backend, env, run, write, program, push, project, ordered };
}

export type Host = Awaited<ReturnType<typeof host>>;
