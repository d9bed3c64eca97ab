import path from "node:path";
import { isLoopback } from "../../core/api/base-url.ts";
import { VERSION } from "../../core/api/version.ts";
import { type Backend, type Desired, type Diagnostic, fail, type ProviderConfig } from "../../core/model/index.ts";
import type { TfBlock, TfItem, TfValue } from "../../report/index.ts";
import { PROVIDER_ADDRESS } from "../commands/terraform/package.ts";

/** Where things lie, seen from the folder in which Terraform will run. */
export interface Places {
  /** That folder, absolute. */
  readonly folder: string;
  /** The folder that the paths of the declaration's accounts are relative to, absolute. */
  readonly base: string;
  /** The state file, absolute. */
  readonly state: string;
}

/** `terraform { … }`: the provider, and the place of the state. @param least the oldest Terraform that will do. */
export function terraformBlock(
  { backend }: Desired,
  places: Places,
  least: string | undefined,
): { block: TfBlock; diagnostics: Diagnostic[] } {
  const version = VERSION.replace(/-.*$/, "");
  const required: TfItem = {
    block: "required_providers",
    labels: [],
    body: [
      [
        {
          name: "hosting",
          value: {
            map: [
              ["source", PROVIDER_ADDRESS],
              ["version", `~> ${version}`],
            ],
          },
        },
      ],
    ],
  };
  const { block, diagnostics } = backendBlock(backend, places);
  const oldest: TfItem[] = least === undefined ? [] : [{ name: "required_version", value: `>= ${least}` }];
  return { block: { block: "terraform", labels: [], body: [oldest, [required], [block]] }, diagnostics };
}

/** The place of the state: the backends of a declaration are Terraform's own, and a file is its backend `local`. */
function backendBlock(backend: Backend | undefined, places: Places): { block: TfBlock; diagnostics: Diagnostic[] } {
  if (backend === undefined) {
    const file = relativePath(places.state, places.folder);
    const comments = ["The state of hostform itself. Do not let Terraform and hostform write it at the same time."];
    const block = { block: "backend", labels: ["local"], comments, body: [[{ name: "path", value: file }]] };
    return { block, diagnostics: [] };
  }
  const { type, settings, range } = backend;
  const diagnostics: Diagnostic[] = [];
  const comments: string[] = [];
  const { workspace = "default", without_lock, ...own } = settings;
  const warn = (summary: string, fix: string) => {
    comments.push(`${summary}. ${fix}`);
    diagnostics.push({ severity: "warning", code: "terraform.export", summary, fix, ...(range && { range }) });
  };
  if (workspace !== "default") {
    warn(
      `The state is in the workspace ${JSON.stringify(workspace)}, which a configuration cannot say`,
      `Select it before anything else: TF_WORKSPACE=${String(workspace)} terraform init`,
    );
  }
  if (without_lock === true) {
    warn(
      "`without_lock` has no counterpart: Terraform does without a lock where no lock_address is given",
      "See to it that no two runs meet.",
    );
  }
  const items = Object.entries(own).map(([name, value]): TfItem => ({ name, value: value as TfValue }));
  return { block: { block: "backend", labels: [type], comments, body: [items] }, diagnostics };
}

/**
 * The `provider` blocks of the accounts: those that are declared, and the default one where something uses it.
 * @throws HostformError for an account that says nowhere where its token is: Terraform would take that of another.
 */
export function providerBlocks(desired: Desired, places: Places, insecureHttp: boolean): TfBlock[] {
  const { providers, resources, project } = desired;
  const used = new Set(resources.map(({ provider }) => provider));
  const wanted = [...providers.values()].filter(({ alias, range }) => range !== undefined || used.has(alias));
  const needed = wanted.length > 0 ? wanted : [{ alias: "default" }];
  return needed.map((provider) => ({
    block: "provider",
    labels: ["hosting"],
    ...commentsOf(provider),
    body: [settingsOf(provider, project, places, insecureHttp)],
  }));
}

/** What an account leaves to the environment, as it does in hostform. */
function commentsOf({ alias, baseUrl, tokenEnv, tokenFile }: ProviderConfig): { comments?: readonly string[] } {
  const silent = [
    ...(baseUrl === undefined ? ["the address is HOSTING_BASE_URL"] : []),
    ...(alias === "default" && tokenEnv === undefined && tokenFile === undefined ? ["the token is HOSTING_TOKEN"] : []),
  ];
  return silent.length === 0 ? {} : { comments: [`From the environment: ${silent.join(", ")}.`] };
}

function settingsOf(provider: ProviderConfig, project: string, places: Places, insecureHttp: boolean): TfItem[] {
  const { alias, baseUrl, tokenEnv, tokenFile, requestsPerMinute, statusWords, moneyScale } = provider;
  const { keyLifetimeMs, listLagMs } = provider;
  if (alias !== "default" && tokenEnv === undefined && tokenFile === undefined) {
    fail("provider.token", `Provider ${alias} says nowhere where its token is`, {
      detail: "Terraform would take HOSTING_TOKEN, which is the token of another account.",
      fix: "Add `token_env: VARIABLE` or `token_file: PATH` to it.",
      ...(provider.range && { range: provider.range }),
    });
  }
  const file = tokenFile === undefined ? undefined : path.resolve(places.base, tokenFile);
  const plain = baseUrl !== undefined && insecureHttp && isPlain(new URL(baseUrl));
  const settings: [string, TfValue | undefined][] = [
    ["alias", alias === "default" ? undefined : alias],
    ["project", project],
    ["base_url", baseUrl],
    ["insecure_http", plain ? true : undefined],
    // Where both are declared, the file is what counts.
    ["token_env", file === undefined ? tokenEnv : undefined],
    ["token_file", file && relativePath(file, places.folder, tokenFile)],
    ["requests_per_minute", requestsPerMinute],
    ["status_words", statusWords && { map: Object.entries(statusWords) }],
    ["idempotency_key_retention", keyLifetimeMs === undefined ? undefined : timeText(keyLifetimeMs)],
    ["list_lag", listLagMs === undefined ? undefined : timeText(listLagMs)],
    ["money_scale", moneyScale],
  ];
  return settings.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

const isPlain = (url: URL) => url.protocol === "http:" && !isLoopback(url);

/** A path as seen from a folder; one that was given in full stays so. */
function relativePath(file: string, from: string, given?: string): string {
  if (given !== undefined && path.isAbsolute(given)) return given;
  return path.relative(from, file).replaceAll(path.sep, "/");
}

/** Milliseconds in the largest unit that holds them whole: `24h`. */
function timeText(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const;
  const unit = units.find(([, size]) => ms % size === 0);
  return unit === undefined ? `${ms / 1000}s` : `${ms / unit[1]}${unit[0]}`;
}
