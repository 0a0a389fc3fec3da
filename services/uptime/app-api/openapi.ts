import { z } from 'zod';
import type { ApiHandler } from '../../contracts/api.ts';
import { isCreation, toAppApiPath } from './rest.ts';

/** Builds the OpenAPI 3.1 document of the app API on the service's listener from its routes. */
export function openApiDocument(handlers: readonly ApiHandler[]): Record<string, unknown> {
  const schemas: Record<string, unknown> = {
    Refused: {
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
    },
  };
  const refer = (schema: z.core.$ZodType, io: 'input' | 'output'): Record<string, unknown> => {
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any' });
    const moved = JSON.parse(JSON.stringify(whole).replaceAll('#/$defs/', '#/components/schemas/')) as {
      $defs?: Record<string, Record<string, unknown>>;
      properties: { it: Record<string, unknown> };
    };
    for (const [name, { id: _id, ...definition }] of Object.entries(moved.$defs ?? {})) schemas[name] = definition;
    return moved.properties.it;
  };
  const json = (schema: unknown): object => ({ 'application/json': { schema } });
  const refused = { description: 'It was refused.', content: json({ $ref: '#/components/schemas/Refused' }) };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { route } of handlers) {
    const path = toAppApiPath(route.path).replaceAll(/:(\w+)/g, '{$1}');
    const query = route.query === undefined ? {} : refer(route.query, 'input');
    const required = new Set(Array.isArray(query['required']) ? (query['required'] as string[]) : []);
    const properties = Object.entries((query['properties'] ?? {}) as Record<string, unknown>);
    const parameters = [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...properties.map(([name, schema]) => ({ name, in: 'query', required: required.has(name), schema })),
    ];
    (paths[path] ??= {})[route.method.toLowerCase()] = {
      operationId: `${route.method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
      summary: route.summary,
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(route.bytes === true ? { requestBody: { required: true, content: { 'application/octet-stream': {} } } } : {}),
      ...(route.body === undefined
        ? {}
        : { requestBody: { required: true, content: json(refer(route.body, 'input')) } }),
      responses: {
        [isCreation(route) ? 201 : 200]: { description: 'Done.', content: json(refer(route.reply, 'output')) },
        default: refused,
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Homeport uptime',
      version: '1',
      description:
        'Monitors, incidents and status pages. What clients of Uptime Kuma know is beside it: ' +
        '`/api/push/{token}`, `/api/badge/…`, `/api/status-page/…`, `/metrics`, and socket.io below ' +
        '`/socket.io/`.',
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
