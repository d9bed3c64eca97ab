import { describe, expect, it } from "vitest";
import { handshakeLine, invitation, reattachment } from "../../../../../src/fronts/terraform/wire/handshake.ts";

const COOKIE = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
const unix = { network: "unix", address: "/tmp/hostform-abc/s" } as const;

describe("invitation", () => {
  it("knows who started the program", () => {
    expect(invitation({})).toEqual({ from: "person" });
    expect(invitation({ TF_PLUGIN_MAGIC_COOKIE: "another's" })).toEqual({ from: "person" });
    expect(invitation({ TF_PLUGIN_MAGIC_COOKIE: COOKIE })).toEqual({ from: "terraform", client: undefined });
  });

  it("has the certificate of the client, unless none is given", () => {
    const env = { TF_PLUGIN_MAGIC_COOKIE: COOKIE, PLUGIN_PROTOCOL_VERSIONS: "5,6" };
    expect(invitation({ ...env, PLUGIN_CLIENT_CERT: "PEM" })).toEqual({ from: "terraform", client: "PEM" });
    expect(invitation({ ...env, PLUGIN_CLIENT_CERT: "" })).toEqual({ from: "terraform", client: undefined });
  });

  it("is declined when only older protocols are spoken", () => {
    const refused = invitation({ TF_PLUGIN_MAGIC_COOKIE: COOKIE, PLUGIN_PROTOCOL_VERSIONS: "4,5" });
    expect(refused).toMatchObject({ refusal: expect.stringContaining("protocol 6, this Terraform only 4, 5") });
  });
});

describe("handshakeLine", () => {
  it("names protocol and place, and the certificate in base64 without padding", () => {
    const identity = { key: "", certificate: "", der: Buffer.from("a") };
    expect(handshakeLine(unix, identity)).toBe("1|6|unix|/tmp/hostform-abc/s|grpc|YQ");
  });

  it("ends after the protocol where nothing is encrypted", () => {
    expect(handshakeLine({ network: "tcp", address: "127.0.0.1:4000" }, undefined)).toBe("1|6|tcp|127.0.0.1:4000|grpc");
  });
});

describe("reattachment", () => {
  it("is what Terraform reads from TF_REATTACH_PROVIDERS", () => {
    expect(JSON.parse(reattachment("example.com/a/b", unix, 42))).toEqual({
      "example.com/a/b": {
        Protocol: "grpc",
        ProtocolVersion: 6,
        Pid: 42,
        Test: true,
        Addr: { Network: "unix", String: "/tmp/hostform-abc/s" },
      },
    });
  });
});
