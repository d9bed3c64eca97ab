/** The harmless writes: what they send, and that nothing of them stays, whatever happens. */
import { describe, expect, it } from "vitest";
import { checkContract, mostRequests } from "../../../src/contract/index.ts";
import { HostformError } from "../../../src/core/model/index.ts";
import {
  type Asked,
  checkSandbox,
  checkServer,
  type MadeUp,
  proberFor,
  server,
  TOKEN,
  usual,
  VOCABULARY,
} from "./support.ts";

const URL_OF_CHECK = /^https:\/\/hostform-contract-check-[\da-f]{8}\.invalid\/$/;

/** A server with webhooks, which does this instead of some answers. */
function withWebhooks(
  instead: (asked: Asked, hooks: Map<number, string>) => MadeUp | undefined = () => undefined,
  hooks = new Map<number, string>([[200, "https://hooks.acme.example/"]]),
) {
  let next = 201;
  const answer = usual((asked) => {
    const own = instead(asked, hooks);
    if (own !== undefined) return own;
    const list = { data: [...hooks].map(([id, url]) => ({ id, url, events: [] })), meta: { last_page: 1 } };
    if (asked.line.startsWith("GET /webhooks")) return { json: list };
    if (asked.line === "POST /webhooks") {
      const { url, events } = JSON.parse(asked.body) as { url: string; events: string[] };
      if (events.length === 0)
        return { status: 422, json: { message: "No events.", errors: { events: ["Required."] } } };
      hooks.set(next, url);
      return { status: 201, json: { data: { id: next++, url, events, secret: "whsec_canary_0123456789" } } };
    }
    if (asked.line.startsWith("DELETE /webhooks/")) {
      return hooks.delete(Number(asked.line.split("/").at(-1)))
        ? { status: 204 }
        : { status: 404, json: { message: "No." } };
    }
    if (asked.line === "POST /domains/check") return { json: { data: [{ domain: "example.com", available: false }] } };
    return undefined;
  });
  return { answer, hooks };
}

const mutations = (asked: readonly Asked[]) => asked.map(({ line }) => line).filter((line) => !line.startsWith("GET"));

describe("the harmless writes", () => {
  it("register a webhook and remove it again, and nothing else", async () => {
    const { answer, hooks } = withWebhooks();
    const registered: string[] = [];
    const secrets: string[] = [];
    const { report, asked, verdict, leftover } = await checkServer(answer, {
      onRegistered: (id, url) => registered.push(`${id} ${url}`),
      onSecret: (secret) => secrets.push(secret),
    });
    expect(mutations(asked)).toEqual([
      "POST /domains/check",
      "POST /webhooks",
      "POST /webhooks",
      "DELETE /webhooks/201",
    ]);
    const { url } = JSON.parse(asked.filter(({ line }) => line === "POST /webhooks").at(-1)?.body ?? "{}");
    expect(url).toMatch(URL_OF_CHECK);
    expect([...hooks.keys()]).toEqual([200]);
    expect(registered).toEqual([`201 ${url}`]);
    expect(secrets).toEqual(["whsec_canary_0123456789"]);
    expect(leftover).toBeUndefined();
    expect(report.wrote).toBe(true);
    expect(report.requests).toBeLessThanOrEqual(31);
    for (const id of ["webhooks.invalid", "webhooks.secret", "webhooks.removed", "domains.post"])
      expect(verdict(id)).toBe("pass");
    expect(JSON.stringify(report)).not.toMatch(/canary|acme/);
  });

  it("leave a sandbox as it was, but for its log", async () => {
    const { sandbox, report } = await checkSandbox({ write: { webhookUrl: "https://hooks.acme.example/check" } });
    expect(report.wrote).toBe(true);
    expect(sandbox.control.list("webhooks").map(({ url }) => url)).toEqual(["https://hooks.acme.example/hosting"]);
    const lines = sandbox.control.requests().filter(({ method }) => method !== "GET");
    expect(lines.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/domains/check",
      "POST /api/v1/webhooks",
      "POST /api/v1/webhooks",
      "DELETE /api/v1/webhooks/202",
    ]);
    expect(sandbox.control.list("deliveries")).toEqual([]);
  });

  it("are not sent by a token that may not list webhooks", async () => {
    const refused = (asked: Asked) =>
      asked.line.startsWith("GET /webhooks") ? { status: 403, json: { message: "It lacks technical." } } : undefined;
    const { asked, verdict } = await checkServer(withWebhooks(refused).answer, {});
    expect(mutations(asked)).toEqual(["POST /domains/check"]);
    expect(verdict("webhooks.secret")).toBe("not_seen");
  });
});

it("an excessive or endless list of webhooks is not read to the end: none is registered", async () => {
  const endless = (asked: Asked): MadeUp | undefined => {
    if (!asked.line.startsWith("GET /webhooks?")) return undefined;
    const page = Number(new URL(asked.line.slice(4), "http://x").searchParams.get("page"));
    const data = Array.from({ length: 100 }, (_, at) => ({
      id: page * 100 + at,
      url: "https://a.example/",
      events: [],
    }));
    return { json: { data, meta: { current_page: page, per_page: 100, last_page: 9_999 } } };
  };
  const { asked, report } = await checkServer(withWebhooks(endless).answer, {});
  expect(mutations(asked)).toEqual(["POST /domains/check"]);
  expect(mostRequests(true)).toBeLessThan(40);
  expect(asked.length).toBeLessThanOrEqual(mostRequests(true));
  expect(report.checks.find(({ id }) => id === "webhooks.secret")?.detail).toContain("cannot be listed");
});

it("a server that refuses an address which does not exist is asked with another", async () => {
  const refusing = (asked: Asked): MadeUp | undefined =>
    asked.body.includes(".invalid/")
      ? { status: 422, json: { message: "No.", errors: { url: ["No such host."] } } }
      : undefined;
  const first = await checkServer(withWebhooks(refusing).answer, {});
  expect(first.report.checks.find(({ id }) => id === "webhooks.secret")).toMatchObject({
    verdict: "not_seen",
    detail: expect.stringContaining("--webhook-url"),
  });
  const second = await checkServer(withWebhooks(refusing).answer, { webhookUrl: "https://hooks.acme.example/check" });
  expect(second.verdict("webhooks.secret")).toBe("pass");
});

it("an address that has a webhook already is left alone", async () => {
  const { answer, hooks } = withWebhooks();
  const { asked, report } = await checkServer(answer, { webhookUrl: "https://HOOKS.acme.example" });
  expect(mutations(asked)).toEqual(["POST /domains/check"]);
  expect([...hooks]).toEqual([[200, "https://hooks.acme.example/"]]);
  expect(report.checks.find(({ id }) => id === "webhooks.secret")?.detail).toContain("was not changed");
});

it("a webhook that was there before is never removed, whatever a registration answers", async () => {
  const old = (asked: Asked): MadeUp | undefined =>
    asked.line === "POST /webhooks"
      ? { status: 200, json: { data: { id: 200, secret: "whsec_canary_0123456789" } } }
      : undefined;
  const { answer, hooks } = withWebhooks(old);
  const { asked, leftover } = await checkServer(answer, {});
  expect([...hooks.keys()]).toEqual([200]);
  expect(mutations(asked).filter((line) => line.startsWith("DELETE"))).toEqual([]);
  expect(leftover).toBeUndefined();
});

describe("a webhook is removed", () => {
  const lost = (asked: Asked, hooks: Map<number, string>): MadeUp | undefined => {
    if (asked.line !== "POST /webhooks" || asked.body.includes('"events":[]')) return undefined;
    hooks.set(300, JSON.parse(asked.body).url);
    return { status: 500, json: { message: "Oops" } };
  };

  it("when the answer to its registration was lost", async () => {
    const { answer, hooks } = withWebhooks(lost);
    const { leftover, asked } = await checkServer(answer, {});
    expect([...hooks.keys()]).toEqual([200]);
    expect(leftover).toBeUndefined();
    // Registered once: what may have been done is looked for, not repeated.
    expect(mutations(asked).filter((line) => line === "POST /webhooks")).toHaveLength(2);
  });

  it("when the answer names no id", async () => {
    const nameless = (asked: Asked, hooks: Map<number, string>): MadeUp | undefined => {
      const made = lost(asked, hooks);
      return made && { status: 201, json: { secret: "whsec_canary_0123456789" } };
    };
    const { answer, hooks } = withWebhooks(nameless);
    const { leftover, verdict } = await checkServer(answer, {});
    expect([...hooks.keys()]).toEqual([200]);
    expect(leftover).toBeUndefined();
    expect(verdict("webhooks.secret")).toBe("differs");
  });

  it("when the one that is not valid was accepted", async () => {
    const accepting = (asked: Asked, hooks: Map<number, string>): MadeUp | undefined => {
      if (asked.line !== "POST /webhooks" || !asked.body.includes('"events":[]')) return undefined;
      hooks.set(400, "not an address");
      return { status: 201, json: { data: { id: 400, url: "not an address", events: [] } } };
    };
    const { answer, hooks } = withWebhooks(accepting);
    const { leftover, verdict } = await checkServer(answer, {});
    expect([...hooks.keys()]).toEqual([200]);
    expect(leftover).toBeUndefined();
    expect(verdict("webhooks.invalid")).toBe("differs");
  });

  it("when the removal fails at first", async () => {
    let failures = 2;
    const { answer, hooks } = withWebhooks((asked) =>
      asked.line.startsWith("DELETE") && failures-- > 0 ? { status: 503 } : undefined,
    );
    expect((await checkServer(answer, {})).leftover).toBeUndefined();
    expect([...hooks.keys()]).toEqual([200]);
  });

  it.each([1, 2])("when the check is interrupted while registration %i is under way", async (which) => {
    const stop = new AbortController();
    let posts = 0;
    const { answer, hooks } = withWebhooks((asked) => {
      if (asked.line === "POST /webhooks" && ++posts === which)
        stop.abort(new HostformError([{ severity: "error", code: "interrupted", summary: "Interrupted." }]));
      return undefined;
    });
    const { url, asked } = await server(answer);
    const run = checkContract({
      prober: proberFor(url, TOKEN),
      baseUrl: url,
      vocabulary: VOCABULARY,
      write: { random: () => 0.25 },
      signal: stop.signal,
    });
    await expect(run).rejects.toMatchObject({ diagnostics: [{ code: "interrupted" }] });
    expect([...hooks.keys()]).toEqual([200]);
    expect(posts).toBe(which);
    expect(mutations(asked).filter((line) => line.startsWith("DELETE"))).toHaveLength(which - 1);
  });
});

describe("a webhook that stays is reported", () => {
  it("with its id, when its removal is refused", async () => {
    const { answer } = withWebhooks((asked) =>
      asked.line.startsWith("DELETE") ? { status: 403, json: { message: "No." } } : undefined,
    );
    const { leftover, verdict } = await checkServer(answer, {});
    expect(leftover).toEqual({ id: "201", url: expect.stringMatching(URL_OF_CHECK) });
    expect(verdict("webhooks.removed")).toBe("stops");
  });

  it("with its address, when it cannot be looked for any more", async () => {
    let posted = false;
    const { answer } = withWebhooks((asked, hooks) => {
      if (asked.line === "POST /webhooks" && !asked.body.includes('"events":[]')) {
        posted = true;
        hooks.set(300, "https://elsewhere.example");
        return { status: 502 };
      }
      return posted && asked.line.startsWith("GET /webhooks") ? { status: 500 } : undefined;
    });
    const { leftover } = await checkServer(answer, {});
    expect(leftover).toEqual({ id: null, url: expect.stringMatching(URL_OF_CHECK) });
  });

  it("and not removed by a guess, when two lead to the same address", async () => {
    const url = "https://hooks.acme.example/check";
    const { answer, hooks } = withWebhooks((asked, all) => {
      if (asked.line !== "POST /webhooks" || asked.body.includes('"events":[]')) return undefined;
      all.set(300, url).set(301, url);
      return { status: 500 };
    });
    const { leftover, asked } = await checkServer(answer, { webhookUrl: url });
    expect(leftover).toEqual({ id: null, url });
    expect([...hooks.keys()]).toEqual([200, 300, 301]);
    expect(mutations(asked).filter((line) => line.startsWith("DELETE"))).toEqual([]);
  });

  it("also when the check was interrupted", async () => {
    const stop = new AbortController();
    const { answer } = withWebhooks((asked) => {
      if (asked.line.startsWith("DELETE")) return { status: 403, json: { message: "No." } };
      if (asked.line === "POST /webhooks" && !asked.body.includes('"events":[]')) stop.abort(new Error("stopped"));
      return undefined;
    });
    const { url } = await server(answer);
    const run = checkContract({
      prober: proberFor(url, TOKEN),
      baseUrl: url,
      vocabulary: VOCABULARY,
      write: { random: () => 0.25 },
      signal: stop.signal,
    });
    await expect(run).rejects.toMatchObject({ diagnostics: [{ code: "contract.leftover" }] });
  });
});
