import type { JsonSchema } from '../../../services/contracts/control/settings.ts';
import { isRecord } from '../../../services/contracts/is-record.ts';

/**
 * Position in a JSON Schema as `z.toJSONSchema` writes it. A value may match several branches (`anyOf`), so a
 * position is a list of nodes: all branches that may describe the value, with references resolved.
 */
export interface SchemaNode {
  readonly root: JsonSchema;
  readonly nodes: readonly JsonSchema[];
}

/** Returns the position at the root of a schema; `root` resolves its references. */
export function toSchemaNode(schema: JsonSchema, root: JsonSchema = schema): SchemaNode {
  const nodes = new Set<JsonSchema>();
  collect(schema, root, nodes);
  return { root, nodes: [...nodes] };
}

/** Returns the position of an object's property. */
export function findProperty(schemaNode: SchemaNode, name: string): SchemaNode {
  return join(schemaNode, (node) => {
    const properties = asSchema(node['properties']);
    const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return asSchema(property) ?? asSchema(node['additionalProperties']);
  });
}

/** Returns the position of a list's element. */
export function findElement(schemaNode: SchemaNode, index: number): SchemaNode {
  return join(schemaNode, (node) => {
    const prefix = node['prefixItems'];
    return (Array.isArray(prefix) ? asSchema(prefix[index]) : undefined) ?? asSchema(node['items']);
  });
}

/** Returns the JSON types of the value; empty when the schema does not restrict them. */
export function getTypes(schemaNode: SchemaNode): ReadonlySet<string> {
  const types = new Set<string>();
  for (const node of schemaNode.nodes) {
    const type = node['type'];
    for (const each of Array.isArray(type) ? type : [type]) if (typeof each === 'string') types.add(each);
    if (Object.hasOwn(node, 'const')) types.add(node['const'] === null ? 'null' : typeof node['const']);
  }
  return types;
}

/** Returns whether the value is a secret (`.meta({ secret: true })`). */
export function isSecret(schemaNode: SchemaNode): boolean {
  return schemaNode.nodes.some((node) => node['secret'] === true);
}

/** Returns whether the value is or contains a secret. */
export function containsSecret(schemaNode: SchemaNode, seen: Set<JsonSchema> = new Set()): boolean {
  if (isSecret(schemaNode)) return true;
  const unvisited = schemaNode.nodes.filter((node) => !seen.has(node));
  for (const node of unvisited) seen.add(node);
  return unvisited.some((node) => {
    const prefix = node['prefixItems'];
    const childPaths = [
      ...Object.values(asSchema(node['properties']) ?? {}),
      node['additionalProperties'],
      node['items'],
      ...(Array.isArray(prefix) ? prefix : []),
    ];
    return childPaths.some((each) => {
      const schema = asSchema(each);
      return schema !== undefined && containsSecret(toSchemaNode(schema, schemaNode.root), seen);
    });
  });
}

/**
 * Returns whether the value at a path is, contains or is part of a secret; values unknown to the schema count as
 * secrets.
 */
export function findSecret(schemaNode: SchemaNode, path: readonly PropertyKey[]): boolean {
  let inner = schemaNode;
  for (const key of path) {
    if (isSecret(inner) || inner.nodes.length === 0) return true;
    inner = typeof key === 'number' ? findElement(inner, key) : findProperty(inner, String(key));
  }
  return inner.nodes.length === 0 || containsSecret(inner);
}

/** Lists the paths of names in a value that a closed schema does not contain. */
export function findUnknown(
  value: unknown,
  schemaNode: SchemaNode,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (isSecret(schemaNode)) return [];
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => findUnknown(each, findElement(schemaNode, index), [...path, index]));
  }
  if (!isRecord(value)) return [];
  const described = schemaNode.nodes.filter((node) => asSchema(node['properties']) !== undefined);
  const isOpen = schemaNode.nodes.some((node) => asSchema(node['additionalProperties']) !== undefined);
  return Object.entries(value).flatMap(([name, each]) => {
    const properties = isOpen || described.length === 0 || described.some((node) => isKnownProperty(node, name));
    return properties ? findUnknown(each, findProperty(schemaNode, name), [...path, name]) : [[...path, name]];
  });
}

function isKnownProperty(node: JsonSchema, name: string): boolean {
  return Object.hasOwn(asSchema(node['properties']) ?? {}, name);
}

/** Returns the value as a schema node, undefined for others (`true`, a list, nothing). */
export function asSchema(value: unknown): JsonSchema | undefined {
  return isRecord(value) ? value : undefined;
}

function join(schemaNode: SchemaNode, step: (node: JsonSchema) => JsonSchema | undefined): SchemaNode {
  const nodes = new Set<JsonSchema>();
  for (const node of schemaNode.nodes) {
    const next = step(node);
    if (next !== undefined) collect(next, schemaNode.root, nodes);
  }
  return { root: schemaNode.root, nodes: [...nodes] };
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
