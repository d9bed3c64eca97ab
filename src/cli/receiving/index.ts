/**
 * What commands that receive events share (`webhooks listen`, `webhooks verify`, `watch --listen`). In: options that say
 * where signing secrets are and where to listen. Out: the secrets as they are at the moment, a server, an event in a few
 * words. Must not: print a secret, listen on anything but what was asked for, change anything.
 */
export { namesSecrets, openSecrets, SECRET_OPTIONS, type SecretFlags, type SigningSecrets } from "./secrets.ts";
export { type Receiver, receiveAt } from "./server.ts";
export { short, subjectOf, summaryJson, summaryOf } from "./summary.ts";
