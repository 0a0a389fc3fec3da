import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mail } from '../../../services/mail/index.ts';
import { htmlToText } from '../../../services/contracts/plain-text.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { submit } from './support.ts';

interface Peer {
  readonly title: string;
  readonly body: string;
  readonly type: string;
  readonly refused?: number;
}

const corpus = new URL('corpus/', import.meta.url);
const names = readdirSync(corpus).map((file) => file.replace('.eml', ''));
const peer = JSON.parse(readFileSync(new URL('peer.json', import.meta.url), 'utf8')) as Readonly<Record<string, Peer>>;

/** Where our notice is another than the peer's, and why. The rest is equal but for line ends. */
const ours: Readonly<Record<string, Partial<Peer>>> = {
  // Attachments are named in the last line; parts without a name by their type.
  'attachment-only': { body: '[no body]\n\n[attachment: cam.png]' },
  'camera-mixed-no-text': { body: '[no body]\n\n[attachment: cam.png]' },
  'dsn-bounce': { body: 'I could not deliver your message.\n\n[attachment: message/delivery-status]' },
  'mixed-attachments': { body: 'html body\n[attachments: dot.png, bericht ü.pdf]' },
  'related-inline': { body: 'see\n[attachment: image/png]' },
  'swaks-attach': { body: 'with attachment\n\n[attachment: dot.png]' },
  'type-alternative-calendar': { body: 'meeting\n\n[attachment: text/calendar]' },
  // The peer refuses these, some for ever.
  'message-rfc822': {
    title: 'forwarded (NAS <nas@example.com>)',
    body: 'see fwd\n\n[attachment: message.eml]',
    type: 'info',
  },
  'nodemailer-alt-related': {
    title: '✅ [up] My Site (Uptime <up@example.com>)',
    body: 'Service is up\n[attachments: logo.png, 日本.txt]',
    type: 'success',
  },
  'smtplib-alternative-csv': {
    title: 'Ünïcode ✅ report (Größe <nas@example.com>)',
    body: 'Report\nAll good ✓\n[attachment: größe.csv]',
    type: 'info',
  },
  'unknown-charset': { title: 'unknown charset (NAS <nas@example.com>)', body: 'body here', type: 'info' },
  'long-line': { title: 'long line (NAS <nas@example.com>)', body: 'x'.repeat(5000), type: 'info' },
  // Nothing is lost for its form.
  'broken-boundary': { body: 'no boundary in here at all' },
  'undeclared-8bit': { body: 'Grüße ohne charset' },
  'undeclared-latin1': { body: 'Grüße ohne charset' },
  'latin1-qp': { body: 'Schöne Grüße, 10€? eine lange Zeile die umgebrochen wird weil sie zu lang ist' },
  // Some destinations refuse an empty message.
  'empty-body': { body: 'empty body' },
  'no-body': { body: 'no body' },
  'nul-bytes': { body: 'ab' },
  'subject-crlf-injection': { title: 'a X-Evil: 1 (NAS <nas@example.com>)' },
  // Marked as urgent by its sender.
  'smart-headers': { type: 'warning' },
};

describe('mails as programs send them', () => {
  let host: TestHost;
  let offers: Offers;

  beforeAll(async () => {
    const probe = createProbe(['notices']);
    offers = probe.offers;
    host = await openTestHost({ services: [probe.descriptor, mail] });
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it.each(names)('%s becomes a notification', async (name) => {
    const source = readFileSync(new URL(`${name}.eml`, corpus));
    const before = offers.notices.size;
    expect(await submit(host.port('mail'), ['aggregator@homeport.local'], source)).toMatch(
      /^250 2\.0\.0 queued as \w{20}$/,
    );
    await vi.waitFor(() => expect(offers.notices.size).toBe(before + 1), { timeout: 10_000, interval: 5 });
    const offer = [...offers.notices.values()].at(-1);
    const body = offer?.notice.format === 'html' ? htmlToText(offer.notice.body) : offer?.notice.body;
    const expected = { ...peer[name], ...ours[name] };
    expect({ title: offer?.notice.title, body: body?.replaceAll('\r\n', '\n') }).toEqual({
      title: expected.title,
      body: expected.body?.replaceAll('\r\n', '\n'),
    });
    if (ours[name]?.type !== 'success') expect(offer?.notice.type).toBe(expected.type);
    expect(offer).toMatchObject({ configuration: 'aggregator', notice: { source: 'mail', tags: [] } });
  });
});
