import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Credentials, Identity } from '../../../services/contracts/control/accounts.ts';
import { mayRead, mayWrite } from '../../../services/contracts/route-access.ts';
import {
  ApiError,
  BytesReply,
  fileReply,
  defineRoute,
  implement,
  type ApiHandler,
} from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { createCallerResolver } from '../../../main/host/http/caller.ts';
import { createApiRouter } from '../../../main/host/http/api-router.ts';
import { buildOpenApiDocument } from '../../../main/host/http/openapi.ts';
import { dial, readAll, open, quietLog, request, type Opened } from './raw.ts';

const Item = z.object({ id: z.string(), count: z.int().default(3) }).meta({ id: 'Item' });
const Items = z.object({ items: z.array(Item) }).meta({ id: 'Items' });

const handlers: ApiHandler[] = [
  implement(
    defineRoute({
      method: 'GET',
      path: '/api/items',
      summary: 'Lists items.',
      access: 'public',
      query: z.object({
        limit: z.coerce.number().int().max(10).default(5).describe('At most so many.'),
        tag: z.union([z.string(), z.array(z.string())]).optional(),
      }),
      reply: z.object({ limit: z.number(), tag: z.union([z.string(), z.array(z.string())]).optional() }),
    }),
    ({ query }) => query,
  ),
  implement(
    defineRoute({
      method: 'POST',
      path: '/api/items',
      summary: 'Takes items.',
      access: 'user',
      body: Items,
      reply: Items,
    }),
    ({ body }) => body,
  ),
  implement(
    defineRoute({ method: 'GET', path: '/api/items/:id', summary: 'Shows an item.', access: 'public', reply: Item }),
    ({ params }) => ({ id: params['id'] ?? '', count: 1, secret: 'column' }),
  ),
  implement(
    defineRoute({
      method: 'GET',
      path: '/api/items/newest',
      summary: 'Shows the newest.',
      access: 'public',
      reply: Item,
    }),
    () => ({ id: 'the newest', count: 1 }),
  ),
  implement(
    defineRoute({
      method: 'DELETE',
      path: '/api/items/:id',
      summary: 'Removes an item.',
      access: 'admin',
      reply: z.undefined(),
    }),
    () => undefined,
  ),
  implement(
    defineRoute({
      ...{ method: 'GET', path: '/api/shelf', summary: 'Shows the shelf.', access: mayRead('shelf') },
      reply: z.object({ all: z.boolean(), kitchen: z.boolean() }),
    }),
    ({ rights }) => ({ all: rights.all, kitchen: rights.may('shelf', 'read', 'kitchen') }),
  ),
  implement(
    defineRoute({
      ...{ method: 'POST', path: '/api/shelf/:room', summary: 'Fills it.', access: mayWrite('shelf', ':room') },
      reply: z.object({}),
    }),
    () => ({}),
  ),
  implement(
    defineRoute({
      ...{ method: 'GET', path: '/api/shelf/:room', summary: 'Shows a room.', access: mayRead('shelf', ':room') },
      reply: z.object({}),
    }),
    () => ({}),
  ),
  implement(
    defineRoute({
      method: 'GET',
      path: '/api/items/:id/file',
      summary: 'The file of an item.',
      access: 'user',
      query: z.strictObject({ save: z.enum(['yes']).optional() }),
      reply: fileReply,
    }),
    ({ params }) => new BytesReply({ bytes: Buffer.from(`file ${params['id'] ?? ''}`), type: 'text/plain' }),
  ),
  implement(
    defineRoute({ method: 'GET', path: '/api/wrong', summary: 'Breaks its promise.', access: 'public', reply: Items }),
    () => ({ items: [{ id: 5 }] }) as unknown as z.infer<typeof Items>,
  ),
  implement(
    defineRoute({ method: 'GET', path: '/api/defect', summary: 'Throws.', access: 'public', reply: Item }),
    () => {
      throw new Error('inner detail');
    },
  ),
  implement(
    defineRoute({ method: 'GET', path: '/api/problem', summary: 'Refuses.', access: 'public', reply: Item }),
    () => {
      throw new Problem('sample.busy', 429, 'Wait a little.', {
        headers: { 'Retry-After': '7' },
        fields: { id: 'Too often.' },
      });
    },
  ),
];

const admin: Identity = { account: 'ann', kind: 'person', role: 'admin', via: 'token' };

/**
 * `Bearer admin`, `Bearer user`, `Bearer backups` (a service account), the session `admin`, a link `admin` to any
 * path; other credentials are invalid.
 */
function authenticate({ authorization, session, link }: Credentials): Promise<Identity | undefined> {
  if (authorization === 'Bearer admin') return Promise.resolve(admin);
  if (authorization === 'Bearer user') return Promise.resolve({ ...admin, role: 'user' });
  if (authorization === 'Bearer backups') return Promise.resolve({ ...admin, kind: 'service', role: 'user' });
  if (session === 'admin' || link?.text === 'admin') return Promise.resolve({ ...admin, via: 'session' });
  if (authorization === undefined && session === undefined) return Promise.resolve(undefined);
  return Promise.reject(new Problem('accounts.bad_credentials', 401, 'Wrong.'));
}

let opened: Opened;
/** Grants of `Bearer user`. */
const granted = new Set(['shelf read *', 'shelf read kitchen']);
const log = quietLog();
beforeAll(async () => {
  const router = createApiRouter({
    handlers: () => handlers,
    accounts: {
      authenticate,
      may: (_identity, service, permission, resource) => granted.has(`${service} ${permission} ${resource}`),
    },
    caller: createCallerResolver(() => []),
    log,
    maxBytes: 200,
  });
  opened = await open({ handler: { http: router } });
});
afterAll(() => opened[Symbol.asyncDispose]());
beforeEach(() => vi.unstubAllEnvs());

interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}
async function call(path: string, options: RequestInit = {}): Promise<Called> {
  const response = await fetch(`${opened.url}${path}`, options);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
  };
}
const post = (body: unknown, headers: Record<string, string> = { authorization: 'Bearer user' }): Promise<Called> =>
  call('/api/items', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('API request', () => {
  test('gets its query parsed by the route', async () => {
    expect((await call('/api/items')).body).toEqual({ limit: 5 });
    expect((await call('/api/items?limit=7&tag=a&tag=b&__proto__=x')).body).toEqual({ limit: 7, tag: ['a', 'b'] });
  });

  test('gets the invalid field and the reason', async () => {
    const { status, body } = await call('/api/items?limit=11');
    expect(status).toBe(422);
    expect(ApiError.parse(body).error).toMatchObject({
      code: 'api.invalid',
      fields: { limit: expect.any(String) as string },
    });
    const posted = await post({ items: [{ id: 'a' }, { id: 7 }] });
    expect(posted.status).toBe(422);
    expect(ApiError.parse(posted.body).error.fields).toHaveProperty(['items.1.id']);
    expect((await post('')).status).toBe(422);
  });

  test('gets its body parsed with defaults', async () => {
    expect((await post({ items: [{ id: 'ä' }] })).body).toEqual({ items: [{ id: 'ä', count: 3 }] });
  });

  test.each([
    ['that is no JSON', '{"items":', {}, 400, 'http.bad_json'],
    ['of a form', 'items=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'http.not_json'],
    ['of plain text', '{}', { 'content-type': 'text/plain' }, 415, 'http.not_json'],
    ['that is compressed', '{}', { 'content-encoding': 'gzip' }, 415, 'http.not_json'],
    ['that is too large', JSON.stringify({ items: [{ id: 'x'.repeat(300) }] }), {}, 413, 'http.too_large'],
  ])('is rejected with a body %s', async (_name, body, headers, status, code) => {
    const response = await post(body, { authorization: 'Bearer user', ...headers });
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject({ error: { code } });
  });

  test('is ended early with a large chunked body', async () => {
    const socket = await dial(opened.listener.port);
    const response = readAll(socket);
    socket.write(
      'POST /api/items HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer user\r\nContent-Type: ' +
        'application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    socket.write(`1ff\r\n${'x'.repeat(511)}\r\n`);
    expect(await response).toMatch(/^HTTP\/1\.1 413/);
  });

  test('matches literal paths first, decodes parameters and ignores a trailing slash', async () => {
    expect((await call('/api/items/newest')).body).toMatchObject({ id: 'the newest' });
    expect((await call('/api/items/a%2Fb%20%C3%A4/')).body).toMatchObject({ id: 'a/b ä' });
    expect((await call('/api/items/%ff')).body).toMatchObject({ error: { code: 'api.bad_path' } });
  });

  test('is answered in JSON for an unknown path or method', async () => {
    const unknown = await call('/api/nothing');
    expect(unknown.status).toBe(404);
    expect(ApiError.parse(unknown.body).error.code).toBe('api.unknown_path');
    const method = await call('/api/items/a', { method: 'PUT' });
    expect(method.status).toBe(405);
    expect(method.headers.get('allow')).toBe('GET, DELETE');
  });

  test('is answered uncached and without a body to HEAD', async () => {
    const head = await call('/api/items', { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('cache-control')).toBe('no-store');
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(5);
    expect((await call('/api/items/a', { method: 'DELETE', headers: { authorization: 'Bearer admin' } })).status).toBe(
      204,
    );
  });
});

describe('route with a grant', () => {
  const as = async (caller: string, path: string, method = 'GET'): Promise<Called> =>
    call(path, { method, headers: { authorization: `Bearer ${caller}` } });

  test('accepts accounts with the grant, passes their rights, and rejects others', async () => {
    expect((await as('user', '/api/shelf')).body).toEqual({ all: false, kitchen: true });
    expect((await as('admin', '/api/shelf')).body).toEqual({ all: true, kitchen: true });
    expect((await as('backups', '/api/shelf')).body).toMatchObject({ error: { code: 'api.people_only' } });
    expect((await call('/api/shelf')).status).toBe(401);
  });

  test('uses the decoded path parameter as resource', async () => {
    expect((await as('user', '/api/shelf/kit%63hen')).status).toBe(200);
    const other = await as('user', '/api/shelf/cellar');
    expect([other.status, other.body]).toMatchObject([403, { error: { code: 'shelf.forbidden' } }]);
    expect((await as('user', '/api/shelf/kitchen', 'POST')).status).toBe(403);
    expect((await as('admin', '/api/shelf/kitchen', 'POST')).status).toBe(200);
  });
});

describe('reply', () => {
  test('contains only fields of its schema', async () => {
    expect((await call('/api/items/a')).body).toEqual({ id: 'a', count: 1 });
  });

  test('is an error naming the path when it violates its schema, hidden from clients in production', async () => {
    const { status, body } = await call('/api/wrong');
    expect(status).toBe(500);
    expect(ApiError.parse(body).error.detail).toContain('GET /api/wrong does not fit its schema at items.0.id');
    vi.stubEnv('NODE_ENV', 'production');
    const reportedError = ApiError.parse((await call('/api/wrong')).body).error;
    expect(reportedError.detail).not.toContain('items');
    expect(log.recent({ level: 'error', text: 'items.0.id' })).toHaveLength(1);
  });

  test('has the status, headers and fields of a problem', async () => {
    const { status, headers, body } = await call('/api/problem');
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('7');
    expect(body).toEqual({ error: { code: 'sample.busy', detail: 'Wait a little.', fields: { id: 'Too often.' } } });
  });

  test('contains only an id for a defect', async () => {
    const { status, body } = await call('/api/defect?token=hunter2');
    expect(status).toBe(500);
    const { detail } = ApiError.parse(body).error;
    expect(detail).not.toContain('inner');
    const [entry] = log.recent({ text: /ID (\w+)/.exec(detail)?.[1] ?? 'none' });
    expect(entry?.fields).toMatchObject({ path: '/api/defect', error: { message: 'inner detail' } });
    expect(JSON.stringify(log.entries())).not.toContain('hunter2');
  });
});

describe('access', () => {
  test.each([
    ['POST', '/api/items', undefined, 401],
    ['POST', '/api/items', 'Bearer wrong', 401],
    ['DELETE', '/api/items/a', undefined, 401],
    ['DELETE', '/api/items/a', 'Bearer user', 403],
    ['POST', '/api/items', 'Bearer backups', 403],
    ['DELETE', '/api/items/a', 'Bearer admin', 204],
    ['GET', '/api/items', undefined, 200],
    ['GET', '/api/items', 'Bearer wrong', 200],
  ])('answers %s %s as %s with %i', async (method, path, authorization, status) => {
    const response = await call(path, { method, headers: authorization === undefined ? {} : { authorization } });
    expect(response.status).toBe(status);
    if (status >= 400) ApiError.parse(response.body);
  });

  test('is checked before the body is read', async () => {
    expect((await post('{"broken', {})).status).toBe(401);
  });

  const otherOrigins = [
    ['from our own page', 'Sec-Fetch-Site: same-origin'],
    ['from our own origin', 'Origin: http://localhost'],
    ['from another origin', 'Origin: https://evil.example'],
    ['from a sandboxed page', 'Origin: null'],
    ['from another site', 'Sec-Fetch-Site: cross-site'],
    ['from a sibling site', 'Sec-Fetch-Site: same-site'],
    ['without any sign of where', 'Accept: */*'],
  ] as const;

  test.each(otherOrigins)('ignores cookies, %s', async (_name, header) => {
    for (const line of ['DELETE /api/items/a', 'GET /api/items/a/file']) {
      const response = await request(opened.listener.port, line, ['Host: localhost', 'Cookie: session=admin', header]);
      expect([401, 403]).toContain(response.status);
    }
  });

  test.each(otherOrigins)('accepts a session for a change, %s', async (name, header) => {
    const response = await request(opened.listener.port, 'DELETE /api/items/a', [
      'Host: localhost',
      'Homeport-Session: admin',
      header,
    ]);
    // No page of another origin can send the header or knows its value.
    expect(response.status).toBe(/another|sandboxed|sibling/.test(name) ? 403 : 204);
  });

  test('allows a link only for the file at its address', async () => {
    const linked = '/api/linked/admin/api/items/a/file';
    expect(await (await fetch(`${opened.url}${linked}?save=yes`)).text()).toBe('file a');
    const head = await fetch(`${opened.url}${linked}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await call('/api/linked/other/api/items/a/file')).status).toBe(401);
    expect((await call(`/api/linked/other${linked}`)).status).toBe(404);
    for (const method of ['POST', 'PUT', 'DELETE']) expect((await call(linked, { method })).status).toBe(405);
    expect((await call('/api/linked/admin/api/items/a', { method: 'DELETE' })).status).toBe(404);
    expect((await call('/api/linked/admin/api/items', { method: 'POST' })).status).toBe(404);
    expect((await call('/api/linked/admin/api/items')).status).toBe(404);
    expect((await call('/api/linked/admin')).status).toBe(404);
  });
});

describe('OpenAPI document', () => {
  const document = buildOpenApiDocument({ title: 'Sample', version: '1.2.3', handlers });
  const text = JSON.stringify(document);

  test('describes every route with unique ids, parameters and responses', () => {
    const Operation = z.object({
      operationId: z.string(),
      summary: z.string().min(1),
      parameters: z
        .array(
          z.object({
            name: z.string(),
            in: z.enum(['path', 'query']),
            required: z.boolean(),
            schema: z.looseObject({}),
          }),
        )
        .default([]),
      requestBody: z
        .object({
          required: z.literal(true),
          content: z.looseObject({ 'application/json': z.object({ schema: z.looseObject({}) }) }),
        })
        .optional(),
      responses: z.record(z.string(), z.object({ description: z.string().min(1), content: z.unknown().optional() })),
      security: z.array(z.record(z.string(), z.array(z.never()))),
    });
    const Document = z.object({
      openapi: z.literal('3.1.0'),
      info: z.object({ title: z.literal('Sample'), version: z.literal('1.2.3') }),
      paths: z.record(
        z.string().regex(/^\/api\/[^:]*$/),
        z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), Operation),
      ),
      components: z.object({ schemas: z.record(z.string(), z.looseObject({})), securitySchemes: z.looseObject({}) }),
    });
    const read = Document.parse(document);
    const operations = Object.entries(read.paths).flatMap(([path, item]) =>
      Object.values(item).map((operation) => ({ path, operation })),
    );
    expect(operations).toHaveLength(handlers.length);
    expect(new Set(operations.map(({ operation }) => operation?.operationId)).size).toBe(handlers.length);
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(
        operation?.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name),
      ).toEqual(named);
      expect(operation?.responses).toHaveProperty('default');
    }
    expect(read.paths['/api/items/{id}']?.delete?.responses).toHaveProperty('204');
    expect(read.paths['/api/items']?.get?.parameters).toContainEqual(
      expect.objectContaining({ name: 'limit', in: 'query', required: false }),
    );
  });

  test('has only valid references', () => {
    const { components } = document as { components: { schemas: Record<string, unknown> } };
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(references.length).toBeGreaterThan(3);
    for (const reference of references) {
      expect(reference).toMatch(/^#\/components\/schemas\//);
      expect(components.schemas).toHaveProperty(reference.slice('#/components/schemas/'.length));
    }
    expect(text).not.toContain('$defs');
  });

  test('distinguishes a schema as input and output', () => {
    const { components } = document as { components: { schemas: Record<string, { required?: string[] }> } };
    expect(components.schemas['Item']?.required).toEqual(['id', 'count']);
    expect(components.schemas['ItemInput']?.required).toEqual(['id']);
    expect(components.schemas).toHaveProperty('ApiError');
  });

  test('rejects two schemas with one id', () => {
    const twice = ['a', 'b'].map((name) =>
      implement(
        defineRoute({
          method: 'GET',
          path: `/api/${name}`,
          summary: 'x',
          access: 'public',
          reply: z.object({ [name]: z.string() }).meta({ id: 'Twice' }),
        }),
        () => ({}),
      ),
    );
    expect(() => buildOpenApiDocument({ title: 'x', version: '1', handlers: twice })).toThrow('Twice');
  });
});
