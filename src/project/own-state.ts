/** The storage of the state that a program provides. */
import { type Backend, HostformError, messageOf } from "../core/model/index.ts";
import type { StateBackend } from "../core/record/index.ts";
import type { OwnState } from "./library-types.ts";
import { problem, raise } from "./messages.ts";
import type { Log, ProjectSource } from "./source.ts";

/** Returns the storage of a program as a backend, for its identity. */
export const ownBackend = ({ ownState: own }: ProjectSource): Backend | undefined =>
  own && { type: "http", settings: { address: `own:${own.text.name}` } };

/** Returns the storage with its errors as diagnostics. An error of `release` is a warning, because the run is complete. */
export function guarded({ text, lock }: OwnState, log: Log): StateBackend {
  const read = async () => {
    try {
      return (await text.read()) ?? undefined;
    } catch (error) {
      if (error instanceof HostformError) throw error;
      return raise("state.unreadable/storage", { place: text.name, reason: messageOf(error) });
    }
  };
  const acquire: typeof lock.acquire = async (request) => {
    const held = await lock.acquire(request);
    const release = async () => {
      try {
        await held.release();
      } catch (error) {
        log.warn(problem("state.backend/release", { place: text.name, reason: messageOf(error) }));
      }
    };
    return replacing(held, { release });
  };
  return { text: replacing(text, { read }), lock: replacing(lock, { acquire }) };
}

/** Returns the object with other methods. Its own methods keep their `this`. */
function replacing<T extends object>(object: T, methods: Partial<T>): T {
  const get = (_: T, name: string | symbol) => {
    const found = Reflect.get(methods, name) ?? Reflect.get(object, name);
    return typeof found === "function" ? found.bind(object) : found;
  };
  return new Proxy(object, { get });
}
