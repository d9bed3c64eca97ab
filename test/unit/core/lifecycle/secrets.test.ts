/** Secrets of one resource: the plan's messages, the removal from the state, and reads that keep them. */
import { describe, expect, it } from "vitest";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import { fingerprintOf, refreshed, type SecretOutputs, unrecoverable } from "../../../../src/core/lifecycle/index.ts";
import { planSecret, tryOutput, writeSecret } from "../../../../src/core/lifecycle/secrets.ts";
import {
  type Change,
  type Diagnostic,
  fail,
  HostformError,
  type JsonObject,
  type ResourceState,
  UNKNOWN,
  type Value,
} from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import {
  complete,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveService,
  liveWebhook,
  remote,
} from "../../../support/subjects.ts";

const webhook = kindOf("hosting_webhook");
const service = kindOf("hosting_service");
const HOOK = "hosting_webhook.billing";
const SECRET = "whsec_0123456789";
const FILE = { file: "hook" };
const OTHER = { file: "elsewhere" };
const PRINT = fingerprintOf(SECRET);

describe("a fingerprint", () => {
  it("is the beginning of a digest, too short to find the secret", () => {
    // Computed with: printf %s abc | sha256sum
    expect(fingerprintOf("abc")).toBe("sha256:ba7816bf");
    expect(fingerprintOf("ü")).toBe("sha256:607474ca");
  });
});

describe("the plan of a secret", () => {
  const sees = (kind: Kind, before: JsonObject, after: { readonly [name: string]: Value }) => {
    const { after: will, reasons, diagnostics } = planSecret(kind, HOOK, before, after);
    const says = diagnostics.map(({ severity, code, attribute, detail }) => [severity, code, attribute, detail]);
    return { will, reasons, says };
  };
  const nothing = { will: {}, reasons: [], says: [] };
  const because = (text: string) => [{ why: "declared", attribute: "secret", text }];
  const warns = (detail: string) => ({
    ...nothing,
    says: [["warning", "secret.output", ["secret_output"], expect.stringContaining(detail)]],
  });
  const noForm = { file: null, env_file: null, command: null };

  it.each<[why: string, before: JsonObject, after: { readonly [name: string]: Value }, expected: object]>([
    ["no output, no secret", {}, {}, nothing],
    ["a secret that is to stay in the state", { secret: SECRET }, { secret: SECRET }, nothing],
    [
      "a secret that is still to be written",
      { secret: SECRET },
      { secret: SECRET, secret_output: FILE },
      {
        will: { secret: null, secret_fingerprint: PRINT },
        reasons: because("the secret is still to be written to the file hook"),
        says: [],
      },
    ],
    [
      "the same, as Terraform writes it",
      { secret: SECRET },
      { secret: SECRET, secret_output: { ...noForm, env_file: { path: ".env", name: "A" } } },
      {
        will: { secret: null, secret_fingerprint: PRINT },
        reasons: because("the secret is still to be written to A in .env"),
        says: [],
      },
    ],
    ["a secret whose output has none of its forms", { secret: SECRET }, { secret_output: noForm }, nothing],
    ["one that was written", { secret_fingerprint: PRINT, secret_output: FILE }, { secret_output: FILE }, nothing],
    [
      "one that was written elsewhere",
      { secret_fingerprint: PRINT, secret_output: FILE },
      { secret_output: OTHER },
      warns("The secret was written to the file hook"),
    ],
    [
      "one that was written, and its output removed, and declared again",
      { secret_fingerprint: PRINT, secret_output: null },
      { secret_output: OTHER },
      warns("removed from the state earlier"),
    ],
    ["one that was written, its output removed", { secret_fingerprint: PRINT, secret_output: FILE }, {}, nothing],
    [
      "an import: there never was one here",
      { id: "201" },
      { id: "201", secret_output: FILE },
      warns("The response or the state was lost"),
    ],
    ["a new one is on its way", { secret: SECRET }, { secret: UNKNOWN, secret_output: FILE }, nothing],
    [
      "a new one is on its way, and stays in the state",
      { secret: SECRET },
      { secret: UNKNOWN, secret_fingerprint: UNKNOWN },
      { ...nothing, will: { secret_fingerprint: null } },
    ],
    ["its place is known after apply", { secret: SECRET }, { secret_output: { file: UNKNOWN } }, nothing],
  ])("of %s", (_, before, after, expected) => {
    expect(sees(webhook, before, after)).toEqual(expected);
  });

  it("of a service without a password reports no missing secret, and the next one is written", () => {
    expect(sees(service, { ...liveService, secret_output: FILE }, { ...liveService, secret_output: OTHER })).toEqual(
      nothing,
    );
  });
});

describe("a read", () => {
  it.each([
    ["a webhook", webhook, liveWebhook, "secret", "secret_fingerprint"],
    ["a service", service, liveService, "generated_password", "generated_password_fingerprint"],
  ] as const)(
    "of %s changes neither its secret nor the fingerprint, whatever the response contains",
    (_, kind, live, name, print) => {
      for (const recorded of [{ [name]: SECRET }, { [print]: PRINT }]) {
        const before = complete(kind, { ...live, ...recorded });
        for (const shown of ["another", "", null]) {
          const after = refreshed(kind, before, remote({ ...live, [name]: shown, [print]: shown }));
          expect(after).toEqual(before);
        }
      }
    },
  );
});

/** Applies a change of a webhook. Records the checks, requests, state records and writes in order. */
async function run(
  config: JsonObject,
  over: Partial<Change> = {},
  broken: "check" | "write" | "answer" | undefined = undefined,
) {
  const steps: string[] = [];
  const writer = fakeWriter(({ endpoint }) => {
    steps.push(endpoint);
    if (endpoint === "deleteWebhook") return null;
    return { ...liveWebhook, raw: {}, secret: broken === "answer" ? null : SECRET, names: "data.id, data.url" };
  });
  const records: ResourceState[] = [];
  const { context } = fakeRun(fakeAccount(webhook).account, writer, {
    save: async (resource) => {
      steps.push(`save ${resource.attributes.secret ?? resource.attributes.secret_fingerprint ?? "-"}`);
      records.push(resource);
    },
    drop: async () => void steps.push("drop"),
    outputs: {
      check: async (output, { address, attribute }) => {
        steps.push(`check ${JSON.stringify(output)} for ${attribute} of ${address}`);
        if (broken === "check") fail("secret.output", "cannot be written");
      },
      write: async (_, __, secret) => {
        steps.push(`write ${secret}`);
        if (broken === "write") fail("secret.output", "cannot be written", { detail: "no room" });
      },
    },
  });
  const change = changeOf(webhook.type, config, { address: HOOK, sensitive: ["secret"], ...over });
  const ended = await outcomeOf({ ...webhook, list: async function* () {} }, change, context);
  const said = ended.diagnostics.map(format);
  const outcome = ended instanceof HostformError ? ["failed", ...said] : said;
  return { steps, outcome, last: records.at(-1)?.attributes };
}

const format = ({ severity, code, detail }: Diagnostic) => [severity, code, detail].filter(Boolean).join(" ");
const declared = { url: liveWebhook.url ?? null, events: liveWebhook.events ?? null, secret_output: FILE };
const TRIAL = `check {"file":"hook"} for secret of ${HOOK}`;

describe("a secret in a response", () => {
  it("is recorded, then written, and then removed from the state", async () => {
    const { steps, outcome, last } = await run(declared);
    expect(steps).toEqual([TRIAL, "save -", "createWebhook", `save ${SECRET}`, `write ${SECRET}`, `save ${PRINT}`]);
    expect(outcome).toEqual([]);
    expect(last).toMatchObject({ secret: null, secret_fingerprint: PRINT, secret_output: FILE });
  });

  it("stays in the state, with a warning, if it cannot be written", async () => {
    const { steps, outcome, last } = await run(declared, {}, "write");
    expect(steps.at(-1)).toBe(`write ${SECRET}`);
    expect(outcome).toEqual(["warning secret.output cannot be written. no room"]);
    expect(last).toMatchObject({ secret: SECRET, secret_fingerprint: null });
  });

  it.each([
    ["to be written", FILE],
    ["to stay in the state", null],
  ])("makes the change fail if it is missing, even with %s", async (_, output) => {
    const { steps, outcome, last } = await run({ ...declared, secret_output: output }, {}, "answer");
    const posts = steps.filter((step) => step === "createWebhook");
    expect(posts, "once more, and no more").toHaveLength(2);
    expect(outcome.map((said) => said.split(" ").slice(0, 2).join(" "))).toEqual([
      "failed",
      "error secret.lost",
      "warning secret.lost",
    ]);
    expect(outcome[1]).toMatch(/fields of the response: data\.id, data\.url/);
    const made = { id: liveWebhook.id, secret: null, secret_fingerprint: null };
    expect(last, "it is made and recorded").toMatchObject(made);
  });

  it("is not requested if the check of its output fails", async () => {
    const { steps, outcome } = await run(declared, {}, "check");
    expect(steps).toEqual([TRIAL]);
    expect(outcome).toEqual(["failed", "error secret.output"]);
  });

  it("stays in the state without a secret_output", async () => {
    const { steps, last } = await run({ ...declared, secret_output: null });
    expect(steps).toEqual(["save -", "createWebhook", `save ${SECRET}`]);
    expect(last).toMatchObject({ secret: SECRET, secret_fingerprint: null });
  });
});

describe("a secret in the state", () => {
  const kept = complete(webhook, { ...liveWebhook, secret: SECRET });
  const update = { actions: ["update"] as const, before: kept, after: { ...kept, secret_output: FILE, secret: null } };

  it("is written without a check or a request", async () => {
    const { steps, outcome, last } = await run(declared, update);
    expect(steps).toEqual([`save ${SECRET}`, `write ${SECRET}`, `save ${PRINT}`]);
    expect(outcome).toEqual([]);
    expect(last).toMatchObject({ secret: null, secret_fingerprint: PRINT, secret_output: FILE });
  });

  it("makes its change fail if it cannot be written, and stays in the state", async () => {
    const { outcome, last } = await run(declared, update, "write");
    expect(outcome).toEqual(["failed", "error secret.output no room"]);
    expect(last).toMatchObject({ secret: SECRET, secret_output: FILE });
  });
});

describe("a secret from a change in place", () => {
  const PASSWORD = "of a server";
  const config = { plan_id: 11, currency: "USD", password_version: 2, secret_output: FILE };
  const update = (unknown: Change["after_unknown"]) =>
    changeOf("hosting_service", config, { actions: ["update"], after_unknown: unknown });
  const brings = update({ generated_password: true });
  const made = complete(service, { ...config, id: "1001" });

  it.each([
    ["that generates one", brings, ['{"file":"hook"} generated_password of hosting_service.acme']],
    ["of which something else is known only afterwards", update({ status: true }), []],
    ["of which everything is known", update(false), []],
  ])("is checked for its output before the change %s", async (_, change, expected) => {
    const tried: string[] = [];
    const check: SecretOutputs["check"] = async (output, { address, attribute }) => {
      tried.push(`${JSON.stringify(output)} ${attribute} of ${address}`);
    };
    const outputs = { secrets: { outputs: { check, write: async () => undefined } } };
    await tryOutput(service, change, config, outputs);
    expect(tried).toEqual(expected);
  });

  const writes = (fault?: Error) => {
    const write = async () => {
      if (fault !== undefined) throw fault;
    };
    return { secrets: { outputs: { check: async () => undefined, write } } };
  };
  const full = new HostformError([{ severity: "error", code: "secret.output", summary: "no room" }]);

  it("leaves the state when it is written, and stays with a warning if it cannot be written", async () => {
    const attributes = { ...made, generated_password: PASSWORD };
    expect(await writeSecret(service, brings, attributes, writes())).toEqual({
      attributes: {
        ...made,
        generated_password: null,
        generated_password_fingerprint: fingerprintOf(PASSWORD),
      },
      notices: [],
    });
    expect(await writeSecret(service, brings, attributes, writes(full))).toMatchObject({
      attributes,
      notices: [
        { severity: "warning", summary: expect.stringContaining("keeps the generated_password"), detail: "no room." },
      ],
    });
    // The secret existed before the change, and its write was the only task.
    await expect(writeSecret(service, update({}), attributes, writes(full))).rejects.toBe(full);
    await expect(writeSecret(service, brings, attributes, writes(new TypeError("ours")))).rejects.toThrow("ours");
  });

  it("is not reported as missing for a service without one, because most services have no password", async () => {
    expect(await writeSecret(service, brings, made, writes(full))).toEqual({ attributes: made, notices: [] });
  });
});

describe("a secret that only its creator received", () => {
  it.each([
    ["of a webhook is said to be unknown", webhook, {}, "To get a new one, replace it on purpose."],
    ["of a webhook that is known is no matter", webhook, { secret: SECRET }, undefined],
    ["of a service is no matter: another can be made", service, {}, undefined],
    ["of a service is said where it was to be written", service, { secret_output: FILE }, "Change password_version"],
    ["of a grant does not exist", kindOf("hosting_grant"), {}, undefined],
  ])("%s", (_, kind, attributes, words) => {
    const said = unrecoverable(kind, complete(kind, attributes));
    if (words === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(words);
  });
});
