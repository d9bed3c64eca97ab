/** Reads the account of a sandbox for a rehearsal, and starts the sandbox of the rehearsal. */
import { HostingClient } from "../../../../src/core/api/index.ts";
import { readingSettings } from "../../../../src/core/kinds/provider-settings.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import type { ProviderConfig, ResourceState } from "../../../../src/core/model/index.ts";
import { type AccountReading, type ReadingOptions, readAccount } from "../../../../src/project/rehearse/account.ts";
import type { Sandbox } from "../../../../src/sandbox/index.ts";
import { startSandbox } from "../../../support/sandbox.ts";

export const START = Date.parse("2026-11-21T10:00:00Z");

/** Meaning of the status numbers of two profiles, which a user must declare. */
export const DIGITS = { "0": "pending", "1": "live", "2": "suspended", "3": "gone", "4": "gone" } as const;

export interface Reading extends Partial<Omit<ReadingOptions, "signal">> {
  readonly token?: string;
  readonly config?: Omit<ProviderConfig, "alias">;
}

/** Reads the account through the API, as a rehearsal does. */
export async function read(
  { url, tokens }: Pick<Sandbox, "url" | "tokens">,
  { token = tokens.agency, config = {}, resources = [], ...options }: Reading = {},
): Promise<AccountReading> {
  const client = new HostingClient({ baseUrl: url, token, requestsPerMinute: 6000 });
  try {
    const account = new Account(client, readingSettings(config));
    return await readAccount({ client, account }, { resources, ...options, signal: new AbortController().signal });
  } finally {
    await client.close();
  }
}

/** Starts the sandbox of a rehearsal. */
export const rehearsed = ({ account, profile, rendering }: AccountReading): Promise<Sandbox> =>
  startSandbox({
    ...{ account, profile, clock: { now: () => START }, deliverTo: "nowhere", rateLimit: 0 },
    ...(rendering && { rendering }),
  });

/** A resource in the state. */
export const recorded = (
  type: string,
  attributes: ResourceState["attributes"],
  mark: ResourceState["private"] = {},
): ResourceState => ({
  address: `${type}.one`,
  provider: "default",
  schemaVersion: 0,
  attributes,
  sensitive: [],
  private: mark,
  dependencies: [],
});
