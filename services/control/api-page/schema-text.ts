/** JSON Schema as it is used in the OpenAPI document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly description?: string;
}

const referencePrefix = '#/components/schemas/';
const indentation = '  ';

/** Returns the name of the component that a schema refers to; undefined for any other schema. */
export function findReference({ $ref: reference }: Schema): string | undefined {
  return reference?.startsWith(referencePrefix) === true ? reference.slice(referencePrefix.length) : undefined;
}

/**
 * Formats a schema in the notation of TypeScript, which is shorter than JSON Schema.
 * @param formatReference formats the name of a component
 */
export function formatSchema(schema: Schema, formatReference: (name: string) => string, indent = ''): string {
  const reference = findReference(schema);
  if (reference !== undefined) return formatReference(reference);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return joinDistinct(variants, ' | ', formatReference, indent);
  if (schema.allOf !== undefined) return joinDistinct(schema.allOf, ' & ', formatReference, indent);
  if (Array.isArray(schema.type)) {
    return schema.type.map((type: string) => formatSchema({ ...schema, type }, formatReference, indent)).join(' | ');
  }
  switch (schema.type) {
    case 'object':
      return formatObject(schema, formatReference, indent);
    case 'array':
      return formatArray(schema, formatReference, indent);
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'any';
  }
}

function joinDistinct(
  schemas: readonly Schema[],
  separator: string,
  formatReference: (name: string) => string,
  indent: string,
): string {
  return [...new Set(schemas.map((each) => formatSchema(each, formatReference, indent)))].join(separator);
}

function formatObject(
  { properties = {}, required = [], additionalProperties }: Schema,
  formatReference: (name: string) => string,
  indent: string,
): string {
  const inner = indent + indentation;
  const lines = Object.entries(properties).map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const comment = property.description === undefined ? '' : ` // ${property.description.replaceAll(/\s+/g, ' ')}`;
    const type = formatSchema(property, formatReference, inner);
    return `${inner}${key}${required.includes(name) ? '' : '?'}: ${type}${comment}`;
  });
  if (typeof additionalProperties === 'object') {
    const value = formatSchema(additionalProperties, formatReference, inner);
    if (lines.length === 0) return `Record<string, ${value}>`;
    lines.push(`${inner}[name: string]: ${value}`);
  }
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
}

function formatArray(
  { items, prefixItems }: Schema,
  formatReference: (name: string) => string,
  indent: string,
): string {
  if (prefixItems !== undefined) {
    return `[${prefixItems.map((item) => formatSchema(item, formatReference, indent)).join(', ')}]`;
  }
  const item = items === undefined ? 'any' : formatSchema(items, formatReference, indent);
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}
