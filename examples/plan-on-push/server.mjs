// Plans the declaration of a checkout at each push, and writes the plan as a page. Applies nothing.
//
//   PORT=8080 PUSH_SECRET=… HOSTING_TOKEN=… node server.mjs /srv/hosting /srv/plans
//
// POST / with the header X-Hub-Signature-256 that GitHub, Gitea and Forgejo send. A program of your own has pulled by then.
import { createHmac, timingSafeEqual } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { errorText, HostformError, loadProject } from "hostform";

const [directory = ".", plans = "."] = process.argv.slice(2);
const { PORT = "8080", PUSH_SECRET: secret = "" } = process.env;
if (secret === "") throw new Error("Set PUSH_SECRET to the secret of the web hook.");
const MOST_BYTES = 1_000_000;

/** Returns true for a body that the owner of the secret has signed. */
function isSigned(body, signature = "") {
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Writes the plan as a page. @returns one line about it. */
async function planned() {
  const project = await loadProject({ directory, lockTimeoutMs: 60_000 });
  const plan = await project.plan();
  await writeFile(path.join(plans, "plan.html"), plan.html());
  if (!plan.applicable) return "The plan cannot be applied: see plan.html.";
  return plan.hasChanges ? "The account differs: see plan.html." : "The account is as declared.";
}

/** One plan at a time, because each reads the account within its requests per minute. */
let turn = Promise.resolve("");

const server = createServer(async (request, response) => {
  const size = Number(request.headers["content-length"] ?? Number.NaN);
  if (request.method !== "POST" || !(size <= MOST_BYTES)) return response.writeHead(400).end();
  const body = await buffer(request);
  if (!isSigned(body, request.headers["x-hub-signature-256"])) return response.writeHead(401).end();
  turn = turn.then(planned).catch((error) => (error instanceof HostformError ? errorText(error) : String(error)));
  const text = await turn;
  console.log(text);
  response.end(`${text}\n`);
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`Listening on 127.0.0.1:${server.address().port}`));
