import {
  type Diagnostic,
  errorOf,
  hasUnknown,
  isObject,
  type ValueObject,
  warningOf,
} from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested } from "../../../core/model/schema.ts";

/**
 * Checks that Terraform leaves to a provider, for the configuration of a resource: refuses values of read-only attributes, unknown
 * ones included, and warns of deprecated attributes.
 * @param of what a reference to the block begins with: `hosting_webhook.NAME`; undefined for the provider's own block.
 */
export function checkSettable(attributes: Attributes, config: ValueObject, of?: string): Diagnostic[] {
  return each(attributes, config, [], (attribute, place) => [
    ...(isReadOnly(attribute) ? [readOnly(place, attributes, of)] : []),
    ...(attribute.deprecated === undefined || place.isUnknown ? [] : [deprecated(place, attribute.deprecated)]),
  ]);
}

/** The same for a block without checks of its own. Requires what is required, where Terraform accepts null, and refuses empty texts. */
export function checkBlock(attributes: Attributes, config: ValueObject, of?: string): Diagnostic[] {
  const missing = Object.entries(attributes).filter(
    ([name, { required }]) => required && (config[name] ?? null) === null,
  );
  const empty = Object.entries(attributes).filter(([name, one]) => !isReadOnly(one) && config[name] === "");
  return [
    ...checkSettable(attributes, config, of),
    ...missing.map(([name, { description }]) =>
      errorOf("config.missing_attribute", `\`${name}\` is required, and null`, {
        detail: description,
        remedies: [`Set \`${name}\`.`],
        attribute: [name],
      }),
    ),
    ...empty.map(([name, { required }]) =>
      errorOf("config.invalid_value", `${name}: expected a text that is not empty`, {
        remedies: [required ? `Set \`${name}\`.` : `Set \`${name}\`, or leave it out (null).`],
        attribute: [name],
      }),
    ),
  ];
}

interface Place {
  readonly path: readonly string[];
  readonly isUnknown: boolean;
}

/** Reports about each attribute that has a value, those of nested objects included. */
function each(
  attributes: Attributes,
  config: ValueObject,
  above: readonly string[],
  report: (attribute: Attribute, place: Place) => Diagnostic[],
): Diagnostic[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = config[name] ?? null;
    if (value === null) return [];
    const path = [...above, name];
    const { type } = attribute;
    const parts = isNested(type) && isObject(value) ? each(type.attributes, value as ValueObject, path, report) : [];
    return [...report(attribute, { path, isUnknown: hasUnknown(value) }), ...parts];
  });
}

const isReadOnly = ({ computed, optional, required }: Attribute) => computed === true && !optional && !required;

function readOnly({ path }: Place, attributes: Attributes, of: string | undefined): Diagnostic {
  const name = path.join(".");
  // `plan = 11` was meant to be `plan_id`.
  const near = Object.entries(attributes).find(([other, one]) => other.startsWith(`${name}_`) && !isReadOnly(one));
  const meant = near === undefined ? "" : ` Did you mean \`${near[0]}\`?`;
  const elsewhere = of === undefined ? "" : `; elsewhere it can be used as \`${of}.${name}\``;
  return errorOf("config.computed", `\`${name}\` is set by the API and cannot be declared`, {
    remedies: [`Remove it${elsewhere}.${meant}`],
    attribute: path,
  });
}

const deprecated = ({ path }: Place, why: string): Diagnostic =>
  warningOf("config.deprecated", `\`${path.join(".")}\` is deprecated`, { detail: why, attribute: path });
