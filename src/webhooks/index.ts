/**
 * Receives webhook deliveries (§6 Events), published as `hostform/webhooks`. In: the raw body of a request, its signature and
 * the signing secret of the webhook; or the requests of a server. Out: whether the signature matches, typed events, responses
 * for the sender. Must not: parse a body before its signature is verified, mark a delivery as handled too early, or write a
 * secret into any text.
 */
export { type FileMemoryOptions, fileMemoryOf } from "./duplicates-file.ts";
export * from "./fetch.ts";
export {
  type ExpressRequest,
  expressHandler,
  nodeHandler,
  type ReceiverLimits,
  receiverServer,
  signatureOf,
  verifySignature,
} from "./node.ts";
