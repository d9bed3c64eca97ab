// Plans the declaration of a checkout at each push, and sets the plan down where people look at it. Nothing is applied.
//
//   PORT=8080 PUSH_SECRET=… HOSTING_TOKEN=… node server.mjs /srv/hosting /srv/plans
//
// POST / with the header X-Hub-Signature-256 that GitHub, Gitea and Forgejo send. A program of your own has pulled by then.
import { createHmac, timingSafeEqual } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { errorText, HostformError, loadProject, plan } from "hostform";

const [dir = ".", plans = "."] = process.argv.slice(2);
const { PORT = "8080", PUSH_SECRET: secret = "" } = process.env;
if (secret === "") throw new Error("Set PUSH_SECRET to the secret of the web hook.");
const MOST_BYTES = 1_000_000;

/** Whether the body is what the owner of the secret has signed. */
function isSigned(body, signature = "") {
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The plan as a page, and one line that says what it is. */
async function planned() {
  const project = await loadProject({ dir, lockTimeoutMs: 60_000 });
  const made = await plan(project);
  await writeFile(path.join(plans, "plan.html"), made.html());
  if (!made.applicable) return "The plan cannot be applied: see plan.html.";
  return made.hasChanges ? "The account differs: see plan.html." : "The account is as declared.";
}

/** One plan after the other: each reads the account, within its requests per minute. */
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
