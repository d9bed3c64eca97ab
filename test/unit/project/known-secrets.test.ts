import { describe, expect, it } from "vitest";
import type { OutputChange } from "../../../src/core/model/index.ts";
import { learnPlan } from "../../../src/project/secrets.ts";
import { Redaction } from "../../../src/project/redaction.ts";

const output = (after: string, over: Partial<OutputChange> = {}): OutputChange => ({
  name: "cross-stack-output-hosting_servicewwwdomain",
  action: "create",
  before: null,
  after,
  after_unknown: false,
  sensitive: true,
  ...over,
});

describe("what a plan shows of secrets", () => {
  // CDKTF declares everything that stacks share as sensitive. A reviewer has to see which domain is ordered.
  it("is not what is merely declared as sensitive", () => {
    const redaction = new Redaction();
    learnPlan(redaction, { changes: [], outputs: [output("www.acme.example")] });
    expect(redaction.redact('+ domain = "mail.www.acme.example"')).toBe('+ domain = "mail.www.acme.example"');
  });

  it("is the value of an output into which a secret goes", () => {
    const redaction = new Redaction();
    learnPlan(redaction, { changes: [], outputs: [output("aHVudGVyMTIzNDU2", { origin: { from: ["var.token"] } })] });
    expect(redaction.redact("basic aHVudGVyMTIzNDU2")).not.toContain("aHVudGVyMTIzNDU2");
  });
});
