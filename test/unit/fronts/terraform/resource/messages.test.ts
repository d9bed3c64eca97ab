/** The words of messages: whatever the lifecycle says reads as Terraform's users speak. */
import { describe, expect, it } from "vitest";
import { duplicate } from "../../../../../src/core/lifecycle/index.ts";
import type { Diagnostic } from "../../../../../src/core/model/index.ts";
import { toDiagnostics } from "../../../../../src/fronts/terraform/calls/call.ts";
import { terraformRemedies } from "../../../../../src/fronts/terraform/remedies.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import {
  different,
  incomplete,
  notKnown,
  otherHost,
  stillPending,
  THIS,
  twoAddresses,
  unseenCreate,
  waits,
} from "../../../../../src/fronts/terraform/resource/notices.ts";
import { immutableSinceCreate, prevented } from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { recorded } from "../../../../support/subjects.ts";
import { asHeld } from "./fake-scope.ts";
import { everythingSaidByClient } from "./messages-api.ts";
import type { Spoken } from "./messages-creates.ts";
import { everythingSaid } from "./messages-lifecycle.ts";

const service = terraformKind("hosting_service");
const said = await everythingSaid();
const byClient = (await everythingSaidByClient()).map((diagnostic): Spoken => ({ kind: service, diagnostic }));

/** What only hostform's users know: its commands and flags, YAML, and the word for what Terraform calls a configuration. */
const OTHERS =
  /\bhostform\b(?! sandbox| resolve)|(?<![\w-])--(?!adopt|absent)[a-z]|`[a-z_]+: |\bdeclaration\b|\bYAML\b|\{[a-z_]+: [A-Z{[]|providers:/;

const textOf = ({ kind, diagnostic }: Spoken): string =>
  toDiagnostics([diagnostic], terraformRemedies(kind))
    .map(({ summary, detail }) => `${summary}\n${detail}`)
    .join("\n");

const foundText = (code: string, kind: string, has = ""): string => {
  const found = said.find(
    ({ kind: { type }, diagnostic }) =>
      diagnostic.code === code && type === kind && JSON.stringify(diagnostic).includes(has),
  );
  if (found === undefined) throw new Error(`nothing says ${code} of a ${kind}`);
  return textOf(found);
};

describe("messages for Terraform's users", () => {
  it("has no word of hostform's command line or of YAML in it", () => {
    const foreign = [...said, ...byClient].map(textOf).filter((text) => OTHERS.test(text));
    expect([...new Set(foreign)]).toEqual([]);
  });

  it("says what is to be done wherever the lifecycle did", () => {
    for (const { kind, diagnostic } of said) {
      if (diagnostic.remedies === undefined) continue;
      expect(terraformRemedies(kind)(diagnostic)?.length, diagnostic.summary).toBeGreaterThan(10);
    }
  });
});

describe("what is to be done", () => {
  it.each([
    ["plan.exists", "hosting_grant", "", "terraform import hosting_grant.NAME '7/1'"],
    ["plan.exists", "hosting_domain", "another state ordered", "once with HOSTFORM_STATE_HOME set to an empty folder"],
    ["plan.immutable", "hosting_service", "", "a new `reference`"],
    ["plan.immutable", "hosting_domain", "", "Restore the earlier value."],
    ["condition.gone", "hosting_service", "", "terraform apply -replace=ADDRESS"],
    ["plan.prevented", "hosting_service", "no longer declared", 'deletion_policy = "forget"` (or "suspend")'],
    ["plan.prevented", "hosting_domain", "", 'set `deletion_policy = "forget"` in its block'],
    ["plan.prevented", "hosting_service", "not live", "Wait until the service is live"],
    ["plan.pending", "hosting_domain", "", "Check the dashboard. Then run `hostform resolve ADDRESS` in this folder"],
    ["plan.pending", "hosting_grant", "", "`hostform resolve ADDRESS` in this folder"],
    [
      "plan.pending",
      "hosting_grant",
      "cannot be removed",
      "Restore the block and apply: the apply completes the create.",
    ],
    [
      "plan.pending",
      "hosting_domain",
      "cannot be removed",
      "Check the dashboard. Then run `hostform resolve ADDRESS` in this folder",
    ],
    [
      "plan.pending",
      "hosting_service",
      "rejected the repeated request",
      "If the first request created nothing: `hostform resolve ADDRESS --absent` in this folder",
    ],
    ["apply.replayed", "hosting_service", "no longer exists", "Set another `reference` to order a new service."],
    ["plan.unknown_status", "hosting_service", "", 'status_words = { "a \\"word\\"" = "live" }'],
    ["plan.catalogue", "hosting_service", "", "`hosting_plans`"],
    ["api.validation", "hosting_service", "coupon_code", "Correct coupon_code."],
    ["config.invalid_value", "hosting_service", "exactly one of", "exactly one of `file`, `env_file` and `command`"],
    ["config.missing_attribute", "hosting_service", 'requires \\"password_version', "`password_version = 1`"],
    ["apply.replayed", "hosting_service", "", "another `reference`"],
  ])("%s of a %s (%s): %s", (code, type, has, words) => {
    const place = has === "no longer declared" ? 'deletion_policy in the state is \\"prevent\\"' : has;
    expect(foundText(code, type, place)).toContain(words);
  });

  it("with plain http is a setting, not a flag", () => {
    const text = byClient.map(textOf).find((each) => each.includes("Plain http"));
    expect(text).toContain("set `insecure_http = true`");
  });

  it("repeats nothing of the body of an earlier request: Terraform does not say what is sensitive", () => {
    expect(JSON.stringify(said)).toContain("hush");
    for (const one of said) expect(textOf(one)).not.toContain("hush");
  });
});

describe("what is in this front's own words", () => {
  const prior = asHeld(service, { id: "1001", domain: "www.acme.example" });
  const own: readonly Diagnostic[] = [
    duplicate(service, THIS, "service x"),
    notKnown(service),
    incomplete(service, recorded("hosting_service.x", { id: "1001" })),
    different(service, "domain", { domain: "x" }),
    ...[true, false].flatMap((isLive) => waits(service, { waiting: ["suspended"] }, isLive)),
    otherHost(service, prior, "changed"),
    prevented(service, "1001"),
    unseenCreate("service x"),
    stillPending(service, prior, "domain"),
    twoAddresses(service, "1001"),
    ...immutableSinceCreate(service, prior, {
      mark: { made: "x" },
      declared: { reference: "y", coupon_code: "z" },
      gone: false,
    }),
  ];

  it.each(own.map((diagnostic) => [diagnostic.summary, diagnostic] as const))("is Terraform's: %s", (_, diagnostic) => {
    expect(textOf({ kind: service, diagnostic })).not.toMatch(OTHERS);
  });
});

describe("the server's words", () => {
  it("stay as they are, whatever they look like", () => {
    const words = "The server says: it is not in the declaration, hostform does not send `plan: x`.";
    const diagnostic: Diagnostic = { severity: "error", code: "api.validation", summary: words, detail: words };
    expect(textOf({ kind: service, diagnostic })).toBe(`${words}\n${words}`);
  });
});
