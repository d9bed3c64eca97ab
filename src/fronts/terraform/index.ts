/**
 * The Terraform provider `hosting`, over plugin protocol 6: a protocol sandwich. `wire/` speaks gRPC and knows no
 * provider; `calls/` decodes a request, calls the core, encodes its answer, one file per group of calls; the core
 * (`resource/`, `data/`, `provider/`) deals in the values of `model` and goes through `lifecycle` and `kinds`, so that a
 * declaration means the same as in YAML. Must not: import the engine (graph, order and state are Terraform's own), or let
 * wire types into the core.
 */

export * from "./contract.ts";
