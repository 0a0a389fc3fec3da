import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { describeShape } from './describe-shape.ts';

interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: unknown;
  };
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

/** Replays the recorded requests of a range of numbers in their order. */
const replayed = (from: number, to: number) =>
  all.filter(({ number }) => number >= from && number <= to).map(({ exchange }) => [exchange.name, exchange] as const);

/**
 * Intended differences. With `body`, Gitea's body is wrong (the ID of a tree that is the commit's, `null` for an empty
 * list) or contains data that only Gitea has. All other responses are compared completely.
 */
const differs: Readonly<Record<string, { readonly status?: number; readonly body?: true }>> = {
  version: { body: true },
  // The capabilities of the installed git are compared separately.
  'git info refs v2': { body: true },
  'git receive-pack refs': { body: true },
  // Only Gitea's library defines how unusual names are written.
  metrics: { status: 200, body: true },
  'repo create bad json': { body: true },
  'repo create reserved': { status: 422 },
  'repo branches of empty': { body: true },
  'go-get meta': { body: true },
  healthz: { body: true },
  'migrate bad url': { body: true },
  // Our server validates the content here.
  'lfs verify bad size': { status: 422, body: true },
  // Our server accepts tokens in all locations.
  'lfs token header': { status: 200, body: true },
  'lfs bearer header': { status: 200, body: true },
  'lfs unlock missing': { status: 404, body: true },
};

let fixture: GitFixture;
let token = '';
let bobsToken = '';
let commit = '';
/** ID of the created key. */
let key = 0;
/** ID of the created label. */
let label = 0;
/** ID of the created lock. */
let lock = '';
/** ID of the created release. */
let release = 0;

beforeAll(async () => {
  fixture = await openGitFixture({ environment: { GIT_METRICS_TOKEN: 'metricstoken' } });
  const created = await fixture.api('POST', '/users/ada/tokens', { name: 'all', scopes: ['all'] });
  token = ((await created.json()) as { sha1: string }).sha1;
  const bob = await fixture.account('bob');
  const bobs = await fixture.api('POST', '/users/bob/tokens', { name: 'all', scopes: ['all'] }, bob);
  bobsToken = ((await bobs.json()) as { sha1: string }).sha1;
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('exchanges recorded from Gitea', () => {
  it.each(replayed(1, 26))('replays %s', (_name, exchange) => replay(exchange));

  it('continues after a push', async () => {
    const cwd = await fixture.work('demo', { 'README.md': '# demo\n' });
    await fixture.run('sh', ['-c', 'mkdir src && echo A > src/a.txt && git add . && git commit -q --amend --no-edit'], {
      cwd,
    });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
    commit = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
  });

  it.each(replayed(27, 59))('replays %s', (_name, exchange) => replay(exchange));

  it('continues after a tag', async () => {
    const cwd = join(fixture.folder, 'demo');
    await fixture.git(['tag', '-a', 'v1', '-m', 'one'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'v1'], { cwd });
  });

  it.each(replayed(60, 127))('replays %s', (_name, exchange) => replay(exchange));

  it('continues after a repository was renamed', async () => {
    expect((await fixture.api('PATCH', '/repos/ada/mig', { name: 'mig2' })).status).toBe(200);
  });

  it.each(replayed(128, 129))('replays %s', (_name, exchange) => replay(exchange));

  it('offers the recorded capabilities in the recorded order', async () => {
    for (const [number, headers] of [
      [26, { 'git-protocol': 'version=2' }],
      [29, { authorization: `token ${token}` }],
    ] as const) {
      const { request, response } = all.find((entry) => entry.number === number)?.exchange ?? {};
      const reply = await fetch(fixture.url + translate(request?.path ?? ''), { headers });
      const offered = readCapabilities(await reply.text());
      // Newer git versions may offer more capabilities.
      expect(offered).toEqual(expect.arrayContaining(readCapabilities(String(response?.body))));
    }
  });

  it('includes the metrics that Gitea dashboards read', async () => {
    const reply = await fetch(`${fixture.url}/metrics`, { headers: { authorization: 'Bearer metricstoken' } });
    const readMetrics = (text: string) =>
      [...text.matchAll(/^# TYPE (gitea_\w+) (\w+)$/gm)].map(([, name, kind]) => `${name} ${kind}`);
    const recorded = String(all.find(({ number }) => number === 123)?.exchange.response.body);
    expect(readMetrics(recorded)).toEqual(expect.arrayContaining(readMetrics(await reply.text())));
  });
});

async function replay({ name, request, response }: Exchange): Promise<void> {
  const path = translate(request.path);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, translate(value)]));
  const body =
    request.body === null
      ? undefined
      : translate(typeof request.body === 'string' ? request.body : JSON.stringify(request.body));
  const reply = await fetch(fixture.url + path, {
    method: request.method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
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
    'location',
    'etag',
  ]) {
    const expected = difference?.status === undefined ? response.headers[header] : undefined;
    if (expected !== undefined && header !== 'etag' && header !== 'x-total-count')
      expect([header, reply.headers.get(header)]).toEqual([header, translate(expected)]);
    if (expected !== undefined) expect(reply.headers.has(header), header).toBe(true);
  }
  if (difference?.body === true || response.body === null) return;
  if (typeof response.body === 'string') return expect(normalize(text)).toBe(normalize(response.body));
  const parsed: unknown = JSON.parse(text);
  if (name === 'label create') label = (parsed as { id: number }).id;
  if (name === 'key create') key = (parsed as { id: number }).id;
  if (name === 'release create') release = (parsed as { id: number }).id;
  if (name === 'lfs lock') lock = (parsed as { lock: { id: string } }).lock.id;
  expect(describeShape(parsed)).toEqual(describeShape(response.body));
  if (typeof response.body === 'object' && 'message' in response.body && response.status >= 400) {
    expect(normalize(String((parsed as { message: string }).message))).toBe(normalize(String(response.body.message)));
  }
}

/** Maps names of the recording to the names of the test host. */
function translate(text: string): string {
  const basic = (password: string): string => `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
  return text
    .replaceAll('Basic <alice:password>', basic(admin.password))
    .replaceAll('Basic <alice:token>', basic(token))
    .replaceAll('0000000000000000000000000000000000000001', token)
    .replaceAll('0000000000000000000000000000000000000002', bobsToken)
    .replaceAll('cc6fde54041ef5cff78af138296bcd3867dbc5f0', commit)
    .replace('"labels":[6]', `"labels":[${label}]`)
    .replace('/user/keys/13', `/user/keys/${key}`)
    .replace('/releases/15/', `/releases/${release}/`)
    .replace('/locks/8/', `/locks/${lock}/`)
    .replaceAll('http://git.example:3000', fixture.url)
    .replaceAll('alice', 'ada');
}

/**
 * Extracts git's capabilities from the first packets of a transfer, without its version and the content of the
 * repository.
 */
function readCapabilities(text: string): string[] {
  const lines = [...text.matchAll(/(?:^|\n|0000)[0-9a-f]{4}([^\n]*)/g)].map(([, line = '']) => line);
  const capabilityNames = lines.flatMap((line) =>
    line.includes('\0') ? (line.split('\0')[1] ?? '').split(' ') : [line],
  );
  return capabilityNames.filter((word) => word !== '' && !word.startsWith('agent=') && !word.startsWith('#'));
}

/** Removes values that differ between runs: commit IDs, times and addresses. */
function normalize(text: string): string {
  return text
    .replaceAll('alice', 'ada')
    .replaceAll(/\b(id|head_repo_id|base_repo_id): \d+/g, '$1: N')
    .replaceAll(/[0-9a-f]{40}(?![0-9a-f])|(?<=^[0-9a-f]{4})[0-9a-f]{40}/gm, 'ID')
    .replaceAll(/"[A-Z][a-z]{2}, [^"]+GMT"/g, 'TIME');
}
