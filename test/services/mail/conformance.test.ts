import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { htmlToText } from '../../../services/kit/plain-text.ts';
import { mail } from '../../../services/mail/index.ts';
import { Settings } from '../../../services/mail/settings.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { replyDifferences, notificationDifferences, type ExpectedNotification } from './differences.ts';
import { Client } from './support.ts';

interface Recorded {
  /** Command and reply code of Mailrise. */
  readonly replies: readonly (readonly [command: string, code: number])[];
  readonly delivered: readonly (ExpectedNotification & {
    readonly path: string;
    readonly attachments?: readonly { readonly name: string; readonly type: string; readonly size: number }[];
  })[];
}
interface RecordedEnvelope extends Recorded {
  readonly from: string;
  readonly to: readonly string[];
  /** Source, or `35100128 bytes`. */
  readonly data: string;
}

const { mails, envelopes } = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as {
  readonly mails: Readonly<Record<string, Recorded>>;
  readonly envelopes: Readonly<Record<string, RecordedEnvelope>>;
};
const corpus = new URL('corpus/', import.meta.url);

/** Mailrise configuration of the recording; `notify://KEY` replaces deliveries below `/KEY`. */
const { recipients } = Settings.parse({
  recipients: [
    ...['basic', 'html', 'half', 'dead'].map((name) => ({ address: name, to: `notify://${name}` })),
    { address: 'md', to: 'notify://md', format: 'text' },
    { address: 'ntfy', to: 'notify://ntfy' },
    { address: 'my_cool_name@mycooldomain.com', to: 'notify://cool' },
    { address: 'awesome*@mycooldomain.com', to: 'notify://awesome' },
    {
      address: 'tmpl',
      to: 'notify://tmpl',
      title: '[$type] $subject',
      body: 'from=$from to=$to config=$config body=$body $unknown',
    },
  ],
});

let host: TestHost;
let offers: Offers;

beforeAll(async () => {
  const probe = createProbe(['notices']);
  offers = probe.offers;
  const configured = {
    ...mail,
    create: (context: Parameters<typeof mail.create>[0], _settings: Settings) =>
      mail.create(context, { ..._settings, recipients }),
  };
  host = await openTestHost({ services: [probe.descriptor, configured] });
});
afterAll(() => host[Symbol.asyncDispose]());

/** Sends the commands of a recording and returns the reply codes after the greeting. */
async function replay(from: string, to: readonly string[], source: Buffer): Promise<readonly number[]> {
  using client = await Client.open(host.port('mail'));
  await client.reply();
  await client.command('EHLO test');
  const codes: string[] = [await client.command(`MAIL FROM:<${from}>`)];
  for (const recipient of to) codes.push(await client.command(`RCPT TO:<${recipient}>`));
  if (codes.slice(1).some((code) => code.startsWith('250'))) {
    expect(await client.command('DATA')).toMatch(/^354 /);
    codes.push(await client.finish(source));
  }
  return codes.map((reply) => Number(reply.slice(0, 3)));
}

function toSource(data: string): Buffer {
  const bytes = /^(\d+) bytes$/.exec(data)?.[1];
  return bytes === undefined ? Buffer.from(data) : Buffer.alloc(Number(bytes), `${'x'.repeat(76)}\r\n`);
}

const normalizeLineEnds = (text: string | undefined): string | undefined => text?.replaceAll('\r\n', '\n');

/** Returns the newest notifications in the form of the recording. */
function getNotifications(count: number) {
  return [...offers.notices.values()].slice(-count).map(({ configuration, notice, files }) => ({
    path: `/${configuration}`,
    title: notice.title,
    body: normalizeLineEnds(
      notice.format === 'html' && configuration !== 'html' ? htmlToText(notice.body) : notice.body,
    ),
    type: notice.type,
    files: (files ?? []).map(({ name, type, bytes }) => ({ name, type, size: bytes.length })),
  }));
}

describe('mails of programs', () => {
  it('covers all recorded mails', () => {
    expect(readdirSync(corpus).map((file) => file.replace('.eml', ''))).toEqual(Object.keys(mails));
    expect(Object.keys(mails)).toHaveLength(39);
    expect(Object.keys(notificationDifferences).filter((name) => !Object.hasOwn(mails, name))).toEqual([]);
  });

  it.each(Object.entries(mails))('converts %s to the recorded notification', async (name, { replies, delivered }) => {
    const before = offers.notices.size;
    const codes = await replay('nas@example.com', ['basic@mailrise.xyz'], readFileSync(new URL(`${name}.eml`, corpus)));
    // Mails refused by Mailrise because of their syntax are accepted here.
    expect(codes).toEqual(replies.map(([command, code]) => (command === 'DATA' ? 250 : code)));
    await vi.waitFor(() => expect(offers.notices.size).toBe(before + 1), { timeout: 10_000, interval: 5 });
    const [recorded] = delivered;
    const expected = { ...recorded, ...notificationDifferences[name] };
    const [notice] = getNotifications(1);
    expect(notice).toMatchObject({
      path: '/basic',
      title: expected.title,
      body: normalizeLineEnds(expected.body),
      type: expected.type,
    });
    const sizes = notice?.files.map(({ size }) => size) ?? [];
    // Mailrise forwards only the first group of lines of a delivery status.
    for (const { size } of recorded?.attachments ?? []) expect(Math.max(...sizes)).toBeGreaterThanOrEqual(size);
  });
});

describe('recorded envelopes', () => {
  it.each(Object.entries(envelopes))('sends the recorded replies for %s', async (name, recorded) => {
    const intended = replyDifferences[name];
    const before = offers.notices.size;
    const codes = await replay(recorded.from, recorded.to, toSource(recorded.data));
    expect(codes).toEqual(intended?.codes ?? recorded.replies.map(([, code]) => code));
    const expected = (intended?.notifications ?? recorded.delivered).map((entry) => ({
      ...entry,
      // The ntfy destination posts to the root of its server.
      path: entry.path === '/' ? '/ntfy' : entry.path,
    }));
    await vi.waitFor(() => expect(offers.notices.size).toBe(before + expected.length), {
      timeout: 10_000,
      interval: 5,
    });
    expect(expected.length === 0 ? [] : getNotifications(expected.length)).toMatchObject(expected);
  });
});
