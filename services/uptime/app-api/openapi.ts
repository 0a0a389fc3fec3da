import { z } from 'zod';
import type { ApiHandler } from '../../contracts/api.ts';
import { isCreation, toAppApiPath } from './rest.ts';

type JsonObject = Record<string, unknown>;
type Route = ApiHandler['route'];

const errorSchema: JsonObject = {
  type: 'object',
  required: ['ok', 'msg'],
  properties: {
    ok: { const: false },
    msg: { type: 'string' },
    issues: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: { type: 'array', items: { type: 'string' } }, message: { type: 'string' } },
      },
    },
  },
};

const errorResponse = {
  description: 'The request was rejected.',
  content: toJsonContent({ $ref: '#/components/schemas/Refused' }),
};

/** Builds the OpenAPI 3.1 document of the app API on the service's listener from its routes. */
export function openApiDocument(handlers: readonly ApiHandler[]): JsonObject {
  const schemas: JsonObject = { Refused: errorSchema };
  const paths: Record<string, JsonObject> = {};
  for (const { route } of handlers) {
    const path = toAppApiPath(route.path).replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = buildOperation(route, path, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Homeport uptime',
      version: '1',
      description:
        'Monitors, incidents and status pages. The routes for Uptime Kuma clients are also available on this port: ' +
        '`/api/push/{token}`, `/api/badge/…`, `/api/status-page/…`, `/metrics`, and socket.io at `/socket.io/`.',
    },
    servers: [{ url: '/' }],
    security: [{ basic: [] }, { bearer: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

/** Describes a route. Shared schemas are added to `schemas`. */
function buildOperation(route: Route, path: string, schemas: JsonObject): JsonObject {
  const parameters = buildParameters(route, path, schemas);
  return {
    operationId: `${route.method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: route.summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.bytes === true ? { requestBody: { required: true, content: { 'application/octet-stream': {} } } } : {}),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: toJsonContent(toJsonSchema(route.body, 'input', schemas)) } }),
    responses: {
      [isCreation(route) ? 201 : 200]: {
        description: 'Success.',
        content: toJsonContent(toJsonSchema(route.reply, 'output', schemas)),
      },
      default: errorResponse,
    },
  };
}

/** Describes the parameters of the path and of the query. */
function buildParameters(route: Route, path: string, schemas: JsonObject): readonly JsonObject[] {
  const query = route.query === undefined ? {} : toJsonSchema(route.query, 'input', schemas);
  const required = new Set(Array.isArray(query['required']) ? (query['required'] as string[]) : []);
  const properties = Object.entries((query['properties'] ?? {}) as JsonObject);
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...properties.map(([name, schema]) => ({ name, in: 'query', required: required.has(name), schema })),
  ];
}

/** Converts a schema to JSON Schema. Its named parts are added to `schemas` and referenced. */
function toJsonSchema(schema: z.core.$ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  const whole = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any' });
  const moved = JSON.parse(JSON.stringify(whole).replaceAll('#/$defs/', '#/components/schemas/')) as {
    $defs?: Record<string, JsonObject>;
    properties: { it: JsonObject };
  };
  for (const [name, { id: _id, ...definition }] of Object.entries(moved.$defs ?? {})) schemas[name] = definition;
  return moved.properties.it;
}

function toJsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}
