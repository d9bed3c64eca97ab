/** The rules for control-panel passwords (§4 POST /services/{id}/password body). */
import { type Body, Fields } from "./fields.ts";

const SHORTEST_PASSWORD = 8;

/** A given password: "string, minimum 8 characters" (§4, §8). It is not trimmed and not kept. */
export function checkPassword(body: Body): void {
  const fields = new Fields(body);
  const password = fields.raw("password");
  if (password === undefined || password === null || password === "") {
    fields.refuse("password", "The password field is required.");
  } else if (typeof password !== "string") {
    fields.refuse("password", "The password field must be a string.");
  } else if ([...password].length < SHORTEST_PASSWORD) {
    fields.refuse("password", `The password field must be at least ${SHORTEST_PASSWORD} characters.`);
  }
  fields.complete({});
}

/** "Root VPS or Virtual Desktop: no body" (§4): a password that was given is refused, not dropped in silence. */
export function checkNoPassword(body: Body): void {
  const fields = new Fields(body);
  if (fields.given("password")) {
    fields.refuse("password", "The password field must be omitted: a password is generated for this kind of service.");
  }
  fields.complete({});
}
