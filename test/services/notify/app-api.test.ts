import * as problems from '#messages/notify-problems';
import * as texts from '#messages/notify-texts';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotifyKey } from '../../../services/contracts/notify/api.ts';
import type { DestinationForm } from '../../../services/contracts/notify/forms.ts';
import type { NotifyHistoryEntry } from '../../../services/contracts/notify/history.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

describe('the app API of notify', () => {
  let host: TestHost;
  let base: string;
  let status = 200;
  let receiver: Server;
  let searchText = '';
  let baseUrl: string;
  const seen: string[] = [];
  beforeAll(async () => {
    host = await openTestHost({ services: [notify, push, inbox, control] });
    base = host.url('control');
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''} ${body}`);
        response.writeHead(status).end(searchText);
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    baseUrl = `127.0.0.1:${String((receiver.address() as AddressInfo).port)}`;
  });
  afterAll(async () => {
    receiver.close();
    await host[Symbol.asyncDispose]();
  });

  const ask = (method: string, path: string, body?: unknown): Promise<any> =>
    api(base, `/api/notify${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const refusal = (method: string, path: string, body?: unknown): Promise<string> =>
    ask(method, path, body).then(
      () => 'none',
      (error: Error) => error.message,
    );
  const key = async (name: string): Promise<NotifyKey | undefined> =>
    ((await ask('GET', '/keys')).keys as NotifyKey[]).find((entry) => entry.key === name);

  it('checks a configuration without saving it or returning a secret', async () => {
    const text = 'urls:\n  - json://bob:sesame@nas/x:\n      tag: night\n  - nonsense\n';
    const preview = await ask('POST', '/preview', { text });
    expect(preview).toMatchObject({
      format: 'yaml',
      destinations: [{ line: 2, service: 'JSON', effectiveTags: ['night'] }],
      skipped: [{ line: 4, reason: problems.lineNotADestination() }],
    });
    expect(JSON.stringify(preview)).not.toContain('sesame');
    expect((await ask('GET', '/keys')).keys).toHaveLength(1);
  });

  it('adds, changes and removes destinations without ever showing a secret', async () => {
    expect((await key('aggregator'))?.destinations.map(({ url }) => url)).toEqual(['inbox://', 'push://homeport']);
    await ask('POST', '/keys/family/destinations', {
      url: `json://bob:sesame@${baseUrl}/hook`,
      tags: ['nas', 'alerts'],
    });
    const [first] = (await key('family'))?.destinations ?? [];
    expect(first).toMatchObject({
      line: 1,
      service: 'JSON',
      tags: ['nas', 'alerts'],
      effectiveTags: ['nas', 'alerts'],
    });
    expect(first?.url).toContain('****');
    expect(JSON.stringify(await ask('GET', '/keys'))).not.toContain('sesame');
    await ask('PUT', '/keys/family/destinations', { line: 1, id: first?.id, tags: ['nas'] });
    const updatedKey = await key('family');
    expect(updatedKey?.destinations[0]).toMatchObject({ id: first?.id, tags: ['nas'] });
    // The secret is still stored: Apprise API's own route returns it to the owner.
    const text = await fetch(`${host.url('notify')}/get/family`, { method: 'POST' }).then((answer) => answer.text());
    expect(text).toContain('sesame');
    const stale = await refusal('PUT', '/keys/family/destinations', { line: 1, id: 'other', tags: [] });
    expect(stale).toContain('409');
    await ask('POST', '/keys/family/destinations/remove', { line: 1, id: first?.id });
    expect((await key('family'))?.destinations).toEqual([]);
    await ask('DELETE', '/keys/family');
    expect(await key('family')).toBeUndefined();
    expect(await refusal('DELETE', '/keys/family')).toContain('404');
  });

  it('keeps comments, groups and line breaks of a hand-written key', async () => {
    const config = '# mine\r\nhome = nas\r\nnas=inbox://\r\nnonsense here\r\npush://hall\r\n';
    await fetch(`${host.url('notify')}/add/written`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ config, format: 'text' }),
    });
    const before = await key('written');
    expect(before?.destinations.map(({ tags, effectiveTags }) => [tags, effectiveTags])).toEqual([
      [['nas'], ['nas', 'home']],
      [[], []],
    ]);
    expect(before?.skipped).toEqual([{ line: 4, reason: problems.lineNotADestination() }]);
    await ask('PUT', '/keys/written/destinations', { ...before?.destinations[1], url: 'push://garden', tags: ['out'] });
    await ask('POST', '/keys/written/destinations', { url: 'inbox://', tags: [] });
    const text = await fetch(`${host.url('notify')}/get/written`, { method: 'POST' }).then((answer) => answer.text());
    expect(text).toBe('# mine\r\nhome = nas\r\nnas=inbox://\r\nnonsense here\r\nout=push://garden\r\ninbox://\n');
  });

  it('explains an invalid address, key or tag', async () => {
    const add = (url: string): Promise<string> => refusal('POST', '/keys/x/destinations', { url });
    expect(await add('not an address')).toContain(problems.notAnAddress());
    expect(await add('teleport://x')).toContain(problems.schemeUnsupported({ scheme: 'teleport' }));
    expect(await add('inbox://\nother=json://evil')).toContain('422');
    expect(await refusal('POST', '/keys/no%20key/destinations', { url: 'inbox://' })).toContain('422');
    expect(await refusal('GET', '/keys/aggregator/choose?tag=%3F%3F')).toContain('422');
    expect(await key('x')).toBeUndefined();
  });

  it('returns the destinations of a notification, with the reason', async () => {
    for (const tags of [['nas'], ['nas', 'night'], [], ['always']]) {
      await ask('POST', '/keys/choice/destinations', { url: `json://${baseUrl}/${tags.join('-')}`, tags });
    }
    const getRecipients = async (tag: string): Promise<string[]> =>
      (await ask('GET', `/keys/choice/choose?tag=${encodeURIComponent(tag)}`)).destinations.map(
        ({ chosen, why }: { chosen: boolean; why: string }) => `${chosen ? 'yes' : 'no'}: ${why}`,
      );
    expect(await getRecipients('nas')).toEqual([
      `yes: ${texts.tagSelected({ count: 1, tags: 'nas' })}`,
      `yes: ${texts.tagSelected({ count: 1, tags: 'nas' })}`,
      `no: ${texts.noTag()}`,
      `yes: ${texts.alwaysSelected()}`,
    ]);
    expect(await getRecipients('nas night')).toEqual([
      `no: ${texts.tagMissing({ count: 1, tags: 'night' })}`,
      `yes: ${texts.tagSelected({ count: 2, tags: 'nas and night' })}`,
      `no: ${texts.noTag()}`,
      `yes: ${texts.alwaysSelected()}`,
    ]);
    expect((await getRecipients('other, more'))[0]).toBe(`no: ${texts.anyTagMissing({ tags: 'other or more' })}`);
    expect(new Set(await getRecipients('all'))).toEqual(
      new Set([`yes: ${texts.allSelected()}`, `yes: ${texts.alwaysSelected()}`]),
    );
    expect(new Set(await getRecipients(''))).toEqual(new Set([`yes: ${texts.everyoneSelected()}`]));
  });

  it('returns the response of each destination to a test, with masked secrets', async () => {
    await ask('POST', '/keys/trial/destinations', {
      url: `json://bob:sesame@${baseUrl}/one?+X-Key=hush123`,
      tags: ['a'],
    });
    await ask('POST', '/keys/trial/destinations', { url: 'inbox://', tags: ['b'] });
    expect((await key('trial'))?.destinations.map(({ health }) => health)).toEqual([null, null]);
    [status, searchText] = [200, 'Taken, bob with sesame and hush123.'];
    const fine = (await ask('POST', '/keys/trial/test', {})).results;
    expect(fine).toMatchObject([
      { line: 1, ok: true, status: 200, words: 'Taken, bob with **** and ****.' },
      { line: 2, ok: true, status: null, words: '', detail: 'Sent Inbox notification.' },
    ]);
    expect((await key('trial'))?.destinations[0]?.health).toMatchObject({ state: 'done' });
    const good = (await key('trial'))?.destinations[0]?.health?.lastSuccess;
    [status, searchText] = [403, 'No entry for sesame.'];
    const refused = (await ask('POST', '/keys/trial/test', { line: 1 })).results;
    expect(refused).toMatchObject([{ line: 1, ok: false, status: 403, words: 'No entry for ****.' }]);
    expect(refused[0].detail).toBe('Failed to send JSON POST notification, error=403: it does not allow this.');
    expect(refused[0].durationMs).toBeGreaterThanOrEqual(0);
    expect((await key('trial'))?.destinations[0]?.health).toMatchObject({ state: 'dead', lastSuccess: good });
    [status, searchText] = [200, ''];
  });

  it('returns a form for each kind, and keeps arguments that it does not contain', async () => {
    const forms: DestinationForm[] = (await ask('GET', '/forms')).forms;
    expect(forms.map(({ scheme }) => scheme)).toEqual(expect.arrayContaining(['inbox', 'push', 'json', 'ntfy']));
    const add = (scheme: string, values: object, tags: string[] = []): Promise<NotifyKey> =>
      ask('POST', '/keys/forms/destinations', { form: { scheme, values }, tags });
    const [host, port] = baseUrl.split(':');
    const values = { host, port, secure: false, path: '/a b?', user: 'bob', password: 'p@ss/word', method: 'PUT' };
    await add('json', { ...values, authorization: '', format: '' });
    await add('ntfy', { topics: 'one, two', host: '', token: 'tk_very_secret', secure: true });
    await add('push', { topic: 'hall', priority: '5' });
    await add('inbox', {});
    const destinations = (await key('forms'))?.destinations ?? [];
    expect(destinations.map(({ service }) => service)).toEqual(['JSON', 'ntfy', 'Push', 'Inbox']);
    const filled = (line: number, id = destinations[line - 1]?.id): Promise<any> =>
      ask('GET', `/keys/forms/destinations/${String(line)}/form?id=${id ?? ''}`);
    expect(await filled(1)).toMatchObject({ scheme: 'json', values: { host, port, user: 'bob' }, set: ['password'] });
    expect(await filled(2)).toMatchObject({ scheme: 'ntfy', values: { host: '', topics: 'one, two' }, set: ['token'] });
    expect(JSON.stringify([await filled(1), await filled(2)])).not.toMatch(/p@ss|very_secret/);
    // An empty field keeps the password; removing the field deletes it.
    const change = (overrides: object): Promise<NotifyKey> =>
      ask('PUT', '/keys/forms/destinations', {
        ...{ line: 1, tags: ['x'], form: { scheme: 'json', values: { ...values, password: '', ...overrides } } },
        id: destinations[0]?.id,
      });
    await change({});
    seen.length = 0;
    await ask('POST', '/keys/forms/test', { line: 1 });
    expect(seen[0]).toContain(`PUT /a%20b%3F Basic ${Buffer.from('bob:p@ss/word').toString('base64')}`);
    const changed = await change({ password: null });
    expect(changed.destinations[0]?.url).toContain('json://bob@');
    await expect(add('json', { host: 'evil.example/path' })).rejects.toThrow(problems.hostInvalid());
    await expect(add('json', {})).rejects.toThrow(problems.valueMissing());
    await expect(add('push', { topic: 'hall', priority: '9' })).rejects.toThrow(problems.choiceInvalid());
    await expect(add('teleport', {})).rejects.toThrow(problems.kindUnsupported());
  });

  it('creates, renames, exports and imports keys', async () => {
    await ask('POST', '/keys', { key: 'house', text: 'nas=json://bob:sesame@nas.example/x\nbroken json:/secret\n' });
    expect(await refusal('POST', '/keys', { key: 'house' })).toContain('409');
    await ask('POST', '/keys/house/rename', { to: 'home' });
    expect(await refusal('POST', '/keys/home/rename', { to: 'aggregator' })).toContain('409');
    expect(await key('house')).toBeUndefined();
    const masked = (await ask('GET', '/keys/home/text')).text as string;
    expect(masked).toContain('nas=json://bob:****@nas.example/x');
    expect(masked).not.toMatch(/sesame|secret/);
    const { text } = await ask('GET', '/keys/home/text?secrets=true');
    expect(text).toBe('nas=json://bob:sesame@nas.example/x\nbroken json:/secret\n');
    await ask('PUT', '/keys/home/text', { text: 'inbox://\n' });
    expect((await key('home'))?.destinations.map(({ service }) => service)).toEqual(['Inbox']);
  });

  it('reads, changes and exports a key that is written as YAML', async () => {
    const text = `# kept\nversion: 1\ntag: base\nurls:\n  - json://bob:sesame@${baseUrl}/y:\n      tag: nas\n`;
    expect(await ask('POST', '/keys', { key: 'yaml', text })).toMatchObject({
      format: 'yaml',
      destinations: [{ line: 5, tags: ['nas'], effectiveTags: ['base', 'nas'] }],
    });
    await ask('POST', '/keys/yaml/destinations', { url: 'inbox://', tags: ['a'] });
    const [first, second] = (await key('yaml'))?.destinations ?? [];
    expect(second).toMatchObject({ service: 'Inbox', effectiveTags: ['base', 'a'] });
    await ask('PUT', '/keys/yaml/destinations', { line: second?.line, id: second?.id, tags: ['b'] });
    expect((await ask('GET', '/keys/yaml/text')).text).toMatch(/^nas=json:\/\/bob:\*{4}@.*\nb=inbox:\/\/\n$/);
    await ask('POST', '/keys/yaml/destinations/remove', { line: first?.line, id: first?.id });
    const configurationText = await ask('GET', '/keys/yaml/text?secrets=true');
    expect(configurationText).toMatchObject({ format: 'yaml', text: expect.stringContaining('# kept') });
    expect(configurationText.text).not.toContain('sesame');
    expect((await key('yaml'))?.destinations.map(({ effectiveTags }) => effectiveTags)).toEqual([['base', 'b']]);
  });

  it('can limit calls without a tag to untagged destinations, as Apprise API does', async () => {
    await ask('POST', '/keys', { key: 'peer', text: `json://${baseUrl}/bare\nnas=json://${baseUrl}/tagged\n` });
    const to = async (): Promise<readonly string[]> => {
      seen.length = 0;
      const body = new URLSearchParams({ body: 'x' });
      expect((await fetch(`${host.url('notify')}/notify/peer`, { method: 'POST', body })).status).toBe(200);
      return seen.map((line) => /\/\w+/.exec(line)?.[0] ?? '').toSorted();
    };
    expect(await to()).toEqual(['/bare', '/tagged']);
    const chosen = await ask('PUT', '/keys/peer/options', { withoutTag: 'untagged' });
    expect(chosen.options).toMatchObject({ withoutTag: 'untagged' });
    expect(await to()).toEqual(['/bare']);
    const { destinations } = await ask('GET', '/keys/peer/choose');
    expect(destinations.map(({ chosen: reached }: { chosen: boolean }) => reached)).toEqual([true, false]);
    expect(await refusal('PUT', '/keys/nokey/options', {})).toContain('404');
  });

  it('finds old notifications by words and resends one', async () => {
    await ask('POST', '/keys/past/destinations', { url: `json://${baseUrl}/past`, tags: [] });
    const post = (title: string, body: string) =>
      fetch(`${host.url('notify')}/notify/past`, { method: 'POST', body: new URLSearchParams({ title, body }) });
    for (let index = 0; index < 7; index += 1)
      await post(`Backup ${String(index)}`, `It is 100% done_${String(index)}`);
    const list = async (query: string): Promise<NotifyHistoryEntry[]> =>
      (await ask('GET', `/notices?key=past${query}`)).notices;
    expect((await list('&q=BACKUP%20done_3')).map(({ title }) => title)).toEqual(['Backup 3']);
    expect(await list('&q=1%250')).toEqual([]);
    expect(await list('&state=dead')).toEqual([]);
    expect(await list('&state=done')).toHaveLength(7);
    const pages: string[] = [];
    for (let last = ''; ; last = `&before=${(await list(`&limit=3${last}`)).at(-1)?.id ?? ''}`) {
      const page = await list(`&limit=3${last}`);
      if (page.length === 0) break;
      pages.push(...page.map(({ title }) => title));
    }
    expect(pages).toEqual((await list('')).map(({ title }) => title));
    expect(new Set(pages).size).toBe(7);
    seen.length = 0;
    const [newest] = await list('');
    expect(await ask('POST', `/notices/${newest?.id ?? ''}/send`)).toEqual({ destinations: 1, filesGone: 0 });
    expect(seen.join()).toContain(newest?.title ?? 'no title');
    expect(await list('')).toHaveLength(8);
    expect(await refusal('POST', '/notices/nothing/send')).toContain('404');
    await post('STÖRUNG am Tor', 'Мотор встал');
    for (const text of ['störung', 'STÖRUNG', 'tor мотор', 'ВСТАЛ'.toLowerCase()]) {
      expect((await list(`&q=${encodeURIComponent(text)}`)).map(({ title }) => title)).toEqual(['STÖRUNG am Tor']);
    }
  });

  it('lists a history whose failed deliveries can be retried or dropped', async () => {
    await ask('POST', '/keys/late/destinations', { url: `json://${baseUrl}/late`, tags: [] });
    status = 403;
    const post = () =>
      fetch(`${host.url('notify')}/notify/late`, { method: 'POST', body: new URLSearchParams({ body: 'x' }) });
    for (let index = 0; index < 3; index += 1) await post();
    const dead = async (): Promise<NotifyHistoryEntry[]> =>
      (await ask('GET', '/notices?state=dead')).notices.filter(({ key: name }: NotifyHistoryEntry) => name === 'late');
    await expect.poll(async () => (await dead()).filter(({ deliveries }) => deliveries[0]?.givenUp).length).toBe(3);
    const [first, second] = await dead();
    const named = (notification: NotifyHistoryEntry | undefined) => ({
      notice: notification?.id,
      destination: notification?.deliveries[0]?.destination,
    });
    status = 200;
    await ask('POST', '/deliveries/retry', named(first));
    await expect.poll(async () => (await dead()).length).toBe(2);
    await ask('POST', '/deliveries/drop', named(second));
    const dropped = (await dead()).find(({ id }) => id === second?.id);
    expect(dropped?.deliveries[0]).toMatchObject({ state: 'dead', givenUp: false });
    expect(await ask('POST', '/deliveries/retry-all')).toEqual({ retried: 1 });
    await expect.poll(async () => (await dead()).length).toBe(1);
    expect(await refusal('POST', '/deliveries/retry', named(second))).toContain('404');
    expect(host.log.join('\n')).not.toContain('sesame');
  });
});
