/** Sample parameters for the messages about a state: its text, key, journal, lock and server. */
import type { locks } from "../../src/core/messages/locks.ts";
import type { states } from "../../src/core/messages/states.ts";
import type { Samples } from "./messages.ts";

const ADDRESS = "hosting_service.www";
const source = "hosting.tfstate";
const file = { place: source, reason: "EACCES: permission denied, open" };
const keys = {
  passphrase: "HOSTFORM_STATE_PASSPHRASE",
  key: "HOSTFORM_STATE_KEY",
  command: "HOSTFORM_STATE_KEY_COMMAND",
};
const keyed = { variable: keys.key, from: "key" };
const clear = { place: source, variable: keys.key, allow: "HOSTFORM_STATE_ALLOW_UNENCRYPTED" };
const journal = { place: "hosting.tfstate.journal", held: "hosting_service.www (id 1001)" };
const holder = "Held by process 4113 (apply), ci@runner, since 2026-11-21T10:00:00Z (12 s ago).";
const server = { place: "https://git.example/state/acme", reason: "connection refused" };
const exchange = "POST https://git.example/state/acme answered 403: Forbidden.";

export const stateSamples: Pick<Samples, keyof typeof states | keyof typeof locks> = {
  "state.changing": [{}],
  "state.history": (["error", "warning"] as const).map((severity) => ({
    place: "hosting.tfstate.history",
    reason: "EACCES: permission denied",
    severity,
  })),
  "state.history/place": [{}],
  "state.history/other": [{ place: "hosting.tfstate.history", line: 3 }],
  "state.history/broken": (["error", "warning"] as const).map((severity) => ({
    place: "hosting.tfstate.history",
    line: 3,
    severity,
  })),
  "state.unreadable/file": [file],
  "state.unreadable/folder": [file],
  "state.unreadable/empty": [{ source }],
  "state.unreadable/merged": [{ source }],
  "state.unreadable/json": ["line 2, column 5", undefined].map((place) => ({ source, place })),
  "state.unreadable/malformed": [{ source, issues: "resources[0].type: expected a string" }],
  "state.unreadable/mark": [{ source, address: ADDRESS }],
  "state.unreadable/twice": [{ source, address: ADDRESS }],
  "state.unreadable/sealed": [{ source: "state in hosting.tfstate", why: "A field is missing or malformed" }],
  "state.unreadable/encryption": [{}],
  "state.unreadable/backup": [{ place: "hosting.tfstate.backup", why: "The state is empty" }],
  "state.newer": [{ source: "state in hosting.tfstate", format: 5, newest: 4 }],
  "state.foreign": ([3, undefined] as const).map((format) => ({ source, format })),
  "state.conflict": [
    { field: "serial", given: 3, stored: 4, place: source },
    { field: "lineage", given: "0f1e2d", stored: "3c4b5a", place: source },
  ],
  "state.unwritable": ["Not in the state: hosting_service.www (id 1001).", undefined].map((consequence) => ({
    ...file,
    consequence,
  })),
  "state.unwritable/mount": [{ place: source }],
  "state.unwritable/lost": [{ place: source }],
  "state.unwritable/folder": [file],
  "state.unwritable/lock": [file],
  "state.key/missing": [
    { ...keyed, other: undefined, otherFrom: undefined },
    { ...keyed, other: keys.passphrase, otherFrom: "passphrase" },
  ],
  "state.key/opentofu": [
    { why: "missing", variable: "TF_ENCRYPTION", names: "key_provider.pbkdf2.main" },
    { why: "wrong", variable: "TF_ENCRYPTION", names: "key_provider.pbkdf2.main" },
    { why: "unsupported", variable: "TF_ENCRYPTION", names: "key_provider.aws_kms.main" },
  ],
  "state.key/unset": [keys],
  "state.key/wrong": [
    { ...keyed, expected: "0123456789abcdef", found: "fedcba9876543210" },
    { ...keyed, from: "passphrase", expected: "0123456789abcdef", found: "fedcba9876543210" },
  ],
  "state.key/sealed": [{ source: "state in hosting.tfstate" }],
  "state.key/none": [{ place: source }],
  "state.key/several": [{ ...keys, variables: `Both ${keys.key} and ${keys.passphrase}` }],
  "state.key/old": [{ variable: "HOSTFORM_STATE_OLD_KEY", variables: `${keys.key} and ${keys.passphrase}` }],
  "state.key/short": [{ variable: keys.passphrase, is: 8, least: 16 }],
  "state.key/form": [{ from: keys.key, is: "31 bytes" }],
  "state.key/silent": [{ variable: keys.command }],
  "state.key/empty": [{ variable: keys.key }],
  "state.key/clear": [clear],
  "state.unencrypted": [
    { ...clear, held: undefined },
    { ...clear, ...journal },
    { ...clear, ...journal, variable: undefined },
  ],
  "state.journal": [{ ...journal, line: 3 }],
  "state.journal/file": [{ ...file, place: journal.place }],
  "state.journal/format": [{ place: journal.place }],
  "state.journal/torn": [
    { place: journal.place, bytes: 0 },
    { place: journal.place, bytes: 17 },
  ],
  "state.journal/foreign": [
    { ...journal, lineage: "0f1e2d", serial: 4, state: source, found: "has serial 5 of lineage 0f1e2d" },
    { ...journal, lineage: "0f1e2d", serial: 0, state: source, found: "is unreadable" },
  ],
  "plan.address/state": ["hosting_service.www", undefined].map((near) => ({ target: "hosting_service.wwx", near })),
  "usage/address": [{ given: "www" }],
  "usage/instances": [{ count: 2, to: 'hosting_grant.acme["a@b.example"]' }],
  "usage/types": [{ from: "hosting_service.www", to: "hosting_webhook.www" }],
  "usage/occupied": [{ address: ADDRESS }],
  "state.locked": [{ holder, end: "If the process hangs, end it on its machine." }],
  "state.locked/terraform": [{ holder, place: ".hosting.tfstate.lock.info" }],
  "state.locked/other": [{ holder, id: "0f1e2d" }],
  "state.locked/unnamed": [{ exchange }],
  "state.locked/freed": [{ holder }],
  "state.lock_file": [{ place: ".hosting.tfstate.lock", reason: "it is not a lock file" }],
  "state.lost_lock": [holder, undefined].map((holder) => ({ holder })),
  "state.lost_lock/changed": [{ place: source }, { place: source, hint: "Was the lock freed by hand?" }],
  "state.lost_lock/rejected": [{ holder }],
  "state.lost_lock/connection": [server],
  "state.backend/unlock": [{ id: "0f1e2d", reason: "The server fails" }],
  "state.backend/no_lock": [server],
  "state.backend/unconfirmed": [{ reason: "The server of the state cannot be reached." }],
  "state.backend/unreachable": [server],
  "state.backend/too_large": [{ place: server.place, bytes: 134_217_728 }],
  "state.backend/response": [200, 302, 401, 403, 404, 405, 409, 413, 418, 429, 500].flatMap((status) =>
    ([undefined, "s3"] as const).map((store) => ({
      doing: "written" as const,
      exchange,
      target: " to https://login.example",
      status,
      store,
    })),
  ),
  "state.backend/conditional": [{ condition: "if-match", exchange }],
  "state.backend/certificate": [{ ...file, variable: "PG_CONN_STR" }],
  "state.backend/package": ["ERR_DLOPEN_FAILED: no such file.", undefined].map((reason) => ({ reason })),
  "state.backend/clear_text": [{ ...server, variable: "PG_CONN_STR" }],
  "state.backend/database": [{ ...server, variable: "PG_CONN_STR" }],
  "state.backend/access": [{ ...server, variable: "PG_CONN_STR" }],
  "state.backend/connection": [true, false].map((lacksTls) => ({ ...server, lacksTls, variable: "PG_CONN_STR" })),
  "state.backend/query": (["read", "written"] as const).flatMap((doing) =>
    [true, false].map((isDenied) => ({ ...server, doing, isDenied })),
  ),
  "state.backend/terminate": [{ holder, id: "812" }],
  "state.backend/session": [{ holder }],
};
