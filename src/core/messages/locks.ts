/** Messages about the state lock, and about servers that store a state. */
import { type Catalogue, error, failure, type Texts, type Words, warning } from "./message.ts";

/** `holder`: sentence about the process with the lock: "Held by process 4711 (apply), …". */
type Held = Words<"holder">;
type Failure = Words<"place" | "reason">;
/** A failure of a database, and the environment variable with its connection string. */
type PgFailure = Failure & Words<"variable">;
/** Operation that failed. */
export type Doing = "locked" | "freed" | "read" | "written";
type Response = { readonly doing: Doing; readonly status: number; readonly store?: "s3" | undefined };

const S3_ACCESS =
  "Check bucket, region, endpoint, credentials and clock. The credentials need s3:ListBucket, and s3:GetObject, s3:PutObject and s3:DeleteObject on all names that begin with key.";

/** Returns reason and fix for an unexpected response of a state backend. */
function explained(status: number, target: string, store?: "s3"): readonly [reason: string, fix: string] {
  if (status < 300) return ["the server sends an HTML page", "Check the URL: a proxy or a login page may respond."];
  if (store !== undefined && (status < 405 || status === 501))
    return [`the store rejects the request (${status})`, S3_ACCESS];
  if (status < 400) return [`the server redirects${target} (${status})`, "Set the URL to the target of the redirect."];
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
  if (status === 413) return ["the state is larger than the server accepts (413)", "Raise the server's limit."];
  if (status === 429 || status === 409)
    return [`the server asks for fewer requests (${status})`, "Try again in a minute."];
  if (status >= 500) return [`the server fails (${status})`, "Try again later, and check the log of the server."];
  return [`the server returns an unexpected status (${status})`, "Check the URL."];
}

const lost = (summary: string, detail: string | undefined): Texts => ({
  summary,
  detail,
  remedies: ["Run plan to compare the state with the account."],
});

export const locks = {
  "state.locked": error({
    summary: "Another process holds the state",
    detail: "{holder}",
    remedies: [{ do: "wait_for_lock" }, "{end}", { do: "unlock" }],
  }),
  "state.locked/terraform": error({
    summary: "Terraform holds the state lock, or was killed while it held the lock",
    detail: "{holder} Source: {place}.",
    remedies: [
      { do: "wait_for_lock" },
      "If the process hangs, end it.",
      { do: "unlock", when: "no Terraform process is running" },
    ],
  }),
  "state.locked/other": error({
    summary: "The lock of the state does not have the ID {id}",
    detail: "{holder}",
    remedies: ["Check who holds the state: another process may have locked it since."],
  }),
  "state.locked/unnamed": error({
    summary: "The state is locked, and the server does not name the process with the lock",
    detail: "{exchange}",
    remedies: [{ do: "unlock", id: "LOCK-ID" }, "The process with the lock and the server's log show the lock ID."],
  }),
  "state.locked/freed": warning({
    summary: "Released the lock of a killed run on this machine",
    detail: "{holder}",
    remedies: ["No action is needed: this run continues from the state of the killed run."],
  }),
  "state.lock_file": error({
    summary: "Another file is in the place of the state's lock file",
    detail: "{place}: {reason}. It was not opened.",
    remedies: [
      "Find out its origin in version control. Then remove it, and all files whose names begin with its name.",
    ],
  }),
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

  "state.backend/unlock": warning({
    summary: "The lock of the state could not be released",
    detail: "Lock ID {id}: {reason}.",
    remedies: [{ do: "unlock" }, "Until then, the state stays locked."],
  }),
  "state.backend/no_lock": error({
    summary: "The backend has no lock, so two runs could overwrite each other",
    detail: "{place} has no lock_address.",
    remedies: [
      "Set lock_address and unlock_address. GitLab requires the URL with /lock at its end.",
      { do: "set", attribute: "without_lock", value: true, when: "another mechanism prevents parallel runs" },
    ],
  }),
  "state.backend/unconfirmed": warning(({ reason }: Words<"reason">) =>
    lost("The server did not confirm that it stored the state", reason),
  ),
  "state.backend/unreachable": failure(
    "The server of the state cannot be reached",
    "Check the URL, the network and the proxy. For a private certificate authority, set NODE_EXTRA_CA_CERTS.",
  ),
  "state.backend/too_large": error({
    summary: "The response of the server is too large for a state",
    detail: "{place} sent more than {bytes} bytes.",
    remedies: ["Check that the URL is that of a state."],
  }),
  "state.backend/response": error((of: Words<"exchange" | "target"> & Response) => {
    const [reason, fix] = explained(of.status, of.target, of.store);
    return { summary: `The state could not be ${of.doing}: ${reason}`, detail: of.exchange, remedies: [fix] };
  }),
  "state.backend/conditional": error({
    summary: "The store ignores conditions of writes, so two runs could overwrite each other",
    detail: "With {condition}: {exchange} Nothing was changed.",
    remedies: ["Use a store that respects If-None-Match and If-Match of a PUT, or another backend."],
  }),
  "state.backend/certificate": error({
    summary: "A certificate or key for the database cannot be read",
    detail: "{place}: {reason}.",
    remedies: ["Check sslrootcert, sslcert and sslkey of {variable}."],
  }),
  "state.backend/package": error(({ reason }: { readonly reason: string | undefined }) => ({
    summary: reason === undefined ? "PostgreSQL requires the npm package pg" : "The npm package pg cannot be loaded",
    detail: reason ?? "The package is not installed. Only a state or a store in PostgreSQL needs it.",
    remedies: ["Install the npm package pg in the same place as this program."],
  })),
  "state.backend/clear_text": error({
    summary: "The database asks for the password in clear text, without proof of its identity",
    detail: "{place}: the password was not sent.",
    remedies: ["Write sslmode=verify-full in {variable}, or use scram-sha-256 in the server's pg_hba.conf."],
  }),
  "state.backend/database": error({
    summary: "The database does not exist",
    detail: "{place}: {reason}.",
    remedies: ["Create it, or correct {variable} or PGDATABASE. The first run creates the schema and its tables."],
  }),
  "state.backend/access": error({
    summary: "The database rejects the login",
    detail: "{place}: {reason}.",
    remedies: ["Check the user and password in {variable}, and the server's pg_hba.conf."],
  }),
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
        !isDenied
          ? "Check the log of the server."
          : doing === "read"
            ? "Grant the role USAGE on the schema and SELECT on the table. A run that writes needs all rights."
            : "Grant the role all rights on the schema, table and sequence. Or run the first apply with a role that has these rights.",
      ],
    }),
  ),
  "state.backend/terminate": error({
    summary: "This role may not end the database session that holds the state",
    detail: "{holder}",
    remedies: ["Run this query with the role of the session or an administrator: SELECT pg_terminate_backend({id})."],
  }),
  "state.backend/session": error({
    summary: "The database session that holds the state does not end",
    detail: "{holder}",
    remedies: ["Look for the session in pg_stat_activity."],
  }),
} satisfies Catalogue;
