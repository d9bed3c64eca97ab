import { describe, expect, it } from "vitest";
import { UNKNOWN } from "../../../../../src/core/model/index.ts";
import { openAccount } from "../account.ts";
import { BASE, open, TOKEN } from "./harness.ts";

describe("a configuration that is known only after apply", () => {
  it.each(["base_url", "token", "token_file", "status_words", "insecure_http", "requests_per_minute"])(
    "%s: the session is opened, and refuses what needs the account",
    async (name) => {
      const { session } = await open({ [name]: UNKNOWN }, { env: { HOSTING_BASE_URL: "https://api.example" } });
      const message = `The provider's \`${name}\` is known only after apply`;
      for (const part of ["client", "account", "settings", "project", "moneyScale", "entries"] as const) {
        expect(() => session[part], part).toThrow(message);
      }
      expect(session.clock.now()).toBeGreaterThan(0);
      await session.close();
    },
  );

  it("a part of a map is enough", async () => {
    const { session } = await open({ ...BASE, token: TOKEN, status_words: { Running: UNKNOWN } });
    expect(() => session.account).toThrow("The provider's `status_words` is known only after apply");
  });

  it("without its project everything but an order works", async () => {
    const account = await openAccount({ config: { project: UNKNOWN } });
    expect(await account.read("hosting_services")).toEqual(expect.anything());
    expect(() => account.session.project).toThrow("The provider's `project` is known only after apply");
  });
});
