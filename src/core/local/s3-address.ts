/** Place of a state in S3, from Terraform's settings and variables. All fronts and programs find the same place. */
import { type EnvVars, isObject } from "../model/index.ts";

interface S3Place {
  /** URL of another store than Amazon S3. */
  readonly endpoint: string | undefined;
  readonly bucket: string;
  readonly key: string;
}

/** Returns the place of a state. @param workspace adds a prefix to the key, unless it is `default`. */
export function s3Place(settings: Readonly<Record<string, unknown>>, workspace: string, env: EnvVars): S3Place {
  const { bucket, key, workspace_key_prefix: prefix, endpoint, endpoints } = settings;
  const declared = [isObject(endpoints) ? endpoints.s3 : undefined, endpoint];
  const given = [...declared, env.AWS_ENDPOINT_URL_S3, env.AWS_S3_ENDPOINT, env.AWS_ENDPOINT_URL];
  const folders = workspace === "default" ? [] : [prefix ?? "env:", workspace];
  return {
    endpoint: given.find((one): one is string => typeof one === "string" && one !== ""),
    bucket: String(bucket),
    key: [...folders, key].filter(Boolean).join("/"),
  };
}
