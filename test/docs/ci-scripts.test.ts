/** Runs the scripts of docs/ci.md that store the state on a branch. The repository is on this machine. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readPage, root } from "./markdown.ts";

const STATE = "hosting.tfstate";
const JOURNAL = `${STATE}.journal`;

const page = readPage("docs/ci.md", readFileSync(path.join(root, "docs/ci.md"), "utf8"));

let base = "";

beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), "hostform-ci-"));
  mkdirSync(path.join(base, "seed"));
  const seed = (...args: string[]) => git("seed", ...args);
  seed("init", "--quiet", "--initial-branch=main");
  seed("commit", "--quiet", "--allow-empty", "--message=Begin");
  seed("clone", "--quiet", "--bare", ".", "../origin");
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "hostform",
  GIT_AUTHOR_EMAIL: "hostform@example.com",
  GIT_COMMITTER_NAME: "hostform",
  GIT_COMMITTER_EMAIL: "hostform@example.com",
};

const git = (folder: string, ...args: string[]) =>
  execFileSync("git", args, { cwd: path.join(base, folder), env, encoding: "utf8" });

/** Simulates a job: a fresh checkout that fetches the state. Returns the path of a file in the checkout. */
function job(name: string): (file: string) => string {
  git(".", "clone", "--quiet", "--depth=1", `file://${base}/origin`, name);
  script(name, "ci/fetch-state.sh");
  return (file) => path.join(base, name, file);
}

function script(folder: string, name: string): void {
  const block = page.blocks.find(({ directives }) => directives.get("script") === name);
  execFileSync("bash", ["-c", block?.text ?? "exit 9"], { cwd: path.join(base, folder), env, stdio: "pipe" });
}

it("pass the state and the journal to the next job, but no removed journal", () => {
  const first = job("first");
  expect([existsSync(first(STATE)), existsSync(first(JOURNAL))]).toEqual([false, false]);
  // The job was killed in its first apply, so no state exists.
  writeFileSync(first(JOURNAL), "one\r\n\0");
  script("first", "ci/keep-state.sh");

  const second = job("second");
  expect(existsSync(second(STATE))).toBe(false);
  expect(readFileSync(second(JOURNAL), "utf8")).toBe("one\r\n\0");
  expect(statSync(second(JOURNAL)).mode & 0o077).toBe(0);
  // The second job was killed after it wrote the state.
  writeFileSync(second(STATE), "state 1");
  writeFileSync(second(JOURNAL), "two");
  script("second", "ci/keep-state.sh");

  const third = job("third");
  expect([readFileSync(third(STATE), "utf8"), readFileSync(third(JOURNAL), "utf8")]).toEqual(["state 1", "two"]);
  // The third job completed its apply.
  writeFileSync(third(STATE), "state 2");
  rmSync(third(JOURNAL));
  script("third", "ci/keep-state.sh");

  const fourth = job("fourth");
  expect(readFileSync(fourth(STATE), "utf8")).toBe("state 2");
  expect(existsSync(fourth(JOURNAL))).toBe(false);
  expect(git("origin", "rev-list", "--count", "hosting-state").trim()).toBe("3");
});

it.each(["", "state 1"])("delete the state files of a pull request (on the branch: %j)", (kept) => {
  if (kept !== "") {
    writeFileSync(job("before")(STATE), kept);
    script("before", "ci/keep-state.sh");
  }
  git(".", "clone", "--quiet", "--depth=1", `file://${base}/origin`, "request");
  const file = (name: string) => path.join(base, "request", name);
  for (const name of [STATE, JOURNAL, `${STATE}.backup`]) writeFileSync(file(name), "forged");
  script("request", "ci/fetch-state.sh");
  expect([STATE, JOURNAL, `${STATE}.backup`].map((name) => existsSync(file(name)))).toEqual([
    kept !== "",
    false,
    false,
  ]);
  if (kept !== "") expect(readFileSync(file(STATE), "utf8")).toBe(kept);
});

it("fail if the repository is unreachable, and create no empty state", () => {
  const file = job("lonely");
  rmSync(path.join(base, "origin"), { recursive: true });
  expect(() => script("lonely", "ci/fetch-state.sh")).toThrow();
  writeFileSync(file(STATE), "state 1");
  expect(() => script("lonely", "ci/keep-state.sh")).toThrow();
});

/**
 * Runs `ci/comment.sh` for a pull request with these comments. Stubs replace hostform, which prints `plan`, and `gh`,
 * which logs its arguments.
 */
function comment(plan: string, code: number, bodies: readonly string[]): { code: number | null; asked: string } {
  const text = page.blocks.find(({ text: one }) => one.includes("gh api --paginate"))?.text ?? "exit 9";
  const stub = (name: string, lines: string) =>
    writeFileSync(path.join(base, "bin", name), `#!/bin/bash\n${lines}\n`, { mode: 0o755 });
  mkdirSync(path.join(base, "bin"));
  writeFileSync(path.join(base, "plan"), plan);
  stub("hostform", `cat ../plan; exit ${code}`);
  const listed = bodies.map((body, i) => `case '${body}' in "$MARKER"*) echo ${i + 1};; esac`);
  stub("gh", `if [ "$2" = --paginate ]; then\n${listed.join("\n")}\nelse echo "$3 $4" >> ../asked; fi`);
  const own = { ...env, PATH: `${base}/bin:${env.PATH}`, GITHUB_REPOSITORY: "o/r", PR: "7" };
  const ran = spawnSync("bash", ["-c", text], { cwd: path.join(base, "seed"), env: own });
  const asked = path.join(base, "asked");
  return { code: ran.status, asked: existsSync(asked) ? readFileSync(asked, "utf8").trim() : "" };
}

const PLAN = "<!-- hostform plan: acme -->\n**No changes.**\n";
it.each([
  ["replaces the comment of the last push", PLAN, 0, ["hello", PLAN.trim()], "PATCH repos/o/r/issues/comments/2"],
  ["makes the first one", PLAN, 2, ["hello"], "POST repos/o/r/issues/7/comments"],
  ["touches nobody's comment when there is no plan", "", 1, ["hello", PLAN.trim()], ""],
  ["touches nobody's comment when what was printed is no plan", "hello\n", 1, ["hello"], ""],
])("the script that comments on a pull request %s", (_, plan, code, bodies, asked) => {
  expect(comment(plan, code, bodies)).toEqual({ code, asked });
});
