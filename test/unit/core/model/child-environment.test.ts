import { describe, expect, it } from "vitest";
import { childEnvironment } from "../../../../src/core/model/index.ts";

const OWN = {
  HOSTING_TOKEN: "a",
  HOSTING_TOKEN_EU: "b",
  HOSTING_EU_TOKEN: "c",
  HOSTFORM_STATE_PASSPHRASE: "d",
  HOSTFORM_STATE_KEY: "e",
  HOSTFORM_STATE_NEW_KEY: "f",
  TF_HTTP_PASSWORD: "g",
  PGPASSWORD: "h",
  PG_CONN_STR: "i",
  HOSTFORM_STORE: "postgres://u:p@h/d",
  PGPASSFILE: "j",
};
const OTHERS = {
  PATH: "/bin",
  HOSTFORM_STATE_HOME: "/s",
  HOSTFORM_STATE_TIMEOUT: "10s",
  HOSTING_BASE_URL: "u",
  VAULT_TOKEN: "v",
  PGP_KEY: "p",
};

it("gives the token of the MCP server to no child", () => {
  expect(childEnvironment({ HOSTFORM_MCP_TOKEN: "t".repeat(32), HOME: "/home" })).toEqual({ HOME: "/home" });
});

describe("the environment of a child process", () => {
  it("contains no credential of hostform, and all other variables", () => {
    expect(childEnvironment({ ...OWN, ...OTHERS, ACME_TOKEN: "k" }, ["ACME_TOKEN", undefined])).toEqual(OTHERS);
  });

  it("contains the credentials that HOSTFORM_CHILD_ENV names, and no others", () => {
    const asked = { HOSTFORM_CHILD_ENV: "HOSTING_TOKEN, ACME_TOKEN PGPASSWORD" };
    const env = { ...OWN, ...OTHERS, ...asked, ACME_TOKEN: "k" };
    const { HOSTING_TOKEN, PGPASSWORD } = OWN;
    expect(childEnvironment(env, ["ACME_TOKEN"])).toEqual({
      ...OTHERS,
      ...asked,
      HOSTING_TOKEN,
      PGPASSWORD,
      ACME_TOKEN: "k",
    });
  });
});
