/** Computes the place of a state. All programs and fronts compute the same place for one state. */
import { createHash } from "node:crypto";
import path from "node:path";
import { exists, realPath } from "../files/file-system.ts";
import { attempt, type EnvVars } from "../model/index.ts";
import type { Place } from "./account-store.ts";
import { nameOfServer, parsePgServer } from "./pg-address.ts";
import { s3Place } from "./s3-address.ts";

/** Name that Terraform gives to a state file. */
const UNNAMED = "terraform.tfstate";

/** Settings of Terraform's backends that locate a state. All others are credentials or connection options. */
const LOCATING = [
  ...["bucket", "container_name", "endpoint", "endpoints", "hostname", "key", "namespace", "organization", "path"],
  ...["address", "prefix", "secret_suffix", "storage_account_name", "workspace_key_prefix", "workspaces"],
];

export const markOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);

/** Returns the place of a state file. The file may be missing. @param file absolute path. */
export function placeOfFile(file: string): Place {
  const real = attempt(
    () => realPath(file),
    () => file,
  );
  const [name, folder] = [path.basename(real), path.dirname(real)];
  if (name !== UNNAMED) return { mark: markOf(["file", real]), label: `${name} in ${folder}` };
  const isOfWorkspace = path.basename(path.dirname(folder)) === `${UNNAMED}.d`;
  const [root, workspace] = isOfWorkspace
    ? [path.resolve(folder, "../.."), path.basename(folder)]
    : [folder, "default"];
  // The mark has the form of earlier versions, so that their entries stay valid.
  return { mark: markOf(["folder", root, workspace, null]), label: `the Terraform workspace ${workspace} in ${root}` };
}

/** Returns true if the state's file on this machine no longer exists. A lock file counts as the file, because Terraform's first run creates the lock file first. */
export function isRemoved({ mark, label }: Place): boolean {
  const inFolder = /^(.*) in (\/.*|[A-Za-z]:.*)$/s.exec(label);
  const [, name = "", folder = ""] = inFolder ?? [];
  const workspace = /^the Terraform workspace (.*)$/s.exec(name)?.[1];
  const under =
    workspace === undefined
      ? name
      : path.join(...(workspace === "default" ? [] : [`${UNNAMED}.d`, workspace]), UNNAMED);
  const file = path.join(folder, under);
  if (inFolder === null || placeOfFile(file).mark !== mark) return false;
  return !exists(file) && !exists(path.join(path.dirname(file), `.${path.basename(file)}.lock.info`));
}

/** Returns the folder of the YAML project with a state. Undefined for a state with another name, and without a declaration. */
export function projectFolder({ label }: Place): string | undefined {
  const [, folder] = /^(?:hosting\.tfstate in|the remote state of) (.*)$/s.exec(label) ?? [];
  return folder !== undefined && exists(path.join(folder, "hosting.yaml")) ? folder : undefined;
}

interface StateAtBackend {
  readonly type: string;
  /** Declared settings of the backend. Environment variables replace missing settings. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly workspace: string;
}

/** Returns the mark of a state at a backend. Folder and credentials do not change the mark. */
export function markOfBackend({ type, settings, workspace }: StateAtBackend, env: EnvVars): string {
  const text = (name: string, variable: string) => {
    const declared = settings[name];
    return typeof declared === "string" && declared !== "" ? declared : (env[variable] ?? "");
  };
  const schema = () => text("schema_name", "PG_SCHEMA_NAME") || "terraform_remote_state";
  const table = () => text("table_name", "PG_TABLE_NAME");
  // The default table is left out, so that marks of earlier versions stay valid.
  const tableIfOther = () => (table() === "" || table() === "states" ? [] : [table()]);
  const { endpoint = "", bucket, key } = s3Place(settings, workspace, env);
  const places: Readonly<Record<string, () => unknown>> = {
    http: () => [addressIn(text("address", "TF_HTTP_ADDRESS"))],
    pg: () => [serverIn(text("conn_str", "PG_CONN_STR"), env), schema(), ...tableIfOther()],
    s3: () => [addressIn(endpoint), bucket, key],
  };
  const located = places[type]?.() ?? LOCATING.map((name) => settings[name] ?? null);
  return markOf(["backend", type, located, workspace]);
}

function addressIn(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  [url.username, url.password] = ["", ""];
  return url.href;
}

/** Returns the name of a database server, without user and password. */
const serverIn = (connection: string, env: EnvVars): string =>
  attempt(
    () => nameOfServer(parsePgServer({ ...env, PG_CONN_STR: connection }, env.USER ?? "")),
    () => "",
  );
