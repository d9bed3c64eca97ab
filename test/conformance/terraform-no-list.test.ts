/**
 * Provider behaviour after responses without a list, for every kind with a list: the provider creates no object a second time
 * and forgets no object.
 */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import type { ValueObject } from "../../src/core/model/index.ts";
import { dataSources } from "../../src/fronts/terraform/data/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { hide, NO_LISTS } from "../support/no-lists.ts";
import { profileOfRun } from "../support/sandbox.ts";
import { openAccount, reportedBy } from "../unit/fronts/terraform/account.ts";
import { startMachine, subjectOf } from "./terraform-life.ts";

/** On this host, no list has the format of these responses. */
const HOST = { envelope: ["laravel"], empty_list: ["array"] } as const;

const LISTS: Readonly<Record<string, string>> = {
  hosting_service: "/services",
  hosting_grant: "/services/:id/grants",
  hosting_webhook: "/webhooks",
  hosting_client_account: "/accounts",
  hosting_migration_request: "/migration-requests",
};

const listed = [...kinds.values()].filter(({ list }) => list !== undefined);

it("every kind with a list has its path here", () => {
  expect(Object.keys(LISTS).toSorted()).toEqual(listed.map(({ type }) => type).toSorted());
});

describe.each(listed)("$type", (kind) => {
  const path = LISTS[kind.type] ?? "";

  it.each(sampled(NO_LISTS, 4, 1))(
    "is not created a second time after the state was lost, with status %i and %j",
    async (status, body, headers) => {
      const subject = await subjectOf(kind, await startMachine(profileOfRun(HOST)));
      await subject.apply();
      subject.machine.clock.advance(2 * 86_400_000);
      subject.core.forget(subject.address);
      subject.machine.loseStore();
      subject.sent();
      hide(subject.machine.sandbox.control, [path], [status, body, headers]);
      const { errors } = await subject.core.run(subject.declared());
      expect(subject.changesSent()).toEqual([]);
      expect(errors.map(({ summary }) => summary)).toEqual([
        expect.stringContaining(`The response to GET /api/v1${path.replace(":id", "{id}")} has status ${status} and`),
      ]);
    },
  );

  it.each(sampled(NO_LISTS, 4, 2))(
    "stays in the state, and is not created again, with status %i and %j",
    async (status, body, headers) => {
      const subject = await subjectOf(kind, await startMachine(profileOfRun(HOST)));
      await subject.apply();
      subject.machine.clock.advance(60_000);
      const before = subject.core.attributes(subject.address);
      subject.sent();
      hide(subject.machine.sandbox.control, [path], [status, body, headers]);
      const { errors } = await subject.core.run(subject.declared());
      expect(subject.changesSent()).toEqual([]);
      expect(subject.core.attributes(subject.address)).toEqual(before);
      // A kind with a GET is read by that GET. A failed list of one service affects only that service. For other lists,
      // a response with another status is an error.
      if (kind.get === undefined && kind.nested === undefined && status !== 200)
        expect(errors.map(({ summary }) => summary).join()).toContain(path.split("/:")[0]);
      else expect(errors).toEqual([]);
    },
  );
});

const SOURCES: readonly [name: string, path: string][] = [
  ["hosting_services", "/services"],
  ["hosting_grants", "/services/:id/grants"],
  ["hosting_webhooks", "/webhooks"],
  ["hosting_client_accounts", "/accounts"],
  ["hosting_migration_requests", "/migration-requests"],
  ["hosting_invoices", "/invoices"],
  ["hosting_plans", "/plans"],
];

describe.each(SOURCES)("the data source %s", (name, path) => {
  it.each(sampled(NO_LISTS, 4, 3))(
    "with status %i and %j is empty with a warning, or an error",
    async (status, body, headers) => {
      const account = await openAccount();
      const service = account.control.seedServices({ plan_id: 11 })[0];
      hide(account.control, [path, "/plans"], [status, body, headers]);
      const given: ValueObject = name === "hosting_grants" ? { service_id: String(service?.id) } : {};
      const { state, diagnostics } = await account.tryRead(name, given);
      const shown = path.replace(":id", "{id}");
      if (status !== 200) {
        const error = `error: The response to GET /api/v1${shown} has status ${status} and `;
        expect(reportedBy(diagnostics).join()).toContain(error);
      } else {
        expect(reportedBy([...diagnostics])).toEqual([]);
        const lists = Object.values(state ?? {}).filter((value) => Array.isArray(value));
        expect(lists).toEqual([[]]);
        expect(account.warnings.map(({ summary }) => summary)).toEqual([
          `GET /api/v1${shown} returned no list, so this run could not check its objects`,
        ]);
      }
    },
  );
});

it("every data source that lists is here", () => {
  const plural = dataSources.map(({ name }) => name).filter((name) => name.endsWith("s"));
  expect(SOURCES.map(([name]) => name).toSorted()).toEqual(plural.toSorted());
});
