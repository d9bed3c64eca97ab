/**
 * The declaration: YAML -> desired state. Four steps, one file or two each: texts (`files`), trees of values that know
 * their places (`yaml`), documents, resources and settings (`document`, `resource`, `settings`), and the merged whole with its
 * references and outputs (`declaration`, `references`, `outputs`). From the trees on, nothing knows of YAML.
 * In: files, the kinds (as a parameter), the environment. Out: `Desired`, and every mistake at its line and column.
 * Must not: check the values of attributes (the lifecycle does, and asks `locate` for the place), evaluate the templates of
 * resources, show a token, or throw for anything that stands in a file.
 */
export { providerSettings } from "../../core/kinds/provider-settings.ts";
export { type DeclarationOptions, parseDeclaration } from "./declaration.ts";
export { type DeclarationFiles, type ReadOptions, readDeclaration, systemFiles } from "./files.ts";
export { guardSettings, secretSourceForms } from "./settings.ts";
