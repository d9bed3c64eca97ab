/** Real exchanges with a sandbox, for tests that change them. */
import type { Exchange, Profile } from "../../src/sandbox/index.ts";
import { open } from "../unit/sandbox/harness.ts";
import { rows, scene } from "./cells.ts";

/**
 * Every endpoint's success and, where there is one, its 422, 404 and 401; a 400, a 403, a 429 and a
 * replayed order. With `few`, of each endpoint its success alone.
 */
export async function recorded(profile: Partial<Profile> = {}, { few = false } = {}): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  const observe = (exchange: Exchange) => void exchanges.push(exchange);
  const running = await open({ profile, observe });
  const { send, sandbox } = running;
  const has = await scene(running);
  for (const { method, path, good, invalid, unknown } of rows(has)) {
    for (const asked of [invalid, unknown, good]) {
      if (typeof asked === "string" || (few && asked !== good)) continue;
      const { at = path, ...sending } = asked;
      await send(method, at, sending);
      if (path === "/services" && asked === good && method === "POST") await send(method, at, sending);
    }
  }
  await send("POST", `/services/${has.server}/password`);
  await send("POST", "/services", { body: {} });
  await send("POST", "/services", { key: "other", body: {} });
  await send("GET", "/plans", { token: null });
  await send("GET", "/webhooks", { token: sandbox.tokens.viewer });
  const limited = await open({ profile, observe, rateLimit: 1 });
  await limited.send("GET", "/plans");
  await limited.send("GET", "/plans");
  await Promise.all([sandbox.close(), limited.sandbox.close()]);
  return exchanges;
}
