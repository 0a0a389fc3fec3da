import { z } from 'zod';
import { ApiError, fileReply, type ApiHandler, type ApiRoute } from '../../../services/contracts/api.ts';
import { describePath } from './route-match.ts';

export interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  readonly handlers: readonly ApiHandler[];
}

/** JSON Schema of draft 2020-12, which OpenAPI 3.1 uses unchanged. */
type Schema = Record<string, unknown>;
type Route = ApiRoute<unknown, unknown, unknown>;

/** Builds the OpenAPI 3.1 document of the app API. Schemas with an id (`.meta({ id })`) become components. */
export function buildOpenApiDocument({ title, version, handlers }: OpenApiOptions): Record<string, unknown> {
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  const byPath = [...handlers].sort((a, b) => (a.route.path < b.route.path ? -1 : 1));
  // Replies are added first: their schemas keep their names, and differing inputs are renamed.
  const replies = new Map(
    byPath.map(({ route }) => [route, components.add(route.reply, 'output', operationId(route))]),
  );
  const failure = components.add(ApiError, 'output', 'failure');
  for (const { route } of byPath) {
    const { openApi } = describePath(route.path);
    (paths[openApi] ??= {})[route.method.toLowerCase()] = operation(
      route,
      replies.get(route) ?? {},
      failure,
      components,
    );
  }
  return {
    openapi: '3.1.0',
    info: { title, version },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' }, password: { type: 'http', scheme: 'basic' } },
    },
  };
}

function operation(route: Route, reply: Schema, failure: Schema, components: Components): Record<string, unknown> {
  const id = operationId(route);
  const inPath = describePath(route.path).parameters.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery =
    route.query === undefined ? [] : queryParameters(components.add(route.query, 'input', id), components);
  const body =
    route.bytes === true
      ? { required: true, content: { 'application/octet-stream': {} } }
      : route.body === undefined
        ? undefined
        : { required: true, content: json(components.add(route.body, 'input', id)) };
  const isEmpty = route.reply instanceof z.ZodUndefined || route.reply instanceof z.ZodVoid;
  const content = (route.reply as unknown) === fileReply ? { '*/*': {} } : json(reply);
  return {
    operationId: id,
    summary: route.summary,
    tags: [route.path.split('/')[2] ?? 'api'],
    ...(inPath.length + inQuery.length > 0 ? { parameters: [...inPath, ...inQuery] } : {}),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...(isEmpty ? { 204: { description: 'Success.' } } : { 200: { description: 'Success.', content } }),
      default: { description: 'The request failed.', content: json(failure) },
    },
    security: route.access === 'public' ? [] : [{ token: [] }, { password: [] }],
    'x-access': route.access,
  };
}

function json(schema: Schema): Record<string, unknown> {
  return { 'application/json': { schema } };
}

function queryParameters(schema: Schema, components: Components): unknown[] {
  const { properties = {}, required = [] } = components.resolve(schema) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property;
    const descriptionField = typeof description === 'string' ? { description } : {};
    return { name, in: 'query', required: required.includes(name), ...descriptionField, schema: rest };
  });
}

/** `GET /api/inbox/:id` -> `getInboxById`. */
function operationId(route: Route): string {
  const parts = route.path
    .replace(/^\/api\//, '')
    .split('/')
    .map((part) => (part.startsWith(':') ? `By-${part.slice(1)}` : part))
    .flatMap((part) => part.split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== '');
  return route.method.toLowerCase() + parts.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Named schemas of a document. */
class Components {
  readonly schemas: Record<string, Schema> = {};

  /** Adds the named schemas within a schema and returns it with references to them. */
  add(schema: z.core.$ZodType, io: 'input' | 'output', operation: string): Schema {
    // Wrapped, so that a schema with an `id` becomes a reference as well.
    const wrapped: Schema = {
      ...z.toJSONSchema(z.object({ it: schema }), {
        io,
        unrepresentable: 'any',
        override: io === 'output' ? allowAdditionalProperties : removeIntegerBounds,
      }),
    };
    const definitions = Object.entries((wrapped['$defs'] ?? {}) as Record<string, Schema>).map(([name, definition]) => {
      const { id: _id, ...rest } = definition;
      return [name, rest] as const;
    });
    const names = this.#names(definitions, io, operation);
    for (const [name, definition] of definitions) this.schemas[names.get(name) ?? name] = renamed(definition, names);
    return renamed((wrapped['properties'] as { it: Schema }).it, names);
  }

  /** Follows a reference to a component. */
  resolve(schema: Schema): Schema {
    const reference = schema['$ref'];
    if (typeof reference !== 'string') return schema;
    return this.schemas[reference.slice(prefix.length)] ?? {};
  }

  /**
   * A schema with defaults differs between input and output, and so do all schemas that refer to it; the input then
   * gets the suffix `Input`.
   */
  #names(
    definitions: readonly (readonly [string, Schema])[],
    io: 'input' | 'output',
    operation: string,
  ): Map<string, string> {
    const ownSchema = (name: string): string =>
      name.startsWith('__') ? `${operation}${name.replace(/^__schema/, '_')}` : name;
    const names = new Map(definitions.map(([name]) => [name, ownSchema(name)]));
    for (let changed = true; changed;) {
      changed = false;
      for (const [name, definition] of definitions) {
        const chosen = names.get(name) ?? name;
        const existing = this.schemas[chosen];
        if (existing === undefined || JSON.stringify(existing) === JSON.stringify(renamed(definition, names))) continue;
        if (io === 'output' || chosen.endsWith('Input')) throw new Error(`Two different schemas have the id ${name}.`);
        names.set(name, `${chosen}Input`);
        changed = true;
      }
    }
    return names;
  }
}

const prefix = '#/components/schemas/';

/** Removes the safe integer bounds that zod adds. */
function removeIntegerBounds({ jsonSchema }: { jsonSchema: Schema }): void {
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
}

/** Clients must not break when a response gains a field. */
function allowAdditionalProperties(context: { jsonSchema: Schema }): void {
  removeIntegerBounds(context);
  if (context.jsonSchema['additionalProperties'] === false) delete context.jsonSchema['additionalProperties'];
}

function renamed<T>(value: T, names: ReadonlyMap<string, string>): T {
  if (Array.isArray(value)) return value.map((item: unknown) => renamed(item, names)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const isReference = key === '$ref' && typeof inner === 'string' && inner.startsWith('#/$defs/');
    const name = isReference ? inner.slice('#/$defs/'.length) : '';
    copy[key] = isReference ? `${prefix}${names.get(name) ?? name}` : renamed(inner, names);
  }
  return copy as T;
}
