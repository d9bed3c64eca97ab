// Secret from an external source: hostform reads the source only for a request that contains the secret.
import { describe, expect, it } from "vitest";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import { stepsToward } from "../../../../src/core/lifecycle/secrets.ts";
import { HostformError, type JsonObject, UNKNOWN } from "../../../../src/core/model/index.ts";
import { kindOf, liveService } from "../../../support/subjects.ts";

const kind = kindOf("hosting_service");
const prior = { ...liveService, password_version: 1 };
const source = UNKNOWN as never;

async function bodies(config: JsonObject, wanted: JsonObject, read?: (name: string) => Promise<string>) {
  const asked: string[] = [];
  const readSecret =
    read &&
    ((name: string) => {
      asked.push(name);
      return read(name);
    });
  const steps = await stepsToward(
    kind,
    prior,
    { ...prior, ...wanted },
    config,
    readSecret ? { secrets: { read: readSecret } } : {},
  );
  return { sent: steps.map(({ mutation: { endpoint, body } }) => [endpoint, body]), asked };
}
const hunter2 = async () => "hunter2";

describe("the requests of a change", () => {
  it("contain a secret as declared", async () => {
    expect(await bodies({ password: "plain" }, { password_version: 2 })).toEqual({
      sent: [["resetPassword", { password: "plain" }]],
      asked: [],
    });
  });

  it("contain the value of its source, which is read once", async () => {
    expect(await bodies({ password: source }, { password_version: 2 }, hunter2)).toEqual({
      sent: [["resetPassword", { password: "hunter2" }]],
      asked: ["password"],
    });
  });

  it.each<[string, JsonObject, unknown[]]>([["nothing is to be set", {}, []]])(
    "do not ask a source when %s",
    async (_, wanted, sent) => {
      expect(await bodies({ password: source }, wanted, hunter2)).toEqual({ sent, asked: [] });
    },
  );

  it("require a reader of sources", async () => {
    await expect(bodies({ password: source }, { password_version: 2 })).rejects.toThrow(
      "nothing reads the source of password",
    );
  });

  it("contain declared values beside the value of a source, and no source is read for an unused value", async () => {
    const asked: string[] = [];
    // Kind with two secrets. One request contains the first secret, and a flag that the second secret exists.
    const both: Kind = {
      ...kind,
      update: (_, __, { password, pin, label }) => {
        const body = { password: password ?? null, label: label ?? null, pinned: typeof pin === "string" };
        return [{ name: "both", mutation: { endpoint: "resetPassword", body }, accept: () => ({ attributes: {} }) }];
      },
    };
    const readSecret = async (name: string) => {
      asked.push(name);
      return `the ${name}`;
    };
    const steps = await stepsToward(
      both,
      prior,
      prior,
      { pin: source, password: source, label: "a" },
      { secrets: { read: readSecret } },
    );
    expect(steps.map(({ mutation: { body } }) => body)).toEqual([
      { password: "the password", label: "a", pinned: true },
    ]);
    expect(asked).toEqual(["password"]);
  });

  it("fail with the reader's message, at the attribute", async () => {
    const refuse = async () => {
      throw new HostformError([{ severity: "error", code: "secret.source", summary: "no such file" }]);
    };
    await expect(bodies({ password: source }, { password_version: 2 }, refuse)).rejects.toMatchObject({
      diagnostics: [{ code: "secret.source", summary: "no such file", attribute: ["password"] }],
    });
    const ours = async () => {
      throw new TypeError("ours");
    };
    await expect(bodies({ password: source }, { password_version: 2 }, ours)).rejects.toBeInstanceOf(TypeError);
  });
});
