import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { nativeSchemes, getDeliverer } from '../../../services/contracts/notify/native-schemes.ts';
import { notify } from '../../../services/notify/index.ts';
import { kinds } from '../../../services/notify/destinations/catalogue.ts';
import { parseYamlConfiguration } from '../../../services/notify/domain/yaml-configuration.ts';
import { recognizePayload } from '../../../services/notify/inbound/catalogue.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver, type Receiver } from './support.ts';

let host: TestHost;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
  host = await openTestHost({ services: [createProbe(['inbox', 'push']).descriptor, notify] });
  await call('/add/house', { urls: `json://127.0.0.1:${receiver.port}/all` });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

interface Reply {
  readonly status: number;
  readonly body: { readonly error: string | null; readonly details?: readonly (readonly string[])[] };
}

async function send(path: string, type: string, body: string | Uint8Array | FormData): Promise<Reply> {
  const headers = { accept: 'application/json', ...(body instanceof FormData ? {} : { 'content-type': type }) };
  const reply = await fetch(host.url('notify') + path, { method: 'POST', headers, body: body as BodyInit });
  return { status: reply.status, body: (await reply.json()) as Reply['body'] };
}

function call(path: string, fields: unknown): Promise<Reply> {
  return send(path, 'application/json', JSON.stringify(fields));
}

/** Returns the notifications that the receiver got after the response to `request`. */
async function delivered(request: () => Promise<Reply>): Promise<Record<string, any>> {
  const before = receiver.received.length;
  expect(await request()).toMatchObject({ status: 200 });
  await vi.waitFor(() => expect(receiver.received.length).toBe(before + 1));
  return JSON.parse(receiver.received.at(-1)?.body ?? '') as Record<string, any>;
}

describe('the ntfy destination', () => {
  async function headers(query: string) {
    const before = receiver.received.length;
    const url = `ntfy://tk_abcdefghijklmnopqrstuvwxyz123@127.0.0.1:${receiver.port}/t?${query}`;
    expect(await call('/notify', { body: 'b', urls: url })).toMatchObject({ status: 200 });
    await vi.waitFor(() => expect(receiver.received.length).toBe(before + 1));
    return receiver.received.at(-1)?.headers;
  }

  it('sends tags in both spellings', async () => {
    expect(await headers('tags=warning,skull')).toMatchObject({ 'x-tags': 'skull,warning' });
    expect(await headers('xtags=b,a')).toMatchObject({ 'x-tags': 'b,a' });
  });

  it('sends a linked file with its name, and the icon of the URL', async () => {
    const attach = encodeURIComponent('https://x.example/pics/p.jpg');
    expect(await headers(`attach=${attach}&filename=q.jpg`)).toMatchObject({
      'x-attach': 'https://x.example/pics/p.jpg',
      'x-filename': 'q.jpg',
    });
    expect(await headers(`attach=${attach}`)).toMatchObject({ 'x-filename': 'p.jpg' });
    expect(await headers('avatar_url=https://x.example/i.png')).toMatchObject({ 'x-icon': 'https://x.example/i.png' });
  });

  it('keeps them in its normalized form', async () => {
    await call('/add/kept', { urls: 'ntfy://host/t?tags=a,b&attach=https%3A%2F%2Fx%2Fp.jpg' });
    const urls = await (await fetch(`${host.url('notify')}/json/urls/kept`)).text();
    expect(urls).toContain('tags=a%2Cb');
    expect(urls).toContain('attach=https');
  });
});

describe('arguments without effect', () => {
  it('are reported in the responses to a call and to a saved key', async () => {
    const url = `json://127.0.0.1:${receiver.port}/x?blink=yes`;
    const sentence = expect.arrayContaining([expect.arrayContaining(['JSON: blink has no effect here.'])]);
    expect((await call('/notify', { body: 'b', urls: url })).body.details).toEqual(sentence);
    expect((await call('/add/blink', { urls: url })).body.details).toEqual(sentence);
    const written = { config: `always=${url}\n`, format: 'text' };
    expect((await call('/add/blink', written)).body.details).toEqual(
      expect.arrayContaining([expect.arrayContaining(['Line 1: JSON: blink has no effect here.'])]),
    );
  });

  it('are not reported when all are used', async () => {
    const urls = `json://127.0.0.1:${receiver.port}/x?method=put&format=text&verify=no&rto=3`;
    expect(JSON.stringify((await call('/notify', { body: 'b', urls })).body)).not.toContain('no effect');
  });
});

describe('inputs that programs really send', () => {
  it('are accepted with an unknown level, such as that of Proxmox', async () => {
    const message = await delivered(() => call('/notify/house', { title: 't', body: 'b', type: 'unknown' }));
    expect(message).toMatchObject({ title: 't', type: 'info' });
    const refused = await call('/notify/house', { title: 't', body: 'b', type: 'purple' });
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('type must be') } });
  });

  it.each(['Disk usage of nas is above 80%', '[FIRING:1] disk', '[10:05] done', '93 % used'])(
    'are read as text despite the content type of JSON: %s',
    async (text) => {
      expect(await delivered(() => send('/notify/house', 'application/json', text))).toMatchObject({ message: text });
    },
  );

  it.each(['{"body":', '["x"', '', '"text"', '42'])('are refused as broken JSON: %s', async (text) => {
    expect(await send('/notify/house', 'application/json', text)).toMatchObject({ status: 400 });
  });

  it('are shown unchanged in a form with an unknown file', async () => {
    const form = new FormData();
    form.set('payload', '{"event":"media.play","Metadata":{"title":"Heat"}}');
    form.set('thumb', new File(['x'], 't.jpg'));
    expect((await delivered(() => send('/notify/house', '', form)))['message']).toContain('"title": "Heat"');
  });

  it('are accepted with an empty entry in a list of attachments', async () => {
    expect(await delivered(() => call('/notify/house', { body: 'b', attachments: [''] }))).toMatchObject({
      message: 'b',
    });
  });

  it('are read as JSON in Latin-1', async () => {
    const body = Buffer.from('{"body":"T\xfcr"}', 'latin1');
    expect(await delivered(() => send('/notify/house', 'application/json', body))).toMatchObject({ message: 'Tür' });
  });

  it('keeps preformatted text of HTML', async () => {
    const body = '<p>Log:</p><pre>line one\n  indented two\nline three</pre><p>end &agrave;</p>';
    const urls = `json://127.0.0.1:${receiver.port}/x?format=text`;
    const message = await delivered(() => call('/notify', { body, format: 'html', urls }));
    expect(message['message']).toBe('Log:\nline one\n  indented two\nline three\nend à');
  });
});

describe('payloads', () => {
  const grafana = {
    orgId: 1,
    title: '[FIRING:1] Disk',
    state: 'alerting',
    alerts: [{ status: 'firing', labels: { alertname: 'Disk' }, annotations: { summary: 'disk is full' } }],
  };
  const read = (fields: Record<string, unknown>) => recognizePayload(fields, () => undefined, 'text');

  it('keeps the message of a Grafana contact point', () => {
    const message = 'my own template text: nas is at 93.2 %';
    expect(read({ ...grafana, message })).toMatchObject({ title: '[FIRING:1] Disk', body: message });
    const usual = '**Firing**\n\nValue: A=1\nLabels:\n - alertname = Disk\n';
    expect(read({ ...grafana, message: usual })?.body).toContain('disk is full');
    expect(read(grafana)?.body).toContain('disk is full');
  });

  it('recognizes alerts without a group key or an organization', () => {
    const alerts = [
      { status: 'firing', labels: { alertname: 'Disk', instance: 'nas' }, annotations: { message: 'full' } },
    ];
    expect(read({ receiver: 'x', status: 'firing', alerts, groupLabels: { alertname: 'Disk' } })).toMatchObject({
      title: '[FIRING:1] Disk',
      body: expect.stringContaining('full') as string,
      type: 'failure',
      source: 'alertmanager',
    });
    const { orgId: _orgId, ...withoutOrganization } = grafana;
    expect(read({ ...withoutOrganization, receiver: 'x', status: 'firing' })).toMatchObject({ source: 'grafana' });
  });

  it('includes the reason why a Sonarr download waits', () => {
    const notification = read({
      eventType: 'ManualInteractionRequired',
      instanceName: 'Sonarr',
      series: { title: 'Show' },
      downloadStatusMessages: [
        { title: 'Show.S01E01', messages: ['No files found are eligible for import in /downloads/x'] },
      ],
    });
    expect(notification?.body).toContain('No files found are eligible for import in /downloads/x');
  });
});

describe('groups of a YAML configuration', () => {
  const parseTags = (groups: string) => {
    const urls = 'urls:\n  - push://dad:\n      - tag: [dad, nas]\n  - push://x:\n      - tag: tagX\n';
    return parseYamlConfiguration(`${groups}${urls}`).entries.map(({ tags }) => tags.map(({ name }) => name));
  };

  it.each([
    ['a comment behind a member', 'groups:\n  all:\n    - tagX: comment\n    - nas\n'],
    ['a map of members', 'groups:\n  all:\n    tagX: comment\n    nas:\n'],
    ['members in one text', 'groups:\n  all: tagX, nas\n'],
    ['a list of maps', 'groups:\n  - all: [tagX, nas]\n'],
    ['a list of maps with comments', 'groups:\n  - all:\n      - tagX: why\n      - nas: because\n'],
  ])('are read with %s', (_case, groups) => {
    expect(parseTags(groups)).toEqual([
      ['dad', 'nas', 'all'],
      ['tagx', 'all'],
    ]);
  });
});

it('lists the supported schemes', () => {
  const schemes = kinds.flatMap(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols]);
  expect([...nativeSchemes].toSorted()).toEqual([...new Set(schemes)].toSorted());
  expect([
    getDeliverer('DISCORD://a/b'),
    getDeliverer('fcm://x'),
    getDeliverer('dicsord://a'),
    getDeliverer('memory://'),
  ]).toEqual(['homeport', 'engine', 'nobody', 'nobody']);
});
