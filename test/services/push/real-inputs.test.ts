import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pushOffered } from '../../../services/contracts/push/topics.ts';
import { parseDelay } from '../../../services/push/domain/delay.ts';
import { openRig, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ environment: { NTFY_ATTACHMENT_FILE_SIZE_LIMIT: '1k' } });
});
afterAll(() => rig[Symbol.asyncDispose]());

const toLatin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const authorization = `Basic ${Buffer.from('admin:adminpass').toString('base64')}`;

async function post(path: string, body: Buffer, type?: string): Promise<any> {
  const headers = { authorization, ...(type === undefined ? {} : { 'content-type': type }) };
  const { status, text } = await rig.ask('POST', path, headers, body);
  expect([status, text]).toEqual([200, text]);
  return JSON.parse(text);
}

describe('message in another charset', () => {
  it('is parsed as latin-1 JSON', async () => {
    const message = await post('/', toLatin1('{"topic":"ps","message":"Gr\xfc\xdfe"}'), 'application/json');
    expect(message.message).toBe('Grüße');
  });

  it('is decoded with the declared charset of its text type', async () => {
    const message = await post('/t', toLatin1('Gr\xfc\xdfe aus K\xf6ln'), 'text/plain; charset=iso-8859-1');
    expect([message.message, message.attachment]).toEqual(['Grüße aus Köln', undefined]);
  });

  it('becomes a text file without declaration', async () => {
    const { attachment } = await post('/t', toLatin1('Gr\xfc\xdfe aus K\xf6ln'));
    expect(attachment).toMatchObject({ name: 'attachment.txt', type: 'text/plain; charset=iso-8859-1' });
  });

  it('is decoded from a windows-1252 query and header', async () => {
    const response = await rig.ask('GET', '/t/publish?message=Gr%FC%DFe', { authorization, title: 'K\xf6ln' });
    expect(JSON.parse(response.text)).toMatchObject({ message: 'Grüße', title: 'Köln' });
  });
});

it('parses JSON followed by other text', async () => {
  expect((await post('/', Buffer.from('{"topic":"t","message":"a } b"}\ntrailing'))).message).toBe('a } b');
});

describe('time of a message', () => {
  const now = Date.UTC(2026, 10, 29, 6, 0, 0);
  const week = 7 * 86_400;

  it.each([
    ['2026-11-29T10:00:00Z', Date.UTC(2026, 10, 29, 10)],
    ['2026-11-29T10:00:00.250Z', Date.UTC(2026, 10, 29, 10)],
    ['2026-11-29T10:00:00+01:00', Date.UTC(2026, 10, 29, 9)],
    ['2026-11-29 10:00:30 -0130', Date.UTC(2026, 10, 29, 11, 30, 30)],
    ['2026-11-29T10:00', new Date(2026, 10, 29, 10).getTime()],
    ['2026-11-29 10:00:00', new Date(2026, 10, 29, 10).getTime()],
    ['2026/11/30 10:00', new Date(2026, 10, 30, 10).getTime()],
    ['Sun, 29 Nov 2026 10:00:00 +0000', Date.UTC(2026, 10, 29, 10)],
    ['in 30m', now + 1_800_000],
    ['in half an hour', now + 1_800_000],
    ['next week', now + week * 1000],
  ])('is parsed from %s', (text, expected) => {
    expect(parseDelay(text, now, 2 * week) * 1000).toBe(Math.floor(expected / 1000) * 1000);
  });

  it.each([
    ['within 2 hours', Date.UTC(2026, 10, 29, 8)],
    ['in two hours', Date.UTC(2026, 10, 29, 8)],
    ['in half a day', Date.UTC(2026, 10, 29, 18)],
    ['in a few days', Date.UTC(2026, 11, 2, 6)],
    ['in three weeks', Date.UTC(2026, 11, 20, 6)],
    ['in 1 month', Date.UTC(2026, 11, 29, 6)],
    ['in 3 months', Date.UTC(2027, 1, 28, 6)],
    ['in a year', Date.UTC(2027, 10, 29, 6)],
  ])('is read from %s', (text, expected) => {
    expect(parseDelay(text, now, Infinity) * 1000).toBe(expected);
  });

  it.each(['in half a month', 'in thirteen days', 'within reach', 'in 2 fortnights'])('is refused from %s', (text) => {
    expect(() => parseDelay(text, now, Infinity)).toThrow();
  });

  it.each(['2026-02-30T10:00:00Z', '2026-11-29T25:00:00Z', '2026-11-29T10:00:00X'])('is refused from %s', (text) => {
    expect(() => parseDelay(text, now, 2 * week)).toThrow();
  });
});

it('names a file of another service that exceeds the attachment limit', async () => {
  const stream = await rig.listen('/files/json');
  using _open = stream;
  await rig.context.handovers.pass(pushOffered, 'files:1', {
    topic: 'files',
    title: 'scan',
    message: 'see file',
    priority: 3,
    tags: [],
    markdown: false,
    source: 'mail',
    origin: 'files:1',
    file: { name: 'Scan_002.pdf', type: 'application/pdf', bytes: new Uint8Array(5000) },
  });
  await vi.waitFor(() =>
    expect(stream.messages.at(-1)).toMatchObject({ message: 'see file\n\n[attachment: Scan_002.pdf]' }),
  );
});

it('keeps streams open when settings change', async () => {
  const stream = await rig.listen('/live/json');
  using _open = stream;
  const change = async (body: Record<string, unknown>): Promise<void> => {
    const reply = await fetch(`${rig.host.url('control')}/api/settings/push`, {
      method: 'PATCH',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)]);
  };
  await change({ keepInInbox: false });
  await change({ reservedTopics: ['mine'], keepaliveInterval: '20s', totalTopicLimit: 5000, behindProxy: true });
  await change({ requestLimitBurst: 50, unifiedPush: true, baseUrl: 'https://push.example' });
  const refused = await rig.ask('POST', '/mine', { authorization }, 'x');
  expect(refused.status).toBe(400);
  await rig.publish('/live', 'still here');
  await vi.waitFor(() => expect(stream.messages.at(-1)).toMatchObject({ message: 'still here' }));
});
