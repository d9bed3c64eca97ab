import type { Dispatcher } from "undici";
import type { Clock, Diagnostic } from "../../model/index.ts";
import type { Contender } from "../holder.ts";
import type { HttpCredentials } from "./http-wire.ts";

/** How the state is locked and freed. */
export interface HttpLock {
  readonly address: URL;
  /** `LOCK`, or what the server wants. */
  readonly method: string;
  readonly unlockAddress: URL;
  readonly unlockMethod: string;
}

export interface HttpPlaceOptions {
  readonly address: URL;
  /** `POST`, or what the server wants. */
  readonly updateMethod: string;
  readonly lock: HttpLock | undefined;
  /** Go on although there is no lock. */
  readonly withoutLock: boolean;
  readonly credentials: HttpCredentials | undefined;
  readonly clock: Clock;
  /** A fresh UUID at each call. */
  readonly uuid: () => string;
  readonly contender: Contender;
  /** Where processes of this machine see that one of them was killed that held a lock; undefined: nowhere. */
  readonly lifeSigns?: string | undefined;
  /** For one request with all its attempts, in milliseconds. Default: two minutes. */
  readonly timeoutMs?: number | undefined;
  /** Ends the first reading of the state. */
  readonly signal?: AbortSignal | undefined;
  /** The connections. */
  readonly dispatcher: Dispatcher;
  /** The largest answer that is read. Default: far more than a state has. */
  readonly mostBytes?: number;
  /** Told what the user should know although nothing failed: a lock that could not be freed. */
  readonly warn: (diagnostic: Diagnostic) => void;
  /** Keeps a state that the server does not take where the user finds it. */
  readonly keep?: ((text: string) => Promise<void>) | undefined;
}

/** What text and lock of one place share: the lock that is held at the server. */
export interface HttpHold {
  /** The id of the lock, which each write has to name. */
  id: string | undefined;
  /** Why it is known that the lock is another's now. */
  lost: string | undefined;
}
