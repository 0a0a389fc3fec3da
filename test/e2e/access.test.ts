import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Grant } from '../../services/contracts/control/accounts.ts';
import type { RouteAccess } from '../../services/contracts/route-access.ts';
import { api } from '../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import { buildExample, listOperations, type Operation } from '../support/openapi-calls.ts';
import { openEvents } from '../services/control/event-stream.ts';

/** Timeout for a busy computer. */
const waitOptions = { timeout: 30_000, interval: 50 };
const walk = { timeout: 240_000 };
/** Marks all content of another account. */
const nugget = 'NUGGET';
/** Private topic, and a topic that the account `gardener` may use. */
const hidden = `${nugget}-topic`;
const lawn = 'lawn';
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnCsyGeNZzqQaeQro70kBf152qxy1Oq41OUqB74NYBl a@b';
const endpoint = `https://fcm.googleapis.com/fcm/send/${nugget}`;

/** Routes without authentication. Review the consequences before adding one. */
const open = [
  'GET /api/session',
  'POST /api/session',
  'POST /api/session/link',
  'POST /api/session/link/use',
  'POST /api/session/passkey',
  'POST /api/session/second-step',
  'POST /api/setup',
  'POST /api/push/acknowledge',
];

let host: TestHost;
let base: string;
let document: any;
let operations: readonly Operation[];
/** Authorization header of each identity. */
const identities: Record<string, string> = {};
/** Ids of tokens, which their owners may well revoke. */
const ownTokens = new Set<string>();

beforeAll(async () => {
  host = await openTestHost();
  base = host.url('control');
  document = await api(base, '/api/openapi.json');
  operations = listOperations(document);
  await seed();
  const push = (resource: string, permission: Grant['permission']): Grant => ({
    service: 'push',
    resource,
    permission,
  });
  const downloads = (permission: Grant['permission']): Grant => ({ service: 'downloads', resource: '*', permission });
  identities['plain'] = await account('plain');
  identities['gardener'] = await account('gardener', { grants: [push(lawn, 'read-write')] });
  identities['watcher'] = await account('watcher', { grants: [downloads('read')] });
  identities['robot'] = await account('robot', {
    kind: 'service',
    grants: [push('*', 'read-write'), downloads('read-write')],
  });
  identities['deputy'] = await account('deputy', { kind: 'service', role: 'admin' });
  identities['expired'] = await account('late', {}, Date.now() + 2000);
  identities['revoked'] = await account('gone');
  identities['switched off'] = await account('off');
  await api(base, '/api/accounts/gone/tokens').then(async (reply) => {
    const [token] = (reply as { tokens: readonly { id: string }[] }).tokens;
    await api(base, `/api/accounts/gone/tokens/${token?.id ?? ''}`, { method: 'DELETE' });
  });
  await send('PATCH', '/api/accounts/off', { enabled: false });
  const limited = { label: 'limited', scopes: [push(lawn, 'read-write')] };
  identities['limited'] = await send('POST', '/api/accounts/ada/tokens', limited).then(({ token, text }) => {
    ownTokens.add(token.id);
    return `Bearer ${text}`;
  });
  identities['wrong'] = `Bearer tk_${'x'.repeat(29)}`;
  identities['administrator'] = adminAuthorization;
  const late = { headers: { Authorization: identities['expired'] } };
  await vi.waitFor(async () => expect((await fetch(`${base}/api/account`, late)).status).toBe(401), waitOptions);
});
afterAll(() => host[Symbol.asyncDispose]());

const send = (method: string, path: string, body: unknown): Promise<any> =>
  api(base, path, { method, body: JSON.stringify(body) });

async function account(name: string, overrides: object = {}, expiresAt: number | null = null): Promise<string> {
  await send('POST', '/api/accounts', { name, ...overrides });
  const { token, text } = await send('POST', `/api/accounts/${name}/tokens`, { label: 'own', expiresAt });
  ownTokens.add(token.id);
  return `Bearer ${text}`;
}

/** Ids of objects of the administrator, one for each kind. */
async function seed(): Promise<void> {
  const message = { message: nugget, title: nugget, tags: [nugget] };
  await send('POST', '/api/push/messages', { topic: hidden, ...message });
  await send('POST', '/api/push/messages', { topic: hidden, ...message, delay: '2h' });
  await send('POST', '/api/push/messages', { topic: lawn, message: 'grass' });
  const schedule = { topic: hidden, ...message, rule: '0 9 * * *', zone: 'UTC' };
  await send('POST', '/api/push/schedules', schedule);
  await fetch(`${host.url('push')}/${hidden}?message=${nugget}`, {
    method: 'PUT',
    headers: { Authorization: adminAuthorization, Filename: `${nugget}.txt` },
    body: nugget,
  });
  await send('PUT', '/api/push/quiet', { rules: [{ topics: `${nugget}*`, mode: 'silent' }] });
  await send('PUT', '/api/push/browsers', { endpoint, auth: 'YXV0aA', p256dh: 'cDI1NmRo', topics: [hidden] });
  await send('POST', '/api/account-links/invitations', { name: nugget });
  await send('POST', '/api/notify/keys', {
    key: nugget,
    text: `inbox://\njson://127.0.0.1:9/${nugget}`,
  });
  await fetch(`${host.url('notify')}/notify/${nugget}`, {
    method: 'POST',
    body: new URLSearchParams({ title: nugget, body: nugget }),
  });
  await send('PATCH', '/api/settings/mail', { recipients: [{ address: nugget, to: 'inbox://' }] });
  // An internal address is refused, and the history shows the reason.
  await fetch(`${base}/api/downloads`, {
    method: 'POST',
    headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: `http://127.0.0.1:1/${nugget}`, quality: 'best' }),
  });
  const cookies = `# Netscape HTTP Cookie File\n.${nugget}.example\tTRUE\t/\tTRUE\t1999999999\tname\tvalue\n`;
  await send('PUT', '/api/downloads/cookies', { text: cookies });
  await send('POST', '/api/mail/test', { address: `${nugget}@nugget.example` });
  await send('POST', '/api/accounts/ada/tokens', { label: nugget });
  await api(host.url('git'), '/api/v1/user/repos', {
    method: 'POST',
    body: JSON.stringify({ name: nugget, description: nugget, private: true, auto_init: true }),
  });
  await send('POST', '/api/git/keys', { title: nugget, key: publicKey });
  await send('POST', '/api/backups', {});
  await vi.waitFor(async () => {
    const { items } = await api<{ items: readonly unknown[] }>(base, `/api/inbox?q=${nugget}`);
    expect(items.length).toBeGreaterThan(2);
  }, waitOptions);
}

interface CallResult {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

async function call(operation: Operation, path: string, authorization?: string, body?: unknown): Promise<CallResult> {
  const reply = await fetch(base + path, {
    method: operation.method,
    headers: {
      ...(authorization === undefined ? {} : { Authorization: authorization }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(operation.takesBytes && { body: 'bytes' }),
  });
  const text = await reply.text();
  return { status: reply.status, code: /^\{"error":\{"code":"([^"]*)"/.exec(text)?.[1] ?? '', text };
}

/** Reads everything that an administrator can read, by address: first the lists, then their objects. */
async function readAll(): Promise<ReadonlyMap<string, unknown>> {
  const reads = operations.filter(({ method }) => method === 'GET');
  const responses = new Map<string, unknown>();
  for (const operation of reads.filter((each) => !namesObjects(each))) {
    const path = operation.path + buildQuery(operation);
    const { status, text } = await call(operation, path, adminAuthorization);
    expect(`${path} ${String(status)}`).toBe(`${path} 200`);
    responses.set(path, JSON.parse(text));
  }
  const ids = idsIn(responses);
  for (const operation of reads.filter(namesObjects)) {
    for (const path of filled(operation, ids)) {
      const { status, text } = await call(operation, path, adminAuthorization);
      // An archive contains its creation time, so each one is different.
      const isArchive = text.includes('\0');
      if (status === 200 && !isArchive) responses.set(path, text.startsWith('{') ? JSON.parse(text) : text);
    }
  }
  return responses;
}

/** Returns whether a route reads objects that its address names, so that it answers only with an existing one. */
function namesObjects({ path, parameters }: Operation): boolean {
  return path.includes('{') || parameters.some(({ name }) => name === 'uids');
}

/** Parameters that a route requires. */
function buildQuery({ parameters }: Operation): string {
  const values: Record<string, string> = {
    ...{ rule: '0 9 * * *', zone: 'UTC', address: 'a@b.example', service: 'push' },
    ...{ permission: 'read', resource: 'x', ids: '1', at: encodeURIComponent(tmpdir()), what: 'delete' },
    commit: '0'.repeat(40),
  };
  const needed = parameters.filter((one) => one.in === 'query' && one.required);
  return needed.length === 0 ? '' : `?${needed.map(({ name }) => `${name}=${values[name] ?? 'x'}`).join('&')}`;
}

/** Ids and names of existing objects, by the second segment of their path. */
function idsIn(read: ReadonlyMap<string, unknown>): ReadonlyMap<string, ReadonlySet<string>> {
  const idsByField = new Map<string, Set<string>>();
  const checkValue = (value: unknown, area: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const isId = ['id', 'uid', 'key', 'name', 'topic', 'account', 'sequence'].includes(key);
      if (isId && ['string', 'number'].includes(typeof inner)) {
        if (!idsByField.has(area)) idsByField.set(area, new Set());
        // An invitation without a name has no account.
        const isObject = inner !== '' && !ownTokens.has(String(inner));
        if (isObject) idsByField.get(area)?.add(String(inner));
      }
      checkValue(inner, area);
    }
  };
  // The kinds of remotes and their hundreds of options are no objects.
  for (const [path, value] of read) if (path !== '/api/sync/providers') checkValue(value, getArea(path));
  return idsByField;
}

function getArea(path: string): string {
  return (path.split('/')[2] ?? '').replace(/\?.*$/, '');
}

/** Returns the addresses of an operation, with each known ID of its area as its last parameter. */
function filled({ path, parameters }: Operation, idsByArea: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const areas = [...idsByArea].filter(([area]) => area.startsWith(getArea(path)) || getArea(path).startsWith(area));
  const ids = [...new Set(areas.flatMap(([, some]) => [...some]))];
  const withTopic = path
    .replace('{topic}', hidden)
    .replace('{key}', nugget)
    .replace(/\{(account|owner)\}/, 'ada');
  if (parameters.some(({ name }) => name === 'uids'))
    return [`${withTopic}?uids=${ids.map(encodeURIComponent).join(',')}`];
  if (!withTopic.includes('{')) return [withTopic];
  return ids.map((id) => withTopic.replace(/\{\w+\}/g, encodeURIComponent(id)));
}

/** Bodies that pass the schema and refer to objects of other accounts. */
function buildBodies(
  { body }: Operation,
  idsByArea: ReadonlyMap<string, ReadonlySet<string>>,
  path: string,
): unknown[] {
  if (body === undefined) return [undefined];
  const ids = [...(idsByArea.get(getArea(path)) ?? [])];
  const numbers = ids.map(Number).filter(Number.isSafeInteger);
  const values = {
    ...{
      topic: hidden,
      endpoint,
      auth: 'other',
      p256dh: 'other',
      topics: [],
      color: '00aabb',
      rule: '0 9 * * *',
      zone: 'UTC',
      at: '1h',
    },
    ...{
      ids: getArea(path) === 'inbox' ? numbers : ids,
      uids: ids,
      uid: ids[0],
      url: 'http://127.0.0.1:1/x',
      paths: ['/api/downloads/1/file'],
      quiet: [],
    },
    ...{ grants: [], actions: [], delay: '', rules: [], starts: null, ends: null },
    ...{ language: 'de', password: 'long enough it is', current: 'not it', message: 'mine', expiresAt: null, tags: [] },
  };
  return [0, 9].map((alternative) => buildExample(body, document, values, alternative));
}

/** Returns the administrator's replies that contain the marker, without fields that change over time. */
async function nuggets(): Promise<ReadonlySet<string>> {
  const fields = new Set<string>();
  const checkValue = (value: unknown, describeOperation: string): void => {
    if (Array.isArray(value)) return value.forEach((inner) => checkValue(inner, describeOperation));
    const text = JSON.stringify(value, (key, inner: unknown) =>
      [
        'health',
        'lastUsedAt',
        'lastUsedFrom',
        'attempts',
        'nextAt',
        'state',
        'reason',
        'delivered',
        'unread',
        'total',
      ].includes(key)
        ? undefined
        : inner,
    );
    if (!text.includes(nugget)) return;
    const lists = typeof value === 'object' && value !== null ? Object.values(value).filter(Array.isArray) : [];
    if (lists.some((list) => JSON.stringify(list).includes(nugget)))
      lists.forEach((list) => checkValue(list, describeOperation));
    else fields.add(`${describeOperation} ${text}`);
  };
  const volatile = /\/(log|report|statistics|notices|deliveries|jobs)\b/;
  for (const [path, value] of await readAll()) if (!volatile.test(path)) checkValue(value, path);
  return fields;
}

const formatOperation = ({ method, path }: Operation): string => `${method} ${path}`;

describe('every route of the app API', () => {
  it('declares its access', () => {
    expect(operations.length).toBeGreaterThan(90);
    for (const operation of operations) {
      const { access } = operation;
      const accessLabel = typeof access === 'object' ? Object.keys(access ?? {}).toSorted() : access;
      expect([formatOperation(operation), accessLabel]).toEqual([
        formatOperation(operation),
        typeof access === 'object'
          ? ['permission', 'resource', 'service']
          : (expect.stringMatching(/^(public|user|objects|admin)$/) as unknown),
      ]);
    }
    expect(
      operations
        .filter(({ access }) => access === 'public')
        .map(formatOperation)
        .toSorted(),
    ).toEqual(open.toSorted());
  });

  it.each(['none', 'wrong', 'revoked', 'expired', 'switched off'])(
    'rejects a caller with this credential: %s',
    walk,
    async (callerName) => {
      for (const operation of operations.filter(({ access }) => access !== 'public')) {
        const path = operation.path.replace(/\{\w+\}/g, 'nothing');
        const { status } = await call(operation, path, identities[callerName], operation.body && {});
        expect([formatOperation(operation), status]).toEqual([
          formatOperation(operation),
          callerName === 'none' ? 401 : (expect.toSatisfy((code: number) => code === 401 || code === 429) as unknown),
        ]);
      }
    },
  );

  it('rejects a service account regardless of its grants', async () => {
    for (const operation of operations.filter(({ access }) => access !== 'public')) {
      const path = operation.path.replace(/\{\w+\}/g, 'nothing');
      const { status, code } = await call(operation, path, identities['robot'], operation.body && {});
      expect([formatOperation(operation), status, code]).toEqual([formatOperation(operation), 403, 'api.people_only']);
    }
  });

  it('rejects a scoped token of an administrator outside of its scopes', async () => {
    for (const operation of operations.filter(({ access }) => access !== 'public')) {
      const path = operation.path.replace(/\{\w+\}/g, 'nothing');
      const { status, code } = await call(operation, path, identities['limited'], operation.body && {});
      const refusal = expect.stringMatching(/^api\.(limited_token|admin_only)$|\.forbidden$/) as unknown;
      expect([formatOperation(operation), status, code]).toEqual([formatOperation(operation), 403, refusal]);
    }
    const headers = { Authorization: identities['limited'] ?? '' };
    expect((await fetch(`${base}/api/push/topics/${lawn}/messages`, { headers })).status).toBe(200);
    const account = `${host.url('push')}/v1/account`;
    expect((await fetch(`${account}/token`, { method: 'POST', headers, body: '{}' })).status).toBe(401);
    expect((await fetch(account, { method: 'DELETE', headers, body: '{}' })).status).toBe(401);
    const accountBody = (await (await fetch(account, { headers })).json()) as object;
    expect(accountBody).toMatchObject({ username: 'ada', role: 'user' });
    for (const field of ['tokens', 'sync_topic', 'subscriptions', 'reservations'])
      expect(accountBody).not.toHaveProperty(field);
  });

  it.each(['administrator', 'deputy'])('accepts the %s', walk, async (callerName) => {
    const refused: string[] = [];
    for (const operation of operations.filter(({ access }) => access !== 'public')) {
      const path = operation.path.replace(/\{\w+\}/g, 'nothing') + buildQuery(operation);
      const { code, text } = await call(operation, path, identities[callerName], operation.body && {});
      const isRefusal = /^api\.(sign_in|people_only|admin_only)$|\.forbidden$/.test(code);
      if (isRefusal) refused.push(`${formatOperation(operation)} ${text}`);
    }
    expect(refused).toEqual([]);
  });

  it.each(['plain', 'gardener', 'watcher'])(
    'returns and changes no data of other accounts for this account: %s',
    walk,
    async (callerName) => {
      const before = await nuggets();
      // A walk that meets nothing would find nothing.
      expect(before.size).toBeGreaterThan(12);
      const idsByArea = idsIn(await readAll());
      const shallow: string[] = [];
      for (const operation of operations.filter(({ access }) => access !== 'public')) {
        const access = operation.access as RouteAccess;
        const granted =
          callerName === 'watcher' &&
          typeof access === 'object' &&
          access.service === 'downloads' &&
          access.permission === 'read';
        const refused = access === 'admin' || (typeof access === 'object' && !granted);
        const paths = filled(operation, idsByArea);
        const codes = new Set<string>();
        for (const path of paths) {
          for (const body of buildBodies(operation, idsByArea, path)) {
            const response = await call(operation, path + buildQuery(operation), identities[callerName], body);
            codes.add(response.code);
            const description =
              `${callerName}: ${operation.method} ${path} ${JSON.stringify(body) ?? ''} -> ${String(response.status)} ` +
              `${response.text}`;
            if (refused) expect(response.status, description).toBe(403);
            else expect(response.status, description).not.toBe(401);
            if (granted) continue;
            // A refusal may repeat text of the request.
            if (response.status >= 400) expect(response.text.replaceAll(hidden, ''), description).not.toContain(nugget);
            else expect(response.text, description).not.toContain(nugget);
          }
        }
        if (!refused && [...codes].every((code) => code === 'api.invalid')) shallow.push(formatOperation(operation));
      }
      expect(shallow).toEqual([]);
      const after = await nuggets();
      expect([...before].filter((one) => !after.has(one))).toEqual([]);
    },
  );

  it('accepts accounts within their grants', async () => {
    const status = async (method: string, path: string, callerName: string, body?: unknown): Promise<number> =>
      (
        await call(
          { method, path, access: '', parameters: [], body: undefined, takesBytes: false },
          path,
          identities[callerName],
          body,
        )
      ).status;
    expect(await status('GET', `/api/push/topics/${lawn}/messages`, 'gardener')).toBe(200);
    expect(await status('POST', '/api/push/messages', 'gardener', { topic: lawn, message: 'mown' })).toBe(200);
    expect(await status('POST', '/api/push/messages', 'plain', { topic: lawn, message: 'mown' })).toBe(403);
    expect(await status('GET', '/api/downloads', 'watcher')).toBe(200);
    expect(await status('POST', '/api/downloads/pause', 'watcher', {})).toBe(403);
    expect(await status('GET', '/api/downloads', 'gardener')).toBe(403);
  });
});

describe('the push subscription of a browser', () => {
  it('cannot be listed, taken over or removed with its endpoint only', async () => {
    const sendRequest = async (callerName: string, method: string, path: string, body: object): Promise<unknown> => {
      const headers = { Authorization: identities[callerName] ?? '', 'Content-Type': 'application/json' };
      return (await fetch(base + path, { method, headers, body: JSON.stringify(body) })).json();
    };
    const refused = { error: { code: 'push.other_browser' } };
    const keys = { auth: 'b3RoZXI', p256dh: 'b3RoZXI' };
    expect(await sendRequest('gardener', 'POST', '/api/push/browsers/topics', { endpoint })).toEqual({ topics: [] });
    for (const topics of [[], [lawn]]) {
      const order = { endpoint, ...keys, topics };
      expect(await sendRequest('gardener', 'PUT', '/api/push/browsers', order)).toMatchObject(refused);
    }
    const adminTopics = await sendRequest('administrator', 'POST', '/api/push/browsers/topics', { endpoint });
    expect(adminTopics).toEqual({ topics: [hidden] });
  });
});

describe('the inbox of an account with a grant', () => {
  const read = async (callerName: string, path = '/api/inbox'): Promise<any> =>
    (await fetch(base + path, { headers: { Authorization: identities[callerName] ?? '' } })).json();
  const write = async (callerName: string, method: string, path: string, body: unknown): Promise<any> =>
    (
      await fetch(base + path, {
        method,
        headers: { Authorization: identities[callerName] ?? '', 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).json();

  it('lists rows of granted topics only, and marking all rows as read affects only these', async () => {
    await send('POST', '/api/push/messages', { topic: lawn, message: 'dew' });
    await vi.waitFor(async () => expect((await read('gardener')).items[0]).toMatchObject({ body: 'dew' }), waitOptions);
    const { items, unread, total, sources } = await read('gardener');
    expect(new Set(items.map(({ topic }: { topic: string }) => topic))).toEqual(new Set([lawn]));
    expect([unread, total, sources]).toEqual([items.length, items.length, ['push']]);
    expect(await read('plain')).toEqual({ items: [], unread: 0, total: 0, sources: [] });
    const search = async (callerName: string): Promise<unknown> =>
      (await read(callerName, '/api/inbox/search?q=dew')).items;
    expect(await search('gardener')).toMatchObject([{ body: 'dew' }]);
    expect(await search('plain')).toEqual([]);
    const [other] = (await read('administrator', `/api/inbox?q=${nugget}`)).items;
    expect(await read('gardener', `/api/inbox/${String(other.id)}`)).toMatchObject({
      error: { code: 'inbox.unknown' },
    });
    const ids = [other.id, items[0].id];
    expect(await write('gardener', 'PATCH', '/api/inbox', { ids, read: true })).toEqual({
      changed: 1,
      unread: unread - 1,
    });
    expect(await write('gardener', 'PATCH', '/api/inbox', { ids: 'all', read: true })).toMatchObject({ unread: 0 });
    expect(await read('administrator', `/api/inbox/${String(other.id)}`)).toMatchObject({ read: false });
    expect(await write('gardener', 'POST', '/api/inbox/remove', { ids })).toEqual({ removed: 1, unread: 0 });
    expect(await read('administrator', `/api/inbox/${String(other.id)}`)).toMatchObject({ id: other.id });
  });

  it('keeps its rows when the grant is read-only', async () => {
    identities['reader'] = await account('reader', {
      grants: [
        { service: 'push', resource: lawn, permission: 'read' },
        { service: 'inbox', resource: '*', permission: 'read' },
      ],
    });
    const { items } = await read('reader');
    expect(items.some(({ topic }: { topic: string }) => topic === '')).toBe(true);
    for (const { id } of items) {
      expect(await write('reader', 'POST', '/api/inbox/remove', { ids: [id] })).toMatchObject({
        error: { code: 'inbox.forbidden' },
      });
    }
    expect(await write('reader', 'PATCH', '/api/inbox', { ids: [items[0].id], done: true })).toMatchObject({
      changed: 1,
    });
  });
});

describe('the live event stream', () => {
  it('reaches each account within its permissions, also after a reconnect', async () => {
    const headers = (callerName: string) => ({ headers: { Authorization: identities[callerName] ?? '' } });
    await using plainEvents = await openEvents(base, headers('plain'));
    await using gardener = await openEvents(base, headers('gardener'));
    await using administrator = await openEvents(base, headers('administrator'));
    const start = plainEvents.lastId;
    await send('POST', '/api/push/messages', { topic: hidden, message: nugget });
    await send('PUT', '/api/downloads/limits', { speed: 2048, hours: [] });
    await send('POST', '/api/push/messages', { topic: lawn, message: 'the last' });
    const until = async (
      stream: typeof plainEvents,
      isExpected: (event: string, text: string) => boolean,
    ): Promise<string[]> => {
      const received: string[] = [];
      for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
        const text = JSON.stringify(event.data);
        received.push(`${event.event} ${text}`);
        if (isExpected(event.event, text)) return received;
      }
      throw new Error(`The stream ended after ${received.join('\n')}`);
    };
    const last = (event: string, text: string): boolean => event === 'inbox.added' && text.includes('the last');
    const all = await until(administrator, last);
    expect(all.some((line) => line.startsWith('inbox.added') && line.includes(nugget))).toBe(true);
    expect((await until(gardener, last)).join('\n')).not.toContain(nugget);
    // The account list changes for all accounts, and the stream of the plain account ends.
    await send('POST', '/api/accounts', { name: 'newcomer' });
    const accessEvent = await until(plainEvents, (event) => event === 'control.access');
    await using second = await openEvents(base, { ...headers('plain'), lastId: start });
    accessEvent.push(...(await until(second, (event) => event === 'control.access')));
    expect(
      accessEvent.filter((line) => !/^(control\.access|control\.service|push\.stored|push\.planned) /.test(line)),
    ).toEqual([]);
    expect(accessEvent.join('\n')).not.toContain(nugget);
  });
});
