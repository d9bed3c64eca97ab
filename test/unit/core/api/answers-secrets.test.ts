/** One-time secrets in responses of every form. The API returns each secret once, so an unread secret is lost. */
import { describe, expect, it } from "vitest";
import { readAnswer } from "../../../../src/core/api/answers.ts";

const SECRET = "whsec_0123456789";
const hook = {
  id: 201,
  url: "https://hooks.example/",
  events: ["invoice.paid"],
  created_at: "2026-11-21T10:00:00+00:00",
};

describe("the signing secret of a webhook", () => {
  it.each([
    { data: { ...hook, secret: SECRET } },
    { ...hook, signing_secret: SECRET },
    { data: hook, secret: SECRET },
    { data: hook, meta: { secret: SECRET } },
    { data: { id: 201, type: "webhook", attributes: { url: hook.url, events: hook.events, secret: SECRET } } },
    { webhook: hook, signing: { secret: SECRET } },
    { data: { ...hook, signing_key: SECRET } },
    { data: { ...hook, secret_key: SECRET } },
    { data: { ...hook, plainTextSecret: SECRET } },
    { data: { ...hook, secret: null, "signing-secret": SECRET } },
    { data: { ...hook, secret: { value: SECRET, algorithm: "sha256" } } },
    { data: { ...hook, keys: [{ hmac_key: SECRET }] } },
    { data: { ...hook, secret_hint: "whsec_01", has_secret: "yes", signing_algorithm: "sha256", secret: SECRET } },
    { data: { ...hook, old_secret: "whsec_old" }, meta: { new_secret: SECRET } },
    { data: { ...hook, secret: "********", plain_text_secret: SECRET } },
    { data: { ...hook, secret: "whsec_…6789" }, meta: { signing_secret: SECRET } },
    { data: { ...hook, secret: "[hidden]", meta: { secret: { plain_text: SECRET } } } },
    { data: { ...hook, secret: "a-digest-of-it", plainTextSecret: SECRET } },
    { data: { ...hook, client_secret: "another", signing_key: SECRET } },
    { data: { ...hook, client_secret: SECRET } },
    { data: { ...hook, signing_token: SECRET } },
    { data: { ...hook, key: SECRET } },
    { data: { ...hook, object: "webhook", token: SECRET } },
  ])("is read from %j", (answer) => {
    expect(readAnswer("createWebhook", answer)).toMatchObject({ secret: SECRET });
  });

  it.each([
    { data: hook },
    { data: { ...hook, secret: "" } },
    { data: { ...hook, secret: "whsec_***" } },
    { data: { ...hook, secret: "xxxxxxxxxxxx" } },
    { data: { ...hook, secret: "whsec_...6789" } },
    { data: { ...hook, secret: "REDACTED", signing_secret: "<hidden>" } },
    { data: { ...hook, secret: 5 } },
    { data: { ...hook, secret: "********", key: "an-identifier-of-the-key" } },
    { data: { ...hook, key: "billing" } },
    { data: { ...hook, key: "an-identifier-of-it", token: "an-identifier-of-it-too" } },
    { data: { ...hook, has_secret: "yes", secret_hint: "whsec_01", signing_algorithm: "sha256" } },
    { data: { ...hook, secret_expires_at: "2026-11-21", secret_url: "https://x.example/" } },
  ])("is not guessed from %j", (answer) => {
    const read = readAnswer("createWebhook", answer);
    expect(read).toMatchObject({ id: "201", secret: null });
    expect(read?.names).toContain("data.id, data.url");
    expect(read?.names).not.toContain("whsec");
  });

  it("is searched in bounded depth", () => {
    let deep: unknown = { secret: SECRET };
    for (let i = 0; i < 50; i++) deep = { more: deep };
    expect(readAnswer("createWebhook", { data: hook, deep })).toMatchObject({ secret: null });
    expect(readAnswer("createWebhook", undefined)).toBeNull();
  });
});

describe("a generated password", () => {
  const PASSWORD = "aB3-xyz";
  it.each([
    { data: { password: PASSWORD } },
    { new_password: PASSWORD },
    { data: { root_password: PASSWORD } },
    { data: { credentials: { root_password: PASSWORD } } },
    { data: { service: { id: 1, new_password: PASSWORD } } },
    { data: { newPassword: PASSWORD } },
    { plain_password: PASSWORD },
    { data: { user: { username: "root", passwd: PASSWORD } } },
    { data: { login: "root", pass: PASSWORD } },
    { data: { username: "root", new_pass: PASSWORD } },
    { data: { credentials: { login: "root", pwd: PASSWORD } } },
    { data: { id: 1001, status: "active", secret: PASSWORD } },
    { data: { credentials: [{ login: "root", value: PASSWORD }] } },
    { data: PASSWORD },
    PASSWORD,
    {
      data: {
        id: 1001,
        login: "root",
        generated: PASSWORD,
        host: "vps1.Host-7.example",
        changed: "2026-11-21T10:00:00Z",
      },
    },
    { message: `The new password is ${PASSWORD}` },
    { message: `Password reset.`, note: `password has been set to "${PASSWORD}".`.slice(0, -1) },
  ])("is read from %j", (answer) => {
    expect(readAnswer("resetPassword", answer)).toEqual({ password: PASSWORD });
  });

  it.each(["a***b-Z9", "..x..Q", "secret-9", "x*x*x*Y"])("may be any string, for example %s", (password) => {
    expect(readAnswer("resetPassword", { data: { password } })).toEqual({ password });
    expect(readAnswer("resetPassword", { data: { password: "********" } })).toMatchObject({ password: null });
  });

  it.each([
    [{ message: "Password reset." }, "message"],
    [{ message: "Success!" }, "message"],
    [{ data: { password_changed_at: "2026-11-21", old_password: "x" } }, "data.password_changed_at, data.old_password"],
    [{ data: { id: 1001, job: "reset-42", request_id: "aB3-xyz9" } }, "data.id, data.job, data.request_id"],
    [{ data: { one: "aB3-xyz1", two: "aB3-xyz2" } }, "data.one, data.two"],
    [{ secret: "aB3-xyz1", value: "aB3-xyz2" }, "secret, value"],
    [{ password: "********", hint: "aB3-xyz1" }, "password, hint"],
    // The full stop may or may not be part of the secret.
    [{ message: "The new password is aB3-xyz." }, "message"],
    [{ message: "Your password is: https://vps.example/once/aB3" }, "message"],
    [{}, "none"],
  ])("is not guessed from %j, whose names are reported", (answer, names) => {
    expect(readAnswer("resetPassword", answer)).toEqual({ password: null, names });
  });

  it.each(["The password was reset", "Success!", undefined, null])(
    "is not made up from %j, which has no names",
    (answer) => {
      expect(readAnswer("resetPassword", answer)).toEqual({ password: null });
    },
  );
});
