/** Operation of the app API, as its OpenAPI page describes it. */
export interface Operation {
  readonly method: string;
  /** Path in OpenAPI's syntax: `/api/inbox/{id}`. */
  readonly path: string;
  readonly access: unknown;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  /** JSON Schema of the body; undefined without a JSON body. */
  readonly body: Schema | undefined;
  readonly takesBytes: boolean;
}

type Schema = Readonly<Record<string, any>>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, any>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Returns all operations of the document. */
export function listOperations(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const content = operation['requestBody']?.content ?? {};
      return {
        ...{ method: method.toUpperCase(), path, access: operation['x-access'] as unknown },
        parameters: operation['parameters'] ?? [],
        body: content['application/json']?.schema as Schema | undefined,
        takesBytes: 'application/octet-stream' in content,
      };
    }),
  );
}

/**
 * Builds a value that matches a schema, with the values of `existing` for fields with their names. Of alternatives it
 * uses the one with this index, or the last.
 */
export function buildExample(
  schema: Schema,
  document: Document,
  existing: Readonly<Record<string, unknown>>,
  alternative: number,
  name = '',
): unknown {
  const inner = (part: Schema, as = name): unknown => buildExample(part, document, existing, alternative, as);
  if (typeof schema['$ref'] === 'string') {
    return inner(document.components.schemas[schema['$ref'].split('/').at(-1) ?? ''] ?? {});
  }
  const options: readonly Schema[] | undefined = schema['anyOf'] ?? schema['oneOf'];
  if (options !== undefined) return inner(options[Math.min(alternative, options.length - 1)] ?? {});
  if (schema['const'] !== undefined) return schema['const'];
  if (schema['type'] === 'array') {
    const listed = existing[name];
    return Array.isArray(listed) ? listed : [inner(schema['items'] ?? {}, name.replace(/s$/, ''))];
  }
  if (schema['type'] === 'object') {
    const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
    return Object.fromEntries(fields.map(([field, part]) => [field, inner(part, field)]));
  }
  if (existing[name] !== undefined) return existing[name];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
  if (schema['format'] === 'uri') return 'https://x.example/';
  if (schema['type'] === 'boolean') return true;
  const types: readonly unknown[] = [schema['type']].flat();
  if (types.includes('integer') || types.includes('number')) return schema['minimum'] ?? 1;
  return types[0] === 'null' ? null : 'x'.repeat(schema['minLength'] ?? 1);
}
