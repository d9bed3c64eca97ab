export { unify } from "./conversion.ts";
