import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(`create table notes (id int primary key, owner uuid, body jsonb);
    alter table notes enable row level security; create policy own on notes using (owner = auth.uid());
    create function add(a int, b int) returns int language sql as 'select a + b'`);
});
afterAll(() => fixture[Symbol.asyncDispose]());

type Shape = readonly [
  method: string,
  path: string,
  body?: string | undefined,
  headers?: Record<string, string> | undefined,
];

const json = { 'content-type': 'application/json' };
const rest: readonly Shape[] = [
  ...['/rest/v1/%ff', '/rest/v1/rpc/%ff', '/rest/v1/__proto__', '/rest/v1/constructor', '/rest/v1/rpc/valueOf'].map(
    (path) => ['GET', path] as const,
  ),
  ...[
    'select=%ff',
    'select=%00',
    'id=eq.%00',
    'id=eq.',
    'id=in.(%00)',
    'id=in.',
    'id=is.maybe',
    'id=eq(any).{',
    'body->%00=eq.1',
    'order=%00',
    'order=constructor',
    'limit=99999999999999',
    'offset=999999999999999',
    'limit=1e3',
    'select=id::__proto__',
    'select=id::int4(99)',
    'select=*,notes(*)',
    'and=(',
    'or=(id.eq.1',
    'not.and=()',
    'columns=%00',
    '__proto__=eq.1',
    'id=fts(%00).x',
    'id=like(any).{%00}',
    'select=body->99999999999999999999',
    'select=count(),sum()',
    'id=match.%5B',
    'apikey=%ff',
    '=',
    '&&',
    '%',
  ].map((query) => ['GET', `/rest/v1/notes?${query}`] as const),
  ...['items=9-1', '0-', '-5', 'x', '999999999999999999999-'].map(
    (Range) => ['GET', '/rest/v1/notes', undefined, { Range }] as const,
  ),
  ...['timezone=\u00ff', 'timezone=', 'max-affected=x', 'handling=strict, what=ever', 'tx=x', ',,,', '='].map(
    (Prefer) => ['GET', '/rest/v1/notes', undefined, { Prefer }] as const,
  ),
  ...[
    '{',
    '[]',
    '[1]',
    'null',
    '"x"',
    '{"id":"\\u0000"}',
    '{"body":"\\ud800"}',
    '{"__proto__":1}',
    '[{"id":1},{"body":2}]',
    '',
  ].map((body) => ['POST', '/rest/v1/notes', body, json] as const),
  ...['{"a":"x","b":1}', '{"a":{}}', '[]', '[[]]', '{"constructor":1}'].map(
    (body) => ['POST', '/rest/v1/rpc/add', body, json] as const,
  ),
  ['POST', '/rest/v1/notes', 'a,b\n"x', { 'content-type': 'text/csv' }],
  ['POST', '/rest/v1/notes', '{"id":1}', { ...json, 'content-encoding': 'x' }],
  ['POST', '/rest/v1/notes', 'x', { 'content-type': '\u00ff' }],
  ['POST', '/rest/v1/', '{"requests":[{"method":"GET","path":"/%ff?%"}]}', json],
  ['POST', '/rest/v1/', '{"requests":[{"method":"PUT","path":"/rpc/x","body":5}]}', json],
  ['TRACE', '/rest/v1/notes'],
  ['GET', '/rest/v1/notes', undefined, { accept: ';;;q=x' }],
  ['GET', '/rest/v1/notes', undefined, { 'accept-profile': '\u00ff' }],
];
const sql: readonly Shape[] = [
  ...['{', '{"query":1}', '{"query":"select \\u0000"}', '{"query":"\\ud800"}', '[]', ''].map(
    (body) => ['POST', '/pg/query', body, json] as const,
  ),
  ['GET', '/pg/%ff'],
];
const callApp: readonly Shape[] = [
  ...['%ff', '%00', '__proto__', 'a'.repeat(300)].flatMap((name) =>
    ['shape', 'rows', 'sight'].map((kind) => ['GET', `/api/data/tables/public/${name}/${kind}`] as const),
  ),
  ['GET', '/api/data/tables/public/notes/sight?role=authenticated&user=not-a-uuid'],
  ['GET', '/api/data/tables/public/notes/sight?role=nobody'],
  ['POST', '/api/data/sql', '{"query":"select 1 \\u0000","role":"owner"}', json],
  ['POST', '/api/data/sql', '{"query":"select auth.uid()","role":"authenticated","user":"x"}', json],
  ['POST', '/api/data/tables/public/notes/protect', '{"template":"owner","column":"\\u0000"}', json],
];

describe('malformed requests', () => {
  const send = async (
    base: string,
    [method, path, body, headers]: Shape,
    overrides: Record<string, string>,
  ): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(base);
      const socket = connect(Number(port), hostname, () => {
        const all = { Host: `${hostname}:${port}`, Connection: 'close', ...overrides, ...headers };
        const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
        const length = body === undefined ? [] : [`Content-Length: ${String(Buffer.byteLength(body))}`];
        socket.write(Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, ...length, '', ''].join('\r\n'), 'latin1'));
        socket.write(body ?? '');
      });
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => (text += part));
      socket.on('end', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
      socket.on('error', reject);
    });

  it('refuses malformed requests for rows and functions as client errors', async () => {
    const invalid: string[] = [];
    for (const shape of rest) {
      for (const apikey of [fixture.anonKey, fixture.serviceKey]) {
        const status = await send(fixture.url, shape, { apikey });
        if (status < 200 || status >= 500)
          invalid.push(`${String(status)} ${shape[0]} ${shape[1]} ${shape[2] ?? ''} ${JSON.stringify(shape[3])}`);
      }
    }
    expect(invalid).toEqual([]);
  });

  it('refuses malformed statement requests as client errors', async () => {
    const statuses: number[] = [];
    for (const shape of sql) statuses.push(await send(fixture.url, shape, { apikey: fixture.serviceKey }));
    expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
  });

  it('refuses malformed requests of the pages as client errors', async () => {
    const invalid: string[] = [];
    for (const shape of callApp) {
      const status = await send(fixture.host.url('control'), shape, { Authorization: adminAuthorization });
      if (status < 200 || status >= 500) invalid.push(`${String(status)} ${shape[0]} ${shape[1]} ${shape[2] ?? ''}`);
    }
    expect(invalid).toEqual([]);
  });
});

describe('disconnect during a request body', () => {
  it('logs no error of the service', async () => {
    const before = fixture.host.log.length;
    const { hostname, port } = new URL(fixture.url);
    for (const path of ['/rest/v1/notes', '/auth/v1/signup', '/pg/query']) {
      await new Promise<void>((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => {
          const head = [
            `POST ${path} HTTP/1.1`,
            `Host: ${hostname}:${port}`,
            `apikey: ${fixture.serviceKey}`,
            'Content-Type: application/json',
            'Content-Length: 1000',
          ];
          socket.write(`${head.join('\r\n')}\r\n\r\n{"a"`, () => setTimeout(() => socket.resetAndDestroy(), 50));
        });
        socket.on('close', () => resolve());
        socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? undefined : reject(error)));
      });
    }
    // The resets arrived before these requests did.
    for (let index = 0; index < 3; index += 1) expect((await fixture.request('/auth/v1/health')).status).toBe(200);
    const lines = fixture.host.log.slice(before).filter((line) => /error|warn/i.test(line));
    expect(lines).toEqual([]);
  });
});
