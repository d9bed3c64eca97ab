/** Messages about the lock of a state, and about the server that keeps a state. */
import { type Catalogue, error, failure, type Texts, type Words, warning } from "./message.ts";

/** `holder`: a sentence about the holder: "Held by process 4711 (apply), …". */
type Held = Words<"holder">;
type Failure = Words<"place" | "reason">;
/** A failure of a database, and the environment variable with its connection string. */
type PgFailure = Failure & Words<"variable">;
/** Operation that failed. */
export type Doing = "locked" | "freed" | "read" | "written";

/** Returns the reason and the fix for a response that the protocol does not expect. */
function explained(status: number, target: string): readonly [reason: string, fix: string] {
  if (status < 300) return ["the server sends an HTML page", "Check the URL: a proxy or a login page may respond."];
  if (status < 400) return [`the server redirects${target} (${status})`, "Set the URL to the final one."];
  if (status === 401 || status === 403) {
    const reason = status === 401 ? "the server rejects the credentials" : "the credentials lack the permission";
    const fix =
      "Set TF_HTTP_USERNAME and TF_HTTP_PASSWORD. GitLab requires a token with the scope api, and the role Maintainer for writes.";
    return [`${reason} (${status})`, fix];
  }
  if (status === 404) return ["the URL does not exist (404)", "Check the URL."];
  if (status === 405 || status === 501) {
    const fix =
      "Set lock_method, unlock_method and update_method to the methods of the server. GitLab requires POST, DELETE and POST.";
    return [`the server does not support this method (${status})`, fix];
  }
  if (status === 413) return ["the state is larger than the server accepts (413)", "Raise its limit."];
  if (status === 429) return ["the server asks for fewer requests (429)", "Try again in a minute."];
  if (status >= 500) return [`the server fails (${status})`, "Try again later, and check the log of the server."];
  return [`the protocol has no such response (${status})`, "Check the URL."];
}

const lost = (summary: string, detail: string | undefined): Texts => ({
  summary,
  detail,
  remedies: ["Run plan to compare the state with the account."],
});

export const locks = {
  "state.locked": error(({ holder, end }: Held & Words<"end">) => ({
    summary: "Another process holds the state",
    detail: holder,
    remedies: [{ do: "wait_for_lock" }, end, { do: "unlock" }],
  })),
  "state.locked/terraform": error(({ holder, place }: Held & Words<"place">) => ({
    summary: "Terraform holds the state lock, or was killed while it held the lock",
    detail: `${holder} Source: ${place}.`,
    remedies: [
      { do: "wait_for_lock" },
      "If the process hangs, end it.",
      { do: "unlock", when: "no Terraform process is running" },
    ],
  })),
  "state.locked/other": error(({ id, holder }: Held & Words<"id">) => ({
    summary: `The lock of the state does not have the ID ${id}`,
    detail: holder,
    remedies: ["Check who holds the state: another process may have locked it since."],
  })),
  "state.locked/unnamed": error(({ exchange }: Words<"exchange">) => ({
    summary: "The server does not name the holder of the state",
    detail: exchange,
    remedies: [{ do: "unlock", id: "LOCK-ID" }, "The holder and the log of the server have the lock ID."],
  })),
  "state.locked/freed": warning(({ holder }: Held) => ({
    summary: "Freed the lock of an earlier run on this machine that was killed",
    detail: holder,
    remedies: ["No action is needed: this run continues from the state of that run."],
  })),
  "state.lock_file": error(({ place, reason }: Failure) => ({
    summary: "Another file is in the place of the state's lock file",
    detail: `${place}: ${reason}. It was not opened.`,
    remedies: [
      "Find out its origin in version control. Then remove it, and all files whose names begin with its name.",
    ],
  })),
  "state.lost_lock": error(({ holder }: { readonly holder: string | undefined }) =>
    lost("Another process took over the lock of the state during this run", holder),
  ),
  "state.lost_lock/changed": error(({ place, hint }: Words<"place"> & { readonly hint?: string }) =>
    lost(
      "Another program changed the state during this run",
      `${place} differs from the last read or write of this run.${hint === undefined ? "" : ` ${hint}`}`,
    ),
  ),
  "state.lost_lock/rejected": error(({ holder }: Held) =>
    lost("The server rejects the write: another process holds the state", holder),
  ),
  "state.lost_lock/connection": error(({ place, reason }: Failure) =>
    lost("The connection to the database was lost, and with it the lock of the state", `${place}: ${reason}.`),
  ),

  "state.backend/unlock": warning(({ id, reason }: Words<"id" | "reason">) => ({
    summary: "The lock of the state could not be freed",
    detail: `Lock ID ${id}: ${reason}.`,
    remedies: [{ do: "unlock" }, "Until then, the next run finds the state locked."],
  })),
  "state.backend/no_lock": error(({ place }: Words<"place">) => ({
    summary: "The backend has no lock, so two runs could overwrite each other",
    detail: `${place} has no lock_address.`,
    remedies: [
      "Set lock_address and unlock_address. GitLab requires the URL with /lock at its end.",
      { do: "set", attribute: "without_lock", value: true, when: "another mechanism prevents parallel runs" },
    ],
  })),
  "state.backend/unconfirmed": warning(({ reason }: Words<"reason">) =>
    lost("The server could not confirm that it stored the state", reason),
  ),
  "state.backend/unreachable": failure(
    "The server of the state cannot be reached",
    "Check the URL, the network and the proxy. For a private certificate authority, set NODE_EXTRA_CA_CERTS.",
  ),
  "state.backend/too_large": error(({ place, bytes }: Words<"place"> & { readonly bytes: number }) => ({
    summary: "The response of the server is too large for a state",
    detail: `${place} sent more than ${bytes} bytes.`,
    remedies: ["Check that the URL is the URL of a state."],
  })),
  "state.backend/response": error((of: Words<"exchange" | "target"> & { readonly doing: Doing; status: number }) => {
    const [reason, fix] = explained(of.status, of.target);
    return { summary: `The state could not be ${of.doing}: ${reason}`, detail: of.exchange, remedies: [fix] };
  }),
  "state.backend/certificate": error(({ place, reason, variable }: PgFailure) => ({
    summary: "A certificate or key for the database cannot be read",
    detail: `${place}: ${reason}.`,
    remedies: [`Check sslrootcert, sslcert and sslkey of ${variable}.`],
  })),
  "state.backend/package": error(({ reason }: { readonly reason: string | undefined }) => ({
    summary: reason === undefined ? "PostgreSQL requires the npm package pg" : "The npm package pg cannot be loaded",
    detail: reason ?? "The package is not installed. Only a state or a store in PostgreSQL needs it.",
    remedies: ["Install the npm package pg in the same place as this program."],
  })),
  "state.backend/clear_text": error(({ place, variable }: Words<"place" | "variable">) => ({
    summary: "The database asks for the password in clear text, without proof of its identity",
    detail: `${place}: the password was not sent.`,
    remedies: [`Write sslmode=verify-full in ${variable}, or use scram-sha-256 in the server's pg_hba.conf.`],
  })),
  "state.backend/database": error(({ place, reason, variable }: PgFailure) => ({
    summary: "The database does not exist",
    detail: `${place}: ${reason}.`,
    remedies: [`Create it, or correct ${variable} or PGDATABASE. The first run creates the schema and its tables.`],
  })),
  "state.backend/access": error(({ place, reason, variable }: PgFailure) => ({
    summary: "The database rejects the login",
    detail: `${place}: ${reason}.`,
    remedies: [`Check the user and password in ${variable}, and the server's pg_hba.conf.`],
  })),
  "state.backend/connection": error(({ place, reason, lacksTls, variable }: PgFailure & { lacksTls: boolean }) => ({
    summary: "The database cannot be reached",
    detail: `${place}: ${reason}.`,
    remedies: [
      lacksTls
        ? `Configure TLS on the server. For a server on this machine, add sslmode=disable to ${variable}.`
        : `Check ${variable}, the network, and that the server is running.`,
    ],
  })),
  "state.backend/query": error(
    ({ doing, place, reason, isDenied }: Failure & { readonly doing: Doing; isDenied: boolean }) => ({
      summary: `The state could not be ${doing}: the database rejects the query`,
      detail: `${place}: ${reason}.`,
      remedies: [
        isDenied
          ? "Grant the role the rights on schema, table and sequence, or run the first plan with a role that has them."
          : "Check the log of the server.",
      ],
    }),
  ),
  "state.backend/terminate": error(({ holder, id }: Held & Words<"id">) => ({
    summary: "This role may not end the database session that holds the state",
    detail: holder,
    remedies: [`Run this query with the role of the session or an administrator: SELECT pg_terminate_backend(${id}).`],
  })),
  "state.backend/session": error(({ holder }: Held) => ({
    summary: "The database session that holds the state does not end",
    detail: holder,
    remedies: ["Look for the session in pg_stat_activity."],
  })),
} satisfies Catalogue;
