// The options and results of an adoption, published with the library.

/** hostform's YAML; Terraform's language; TypeScript for either of the two libraries of constructs. */
export type AdoptFormat = "yaml" | "hcl" | "cdktf" | "cdktn";

/** Options of an adoption. Paths are relative to the working folder. */
export interface AdoptOptions {
  /** The account, by its name under `providers`. Default: `default`. */
  readonly provider?: string;
  /** Name of a new project. Default: the name of the folder. */
  readonly project?: string;
  /** A CSV file `id,name` with names of resources. Default: names from domains. */
  readonly names?: string;
  /** A CSV file `service id or domain,client`: the client of each service. */
  readonly clients?: string;
  /** Only services and migration requests with such a domain; `*` stands for any text. */
  readonly select?: readonly string[];
  /** Only objects of this client. */
  readonly client?: string;
  /** Only declared objects: adds no block to the declaration. Default: false. */
  readonly declared?: boolean;
  /** The language of the declaration: hostform's YAML, Terraform's, or TypeScript. Default: `yaml`. */
  readonly format?: AdoptFormat;
  /** Writes neither files nor state. Default: false. */
  readonly dryRun?: boolean;
}

/** Cost of the remaining reads. */
export interface Forecast {
  /** Noun -> number of objects: `service`, `webhook`. The number of grants is unknown. */
  readonly objects: Readonly<Record<string, number>>;
  /** Requests in all, with the earlier ones. */
  readonly requests: number;
  /** Remaining requests: one for the grants of each service. */
  readonly open: number;
  /** Estimated time of the remaining requests. */
  readonly seconds: number;
}

/** Result of an adoption. */
export interface Adopted {
  /** False: declined, and no file was written. */
  readonly approved: boolean;
  /** Noun -> number of adopted objects. */
  readonly objects: Readonly<Record<string, number>>;
  /** Files, relative to the working folder. */
  readonly files: readonly { readonly file: string; readonly isNew: boolean; readonly text: string }[];
  /** Sentences about unmanaged objects, with the reasons. */
  readonly left: readonly string[];
  /** Sentences about attributes that the API does not show. */
  readonly unknown: readonly string[];
  /** Requests of this run. */
  readonly requests: number;
  /** Number of other addresses with planned changes. Adopted ones have none. */
  readonly otherChanges: number;
  /** True if the folder had neither a state nor a declaration. */
  readonly isFirst: boolean;
}
