// Writes the report of the action plan as one comment of the pull request, and updates this comment later.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { artifactFolder, eventOf, fail, input, notice } from "./runner.mjs";

const { GITHUB_ACTOR, GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_SERVER_URL, GITHUB_TOKEN } = process.env;
/** Maximum number of comments that are read: 100 pages. GitHub accepts 2,500 comments. */
const PAGES = 100;
const HINTS = {
  401: " GitHub rejects the token of the input `github-token`.",
  403: " The job needs the permission `pull-requests: write`.",
  404: " The token of the input `github-token` needs access to this repository.",
};

const { pull_request: request } = eventOf();
if (request === undefined) {
  notice("The event has no pull request, so there is no comment.");
  process.exit();
}
const folder = artifactFolder();
const marker = `<!-- hostform action: ${input("NAME")} -->`;

async function api(method, route, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues/${route}`, {
    method,
    headers: { accept: "application/vnd.github+json", authorization: `Bearer ${GITHUB_TOKEN}` },
    body: body && JSON.stringify({ body }),
    redirect: "error",
    signal: AbortSignal.timeout(30_000),
  });
  if (response.ok) return response.json();
  const isFork = request.head.repo?.full_name !== GITHUB_REPOSITORY;
  if (response.status === 403 && (isFork || GITHUB_ACTOR === "dependabot[bot]")) {
    notice(`The token of ${isFork ? "a fork" : "Dependabot"} cannot comment. The report is in the summary of the job.`);
    process.exit();
  }
  const hint = HINTS[response.status] ?? "";
  return fail(`GitHub responded ${response.status} to ${method} ${route}, so the comment is not up to date.${hint}`);
}

/** Finds the earlier comment. Anyone can write the marker, so the author must match too. */
async function earlier() {
  for (let page = 1; page <= PAGES; page++) {
    const comments = await api("GET", `${request.number}/comments?per_page=100&page=${page}`);
    const own = comments.find(({ user, body }) => user?.login === input("COMMENT_AUTHOR") && body?.startsWith(marker));
    if (own !== undefined || comments.length < 100) return own;
  }
}

const file = path.join(folder, "report.md");
const report = existsSync(file) ? readFileSync(file, "utf8") : "### hostform plan failed\n\nThe log of the job has the reason.\n";
const run = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
const links = `Commit ${request.head.sha} · [complete plan](${input("ARTIFACT_URL") || run}) · [log](${run})`;
try {
  const own = await earlier();
  const body = `${marker}\n${report}\n${links}\n`;
  if (own !== undefined) await api("PATCH", `comments/${own.id}`, body);
  else {
    const { user } = await api("POST", `${request.number}/comments`, body);
    if (user.login !== input("COMMENT_AUTHOR"))
      fail(`The next run cannot find this comment. Set the input comment-author to ${user.login}.`);
  }
} catch (error) {
  fail(`GitHub did not respond, so the comment is not up to date: ${error.message}`);
}
