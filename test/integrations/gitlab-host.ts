/** A GitLab: interprets components, runs the scripts of jobs, and has the notes of one merge request. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { text } from "node:stream/consumers";
import { parse, stringify } from "yaml";
import { ROOT } from "../support/built-once.ts";
import { listening } from "../support/listening.ts";
import type { Host } from "./host.ts";

export interface Note {
  readonly id: number;
  readonly author: { readonly id: number };
  body: string;
}

/** Starts the notes of merge request 5 in project 3. The token `note-token` belongs to user 7. Pages have two notes. */
export async function gitlabApi(notes: Note[]) {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    const method = request.method ?? "";
    if (method !== "GET") requests.push(`${method} ${url.pathname}`);
    const answer = (status: number, value: unknown, headers = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    if (request.headers["private-token"] !== "note-token") return answer(401, {});
    const base = "/api/v4/projects/3/merge_requests/5/notes";
    if (url.pathname === "/api/v4/user") return answer(200, { id: 7 });
    if (!url.pathname.startsWith(base)) return answer(404, {});
    if (method === "GET") {
      const page = Number(url.searchParams.get("page"));
      const rest = notes.length > page * 2;
      return answer(200, notes.slice(page * 2 - 2, page * 2), { "x-next-page": rest ? `${page + 1}` : "" });
    }
    const { body } = JSON.parse(await text(request)) as { body: string };
    if (method === "POST")
      return answer(201, notes[notes.push({ id: 100 + notes.length, author: { id: 7 }, body }) - 1]);
    const note = notes.find(({ id }) => url.pathname === `${base}/${id}`);
    if (method !== "PUT" || note?.author.id !== 7) return answer(403, {});
    note.body = body;
    return answer(200, note);
  });
  return { url: `${await listening(server)}/api/v4`, notes, requests };
}

interface Job {
  readonly script: readonly string[];
  readonly after_script?: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly if: string; readonly when?: string }[];
  readonly environment?: { readonly name: string; readonly action?: string };
  readonly artifacts?: {
    readonly paths: string[];
    readonly access: string;
    readonly reports?: { readonly dotenv: string };
  };
}

const interpreter = path.join(
  path.dirname(createRequire(import.meta.url).resolve("gitlab-ci-local/package.json")),
  "dist/index.js",
);

/** Digest of the npm package that the program `npm` of a host downloads. */
const DIGEST = createHash("sha256").update("package\n").digest("hex");

interface Pipeline {
  readonly jobs: Readonly<Record<string, Job>>;
  readonly error: string;
}

/** Results of gitlab-ci-local by its input. */
const interpreted = new Map<string, Pipeline>();

/**
 * Interprets a pipeline that includes components. gitlab-ci-local validates the pipeline with GitLab's JSON schema.
 * @returns The jobs of the pipeline, or the error.
 */
export function pipeline(
  { base, env }: Host,
  includes: readonly { readonly component: string; readonly inputs?: Readonly<Record<string, unknown>> }[],
): Pipeline {
  const include = includes.map(({ component, inputs }) => ({
    local: `templates/${component}/template.yml`,
    inputs: { digest: DIGEST, ...inputs },
  }));
  const yaml = stringify({ include });
  const known = interpreted.get(yaml);
  if (known !== undefined) return known;
  const folder = path.join(base, "seed");
  cpSync(path.join(ROOT, "integrations/gitlab/templates"), path.join(folder, "templates"), { recursive: true });
  writeFileSync(path.join(folder, ".gitlab-ci.yml"), yaml);
  // gitlab-ci-local includes only tracked files.
  spawnSync("git", ["add", "templates"], { cwd: folder, env });
  const { status, stdout, stderr } = spawnSync(process.execPath, [interpreter, "--preview"], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  const result = status === 0 ? { jobs: parse(stdout), error: "" } : { jobs: {}, error: stdout + stderr };
  interpreted.set(yaml, result);
  return result;
}

/** Runs a job like a runner: `script` in one shell, then `after_script` in another shell. */
export async function runJob(host: Host, job: Job, ci: Readonly<Record<string, string>>) {
  const variables: Record<string, string> = {
    CI: "true",
    CI_PROJECT_DIR: host.checkout,
    CI_JOB_TOKEN: "job-token",
    ...ci,
  };
  for (const [name, value] of Object.entries(job.variables))
    variables[name] ??= value.replace(/^\$(\w+)$/, (_, of: string) => variables[of] ?? "");
  const shell = (lines: readonly string[], more = {}) =>
    host.run(["bash", "-c", `set -eo pipefail\n${lines.join("\n")}`], { ...variables, ...more });
  const ran = await shell(job.script);
  const status = ran.status === 0 ? "success" : "failed";
  const after = job.after_script && (await shell(job.after_script, { CI_JOB_STATUS: status }));
  const dotenv = path.join(host.checkout, job.artifacts?.reports?.dotenv ?? "none");
  const outputs = existsSync(dotenv) ? readFileSync(dotenv, "utf8").trim().split("\n") : [];
  return { code: ran.status, log: ran.text + (after?.text ?? ""), outputs };
}
