/** Real exchanges with a sandbox. Tests modify copies of them. */
import type { Exchange, Profile } from "../../src/sandbox/index.ts";
import { open } from "../unit/sandbox/harness.ts";
import { rows, scene } from "./cells.ts";

/**
 * Returns exchanges with a sandbox: for each endpoint a success and, if the endpoint has them, a 422, a 404 and a 401;
 * also a 400, a 403, a 429 and a replayed order.
 * @param profile Switches of the sandbox that differ from the default.
 * @param few Records only the success of each endpoint.
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
