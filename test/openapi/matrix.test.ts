/** Provokes each status of each endpoint over HTTP, and validates each exchange against the document. */
import { describe, expect, it } from "vitest";
import { PROFILE_SETS, type Profile } from "../../src/sandbox/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { operationsOf, readDocument } from "../support/openapi/document.ts";
import { violationsOf } from "../support/sandbox.ts";
import { type Running, start } from "../unit/sandbox/harness.ts";
import { type Asked, type Row, rows, scene, tokenOf } from "./cells.ts";

/** A rejected order frees its Idempotency-Key. Otherwise a later request would get the rejected order's response. */
const refused_key = "free";

/** Profiles that together produce every form of a response. */
const PROFILES: Readonly<Record<string, Partial<Profile>>> = {
  usual: {},
  minimal: PROFILE_SETS.minimal,
  contrary: { ...PROFILE_SETS.contrary, refused_key },
  strict: { ...PROFILE_SETS.strict, refused_key },
  "queued with 204": { queued: "no_content", creation: "beside", envelope: "flat" },
  "split orders": { creation: "split", webhook: "bare", envelope: "named_has_more", domain_check: "is_available" },
};

const SUCCESS = { GET: 200, POST: 201, DELETE: 200 } as const;
const ABILITIES = ["view", "technical", "billing"] as const;

/** Cells with a response in any profile, as `GET /plans 200`. */
const seen = new Set<string>();
const cellOf = ({ method, path }: Row, status: number) => `${method} ${path} ${status}`;

async function ask(running: Running, row: Row, asked: Asked): Promise<number> {
  const { at = row.path, ...sending } = asked;
  const { status } = await running.send(row.method, at, sending);
  seen.add(cellOf(row, status));
  return status;
}

/** Returns the received statuses of a row by their cause. Omits a cause if the row has a reason in place of a request. */
async function statusesOf(running: Running, row: Row, restricted: string): Promise<Record<string, number>> {
  const { good, invalid, foreign, outside, unknown } = row;
  const others = ABILITIES.filter((one) => one !== row.ability);
  const came: Record<string, number> = {
    "no token": await ask(running, row, { ...good, token: null }),
    "an unknown token": await ask(running, row, { ...good, token: "nobody" }),
    "without the ability": await ask(running, row, {
      ...good,
      token: tokenOf(running.sandbox, `without-${row.ability}`, others),
    }),
  };
  if (typeof invalid !== "string") came.invalid = await ask(running, row, invalid);
  if (typeof foreign !== "string") came.foreign = await ask(running, row, foreign);
  if (typeof outside !== "string") came.outside = await ask(running, row, { ...outside, token: restricted });
  if (typeof unknown !== "string") came.unknown = await ask(running, row, unknown);
  if (row.method === "POST") {
    const { body: _body, ...rest } = good;
    came.unreadable = await ask(running, row, { ...rest, raw: "{" });
    came["too large"] = await ask(running, row, { ...rest, raw: JSON.stringify({ pad: "x".repeat(1_048_576) }) });
  }
  came.good = await ask(running, row, good);
  return came;
}

/**
 * Returns the expected statuses. §4, §5 and §7 define most of them. The document adds 401, 404, 413, and 400 for
 * anything but a key.
 */
function expected(row: Row, came: Readonly<Record<string, number>>, profile: Partial<Profile>): Record<string, number> {
  const by: Record<string, number> = {
    "no token": 401,
    "an unknown token": 401,
    "without the ability": 403,
    invalid: 422,
    foreign: 403,
    outside: 403,
    unknown: 404,
    unreadable: 400,
    "too large": 413,
    good: success(row, profile),
  };
  return Object.fromEntries(Object.keys(came).map((what) => [what, by[what] ?? 0]));
}

function success({ method, path }: Row, profile: Partial<Profile>): number {
  if (path.endsWith("suspend"))
    return { message: 202, service: 200, no_content: 204, empty: 202 }[profile.queued ?? "message"];
  const silent = method === "DELETE" || path.endsWith("/password");
  if (silent) return profile.bodies === "empty204" ? 204 : 200;
  return path === "/domains/check" ? 200 : SUCCESS[method];
}

describe("every endpoint x every status", () => {
  it.each(Object.entries(PROFILES))("%s", async (_, profile) => {
    const running = await start({ profile });
    const has = await scene(running);
    const all = rows(has);
    expect(all).toHaveLength(24);
    for (const row of all) {
      const came = await statusesOf(running, row, has.restricted);
      expect([row.method, row.path, came]).toEqual([row.method, row.path, expected(row, came, profile)]);
    }
    // The host generates the password of a server, so the request has no body (§4).
    expect((await running.send("POST", `/services/${has.server}/password`)).status).toBe(200);
    expect(violationsOf(running.sandbox)).toEqual([]);
  });

  it.each(Object.entries(PROFILES))("the Idempotency-Key of orders: %s", async (_, profile) => {
    let arrived = () => {};
    let answer = () => {};
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const sleep = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
        arrived();
      });
    const running = await start({ profile, processingMs: 1, sleep });
    const [order] = rows(await scene(running)).filter(({ method, path }) => method === "POST" && path === "/services");
    if (order === undefined) throw new Error("no such row");
    const { key: _key, ...keyless } = order.good;
    expect(await ask(running, order, keyless)).toBe(400);
    const first = ask(running, order, order.good);
    await waiting;
    expect(await ask(running, order, order.good)).toBe(409);
    answer();
    expect(await first).toBe(201);
    expect(await ask(running, order, order.good)).toBe(profile.replay === "ok" ? 200 : 201);
    expect(violationsOf(running.sandbox)).toEqual([]);
  });

  it.each(sampled(Object.entries(PROFILES), 3))("the limit: %s", async (_, profile) => {
    // Each token may send enough requests to create the objects of the scene.
    const running = await start({ profile, rateLimit: 3 });
    for (const [index, row] of rows(await scene(running)).entries()) {
      const token = tokenOf(running.sandbox, `row-${index}`, [...ABILITIES]);
      for (let time = 0; time < 3; time += 1) await running.send("GET", "/plans", { token });
      expect(await ask(running, row, { ...row.good, token })).toBe(429);
    }
    expect(violationsOf(running.sandbox)).toEqual([]);
  });

  it.each(["empty", "not_found", "repeats"] as const)("a page after the last page: %s", async (past_end) => {
    const running = await start({ profile: { past_end } });
    const lists = rows(await scene(running)).filter(({ good }) => good.at?.includes("page=1"));
    expect(lists.length).toBeGreaterThan(4);
    for (const row of lists) {
      const at = row.good.at?.replace("page=1", "page=99") ?? "";
      expect(await ask(running, row, { ...row.good, at })).toBe(past_end === "not_found" ? 404 : 200);
    }
    expect(violationsOf(running.sandbox)).toEqual([]);
  });

  it("needs Growth or above for new client accounts", async () => {
    const running = await start();
    running.sandbox.control.change("customers", 1, { tier: "starter" });
    expect((await running.send("POST", "/accounts", { body: { name: "Acme" } })).status).toBe(403);
  });

  it("provokes every documented response", () => {
    const listed = operationsOf(readDocument()).flatMap(({ method, path, operation }) =>
      Object.keys(operation.responses).map((status) => `${method} ${path.replace("/api/v1", "")} ${status}`),
    );
    // §7 names no 5xx status, and no rule of the API causes one. Injected faults cause 5xx responses (faults.test.ts).
    const missing = listed.filter((one) => !seen.has(one) && !one.endsWith(" 5XX"));
    expect(missing).toEqual([]);
  });
});
