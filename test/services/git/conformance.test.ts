import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/host.ts';
import { openGitRoom, type GitRoom } from './room.ts';
import { shapeOf } from './shape.ts';

interface Exchange {
  readonly name: string;
  readonly request: { readonly method: string; readonly path: string; readonly headers: Record<string, string>; readonly body: unknown }; // prettier-ignore
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown };
}

const folder = fileURLToPath(new URL('golden/', import.meta.url));
const all = readdirSync(folder)
  .filter((name) => /^git-\d+/.test(name))
  .map((name) => ({
    number: Number(/\d+/.exec(name)?.[0]),
    exchange: JSON.parse(readFileSync(folder + name, 'utf8')) as Exchange,
  }))
  .toSorted((one, other) => one.number - other.number);

/** What the recording's numbers of a range were asked, replayed in their order against ours. */
const replayed = (from: number, to: number) =>
  all.filter(({ number }) => number >= from && number <= to).map(({ exchange }) => [exchange.name, exchange] as const);

/**
 * Where we differ on purpose. `body`: the peer's is not what it should be (a tree's id that is the commit's, `null` for an
 * empty list), or says what only the peer has; the others are compared in full.
 */
const differs: Readonly<Record<string, { readonly status?: number; readonly body?: true }>> = {
  version: { body: true },
  'repo create bad json': { body: true },
  'repo create reserved': { status: 422 },
  'repo branches of empty': { body: true },
  'go-get meta': { body: true },
  healthz: { body: true },
  'migrate bad url': { body: true },
  // It checks what it is asked to check.
  'lfs verify bad size': { status: 422, body: true },
  // It takes tokens in all places.
  'lfs token header': { status: 200, body: true },
  'lfs bearer header': { status: 200, body: true },
  'lfs unlock missing': { status: 404, body: true },
};

let room: GitRoom;
let token = '';
let commit = '';
/** Of the key that was made. */
let key = 0;
/** Of the label that was made. */
let label = 0;
/** Of the lock that was made. */
let lock = '';
/** Of the release that was made. */
let release = 0;

beforeAll(async () => {
  room = await openGitRoom();
  const made = await room.api('POST', '/users/ada/tokens', { name: 'all', scopes: ['all'] });
  token = ((await made.json()) as { sha1: string }).sha1;
});
afterAll(() => room[Symbol.asyncDispose]());

describe('exchanges recorded from the peer', () => {
  it.each(replayed(1, 24))('%s', (_name, exchange) => replay(exchange));

  it('are gone on with after a push', async () => {
    const cwd = await room.work('demo', { 'README.md': '# demo\n' });
    await room.run('sh', ['-c', 'mkdir src && echo A > src/a.txt && git add . && git commit -q --amend --no-edit'], { cwd }); // prettier-ignore
    await room.git(['push', '-q', `${room.signedUrl}/ada/demo.git`, 'main'], { cwd });
    commit = (await room.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
  });

  it.each(replayed(27, 59))('%s', (_name, exchange) => replay(exchange));

  it.each(replayed(61, 81))('%s', (_name, exchange) => replay(exchange));

  it.each(replayed(83, 86))('%s', (_name, exchange) => replay(exchange));

  it.each(replayed(87, 108))('%s', (_name, exchange) => replay(exchange));

  it.each(replayed(109, 125))('%s', (_name, exchange) => replay(exchange));
});

async function replay({ name, request, response }: Exchange): Promise<void> {
  const path = ours(request.path);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, ours(value)]));
  const body = request.body === null ? undefined : ours(typeof request.body === 'string' ? request.body : JSON.stringify(request.body)); // prettier-ignore
  const reply = await fetch(room.url + path, { method: request.method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) }); // prettier-ignore
  const text = await reply.text();
  const difference = differs[name];
  expect(reply.status, text).toBe(difference?.status ?? response.status);
  for (const header of [
    'content-type',
    'x-total-count',
    'www-authenticate',
    'x-hasmore',
    'x-page',
    'content-disposition',
    'etag',
  ]) {
    // prettier-ignore
    const expected = difference?.status === undefined ? response.headers[header] : undefined;
    if (expected !== undefined && header !== 'etag' && header !== 'x-total-count') expect([header, reply.headers.get(header)]).toEqual([header, expected]); // prettier-ignore
    if (expected !== undefined) expect(reply.headers.has(header), header).toBe(true);
  }
  if (difference?.body === true || response.body === null) return;
  if (typeof response.body === 'string') return expect(plain(text)).toBe(plain(response.body));
  const given: unknown = JSON.parse(text);
  if (name === 'label create') label = (given as { id: number }).id;
  if (name === 'key create') key = (given as { id: number }).id;
  if (name === 'release create') release = (given as { id: number }).id;
  if (name === 'lfs lock') lock = (given as { lock: { id: string } }).lock.id;
  expect(shapeOf(given)).toEqual(shapeOf(response.body));
  if (typeof response.body === 'object' && 'message' in response.body && response.status >= 400) {
    expect(plain(String((given as { message: string }).message))).toBe(plain(String(response.body.message)));
  }
}

/** The recording's names for what is called otherwise here. */
function ours(text: string): string {
  const basic = (password: string): string => `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
  return text
    .replaceAll('Basic <alice:password>', basic(admin.password))
    .replaceAll('Basic <alice:token>', basic(token))
    .replaceAll('0000000000000000000000000000000000000001', token)
    .replaceAll('0000000000000000000000000000000000000002', token)
    .replaceAll('cc6fde54041ef5cff78af138296bcd3867dbc5f0', commit)
    .replace('"labels":[6]', `"labels":[${label}]`)
    .replace('/user/keys/13', `/user/keys/${key}`)
    .replace('/releases/15/', `/releases/${release}/`)
    .replace('/locks/8/', `/locks/${lock}/`)
    .replaceAll('alice', 'ada');
}

/** What differs from run to run is left out: ids of commits, times, addresses. */
function plain(text: string): string {
  return text
    .replaceAll('alice', 'ada')
    .replaceAll(/\b(id|head_repo_id|base_repo_id): \d+/g, '$1: N')
    .replaceAll(/[0-9a-f]{40}(?![0-9a-f])|(?<=^[0-9a-f]{4})[0-9a-f]{40}/gm, 'ID')
    .replaceAll(/"[A-Z][a-z]{2}, [^"]+GMT"/g, 'TIME');
}
