import type { Environment } from "../wire/handshake.ts";
import type { Log } from "../wire/log.ts";
import { noSuchMethod, type Peer } from "../wire/server.ts";
import { type Calls, newConnection } from "./connection.ts";
import { calls as dataSource } from "./data-source.ts";
import { calls as ephemeral } from "./ephemeral.ts";
import { calls as functions } from "./function.ts";
import { calls as provider } from "./provider.ts";
import { calls as resource } from "./resource.ts";

/** Every rpc by its name. */
const table: Calls = { ...provider, ...resource, ...dataSource, ...ephemeral, ...functions };

/** The provider as one connection sees it. */
export type Provider = Peer;

/** What the process gives to each connection. */
export interface Surroundings {
  readonly env: Environment;
  readonly log: Log;
}

/** A provider that is not configured yet. */
export function createProvider(surroundings: Surroundings): Provider {
  const connection = newConnection(surroundings);
  return {
    async handle(method, request, cancelled) {
      const call = Object.hasOwn(table, method) ? table[method] : undefined;
      if (call === undefined) throw noSuchMethod(method);
      const answer = await call(request, connection, cancelled);
      if (cancelled?.aborted) connection.unheard = true;
      return answer;
    },
    async finish() {
      // After Ctrl-C Terraform may end without its state, and without the answer to a call that it gave up.
      const { stop, unheard, session } = connection;
      if (!stop.signal.aborted && !unheard && session?.isOpen) session.journal.answered();
    },
    stop: () => connection.stop.abort(),
    async close() {
      const { session } = connection;
      connection.session = undefined;
      await session?.close();
    },
  };
}
