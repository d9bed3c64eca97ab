/**
 * A project: a declaration in any language with its account and state. In: the project folder, the environment, and the
 * parts of the process (clock, programs, Ctrl-C). Out: the declaration, a plan with the state locked, the result of an
 * apply, a watch, and the secrets of the run. Must not: name a command or an option, print, or read files that an
 * untrusted declaration names outside the project.
 */
export * from "./library.ts";
