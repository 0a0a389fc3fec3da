import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isUtf8 } from 'node:buffer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answers } from './provider-responses.ts';
import { openProvider, sendTo, type Provider } from './provider-server.ts';

let provider: Provider;
beforeAll(async () => {
  provider = await openProvider();
});
beforeEach(() => {
  provider.requests.length = 0;
  provider.answer = answers;
});
afterAll(() => provider[Symbol.asyncDispose]());

const line = 'Всё в порядке: копия снята, место есть 🎉\n';
const title = 'Резервная копия '.repeat(12).trim();

/** Returns the text of each sent message, at a path of its JSON. */
async function sendAndRead(url: string, path: string, fields: { readonly title?: string; readonly body: string }) {
  const results = await sendTo(url, { title, ...fields }, provider.outlets);
  expect(results.every(({ ok }) => ok)).toBe(true);
  return provider.requests
    .map(({ body }) => body.toString())
    .filter((body) => body !== '' && body !== '{}')
    .map((body) =>
      path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], JSON.parse(body)),
    )
    .filter((text) => text !== undefined)
    .map(String);
}

describe('a long text of multi-byte characters', () => {
  it.each([
    ['ntfy://host/topic', 'message', 4096],
    ['bark://host/key', 'body', 3000],
    ['wecombot://key', 'text.content', 2048],
    ['dingtalk://token', 'text.content', 20_000],
    ['feishu://token', 'content.text', 19_985],
    ['lark://token', 'content.text', 19_985],
    ['wxteams://token', 'markdown', 7439],
    ['matrix://token@host/!room:hs', 'body', 32_768],
    ['workflow://host/id/sig', 'attachments.0.content.body.1.text', 24_000],
    ['msteams://team/a@b/b/c', 'sections.0.text', 24_000],
  ])('is truncated or split by bytes: %s', async (url, path, maxLength) => {
    const messages = await sendAndRead(url, path, { body: line.repeat(1000) });
    expect(messages.length).toBeGreaterThan(0);
    for (const text of messages) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxLength);
      expect(text.isWellFormed()).toBe(true);
    }
  });

  it('is split for LINE by UTF-16 code units', async () => {
    const messages = await sendAndRead('line://token/user', 'messages.0.text', { body: '🎉'.repeat(6000) });
    expect(messages.map(({ length }) => length <= 5000)).toEqual([true, true, true]);
    expect(messages.every((text) => text.isWellFormed())).toBe(true);
  });

  it('leaves no incomplete character in a syslog packet', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const packets: Buffer[] = [];
    socket.on('message', (packet: Buffer) => packets.push(packet));
    const url = `rsyslog://127.0.0.1:${String(socket.address().port)}`;
    // One additional byte at the beginning shifts all characters.
    for (const before of ['', 'a', 'bb', 'ccc']) {
      await sendTo(url, { title: '', body: before + '🎉'.repeat(4000) }, provider.outlets);
    }
    await expect.poll(() => packets.length).toBe(4);
    socket.close();
    expect(packets.every((packet) => packet.length <= 8192 && isUtf8(packet))).toBe(true);
  });
});

describe('text next to the body in one field', () => {
  it.each(['discord://1/t', 'discord://1/t?ping=@here%20%3C@1234%3E', 'discord://1/t?ping=@here&overflow=truncate'])(
    'counts towards its limit: %s',
    async (url) => {
      const messages = await sendAndRead(url, 'content', { body: 'word '.repeat(390) });
      expect(messages[0]).toContain(title);
      for (const text of messages) expect([...text].length).toBeLessThanOrEqual(2000);
    },
  );

  it('counts in a Mastodon post, whose every part contains the mentions', async () => {
    const url = 'mastodon://token@host/@someone/@somebody.else';
    const messages = await sendAndRead(url, 'status', { title: '', body: 'word '.repeat(195) });
    expect(messages).toHaveLength(3);
    for (const text of messages) {
      expect(text).toContain('@someone @somebody.else ');
      expect([...text].length).toBeLessThanOrEqual(500);
    }
  });
});
