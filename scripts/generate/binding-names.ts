import codemaker from "codemaker";
import { type Attributes, isNested } from "../../src/core/model/schema.ts";
import type { Catalogue } from "../../src/fronts/terraform/catalogue.ts";

/** The name of an attribute's property in the bindings, as the generators make it: `a_b` and `a__b` are both aB. */
export const propertyOf = (attribute: string): string => codemaker.toCamelCase(attribute);

/** Members of the libraries' classes that resources, data sources and providers extend; a test holds them to the libraries. */
const CONSTRUCT =
  `addMoveTarget addOverride alias buildMovedBlock buildMovedBlockByTarget addResourceTarget getResourceTarget
  cdktfStack connection constructNodeMetadata constructor count dependsOn elementType forEach fqn fqnToken friendlyUniqueId
  getAnyMapAttribute getBooleanAttribute getBooleanMapAttribute getListAttribute getNumberAttribute
  getNumberListAttribute getNumberMapAttribute getStringAttribute getStringMapAttribute hasMoved hasResourceMove
  importFrom imported interpolationForAttribute lifecycle logicalIdOverride markWriteOnlyAttribute metaAttributes
  moveFromId moveTo moveToId movedById movedByTarget node overrideLogicalId provider provisioners rawOverrides
  registerProviderFeature registerProviderFeatureUsage registeredProviderFeatures
  registerResolveDiscoveredProviderFeatureUsage resetOverrideLogicalId resetResolveDiscoveredProviderFeatureUsage
  synthesizeAttributes synthesizeHclAttributes terraformGeneratorMetadata terraformMetaArguments terraformProviderSource
  terraformResourceType toHclTerraform toMetadata toString toTerraform valueOf with`.split(/\s+/);

/** Members of the classes that objects within a resource extend, and of those that the generators make of them. */
const OBJECT =
  `allWithMapKey complexComputedListIndex complexObjectIndex complexObjectIsFromSet computeFqn constructor creationStack fqn get
  getAnyMapAttribute getBooleanAttribute getBooleanMapAttribute getListAttribute getNumberAttribute
  getNumberListAttribute getNumberMapAttribute getStringAttribute getStringMapAttribute interpolationAsList
  interpolationForAttribute internalValue isEmptyObject lookup resolvableValue resolve terraformAttribute
  terraformResource toJSON toString valueOf wrapsSet`.split(/\s+/);

/** What the generators give another name, and what they add: `tfResourceType` to each class, `functions` to a provider. */
const GENERATED = ["build", "equals", "functions", "self", "software", "system", "tfResourceType"];

const RESERVED = new Set([...CONSTRUCT, ...GENERATED]);
const RESERVED_INSIDE = new Set([...OBJECT, ...GENERATED, "node", "importFrom", "moveTo"]);

/** Words of TypeScript that cannot name a parameter or a namespace. Properties may be called by them. */
const WORDS = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null package private protected public return
  static super switch this throw true try typeof var void while with yield`.split(/\s+/),
);

/** Files of the bindings that are no resource's, and names that the generators change. */
const TAKEN = new Set([
  "index",
  "lazy_index",
  "license",
  "object",
  "provider",
  "provider_functions",
  "string",
  "version",
]);

/**
 * What is wrong with the name of an attribute for the bindings; undefined when nothing is.
 *
 * @param inside whether it is one of an object within a resource
 * @param siblings the names beside it, itself among them
 */
export function attributeNameComplaint(name: string, siblings: readonly string[], inside: boolean): string | undefined {
  const property = propertyOf(name);
  const members = siblings.filter((other) => other !== name).flatMap((other) => madeOf(propertyOf(other)));
  if ((inside ? RESERVED_INSIDE : RESERVED).has(property)) return "the name is reserved";
  if (/^get[A-Z]/.test(property)) return "the generators call what begins with get_ by another name";
  if (siblings.some((other) => other !== name && propertyOf(other) === property)) return "one name with another";
  return members.includes(property) ? "the name of a generated member" : undefined;
}

/** For a property x: `xInput` is what was given, `resetX` takes it back, `putX` gives an object. */
function madeOf(property: string): string[] {
  const pascal = property.slice(0, 1).toUpperCase() + property.slice(1);
  return [`${property}Input`, `reset${pascal}`, `put${pascal}`];
}

/** What is wrong with the names of resources, functions and parameters, and with classes of one name; empty when nothing is. */
export function catalogueNamesLint({ resources, dataSources, ephemeral, functions }: Catalogue): string[] {
  const classes = ["HostingProvider", "HostingProviderConfig", "HostingProviderFunctions"];
  const complaints: string[] = [];
  for (const type of resources.keys()) {
    const name = type.replace(/^hosting_/, "");
    if (TAKEN.has(name) || WORDS.has(name)) complaints.push(`${type}: the name is reserved`);
  }
  const add = (prefix: string, schemas: Catalogue["resources"]) => {
    for (const [type, schema] of schemas) {
      const name = codemaker.toPascalCase(prefix === "" ? type.replace(/^hosting_/, "") : `${prefix}_${type}`);
      classes.push(name, `${name}Config`, ...classesOf(name, schema.attributes));
    }
  };
  add("", resources);
  add("data", dataSources);
  add("ephemeral", ephemeral);
  // The second of one name gets an A behind it, and which is the second depends on the order of the schema.
  const twice = classes.filter((name, index) => classes.indexOf(name) !== index);
  complaints.push(...new Set(twice.map((name) => `${name}: two classes of one name`)));
  for (const { name, parameters } of functions.values()) {
    for (const word of [name, ...parameters.map((parameter) => parameter.name)]) {
      if (WORDS.has(propertyOf(word)) || RESERVED_INSIDE.has(propertyOf(word))) {
        complaints.push(`${name}(${word}): the name is reserved`);
      }
    }
  }
  return complaints;
}

/** The classes and interfaces of the objects within a resource. */
function classesOf(parent: string, attributes: Attributes): string[] {
  return Object.entries(attributes).flatMap(([attribute, { type }]) => {
    if (!isNested(type)) return [];
    const name = parent + codemaker.toPascalCase(attribute);
    const list = type.nesting === "list" ? [`${name}List`] : [];
    return [name, `${name}OutputReference`, ...list, ...classesOf(name, type.attributes)];
  });
}
