import type { RestResponse } from './response.ts';
import type { RequestContext } from './request-context.ts';
import { RestError } from './errors.ts';
import type { Catalogue, Column, Routine, Table } from './schema/catalogue.ts';

/**
 * Returns the OpenAPI 2.0 description of a schema. It requires the service key, because it lists tables that other
 * roles cannot read.
 */
export function createOpenApiResponse(
  catalogue: Catalogue,
  { method, identity, schema, request }: RequestContext,
): RestResponse {
  if (method !== 'GET' && method !== 'HEAD') throw new RestError(405, 'PGRST117', `Unsupported HTTP method: ${method}`);
  if (identity.role !== 'service_role') {
    throw new RestError(404, 'PGRST126', 'Root endpoint metadata is disabled', {
      hint: 'The service key is needed for it.',
    });
  }
  const tables = [...catalogue.tables.values()].filter((table) => table.schema === schema);
  const routines = [...catalogue.routines.values()].flat().filter((routine) => routine.schema === schema);
  const description = {
    swagger: '2.0',
    info: { title: `${schema} schema`, description: '', version: '1.0' },
    host: request.headers.host ?? '',
    basePath: '/rest/v1/',
    schemes: ['http'],
    consumes: mediaTypes,
    produces: mediaTypes,
    paths: Object.fromEntries([
      ...tables.map((table) => [`/${table.name}`, buildTablePaths(table)]),
      ...routines.map((routine) => [`/rpc/${routine.name}`, buildRoutinePaths(routine)]),
    ]) as object,
    definitions: Object.fromEntries(tables.map((table) => [table.name, buildDefinition(table)])) as object,
    securityDefinitions: {
      JWT: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'Bearer followed by a token' },
    },
    security: [{ JWT: [] }],
  };
  return {
    status: 200,
    headers: { 'Content-Type': 'application/openapi+json; charset=utf-8' },
    body: JSON.stringify(description),
  };
}

const mediaTypes = ['application/json', 'application/vnd.pgrst.object+json', 'text/csv'];

function buildTablePaths({ name, comment, columns, isView }: Table): object {
  const filters = [...columns.keys()].map((column) => ({ name: column, in: 'query', required: false, type: 'string' }));
  const page = ['select', 'order', 'limit', 'offset'].map((each) => ({
    name: each,
    in: 'query',
    required: false,
    type: 'string',
  }));
  const prefer = { name: 'Prefer', in: 'header', required: false, type: 'string' };
  const row = { name, in: 'body', required: false, schema: { $ref: `#/definitions/${name}` } };
  const common = { tags: [name], ...(comment === null ? {} : { summary: comment }) };
  const ok = { description: 'OK', schema: { type: 'array', items: { $ref: `#/definitions/${name}` } } };
  const get = {
    ...common,
    parameters: [...filters, ...page, prefer],
    responses: { '200': ok, '206': { description: 'Partial Content' } },
  };
  if (isView) return { get };
  return {
    get,
    post: { ...common, parameters: [row, prefer], responses: { '201': { description: 'Created' } } },
    patch: { ...common, parameters: [...filters, row, prefer], responses: { '204': { description: 'No Content' } } },
    delete: { ...common, parameters: [...filters, prefer], responses: { '204': { description: 'No Content' } } },
  };
}

function buildRoutinePaths({ name, comment, arguments: list, isVolatile }: Routine): object {
  const properties = Object.fromEntries(
    list.map((each) => [each.name, { format: each.type, ...toOpenApiType(each.type) }]),
  );
  const required = list.filter((each) => each.isRequired).map((each) => each.name);
  const schema = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  const common = {
    tags: [`(rpc) ${name}`],
    ...(comment === null ? {} : { summary: comment }),
    responses: { '200': { description: 'OK' } },
  };
  const post = { ...common, parameters: [{ name: 'args', in: 'body', required: true, schema }] };
  if (isVolatile) return { post };
  const parameters = list.map((each) => ({
    name: each.name,
    in: 'query',
    required: each.isRequired,
    format: each.type,
    ...toOpenApiType(each.type),
  }));
  return { get: { ...common, parameters }, post };
}

function buildDefinition({ columns, primaryKey, comment }: Table): object {
  const all = [...columns.values()];
  const required = all.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    ...(comment === null ? {} : { description: comment }),
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(all.map((column) => [column.name, buildProperty(column, primaryKey)])) as object,
  };
}

function buildProperty(
  { name, type, baseType, defaultValue, comment, enumValues }: Column,
  primaryKey: readonly string[],
): object {
  const note = primaryKey.includes(name) ? 'Note:\nThis is a Primary Key.<pk/>' : '';
  const description = [comment ?? '', note].filter(Boolean).join('\n\n');
  return {
    format: type,
    ...toOpenApiType(baseType),
    ...(enumValues.length > 0 ? { enum: enumValues } : {}),
    ...(defaultValue === null ? {} : { default: defaultValue }),
    ...(description === '' ? {} : { description }),
  };
}

function toOpenApiType(type: string): object {
  if (type.endsWith('[]')) return { type: 'array', items: toOpenApiType(type.slice(0, -2)) };
  if (/^(?:smallint|integer|bigint)$/.test(type)) return { type: 'integer' };
  if (/^(?:numeric|real|double precision)$/.test(type)) return { type: 'number' };
  if (type === 'boolean') return { type: 'boolean' };
  return type === 'json' || type === 'jsonb' ? {} : { type: 'string' };
}
