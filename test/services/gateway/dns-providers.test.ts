import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../../services/contracts/outgoing.ts';
import { createCloudflare } from '../../../services/gateway/dns-providers/cloudflare.ts';
import { createDesec } from '../../../services/gateway/dns-providers/desec.ts';
import { createDuckdns } from '../../../services/gateway/dns-providers/duckdns.ts';
import { createHetzner } from '../../../services/gateway/dns-providers/hetzner.ts';
import type { DnsProvider } from '../../../services/gateway/dns-providers/provider.ts';
import { createFetch } from '../../../main/host/fetch/fetch.ts';

const record = { name: '_acme-challenge.home.example.org', value: 'a-value_of-the-challenge' };
const { signal } = new AbortController();

/** Request as the API received it. */
interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}
type Answer = (call: ApiCall) => { readonly status?: number; readonly body: unknown };

/** API on loopback, and a fetch whose requests to the provider's host reach it. */
async function openApi(answer: Answer): Promise<{ fetch: Fetch; calls: ApiCall[] } & AsyncDisposable> {
  const calls: ApiCall[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const content = await text(request);
    const { method = '', url: path = '' } = request;
    const call = {
      ...{ method, path, authorization: request.headers.authorization },
      body: content === '' ? undefined : JSON.parse(content),
    };
    calls.push(call);
    const { status = 200, body } = answer(call);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server: Server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const hostFetch = createFetch({ log });
  return {
    calls,
    fetch: (url, options) => {
      const { pathname, search } = new URL(url);
      return hostFetch(`http://127.0.0.1:${String(port)}${pathname}${search}`, { ...options, trust: 'owner' });
    },
    async [Symbol.asyncDispose]() {
      await hostFetch[Symbol.asyncDispose]();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('Cloudflare', () => {
  const records = new Map<string, string>();
  const answer: Answer = ({ method, path, body }) => {
    if (path.startsWith('/client/v4/zones?'))
      return { body: { result: path === '/client/v4/zones?name=example.org' ? [{ id: 'zone-1' }] : [] } };
    if (method === 'POST') records.set('record-1', (body as { content: string }).content);
    if (method === 'DELETE') records.delete('record-1');
    return { body: { result: method === 'GET' ? [...records].map(([id, content]) => ({ id, content })) : {} } };
  };

  it('creates a record once in the zone of the name, and deletes it', async () => {
    await using api = await openApi(answer);
    const provider = createCloudflare(api.fetch, 'token-1');
    await provider.create(record, signal);
    await provider.create(record, signal);
    const created = api.calls.filter(({ method }) => method === 'POST');
    expect(created).toEqual([
      {
        method: 'POST',
        path: '/client/v4/zones/zone-1/dns_records',
        authorization: 'Bearer token-1',
        body: { type: 'TXT', name: record.name, content: `"${record.value}"`, ttl: 60 },
      },
    ]);
    await provider.remove(record, signal);
    expect(api.calls.at(-1)).toMatchObject({
      method: 'DELETE',
      path: '/client/v4/zones/zone-1/dns_records/record-1',
    });
  });
});

describe('Hetzner', () => {
  it('adds a value to the record set and removes only this value', async () => {
    const values: string[] = ['"other"'];
    await using api = await openApi(({ method, path, body }) => {
      if (/^\/v1\/zones\/[^/]+$/.test(path))
        return path.endsWith('/example.org') ? { body: { zone: {} } } : { status: 404, body: { error: {} } };
      const changed = (body as { records: { value: string }[] } | undefined)?.records.map(({ value }) => value) ?? [];
      if (path.endsWith('/add_records')) values.push(...changed);
      if (path.endsWith('/remove_records')) values.splice(values.indexOf(changed[0] ?? ''), 1);
      return { body: method === 'GET' ? { rrset: { records: values.map((value) => ({ value })) } } : { action: {} } };
    });
    const provider = createHetzner(api.fetch, 'token-1');
    await provider.create(record, signal);
    expect(values).toEqual(['"other"', `"${record.value}"`]);
    expect(api.calls.at(-1)).toEqual({
      method: 'POST',
      path: '/v1/zones/example.org/rrsets/_acme-challenge.home/TXT/actions/add_records',
      authorization: 'Bearer token-1',
      body: { ttl: 60, records: [{ value: `"${record.value}"` }] },
    });
    await provider.remove(record, signal);
    expect(values).toEqual(['"other"']);
  });
});

describe('deSEC', () => {
  it('replaces the record set and preserves other values', async () => {
    let values: readonly string[] = ['"other"'];
    await using api = await openApi(({ method, path, body }) => {
      if (path.startsWith('/api/v1/domains/?')) return { body: [{ name: 'example.org', minimum_ttl: 3600 }] };
      if (method === 'PUT') values = (body as { records: string[] }[])[0]?.records ?? [];
      return { body: method === 'GET' ? { records: values } : body };
    });
    const provider = createDesec(api.fetch, 'token-1');
    await provider.create(record, signal);
    expect(api.calls.at(-1)).toEqual({
      method: 'PUT',
      path: '/api/v1/domains/example.org/rrsets/',
      authorization: 'Token token-1',
      body: [{ subname: '_acme-challenge.home', type: 'TXT', ttl: 3600, records: ['"other"', `"${record.value}"`] }],
    });
    await provider.remove(record, signal);
    expect(values).toEqual(['"other"']);
  });
});

describe('DuckDNS', () => {
  it('sets and clears the only TXT record of the domain', async () => {
    await using api = await openApi(() => ({ body: 'OK' }));
    const provider = createDuckdns(api.fetch, 'token-1');
    const name = '_acme-challenge.push.family.duckdns.org';
    await provider.create({ ...record, name }, signal);
    await provider.remove({ ...record, name }, signal);
    expect(api.calls.map(({ path }) => path)).toEqual([
      `/update?domains=family&token=token-1&txt=${record.value}`,
      '/update?domains=family&token=token-1&txt=&clear=true',
    ]);
    await expect(provider.create(record, signal)).rejects.toMatchObject({ kind: 'zone' });
  });

  it('reports a wrong token', async () => {
    await using api = await openApi(() => ({ body: 'KO' }));
    const name = '_acme-challenge.family.duckdns.org';
    await expect(createDuckdns(api.fetch, 'x').create({ ...record, name }, signal)).rejects.toMatchObject({
      kind: 'token',
    });
  });
});

describe('JSON API', () => {
  it.each<[string, (fetch: Fetch, token: string) => DnsProvider]>([
    ['Cloudflare', createCloudflare],
    ['Hetzner', createHetzner],
    ['deSEC', createDesec],
  ])('reports a wrong token and a limit of %s, without the token', async (_name, create) => {
    let status = 403;
    await using api = await openApi(() => ({ status, body: { message: 'not accepted' } }));
    const provider = create(api.fetch, 'token-1');
    await expect(provider.create(record, signal)).rejects.toMatchObject({
      kind: 'token',
      reason: 'HTTP 403: not accepted',
    });
    status = 429;
    await expect(provider.create(record, signal)).rejects.toMatchObject({ kind: 'failed' });
  });
});
