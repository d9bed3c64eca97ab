/** The parts of a plan and an apply, for a program that drives the built files with its own terminal: the suites do. */
export { carryOut } from "../project/apply.ts";
export { withPlan } from "../project/plan.ts";
export { Project } from "../project/project.ts";
export { guardIo } from "./guarded-io.ts";
export { opened } from "./terminal.ts";
