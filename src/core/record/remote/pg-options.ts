import type { Clock } from "../../model/index.ts";
import type { Contender } from "../holder.ts";
import type { Database } from "./pg-connection.ts";

export interface PgPlaceOptions {
  /** Opens a session that others see under this name. @throws HostformError `state.backend`. */
  readonly connect: (applicationName: string, signal?: AbortSignal) => Promise<Database>;
  /** Ends the first reading of the state. */
  readonly signal?: AbortSignal | undefined;
  /** The server and database, for messages. */
  readonly server: string;
  /** The schema that Terraform's table is in. */
  readonly schema: string;
  /** The name of the state's row: `default`, or that of a Terraform workspace. */
  readonly workspace: string;
  readonly clock: Clock;
  readonly contender: Contender;
  /** Keeps a state that the database does not take where the user finds it. */
  readonly keep?: ((text: string) => Promise<void>) | undefined;
}

/** The session that holds the lock; what text and lock of one place share. */
export interface PgHold {
  database: Database | undefined;
  /** What is locked in it: the id of the state's row, or -1 while there is no row. */
  key: string | undefined;
}

/** Terraform's lock of a state that has no row yet. One for the whole database: nobody else can begin meanwhile. */
export const CREATION_KEY = "-1";
