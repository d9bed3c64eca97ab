// What a caller of an adoption gives and gets: published with the root export, so that these types need no others.

/** hostform's YAML; Terraform's language; TypeScript for either of the two libraries of constructs. */
export type AdoptFormat = "yaml" | "hcl" | "cdktf" | "cdktn";

/** What is adopted, and how. Paths are relative to the working folder. */
export interface AdoptOptions {
  /** The account, by its name under `providers`. Default: `default`. */
  readonly provider?: string;
  /** Name of the project, where there is no declaration yet. Default: that of the folder. */
  readonly project?: string;
  /** A CSV file `id,name`: names in place of those made from domains. */
  readonly names?: string;
  /** A CSV file `service id or domain,client`: the client of each service. */
  readonly clients?: string;
  /** Only services and migration requests with such a domain; `*` stands for any text. */
  readonly select?: readonly string[];
  /** Only what is of this client. */
  readonly client?: string;
  /** Only what is declared already: nothing is added to the declaration. Default: false. */
  readonly declared?: boolean;
  /** The language of the declaration: hostform's YAML, Terraform's, or TypeScript. Default: `yaml`. */
  readonly format?: AdoptFormat;
  /** Writes and records nothing. Default: false. */
  readonly dryRun?: boolean;
}

/** What reading the rest of an account takes, before it is read. */
export interface Forecast {
  /** Noun -> how many are there: `service`, `webhook`. The number of grants is not known yet. */
  readonly objects: Readonly<Record<string, number>>;
  /** Requests in all, those before included. */
  readonly requests: number;
  /** Those that are still to be sent: one for the grants of each service. */
  readonly open: number;
  /** About how long these take. */
  readonly seconds: number;
}

/** What has come under management. */
export interface Adopted {
  /** False: it was not approved, and nothing was written. */
  readonly approved: boolean;
  /** Noun -> how many were adopted. */
  readonly objects: Readonly<Record<string, number>>;
  /** Files, relative to the working folder. */
  readonly files: readonly { readonly file: string; readonly isNew: boolean; readonly text: string }[];
  /** What stays unmanaged, and why, as sentences. */
  readonly left: readonly string[];
  /** What the API does not show of what was adopted, as sentences. */
  readonly unknown: readonly string[];
  /** Requests that this run has sent. */
  readonly requests: number;
  /** Of what was adopted, the plan has no changes; so many other addresses of the account have some. */
  readonly otherChanges: number;
  /** Whether neither a state nor a declaration was there before. */
  readonly isFirst: boolean;
  /** What to run next, where that is not hostform alone. */
  readonly next?: string;
}
