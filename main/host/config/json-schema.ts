import type { JsonSchema } from '../../../services/contracts/control/settings.ts';

/**
 * Reading JSON Schemas as `z.toJSONSchema` writes them. A value may fit several branches (`anyOf`), so a place in a
 * schema is a list of nodes: all branches that may describe the value there, references followed.
 */
export interface SchemaPlace {
  readonly root: JsonSchema;
  readonly nodes: readonly JsonSchema[];
}

/** The place a schema begins at; `root` is where its references point into. */
export function placeOf(schema: JsonSchema, root: JsonSchema = schema): SchemaPlace {
  const nodes = new Set<JsonSchema>();
  collect(schema, root, nodes);
  return { root, nodes: [...nodes] };
}

/** The place of a property of an object. */
export function propertyOf(place: SchemaPlace, name: string): SchemaPlace {
  return join(place, (node) => {
    const properties = asSchema(node['properties']);
    const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return asSchema(property) ?? asSchema(node['additionalProperties']);
  });
}

/** The place of an element of a list. */
export function elementOf(place: SchemaPlace, index: number): SchemaPlace {
  return join(place, (node) => {
    const prefix = node['prefixItems'];
    return (Array.isArray(prefix) ? asSchema(prefix[index]) : undefined) ?? asSchema(node['items']);
  });
}

/** The JSON types a value may have here; empty when the schema does not say. */
export function typesOf(place: SchemaPlace): ReadonlySet<string> {
  const types = new Set<string>();
  for (const node of place.nodes) {
    const type = node['type'];
    for (const each of Array.isArray(type) ? type : [type]) if (typeof each === 'string') types.add(each);
    if (Object.hasOwn(node, 'const')) types.add(node['const'] === null ? 'null' : typeof node['const']);
  }
  return types;
}

/** Whether the value here is a secret (`.meta({ secret: true })`). */
export function isSecret(place: SchemaPlace): boolean {
  return place.nodes.some((node) => node['secret'] === true);
}

/** Whether the value here is a secret or may hold one further down. */
export function holdsSecret(place: SchemaPlace, seen: Set<JsonSchema> = new Set()): boolean {
  if (isSecret(place)) return true;
  const fresh = place.nodes.filter((node) => !seen.has(node));
  for (const node of fresh) seen.add(node);
  return fresh.some((node) => {
    const prefix = node['prefixItems'];
    const below = [
      ...Object.values(asSchema(node['properties']) ?? {}),
      node['additionalProperties'],
      node['items'],
      ...(Array.isArray(prefix) ? prefix : []),
    ];
    return below.some((each) => {
      const schema = asSchema(each);
      return schema !== undefined && holdsSecret(placeOf(schema, place.root), seen);
    });
  });
}

/** Whether the value at a path is a secret, lies in one or may hold one; what the schema does not know counts as one. */
export function secretAt(place: SchemaPlace, path: readonly PropertyKey[]): boolean {
  let inner = place;
  for (const key of path) {
    if (isSecret(inner) || inner.nodes.length === 0) return true;
    inner = typeof key === 'number' ? elementOf(inner, key) : propertyOf(inner, String(key));
  }
  return inner.nodes.length === 0 || holdsSecret(inner);
}

/** Paths of names in a value that the schema does not know, where it describes all that there may be. */
export function unknownWithin(
  value: unknown,
  place: SchemaPlace,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (isSecret(place)) return [];
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => unknownWithin(each, elementOf(place, index), [...path, index]));
  }
  if (!isRecord(value)) return [];
  const described = place.nodes.filter((node) => asSchema(node['properties']) !== undefined);
  const isOpen = place.nodes.some((node) => asSchema(node['additionalProperties']) !== undefined);
  return Object.entries(value).flatMap(([name, each]) => {
    const known = isOpen || described.length === 0 || described.some((node) => knows(node, name));
    return known ? unknownWithin(each, propertyOf(place, name), [...path, name]) : [[...path, name]];
  });
}

function knows(node: JsonSchema, name: string): boolean {
  return Object.hasOwn(asSchema(node['properties']) ?? {}, name);
}

/** The value as a schema node, undefined when it is none (`true`, a list, nothing). */
export function asSchema(value: unknown): JsonSchema | undefined {
  return isRecord(value) ? value : undefined;
}

/** A plain object, as YAML and JSON give them. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(place: SchemaPlace, step: (node: JsonSchema) => JsonSchema | undefined): SchemaPlace {
  const nodes = new Set<JsonSchema>();
  for (const node of place.nodes) {
    const next = step(node);
    if (next !== undefined) collect(next, place.root, nodes);
  }
  return { root: place.root, nodes: [...nodes] };
}

function collect(schema: JsonSchema, root: JsonSchema, nodes: Set<JsonSchema>): void {
  if (nodes.has(schema)) return;
  nodes.add(schema);
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const target = follow(reference, root);
    if (target !== undefined) collect(target, root, nodes);
  }
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) if (isRecord(branch)) collect(branch, root, nodes);
  }
}

function follow(reference: string, root: JsonSchema): JsonSchema | undefined {
  let node: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/')) {
    if (part === '') continue;
    node = isRecord(node) ? node[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return asSchema(node);
}
