import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotifyKey, NotifyNotice } from '../../../services/contracts/notify-api.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

describe('our own API around notify', () => {
  let host: TestHost;
  let base: string;
  let status = 200;
  let receiver: Server;
  let place: string;
  beforeAll(async () => {
    host = await openTestHost({ services: [notify, push, inbox, control] });
    base = host.url('control');
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    place = `127.0.0.1:${String((receiver.address() as AddressInfo).port)}`;
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
    ((await ask('GET', '/keys')).keys as NotifyKey[]).find((each) => each.key === name);

  it('adds, changes and removes destinations without ever showing a secret', async () => {
    expect((await key('aggregator'))?.destinations.map(({ url }) => url)).toEqual(['inbox://', 'push://homeport']);
    await ask('POST', '/keys/family/destinations', { url: `json://bob:sesame@${place}/hook`, tags: ['nas', 'alerts'] });
    const [first] = (await key('family'))?.destinations ?? [];
    expect(first).toMatchObject({ line: 1, service: 'JSON', tags: ['nas', 'alerts'], worn: ['nas', 'alerts'] });
    expect(first?.url).toContain('****');
    expect(JSON.stringify(await ask('GET', '/keys'))).not.toContain('sesame');
    await ask('PUT', '/keys/family/destinations', { line: 1, id: first?.id, tags: ['nas'] });
    const again = await key('family');
    expect(again?.destinations[0]).toMatchObject({ id: first?.id, tags: ['nas'] });
    // The secret is still there: the peer's own route shows it to the owner.
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
    expect(before?.destinations.map(({ tags, worn }) => [tags, worn])).toEqual([
      [['nas'], ['nas', 'home']],
      [[], []],
    ]);
    expect(before?.skipped).toEqual([{ line: 4, reason: 'it is no destination' }]);
    await ask('PUT', '/keys/written/destinations', { ...before?.destinations[1], url: 'push://garden', tags: ['out'] });
    await ask('POST', '/keys/written/destinations', { url: 'inbox://', tags: [] });
    const text = await fetch(`${host.url('notify')}/get/written`, { method: 'POST' }).then((answer) => answer.text());
    expect(text).toBe('# mine\r\nhome = nas\r\nnas=inbox://\r\nnonsense here\r\nout=push://garden\r\ninbox://\n');
  });

  it('says what is wrong with an address, a key or a tag', async () => {
    const add = (url: string): Promise<string> => refusal('POST', '/keys/x/destinations', { url });
    expect(await add('not an address')).toContain('it is no destination URL');
    expect(await add('teleport://x')).toContain('teleport:// is not served');
    expect(await add('inbox://\nother=json://evil')).toContain('422');
    expect(await refusal('POST', '/keys/no%20key/destinations', { url: 'inbox://' })).toContain('422');
    expect(await refusal('GET', '/keys/aggregator/choose?tag=%3F%3F')).toContain('422');
    expect(await key('x')).toBeUndefined();
  });

  it('tells who would get a notice, and what each destination answers to a test', async () => {
    for (const tags of [['nas'], ['nas', 'night'], []]) {
      await ask('POST', '/keys/choice/destinations', { url: `json://${place}/${tags.join('-')}`, tags });
    }
    const who = async (tag: string): Promise<number[]> =>
      (await ask('GET', `/keys/choice/choose?tag=${encodeURIComponent(tag)}`)).chosen.map((each: any) => each.line);
    expect(await who('nas')).toEqual([1, 2]);
    expect(await who('nas night')).toEqual([2]);
    expect(await who('')).toEqual([1, 2, 3]);
    expect(await who('nobody')).toEqual([]);
    status = 200;
    const fine = (await ask('POST', '/keys/choice/test', { tag: 'nas' })).results;
    expect(fine.map(({ line, state }: any) => [line, state])).toEqual([
      [1, 'done'],
      [2, 'done'],
    ]);
    status = 403;
    const refused = (await ask('POST', '/keys/choice/test', { line: 3 })).results;
    expect(refused).toMatchObject([
      { line: 3, state: 'failed', detail: 'Failed to send JSON POST notification, error=403.' },
    ]);
  });

  it('keeps a history in which given-up deliveries are tried again or dropped', async () => {
    await ask('POST', '/keys/late/destinations', { url: `json://${place}/late`, tags: [] });
    status = 403;
    await ask('POST', '/keys/late/test', {});
    await ask('POST', '/keys/late/test', {});
    const dead = async (): Promise<NotifyNotice[]> =>
      (await ask('GET', '/notices?state=dead')).notices.filter(({ key: name }: NotifyNotice) => name === 'late');
    await expect.poll(async () => (await dead()).filter(({ deliveries }) => deliveries[0]?.givenUp).length).toBe(2);
    const [first, second] = await dead();
    const named = (notice: NotifyNotice | undefined) => ({
      notice: notice?.id,
      destination: notice?.deliveries[0]?.destination,
    });
    status = 200;
    await ask('POST', '/deliveries/retry', named(first));
    await expect.poll(async () => (await dead()).length).toBe(1);
    await ask('POST', '/deliveries/drop', named(second));
    expect((await dead())[0]?.deliveries[0]).toMatchObject({ state: 'dead', givenUp: false });
    expect(await refusal('POST', '/deliveries/retry', named(second))).toContain('404');
    expect(host.log.join('\n')).not.toContain('sesame');
  });
});
