// The options and results of an adoption. The library exports these types.

/** Language of the declaration: hostform's YAML, HCL, or TypeScript for `cdktf` or `cdktn`. */
export type AdoptFormat = "yaml" | "hcl" | "cdktf" | "cdktn";

/** Options of an adoption. Paths are relative to the working folder. */
export interface AdoptOptions {
  /** Name of the account under `providers`. Default: `default`. */
  readonly provider?: string;
  /** Name of a new project. Default: the name of the folder. */
  readonly project?: string;
  /** A CSV file `id,name` with names of resources. Default: names from domains. */
  readonly names?: string;
  /** A CSV file `service id or domain,client` with the client of each service. */
  readonly clients?: string;
  /** Patterns of domains. Selects only matching services and migration requests. `*` matches any text. */
  readonly select?: readonly string[];
  /** Selects only objects of this client. */
  readonly client?: string;
  /** True to adopt only declared objects: no block is added to the declaration. Default: false. */
  readonly declared?: boolean;
  /** Language of the declaration. Default: `yaml`. */
  readonly format?: AdoptFormat;
  /** True to write neither files nor state. Default: false. */
  readonly dryRun?: boolean;
}

/** Cost of the rest of an adoption. */
export interface Forecast {
  /** Number of objects by noun, such as `service`. Grants are not included. */
  readonly objects: Readonly<Record<string, number>>;
  /** Minimum total number of requests, including earlier ones. */
  readonly requests: number;
  /** Number of remaining requests. The grants of each service need one request. */
  readonly open: number;
  /** Estimated time of the remaining requests. */
  readonly seconds: number;
}

/** Result of an adoption. */
export interface Adopted {
  /** False if the adoption was declined. No file was written in this case. */
  readonly approved: boolean;
  /** Number of adopted objects by noun. */
  readonly objects: Readonly<Record<string, number>>;
  /** Written files, relative to the working folder. */
  readonly files: readonly { readonly file: string; readonly isNew: boolean; readonly text: string }[];
  /** One sentence with the reason for each unmanaged object. */
  readonly left: readonly string[];
  /** One sentence for each attribute that the API does not return. */
  readonly unknown: readonly string[];
  /** Number of requests of this run. */
  readonly requests: number;
  /** Number of other addresses with planned changes. Adopted objects have none. */
  readonly otherChanges: number;
  /** True if the folder had neither a state nor a declaration. */
  readonly isFirst: boolean;
}
