import type { Attribute, Schema } from "../../../core/model/schema.ts";

const optional = (type: Attribute["type"], description: string): Attribute => ({ type, optional: true, description });

/** Schema of `provider "hosting" { … }`. Each attribute is optional, because its default is in the environment. */
export const providerSchema: Schema = {
  version: 0,
  description:
    "Manages a web-hosting account through the Hosting Automation API: services, grants, webhooks, client accounts, migration requests and domains. It orders nothing twice, even when Terraform is killed in the middle of an order. All processes on a machine share the 60 requests a minute that the API allows a token.",
  attributes: {
    base_url: optional(
      "string",
      "Address of the API, such as `https://api.example`. Default: the environment variable `HOSTING_BASE_URL`.",
    ),
    token: {
      ...optional(
        "string",
        "The API token. Set it from a sensitive variable, never as a literal. Default: the one that `token_file` or `token_env` names, else the environment variable `HOSTING_TOKEN`.",
      ),
      sensitive: true,
    },
    token_env: optional(
      "string",
      "Environment variable that holds the API token, for a second account. Default: `HOSTING_TOKEN`.",
    ),
    token_file: optional(
      "string",
      "File that holds only the API token, mode 0600. A relative path is relative to the directory in which Terraform runs.",
    ),
    project: optional(
      "string",
      "Name of the project: 1 to 64 letters, digits, `.`, `_` and `-`. The Idempotency-Key of every order is derived from it and the resource's `reference`. Ordering services requires it. Use different names for the projects of one account, and do not change the name after the first order. Default: the environment variable `HOSTFORM_PROJECT`.",
    ),
    requests_per_minute: optional(
      "number",
      "Maximum number of requests a minute. Default: 60, the API's limit for a token. Set a lower value if other programs use the token, and a higher value only if the host allows more. All processes on this machine with the same token share the limit.",
    ),
    status_words: optional(
      { map: "string" },
      "Meaning of status words that the provider does not know: `pending`, `live`, `suspended` or `gone`. The provider never changes a service with an unknown status word.",
    ),
    idempotency_key_retention: optional(
      "string",
      "Time for which this host remembers an Idempotency-Key, such as `24h`, if the host documents it. If the response to an order is lost, the provider repeats the order within this time: at once in the same apply, and in a later apply if a complete list shows no object that the order may have created. After that time, a list decides. Default: `5s`, and no repetition in a later apply.",
    ),
    list_lag: optional(
      "string",
      "Maximum time until the lists of this host show a new object, such as `60s`. Within this time, a created object counts as existing although no list shows it, and a create request with a lost response is not repeated. Default: `60s`.",
    ),
    money_scale: optional(
      "number",
      'Digits after the decimal point of money amounts, 0 to 4. Default: `HOSTING_MONEY_SCALE`, without `base_url`. With it, services and data sources also have amounts as text (`price_text = "9.99 USD"`). Numbers always stay in the API\'s own unit.',
    ),
    insecure_http: optional(
      "bool",
      "Accept plain http to addresses other than this machine. Anyone on the network path can then read the token. Default: `false`.",
    ),
  },
};
