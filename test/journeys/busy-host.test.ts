/**
 * A host that serves one change of a token at a time, and refuses concurrent ones: one apply sends every change
 * exactly once.
 */
import { createServer, request } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { calmClock } from "../support/calm-clock.ts";
import { listening } from "../support/listening.ts";
import { type Project, startProject } from "../support/project.ts";

/** Duration of one change at the host. */
const CHANGE_MS = 1_000;

interface Busy {
  readonly status: number;
  /** Seconds in the `Retry-After` header. */
  readonly after?: number;
}

/** The host in front of the sandbox. `refused` counts the requests that it refused. */
async function busyHost(
  { sandbox, clock }: { sandbox: Project["sandbox"]; clock: ReturnType<typeof calmClock> },
  { status, after }: Busy,
) {
  const seen = { refused: 0, isStrict: false, othersUntil: 0 };
  let isBusy = false;
  const server = createServer(async (from, to) => {
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk);
    const isChange = seen.isStrict && from.method !== "GET";
    if (isChange && (isBusy || clock.now() < seen.othersUntil)) {
      seen.refused += 1;
      const headers = {
        "content-type": "application/json",
        ...(after !== undefined && { "retry-after": String(after) }),
      };
      to.writeHead(status, headers).end(
        JSON.stringify({ message: "Another request is in progress. Try again later." }),
      );
      return;
    }
    isBusy ||= isChange;
    if (isChange) await clock.delay(CHANGE_MS);
    const { method, url, headers } = from;
    const onward = request(
      new URL(url ?? "", sandbox.url),
      { method, headers: { ...headers, host: new URL(sandbox.url).host } },
      (answer) => {
        to.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(to);
        if (isChange) answer.on("end", () => (isBusy = false));
      },
    );
    onward.end(Buffer.concat(chunks));
  });
  return { url: await listening(server), seen };
}

const site = (name: string, more: object) => ({ plan_id: 11, currency: "USD", domain: `${name}.example`, ...more });
const hook = (name: string) => ({ url: `https://hooks.example/${name}`, events: ["invoice.paid"] });

const BEFORE = {
  project: "busy",
  services: {
    one: site("one", { suspended: false, grants: { "a@acme.example": "view", "b@acme.example": "view" } }),
    two: site("two", { suspended: false, grants: { "a@acme.example": "view" } }),
  },
  webhooks: { old: hook("old") },
};

/** Eight changes: two suspensions, three removals, a webhook, a client account and an order. */
const AFTER = {
  project: "busy",
  services: {
    one: site("one", { suspended: true, grants: { "b@acme.example": "view" } }),
    two: site("two", { suspended: true }),
    three: site("three", {}),
  },
  webhooks: { new: hook("new") },
  client_accounts: { alpha: { name: "Alpha" } },
};

// A refused create adds 80 s: hostform waits until the list must contain a created object.
it.each<[Busy, others: number, most: number]>([
  [{ status: 423 }, 0, 120],
  [{ status: 423, after: 2 }, 0, 120],
  [{ status: 503 }, 0, 120],
  [{ status: 503, after: 2 }, 0, 120],
  [{ status: 429, after: 2 }, 0, 120],
  [{ status: 409 }, 0, 120],
  [{ status: 409, after: 2 }, 0, 120],
  [{ status: 423 }, 3, 120],
  [{ status: 503, after: 2 }, 3, 120],
  [{ status: 503 }, 12, 120],
])(
  "eight changes at a host that answers %j meanwhile, and is busy with others for %i s, take one apply of less than %i s",
  { timeout: 15_000 },
  async (busy, others, most) => {
    const clock = calmClock();
    onTestFinished(() => clock.close());
    const project = await startProject({ clock, declare: BEFORE, sandbox: { jobSeconds: 1, sleep: clock.delay } });
    const { url, seen } = await busyHost({ sandbox: project.sandbox, clock }, busy);
    project.env.HOSTING_BASE_URL = url;
    await project.apply();
    await project.declare(AFTER);
    clock.advance(600_000);
    seen.isStrict = true;
    seen.othersUntil = clock.now() + others * 1_000;
    const started = clock.now();
    const ran = await project.run("apply", "--auto-approve", "--verbose");
    const seconds = (clock.now() - started) / 1000;
    expect(ran.code, ran.text).toBe(0);
    expect(seen.refused).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(most);
    const isShown = new RegExp(`the host is busy \\(${busy.status}\\)`, "i").test(ran.text);
    expect(isShown, ran.text).toBe(busy.status !== 429);
    expect(project.control.list("webhooks")).toHaveLength(1);
    expect(project.control.list("grants")).toHaveLength(1);
    expect(project.control.list("accounts").filter(({ name }) => name === "Alpha")).toHaveLength(1);
    await project.expectNoChanges();
  },
);
