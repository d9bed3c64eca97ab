import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { controlApp } from "../../src/sandbox/control/routes.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { ask, furnish, site, Visitor } from "./site.ts";

describe("a request to the dashboard", () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ["another origin", { origin: "https://evil.example" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["an origin that is hidden", { origin: "null" }],
    ["no origin, and the browser says cross-site", { "sec-fetch-site": "cross-site" }],
    ["no origin, and the browser says same-site", { "sec-fetch-site": "same-site" }],
  ];

  test.each(FOREIGN)("from another site presses no button: %s", async (_, headers) => {
    const sandbox = await site();
    const { invoice } = await furnish(sandbox);
    for (const [path, body] of [
      ["/dashboard/invoices", `do=pay&id=${invoice}`],
      ["/", `do=pay&id=${invoice}`],
      ["/dashboard/account", "account=2"],
      [`/invoices/${invoice}/pay`, ""],
    ] as const) {
      const { status, text } = await raw(sandbox.controlUrl, "POST", path, body, headers);
      expect({ path, status }).toEqual({ path, status: 403 });
      expect(text).toContain("other sites");
    }
    expect(sandbox.control.get("invoices", invoice).status).toBe("unpaid");
  });

  test("to another host name is rejected", async () => {
    const sandbox = await site();
    const { status } = await raw(sandbox.controlUrl, "GET", "/", "", { host: "evil.example", accept: "text/html" });
    expect(status).toBe(403);
  });

  test("with a body that is not a form, or above 1 MiB, is rejected", async () => {
    const sandbox = await site();
    const { invoice } = await furnish(sandbox);
    for (const type of ["text/plain", "application/json", "multipart/form-data; boundary=x", ""]) {
      const { status } = await raw(sandbox.controlUrl, "POST", "/dashboard/invoices", `do=pay&id=${invoice}`, {
        "content-type": type,
      });
      expect({ type, status }).toEqual({ type, status: 415 });
    }
    const large = await raw(sandbox.controlUrl, "POST", "/dashboard/invoices", `do=pay&x=${"y".repeat(1_100_000)}`, {});
    expect(large.status).toBe(413);
    expect(sandbox.control.get("invoices", invoice).status).toBe("unpaid");
  });

  test("from the dashboard, the address bar or a program is accepted", async () => {
    const sandbox = await site();
    await furnish(sandbox);
    const allowed: Record<string, string>[] = [
      { origin: sandbox.controlUrl, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
      {},
    ];
    for (const headers of allowed) {
      const { status } = await raw(sandbox.controlUrl, "POST", "/dashboard/clock", "do=hour", headers);
      expect(status).toBe(303);
    }
  });
});

describe("a redirect", () => {
  test.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "http://127.0.0.1:1/dashboard/x",
    "/state",
    "javascript:alert(1)",
    "/dashboard/../state",
    "",
  ])("does not lead to %s", async (back) => {
    const { status, to } = await new Visitor(await site()).press("/dashboard/account", { account: "2", back });
    expect({ status, to }).toEqual({ status: 303, to: "/" });
  });
});

describe("the event stream of an open page", () => {
  test("sends the changed parts until the browser leaves the page", async () => {
    const sandbox = await site();
    const { control } = sandbox;
    const about = {
      url: sandbox.url,
      settings: { profile: completeProfile(), seed: "x", rateLimit: 60, autoPay: false },
      liveMs: 3,
    };
    const response = await controlApp(control, about).request(
      "http://127.0.0.1/dashboard/live?page=/dashboard/requests",
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body?.getReader();
    const next = async (): Promise<Record<string, string>> => {
      const { value } = (await reader?.read()) ?? {};
      const [, data = "{}"] = /^data: (.*)\n\n$/s.exec(new TextDecoder().decode(value)) ?? [];
      return JSON.parse(data);
    };
    expect(Object.keys(await next())).toEqual(["top-clock", "rates", "log"]);
    await ask(sandbox, "GET", "/webhooks");
    const news = await next();
    expect(Object.keys(news)).not.toContain("top-clock");
    expect(news.log).toContain("/webhooks");
    await reader?.cancel();
  });

  test("ends when the sandbox closes", async () => {
    const sandbox = await site();
    const response = await fetch(`${sandbox.controlUrl}/dashboard/live?page=/`);
    const reader = response.body?.getReader();
    await reader?.read();
    const rest = reader?.read().then(
      ({ done }) => done,
      () => true,
    );
    await sandbox.close();
    expect(await rest).toBe(true);
  });

  test("is not found for an unknown page", async () => {
    const { status } = await new Visitor(await site()).see("/dashboard/live?page=/dashboard/nothing");
    expect(status).toBe(404);
  });
});

/** Sends a request with headers that `fetch` does not allow. */
function raw(
  origin: string,
  method: string,
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const sent = request(new URL(path, origin), { method, headers: { ...type, ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
