import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { differences, otherServers } from './differences.ts';
import { admin, openRig, type Rig } from './rig.ts';

/** Recorded request and response of ntfy. */
interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: string | { base64: string } | null;
  };
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown };
}

const folder = new URL('golden/', import.meta.url);
const exchanges = readdirSync(folder)
  .sort((a, b) => Number.parseInt(a) - Number.parseInt(b))
  .map((file): Exchange => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

/** Recorded passwords are shorter than Homeport permits. */
const passwords: Record<string, string> = { b1: 'backup-jobs-b1', o1: 'monitoring-o1' };

let rig: Rig;
let token: string;
/** Address of the recorded server. */
const recordedBase = 'http://127.0.0.1:48080';
/** Ids of this server by recorded id. */
const ids = new Map<string, string>();

beforeAll(async () => {
  rig = await openRig();
  const { accounts } = rig.context;
  const grant = (resource: string, permission: 'write' | 'read-write') => [{ service: 'push', resource, permission }];
  for (const [name, password, grants] of [
    ['backup-jobs', 'backup-jobs-b1', grant('*-*-backup', 'write')],
    ['monitoring', 'monitoring-o1', grant('*-*-monitoring', 'read-write')],
  ] as const) {
    if (await accounts.find(name)) await accounts.change(name, { password, enabled: true, grants });
    else await accounts.create({ name, password, grants });
  }
  token = (await accounts.createToken('monitoring', { label: 'alerts', expiresAt: null })).text;
});
afterAll(() => rig[Symbol.asyncDispose]());

describe('answers like ntfy', () => {
  for (const { name, request, response } of exchanges) {
    if (Object.hasOwn(otherServers, name)) continue;
    it(`replays ${name}`, async () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([key, value]) => [
          key,
          key === 'Authorization' ? toCurrentCredential(value) : value,
        ]),
      );
      const path = request.path.replace(
        /(since=|\/file\/)(\w{12})\b/,
        (_all, before: string, id: string) => `${before}${ids.get(id) ?? id}`,
      );
      const body =
        typeof request.body === 'string'
          ? request.body.replaceAll(recordedBase, rig.host.url('push'))
          : Buffer.from(request.body?.base64 ?? '', 'base64');
      const {
        status,
        headers: responseHeaders,
        text,
      } = name.startsWith('stream_')
        ? await readFirstLines(path, headers, name === 'stream_json_open' ? 2 : 3)
        : await rig.ask(request.method, path, headers, request.body === null ? undefined : body);

      const difference = differences[name];
      if (difference !== undefined) {
        expect(status).toBe(difference.status);
        return;
      }
      expect(status).toBe(response.status);
      for (const header of [
        'access-control-allow-origin',
        'access-control-allow-headers',
        'access-control-allow-methods',
        'content-type',
        'content-disposition',
      ]) {
        expect(responseHeaders[header], header).toBe(response.headers[header]);
      }
      expect(responseHeaders['www-authenticate']).toBeUndefined();
      // Addresses of this server may differ in length.
      if (response.headers['content-length'] !== undefined && !text.includes(rig.host.url('push')))
        expect(responseHeaders['content-length']).toBe(response.headers['content-length']);
      expect(normalize(text, false)).toEqual(normalize(toText(response.body), true));
    });
  }
});

function toCurrentCredential(recorded: string): string {
  if (recorded.startsWith('Bearer ')) return `Bearer ${token}`;
  const [name, password = ''] = Buffer.from(recorded.slice('Basic '.length), 'base64').toString().split(':');
  return `Basic ${Buffer.from(`${name ?? ''}:${passwords[password] ?? password}`).toString('base64')}`;
}

async function readFirstLines(path: string, headers: Record<string, string>, count: number) {
  using stream = await rig.listen(path, headers);
  await expect.poll(() => stream.lines.length).toBe(count);
  return { status: stream.status, headers: stream.headers, text: stream.lines.map((line) => `${line}\n`).join('') };
}

/** The recorder stored JSON and JSON lines parsed, everything else as text. */
function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (Array.isArray(body)) return body.map((line) => `${JSON.stringify(line)}\n`).join('');
  return `${JSON.stringify(body)}\n`;
}

describe('ntfy compatibility of a server', () => {
  it.each([
    ['limit_messages_daily', { NTFY_VISITOR_MESSAGE_DAILY_LIMIT: '3' }, 3],
    ['limit_requests', { NTFY_VISITOR_REQUEST_LIMIT_BURST: '5', NTFY_VISITOR_REQUEST_LIMIT_REPLENISH: '1h' }, 5],
  ])('answers like ntfy with the limit recorded for %s', async (name, environment, before) => {
    const strict = { PUSH_LIMIT_ACCOUNTS: 'true', NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: '203.0.113.0/24' };
    await using limited = await openRig({ environment: { ...strict, ...environment } });
    const { request, response } = exchanges.find((entry) => entry.name === name) ?? expect.unreachable();
    const body = typeof request.body === 'string' ? request.body : undefined;
    const sendRequest = () => limited.ask(request.method, request.path, { authorization: admin }, body);
    for (let index = 0; index < before; index += 1) expect((await sendRequest()).status).toBe(200);
    const { status, headers, text } = await sendRequest();
    expect(status).toBe(response.status);
    expect(headers['content-type']).toBe(response.headers['content-type']);
    expect(text).toBe(toText(response.body));
  });

  it('covers every recording with one of these servers', () => {
    expect(Object.keys(otherServers).sort()).toEqual(['limit_messages_daily', 'limit_requests']);
    const accounts = readdirSync(new URL('access/golden/', import.meta.url));
    expect(exchanges.length + accounts.length).toBe(111);
  });
});

it('documents every difference in the reference', () => {
  const reference = readFileSync(new URL('../../../docs/reference/push.md', import.meta.url), 'utf8').replace(
    /\s+/g,
    ' ',
  );
  for (const { why } of Object.values(differences)) expect(reference).toContain(why);
});

/** Splits a text into lines, with placeholders for ids, times and addresses; the order of fields is kept. */
function normalize(text: string, recorded: boolean): string[] {
  return text
    .replaceAll(recorded ? recordedBase : rig.host.url('push'), '<base>')
    .split('\n')
    .map((line) => {
      const time = Number(/"time":(\d+)/.exec(line)?.[1]);
      return line
        .replace(
          /"id":"([A-Za-z0-9]{12}|[A-Za-z0-9]{10})"/g,
          (_all, id: string) => `"id":"<${getPlaceholder(id, recorded)}>"`,
        )
        .replace(/\/file\/([A-Za-z0-9]{12})/g, (_all, id: string) => `/file/<${getPlaceholder(id, recorded)}>`)
        .replace(
          /"expires":(\d+)/g,
          (_all, until: string) => `"expires":<time + ${roundLifetime(Number(until) - time)}>`,
        )
        .replace(/"time":\d+/g, '"time":<time>')
        .replace(/\\u003([ce])/g, (_all, letter: string) => (letter === 'c' ? '<' : '>'));
    });
}

/** Rounds to ten seconds: a file is written before its message gets a time, so a second may pass in between. */
function roundLifetime(seconds: number): string {
  return String(Math.round(seconds / 10) * 10);
}

const currentIds: string[] = [];
/** Ids of this server appear first and in the order of the recorded ones. */
function getPlaceholder(id: string, recorded: boolean): string {
  if (!recorded) {
    const isKnown = [...ids.values()].includes(id);
    if (!isKnown && !currentIds.includes(id)) currentIds.push(id);
    return id;
  }
  let actualId = ids.get(id);
  if (actualId === undefined) {
    actualId = currentIds.shift() ?? '?';
    ids.set(id, actualId);
  }
  return actualId;
}
