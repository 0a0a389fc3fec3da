import * as problems from '#messages/addons-problems';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addonsApi, type FormatPreview } from '../../../services/contracts/addons/api.ts';
import { adminAuthorization, type TestHost } from '../../support/host.ts';
import { openAddonsHost } from './rig.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openAddonsHost({ ADDONS_ALLOW_PRIVATE_ADDRESSES: 'true' });
});
afterAll(() => host[Symbol.asyncDispose]());

async function request<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
  const reply = await fetch(host.url('control') + path, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as T };
}

async function preview(name: string, description = '', id = 'custom'): Promise<FormatPreview> {
  const { status, body } = await request<FormatPreview>('POST', addonsApi.format.path, { id, name, description });
  expect(status).toBe(200);
  return body;
}

describe('preview of a format', () => {
  it('shows streams of several kinds', async () => {
    const { samples, problems: found } = await preview(
      '{stream.resolution}',
      '{stream.filename} {service.cached::istrue["ready"||"later"]} {stream.seeders} {stream.message}',
    );
    expect(found).toEqual([]);
    expect(samples.map(({ kind, name }) => [kind, name])).toEqual([
      ['film', '2160p'],
      ['episode', '1080p'],
      ['torrent', '720p'],
      ['message', '2160p'],
    ]);
    expect(samples[1]?.description).toContain('S02E05');
    expect(samples[1]?.description).toContain('later');
    expect(samples[3]?.description).toContain('ends tomorrow');
  });

  it.each([
    ['{stream.titel}', 'field', 1, 'stream.titel'],
    ['a {stream.size::byts}', 'modifier', 16, 'byts'],
    ['first\n{stream.title', 'expression', 6, '{'],
    ['{nothing.title}', 'expression', 0, '{'],
    ['{stream.title::exists["{stream.yaer}"||""]}', 'field', 24, 'stream.yaer'],
    ['{?x {stream.sise} ?}', 'field', 5, 'stream.sise'],
  ] as const)('locates the problem in %s', async (template, code, index, text) => {
    const { problems: found } = await preview('', template);
    expect(found).toEqual([{ part: 'description', index, length: text.length, code, text }]);
    expect(template.slice(index, index + text.length)).toBe(text);
  });

  it('reports the part that contains a problem, and none for predefined formats', async () => {
    const both = await preview('{stream.a}', '{stream.b}');
    expect(both.problems.map(({ part, text }) => [part, text])).toEqual([
      ['name', 'stream.a'],
      ['description', 'stream.b'],
    ]);
    expect((await preview('{stream.a}', '', 'torrentio')).problems).toEqual([]);
  });
});

describe('styles', () => {
  it('have no problems, and differ', async () => {
    const { body } = await request<{ items: { id: string; name: string; description: string }[] }>(
      'GET',
      addonsApi.formats.path,
    );
    expect(body.items.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['torrentio', 'plain', 'compact', 'technical']),
    );
    const texts = new Set<string>();
    for (const { id, name, description } of body.items) {
      const { problems: found, samples } = await preview(name, description);
      expect([id, found]).toEqual([id, []]);
      for (const sample of samples) expect([id, sample.name + sample.description]).not.toEqual([id, '']);
      expect(JSON.stringify(samples)).not.toMatch(/undefined|null|\{stream/);
      texts.add(JSON.stringify(samples));
    }
    expect(texts.size).toBe(body.items.length);
  });
});

describe('shared format', () => {
  const format = { name: '{stream.resolution}', description: '{stream.filename}' };
  const read = (body: object) => request<typeof format>('POST', addonsApi.readFormat.path, body);

  it.each([
    format,
    { id: 'custom', definition: format },
    { formatter: { id: 'custom', definitions: { custom: format } } },
    { config: { addonName: 'x', formatter: { id: 'custom', definition: format } } },
  ])('is read from the JSON of several programs: %j', async (document) => {
    expect(await read({ text: JSON.stringify(document) })).toEqual({ status: 200, body: format });
  });

  it('is read from an address', async () => {
    const server = createServer((_request, response) => response.end(JSON.stringify({ definition: format })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await read({ address: `http://127.0.0.1:${String(port)}/format.json` })).toEqual({
      status: 200,
      body: format,
    });
    server.closeAllConnections();
    server.close();
  });

  it.each([
    ['{"name": "only"}', problems.formatMissing()],
    ['{not json', problems.formatNotJson()],
    [JSON.stringify({ name: 'x'.repeat(20_001), description: '' }), problems.formatMissing()],
  ])('is rejected with the reason: %.20s', async (text, reason) => {
    const { status, body } = await request<{ readonly fields?: object }>('POST', addonsApi.readFormat.path, { text });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(reason.slice(0, 20));
  });
});
