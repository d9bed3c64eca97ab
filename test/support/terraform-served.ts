/**
 * Runs the built provider in this process. Terraform connects to it like to any running provider
 * (TF_REATTACH_PROVIDERS), so no process has to start. Each connection has its own provider, as with `--reattach`.
 */
import { tmpdir } from "node:os";
import type { Clock } from "../../src/core/model/index.ts";
import { PROVIDER_ADDRESSES } from "../../src/fronts/terraform/package.ts";
import type { Log } from "../../src/fronts/terraform/wire/log.ts";
import { shipped } from "./shipped.ts";

/** Time limit of the provider's calls at the end of a test, in milliseconds. */
const GRACE_MS = 20_000;

export interface ServedProvider {
  /** Value of TF_REATTACH_PROVIDERS. */
  readonly reattach: string;
  /**
   * Ends the connections and their calls.
   * @throws Error with the defects that the provider logged.
   */
  close(): Promise<void>;
}

/**
 * Starts the provider.
 * @param options Environment of the provider (tests may change it), folder of Terraform, and clock.
 */
export async function serveProvider(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly clock?: Clock | undefined;
}): Promise<ServedProvider> {
  const provider = await shipped("terraform/provider.mjs");
  const { createProvider } = await provider.loadCalls();
  const defects: string[] = [];
  const log: Log = (level, message, fields) =>
    void (level === "error" && defects.push(`${message} ${JSON.stringify(fields)}`));
  const grpc = provider.createGrpcServer({
    service: "tfplugin6.Provider",
    tls: undefined,
    log,
    grace: GRACE_MS,
    connect: () => createProvider({ ...options, log }),
    onShutdown: () => undefined,
    onEmpty: () => undefined,
  });
  const endpoint = await provider.listen(grpc.server, {
    platform: process.platform,
    folder: tmpdir(),
    encrypted: false,
  });
  return {
    reattach: provider.reattachment(PROVIDER_ADDRESSES, endpoint, process.pid),
    async close() {
      await grpc.shutdown();
      endpoint.remove();
      if (defects.length > 0) throw new Error(`defects of the provider:\n${defects.join("\n")}`);
    },
  };
}
