import { createHash } from "node:crypto";
import { text } from "../typed.ts";
import { CallError, type Definition } from "./definition.ts";
import { textOf } from "./parts.ts";

function ofText(compute: (text: string) => string): Definition {
  return {
    parameters: [{ name: "str", type: "string" }],
    result: "string",
    run: ([subject]) => text(compute(subject === undefined ? "" : textOf(subject))),
  };
}

const hash = (algorithm: string, encoding: "hex" | "base64"): Definition =>
  ofText((subject) => createHash(algorithm).update(subject, "utf8").digest(encoding));

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeBase64(subject: string): string {
  // Line breaks may stand anywhere.
  const encoded = subject.replace(/[\r\n]/g, "");
  if (!BASE64.test(encoded)) throw new CallError(`failed to decode base64 data ${JSON.stringify(subject)}`);
  try {
    return utf8.decode(Buffer.from(encoded, "base64"));
  } catch {
    throw new CallError("the result of decoding the provided string is not valid UTF-8");
  }
}

function urlencode(subject: string): string {
  return encodeURIComponent(subject.toWellFormed())
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

export const ENCODING: Readonly<Record<string, Definition>> = {
  base64decode: ofText(decodeBase64),
  base64encode: ofText((subject) => Buffer.from(subject, "utf8").toString("base64")),
  base64sha256: hash("sha256", "base64"),
  base64sha512: hash("sha512", "base64"),
  md5: hash("md5", "hex"),
  sha1: hash("sha1", "hex"),
  sha256: hash("sha256", "hex"),
  sha512: hash("sha512", "hex"),
  urlencode: ofText(urlencode),
};
