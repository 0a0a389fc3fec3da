import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Fetch } from '../../../services/contracts/outgoing.ts';
import { control } from '../../../services/control/index.ts';
import { describeForms, writeForm } from '../../../services/notify/destinations/forms.ts';
import { notify } from '../../../services/notify/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe } from './support.ts';

const marker = 's3cretvalue';
/** Secrets that must not appear anywhere: the text itself, and its form in Basic credentials. */
const traces = [
  marker,
  ...['name:', ':', ''].map((before) =>
    Buffer.from(before + marker)
      .toString('base64')
      .replace(/=+$/, ''),
  ),
];

/** Values of fields that require a certain format, by form and field, or by field. */
const sampleValues: Readonly<Record<string, string>> = {
  ...{ 'notifiarr channels': '#123', 'whatsapp phone': '1234567', 'sns region': 'eu-west-1', 'mqtt topic': '/alerts' },
  ...{ 'slack bot': `xoxb-${marker}`, 'rocket targets': '#chan', 'tgram token': `123456789:${marker}` },
  ...{ host: '127.0.0.1', port: '9', topics: 'alerts', topic: 'alerts', chats: '-100123' },
  ...{ from: '+15551234567', to: '+15557654321', 'mailto from': 'a@example.com', 'mailto to': 'b@example.com' },
};

/** URLs of each kind with the marker in all of its secrets, or in the required ones. */
const urls: readonly string[] = describeForms()
  // This kind would write into the log of the computer.
  .filter(({ scheme }) => scheme !== 'syslog')
  .flatMap(({ scheme, fields }) => {
    const getSampleValue = (name: string, kind: string): string =>
      sampleValues[`${scheme} ${name}`] ?? sampleValues[name] ?? (kind === 'secret' ? marker : 'name');
    const fill = (all: boolean) =>
      Object.fromEntries(
        fields
          .filter(
            ({ name, kind, required }) =>
              required ||
              sampleValues[`${scheme} ${name}`] !== undefined ||
              name === 'port' ||
              (all && (kind === 'secret' || name === 'user')),
          )
          .map(({ name, kind }) => [name, getSampleValue(name, kind)]),
      );
    return [true, false].flatMap((all) => {
      const written = writeForm({ scheme, values: fill(all) });
      return 'url' in written ? [written.url] : [];
    });
  });

const sources = [
  ...urls,
  `json://name:${marker}@127.0.0.1:9/hook?%2BX-Token=${marker}&-key=${marker}`,
  `ntfy://127.0.0.1:9/topic?token=${marker}`,
  `matrix://name:${marker}@127.0.0.1:9/#room`,
];
const junk = [`nosuch://name:${marker}@host/${marker}`, `json://host:99999/${marker}`, `discord://${marker}`, marker];

/** Collected responses and files by source. */
const seen = new Map<string, string>();
let host: TestHost;
let status = 400;

/** Responds to each request with its complete content, as careless services do. */
const echo: Fetch = (url, { headers = {}, body = '' } = {}) => {
  const text = JSON.stringify({ message: `${url} ${JSON.stringify(headers)} ${Buffer.from(body).toString('utf8')}` });
  return Promise.resolve({ status, headers: { 'content-type': 'application/json' }, body: Buffer.from(text), url });
};

async function ask(method: string, url: string, fields?: unknown): Promise<string> {
  const reply = await fetch(url, {
    ...{ method, redirect: 'manual' },
    headers: { 'content-type': 'application/json', authorization: adminAuthorization },
    ...(fields === undefined ? {} : { body: JSON.stringify(fields) }),
  });
  const text = `${JSON.stringify([...reply.headers])} ${await reply.text()}`;
  seen.set(`${method} ${new URL(url).pathname} ${status}`, text);
  return text;
}

beforeAll(async () => {
  const rude: typeof notify = {
    ...notify,
    create: (context, settings) =>
      notify.create({ ...context, fetch: Object.assign(echo, { stream: context.fetch.stream }) }, settings),
  };
  host = await openTestHost({
    services: [createProbe(['inbox', 'push']).descriptor, rude, control],
    environment: { LOG_LEVEL: 'debug' },
  });
  const [peer, own] = [host.url('notify'), host.url('control')];
  await ask('POST', `${peer}/add/k`, { config: [...sources, ...junk].join('\n'), format: 'text' });
  await ask('POST', `${peer}/add/urls`, { urls: [...sources, ...junk] });
  await ask('POST', `${peer}/add/bad`, { urls: junk });
  for (status of [400, 503, 200]) {
    await ask('POST', `${peer}/notify/k`, { title: 'T', body: 'B' });
    await ask('POST', `${peer}/notify`, { urls: sources.slice(0, 20), body: 'B' });
    await ask('POST', `${own}/api/notify/keys/k/test`, { line: 1 });
  }
  await vi.waitFor(async () => expect(await ask('GET', `${own}/api/notify/notices?limit=200`)).toContain('"dead"'));
  for (const path of ['keys', 'keys/k/choose', 'keys/k/text', 'forms', 'notices?limit=200']) {
    await ask('GET', `${own}/api/notify/${path}`);
  }
  await ask('GET', `${peer}/json/urls/k?privacy=1`);
  for (const path of ['status', 'details']) await ask('GET', `${peer}/${path}`);
  await ask('GET', `${own}/metrics`);
  await ask('GET', `${peer}/metrics`);
}, 60_000);
afterAll(() => host[Symbol.asyncDispose]());

describe('a destination secret', () => {
  it('occurs in many of them', () => {
    const kinds = new Set(sources.filter((url) => url.includes(marker)).map((url) => url.split('://', 1)[0]));
    expect(kinds.size).toBeGreaterThan(40);
    expect(seen.get('POST /notify/k 400')).toContain('It said: ');
  });

  it('is in no response', () => {
    for (const [where, text] of seen) {
      for (const trace of traces) {
        const index = text.indexOf(trace);
        expect(index === -1 ? '' : `${where}: …${text.slice(Math.max(0, index - 120), index + 40)}…`).toBe('');
      }
    }
  });

  it('is in no line of the log', () => {
    expect(host.log.length).toBeGreaterThan(0);
    for (const line of host.log) for (const trace of traces) expect(line.includes(trace) ? line : '').toBe('');
  });
});
