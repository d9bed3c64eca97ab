/** Exact messages about an unknown status word, because some people read only the CI log. */
import { describe, expect, it } from "vitest";
import {
  notRemovable,
  unclearEnd,
  unknownAtOnce,
  unknownStatus,
  unseenNames,
} from "../../../../src/core/lifecycle/status.ts";
import type { JsonObject, QueuedJob } from "../../../../src/core/model/index.ts";
import { saying } from "../../../support/remedies.ts";
import { kindOf } from "../../../support/subjects.ts";

const kind = kindOf("hosting_service");
const SUSPENDED: QueuedJob = { since: "2026-11-21T09:00:00Z", toward: "suspended", before: "ACTIVE" };
const LIVE: QueuedJob = { ...SUSPENDED, toward: "live", before: null };

const subject = (status: string | null | undefined, job?: QueuedJob) => {
  const attributes: JsonObject = status === undefined ? {} : { status };
  return { kind, address: "hosting_service.www", provider: "beta", attributes, job };
};
const common = { severity: "warning", code: "plan.unknown_status", address: "hosting_service.www" };
const condition = { condition: "unknown_status", address: "hosting_service.www" };

const mapped = (word: string, phase: string) => `\`providers: { beta: { status_words: { "${word}": ${phase} } } }\``;

describe("a plan with an unknown status word", () => {
  it("names the skipped resource and the word", () => {
    expect(unknownStatus(subject("ODD", SUSPENDED), { left: ["suspended", "x"], unseen: ["y"] })).toEqual({
      ...condition,
      summary: 'hosting_service.www: its status "ODD" is unknown, so "suspended", "x" is not changed',
      detail: 'The request for the suspension was sent at 2026-11-21T09:00:00Z. The status was "ACTIVE" at that time.',
      remedies: saying(`If the dashboard shows the service as suspended: declare ${mapped("ODD", "suspended")}.`),
    });
  });

  it("names the unreadable value, and the word's expected meaning after a suspension", () => {
    expect(unknownStatus(subject("ODD", LIVE), { left: [], unseen: ["suspended", "y"] })).toEqual({
      ...condition,
      summary: 'Cannot read "suspended", "y" of hosting_service.www: its status "ODD" is unknown',
      detail: "The request for the end of the suspension was sent at 2026-11-21T09:00:00Z.",
      remedies: saying(`If the dashboard shows the service as online: declare ${mapped("ODD", "live")}.`),
    });
  });

  it.each([null])("suggests no mapping without a word (%j)", (word) => {
    expect(unknownStatus(subject(word, SUSPENDED), { left: ["suspended"], unseen: [] })).toMatchObject({
      summary: 'hosting_service.www: the API shows no status, so "suspended" is not changed',
      remedies: saying("Check the status in the dashboard. Changes wait until the API shows a status."),
    });
  });

  it("is an error for a removal, which names the policy and both fixes", () => {
    expect(notRemovable(subject("ODD", SUSPENDED), "error")).toEqual({
      ...common,
      severity: "error",
      code: "plan.prevented",
      summary: 'hosting_service.www cannot be removed yet: its status "ODD" is unknown',
      detail: 'The deletion_policy in the state is "suspend", which needs a known status.',
      remedies: saying(
        `If the dashboard shows the service as suspended: declare ${mapped("ODD", "suspended")}. Or replace the block of hosting_service.www by \`removed: [{from: hosting_service.www, destroy: false}]\` to stop managing it.`,
        "hosting_service.www",
      ),
    });
  });
});

describe("an apply with an unknown status word", () => {
  it.each([
    [
      SUSPENDED,
      "ODD",
      'The account does not confirm the suspension of hosting_service.www: its status "ODD" is unknown',
    ],
    [
      LIVE,
      "ODD",
      'The account does not confirm the end of the suspension of hosting_service.www: its status "ODD" is unknown',
    ],
    [SUSPENDED, null, "The account does not confirm the suspension of hosting_service.www: the API shows no status"],
  ])("names the job and the word", (job, word, summary) => {
    expect(unclearEnd({ ...subject(word), job })).toMatchObject({ ...common, severity: "error", summary });
    expect(unclearEnd({ ...subject(word), job })).not.toHaveProperty("attribute");
  });

  it("names the expected status of an order", () => {
    expect(unknownAtOnce(subject("ODD"), ["suspended", "password_version"])).toMatchObject({
      ...common,
      summary: '"suspended", "password_version" of hosting_service.www must wait: its status "ODD" is unknown',
    });
  });
});

describe("the attributes that only a status shows", () => {
  it.each([
    [{ suspended: false }, ["suspended"]],
    [{ suspended: true, password: "x", password_version: 2, plan_id: 11, status: "active" }, ["suspended"]],
    [{ suspended: null }, []],
    [{ password_version: 2, deletion_policy: "suspend" }, []],
  ])("of %j is %j", (config, names) => {
    expect(unseenNames(kind, config)).toEqual(names);
  });
});
