/**
 * The built provider in this process: Terraform connects to it as to any that already runs (TF_REATTACH_PROVIDERS), and no process
 * has to start. Each connection has a provider of its own, as in `--reattach`.
 */
import { tmpdir } from "node:os";
import type { Clock } from "../../src/core/model/index.ts";
import { PROVIDER_ADDRESS } from "../../src/fronts/terraform/package.ts";
import type { Log } from "../../src/fronts/terraform/wire/log.ts";
import { shipped } from "./shipped.ts";

/** Its calls may last as long as a test. */
const GRACE_MS = 20_000;

export interface ServedProvider {
  /** The value of TF_REATTACH_PROVIDERS. */
  readonly reattach: string;
  /** Ends the connections and their calls. @throws Error with the defects that it logged. */
  close(): Promise<void>;
}

/** @param options the environment of the provider, which tests may change, the folder in which Terraform runs, and the time there. */
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
    reattach: provider.reattachment(PROVIDER_ADDRESS, endpoint, process.pid),
    async close() {
      await grpc.shutdown();
      endpoint.remove();
      if (defects.length > 0) throw new Error(`defects of the provider:\n${defects.join("\n")}`);
    },
  };
}
