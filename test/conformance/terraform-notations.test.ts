/**
 * An attribute in another notation of the account equals the declared value: the plan after the create has no changes. A grant
 * with an end in seconds was once revoked and granted again at each apply.
 */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import { PROFILE_SWITCHES, type Profile } from "../../src/sandbox/index.ts";
import { withKnownForm } from "../support/sandbox.ts";
import { startMachine, subjectOf } from "./terraform-life.ts";

const others = <S extends keyof Profile>(name: S) =>
  PROFILE_SWITCHES[name].slice(1).map((value) => ({ [name]: value }) as Partial<Profile>);

const CASES: Readonly<Record<string, readonly Partial<Profile>[]>> = {
  hosting_grant: others("expires_at"),
  hosting_webhook: others("webhook_events"),
  hosting_migration_request: [...others("domain_name"), { status: "numbers" }],
  hosting_client_account: others("empty_list").map(withKnownForm),
};

/** Formats of lists, for every kind. */
const LISTS: readonly Partial<Profile>[] = [
  { items: "wrapped" },
  { pages: "from_zero", envelope: "array", past_end: "not_found", error_bodies: "html" },
  { pages: "from_zero", envelope: "named_has_more", past_end: "repeats", empty_list: "null" },
  { pages: "from_zero" },
];

describe.each([...kinds.values()].filter(({ list }) => list !== undefined))("$type", (kind) => {
  it.each([...(CASES[kind.type] ?? []), ...LISTS])("with %j", async (profile) => {
    const subject = await subjectOf(kind, await startMachine({ profile }));
    await subject.apply();
    expect(subject.made()).toHaveLength(1);
    await subject.expectNoChanges();
    subject.sent();
    await subject.apply();
    expect(subject.changesSent()).toEqual([]);
    // After a loss of the state, the provider finds the existing objects and creates none twice.
    const again = await subjectOf(kind, subject.machine);
    await again.core.run(again.declared());
    expect(again.made()).toEqual([]);
  });
});
