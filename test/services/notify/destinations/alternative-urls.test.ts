import * as problems from '#messages/notify-problems';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inboxOffered } from '../../../../services/contracts/inbox/api.ts';
import { pushOffered } from '../../../../services/contracts/push/topics.ts';
import type { NotificationType, TextFormat } from '../../../../services/contracts/notify/notification.ts';
import { openMailServer } from '../../../support/mail-server.ts';
import { openBroker } from './mqtt-broker.ts';
import { buildMessage, openProvider, parsed, sendTo } from './provider-server.ts';

interface RecordedMail {
  readonly note: string;
  readonly cases: readonly {
    readonly case: string;
    readonly input: { title: string; body: string; notify_type: NotificationType; body_format: TextFormat };
    readonly requests: readonly { commands: readonly { from: string; to: string[]; data: string }[] }[];
  }[];
}
const recorded = JSON.parse(readFileSync(new URL('golden/mailto.json', import.meta.url), 'utf8')) as RecordedMail[];
const relay = recorded[0]?.cases ?? [];
const long = '0123456789'.repeat(900);
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Returns the visible text of a mail. Apprise writes spaces as `&nbsp;`, and quotes as entities. */
async function seen(source: string | Buffer) {
  const { subject = '', from, to, cc, text = '', html = '', attachments } = await PostalMime.parse(source);
  const normalizeText = (text: string) => text.replace(/\r\n/g, '\n').trim();
  const files = attachments.map(({ filename, mimeType, content }) => [
    filename,
    mimeType,
    Buffer.from(content as ArrayBuffer),
  ]);
  const displayed = normalizeText(html)
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('<br />', '<br>');
  return {
    subject,
    from: from?.address,
    to: to?.map(({ address }) => address),
    cc,
    text: normalizeText(text),
    html: displayed,
    files,
  };
}

describe('mail', () => {
  it.each(relay.filter(({ case: name }) => name !== 'long').map((entry) => [entry.case, entry] as const))(
    'equals the mail of Apprise: %s',
    async (name, { input, requests }) => {
      await using server = await openMailServer();
      await using provider = await openProvider();
      const file = { name: 'dot.png', type: 'image/png', size: dot.length, read: () => Promise.resolve(dot) };
      const results = await sendTo(
        `mailto://127.0.0.1:${server.port}?from=nas@example.com&to=admin@example.com`,
        {
          title: input.title,
          body: input.body,
          type: input.notify_type,
          format: input.body_format,
          ...(name === 'attach' ? { attachments: [file] } : {}),
        },
        provider.outlets,
      );
      expect(results).toEqual([{ ok: true, detail: 'Sent E-Mail notification.' }]);
      const peers = requests[0]?.commands[0];
      expect(server.taken).toMatchObject([{ from: peers?.from, to: peers?.to }]);
      const actual = await seen(server.taken[0]?.source ?? '');
      const expected = await seen(peers?.data ?? '');
      // Markdown is readable unchanged; Apprise removes its marks and requires an empty line before a list.
      if (name !== 'markdown') expect(actual).toEqual(expected);
      else
        expect(actual).toMatchObject({
          subject: 'MD title',
          text: input.body,
          html: expect.stringContaining('<h1>Head</h1>') as string,
        });
    },
  );

  it('has the same identity when it is resent, and is marked as automatically generated', async () => {
    await using server = await openMailServer();
    await using provider = await openProvider();
    const url =
      `mailto://127.0.0.1:${server.port}?from=Nas<nas@example.com>&to=a@example.com,b@example.com&` +
      'cc=c@example.com&bcc=d@example.com';
    await sendTo(url, { title: 'T', body: long }, provider.outlets);
    await sendTo(url, { title: 'T', body: long }, provider.outlets);
    expect(server.taken.map(({ to }) => to.join())).toEqual([
      'a@example.com,c@example.com,d@example.com',
      'b@example.com,c@example.com,d@example.com',
      'a@example.com,c@example.com,d@example.com',
      'b@example.com,c@example.com,d@example.com',
    ]);
    const mails = await Promise.all(server.taken.map(({ source }) => PostalMime.parse(source)));
    expect(mails[0]?.messageId).toBe(mails[2]?.messageId);
    expect(mails[0]?.messageId).not.toBe(mails[1]?.messageId);
    expect(mails[0]?.from).toEqual({ name: 'Nas', address: 'nas@example.com' });
    const headers = new Map(mails[0]?.headers.map(({ key, value }) => [key, value]));
    expect(headers.get('auto-submitted')).toBe('auto-generated');
    expect(server.taken[0]?.source.toString()).not.toContain('d@example.com');
    expect(mails[0]?.text?.trim()).toBe(long);
  });

  it('signs in, and reports errors without the password', async () => {
    await using server = await openMailServer({ password: 'p@ss' });
    await using provider = await openProvider();
    const send = (password: string) =>
      sendTo(`mailto://me:${password}@127.0.0.1:${server.port}?from=me@example.com`, { body: 'x' }, provider.outlets);
    expect(await send('p%40ss')).toMatchObject([{ ok: true }]);
    expect(server.taken).toMatchObject([{ user: 'me', from: 'me@example.com', to: ['me@example.com'] }]);
    const [refused] = await send('hunter2');
    expect(refused).toMatchObject({ ok: false, retryable: false });
    expect(refused?.detail).toContain('the user or password is not accepted');
    expect(refused?.detail).not.toContain('hunter2');
  });

  it.each([
    [550, false],
    [451, true],
  ])('maps refusal code %i to retryable %s', async (refuse, retryable) => {
    await using server = await openMailServer({ refuse });
    await using provider = await openProvider();
    const url = `mailto://127.0.0.1:${server.port}?from=a@example.com`;
    expect(await sendTo(url, { body: 'x' }, provider.outlets)).toMatchObject([{ ok: false, retryable }]);
  });

  it('is retried while the server is unavailable, and never sent unencrypted when encryption is required', async () => {
    await using provider = await openProvider();
    const { port } = await openMailServer().then(async (server) => {
      await server[Symbol.asyncDispose]();
      return server;
    });
    const refusedResult = await sendTo(
      `mailto://127.0.0.1:${port}?from=a@example.com`,
      { body: 'x' },
      provider.outlets,
    );
    expect(refusedResult).toMatchObject([{ ok: false, retryable: true }]);
    await using unencryptedServer = await openMailServer();
    const [result] = await sendTo(
      `mailtos://127.0.0.1:${unencryptedServer.port}?from=a@example.com`,
      { body: 'x' },
      provider.outlets,
    );
    expect(result?.ok).toBe(false);
    expect(unencryptedServer.taken).toEqual([]);
  });

  it.each([
    ['mailto://h?from=a@example.com%0d%0aBcc:x@example.com', problems.senderInvalid()],
    ['mailto://h?mode=odd', problems.argumentInvalid({ name: 'mode', values: 'starttls, ssl, insecure' })],
    ['mailto://u:p@example.com/nobody', problems.mailAddressInvalid()],
  ])('is not sent with a URL like %s', (url, reason) => {
    expect(() => parsed(url)).toThrow(reason);
  });
});

describe('syslog', () => {
  it('is sent to another computer as one packet with one line', async () => {
    await using provider = await openProvider();
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const packet = once(socket, 'message') as Promise<[Buffer]>;
    const url = `rsyslog://127.0.0.1:${socket.address().port}/daemon`;
    expect(await sendTo(url, { title: 'Disk', body: 'full\nnow', type: 'failure' }, provider.outlets)).toMatchObject([
      { ok: true },
    ]);
    const [data] = await packet;
    socket.close();
    // Facility 3, severity 2 (RFC 5424, 6.2.1).
    expect(data.toString()).toMatch(
      /^<26>1 2026-11-21T\d\d:\d\d:\d\d\.000Z \S+ homeport - - - \ufeffDisk: full \| now$/,
    );
  });

  describe('of this computer', () => {
    afterEach(() => vi.unstubAllEnvs());

    it("is written by the system's program, whatever the text is", async () => {
      await using provider = await openProvider();
      const folder = await mkdtemp(join(tmpdir(), 'homeport-logger-'));
      await writeFile(join(folder, 'logger'), `#!/bin/sh\nprintf '%s\\n' "$@" > ${folder}/said\n`);
      await chmod(join(folder, 'logger'), 0o755);
      vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
      expect(
        await sendTo('syslog://local3', { body: '-x $(rm)\n`y`', type: 'warning' }, provider.outlets),
      ).toMatchObject([{ ok: true }]);
      expect((await readFile(join(folder, 'said'), 'utf8')).split('\n')).toEqual([
        '-p',
        'local3.warning',
        '-t',
        'homeport',
        '--',
        '-x $(rm) | `y`',
        '',
      ]);
      await rm(folder, { recursive: true });
    });

    it('fails permanently without that program', async () => {
      await using provider = await openProvider();
      vi.stubEnv('PATH', '/nowhere');
      expect(await sendTo('syslog://', { body: 'x' }, provider.outlets)).toMatchObject([
        { ok: false, retryable: false },
      ]);
    });
  });
});

describe('MQTT', () => {
  it('publishes to a topic, and is complete when the broker has acknowledged it', async () => {
    await using broker = await openBroker();
    await using provider = await openProvider();
    const url = `mqtt://me:p%40ss@127.0.0.1:${broker.port}/home/alerts?retain=yes`;
    expect(await sendTo(url, { title: 'Disk', body: 'full' }, provider.outlets)).toEqual([
      { ok: true, detail: 'Sent MQTT Notification notification.' },
    ]);
    expect(broker.published).toEqual([{ topic: 'home/alerts', text: 'Disk\r\nfull', qos: 1, retain: true }]);
    expect(broker.connected[0]).toContain('me\x00\x04p@ss');
  });

  it.each([
    [5, false],
    [3, true],
  ])('maps reason code %i to retryable %s', async (reason, retryable) => {
    await using broker = await openBroker(reason);
    await using provider = await openProvider();
    const url = `mqtt://me:secret@127.0.0.1:${broker.port}/t`;
    const [result] = await sendTo(url, { body: 'x' }, provider.outlets);
    expect(result).toMatchObject({ ok: false, retryable });
    expect(result?.detail).not.toContain('secret');
  });

  it('is retried while the broker is unavailable', async () => {
    const port = await openBroker().then(async (broker) => {
      await broker[Symbol.asyncDispose]();
      return broker.port;
    });
    await using provider = await openProvider();
    expect(await sendTo(`mqtt://127.0.0.1:${port}/t`, { body: 'x' }, provider.outlets)).toMatchObject([
      { ok: false, retryable: true },
    ]);
  });
});

describe('a popup', () => {
  it.each([
    ['popup://', 'failure', 4],
    ['dbus://_/?urgency=normal', 'failure', 3],
    ['macosx://', 'info', 3],
    ['windows://', 'warning', 4],
    ['gnome://?priority=emergency', 'info', 5],
  ] as const)('creates a popup for %s through the inbox', async (url, type, priority) => {
    await using provider = await openProvider();
    const passed: unknown[] = [];
    const pass = (handover: unknown, key: string, payload: unknown) => {
      passed.push([handover, key, payload]);
      return Promise.resolve();
    };
    const outlets = { ...provider.outlets, handovers: { ...provider.outlets.handovers, pass } };
    const [result] = await Promise.all([
      parsed(url).send(buildMessage({ title: 'T', body: 'b', type }), outlets, AbortSignal.timeout(60_000)),
    ]);
    expect(result).toMatchObject({ ok: true });
    expect(passed).toMatchObject([[inboxOffered, 'n1', { title: 'T', body: 'b', priority }]]);
    expect(parsed(url).url(false)).toContain('popup://');
  });
});

describe('the push service of this host', () => {
  it('receives the first file with the message', async () => {
    await using provider = await openProvider();
    const passed: unknown[] = [];
    const pass = (handover: unknown, key: string, payload: unknown) => {
      passed.push([handover, key, payload]);
      return Promise.resolve();
    };
    const outlets = { ...provider.outlets, handovers: { ...provider.outlets.handovers, pass } };
    const file = { name: 'dot.png', type: 'image/png', size: dot.length, read: () => Promise.resolve(dot) };
    const message = buildMessage({ title: 'T', body: 'b', attachments: [file] });
    expect(await parsed('push://alerts').send(message, outlets, AbortSignal.timeout(60_000))).toMatchObject({
      ok: true,
    });
    const attachment = { name: 'dot.png', type: 'image/png', bytes: new Uint8Array(dot) };
    expect(passed).toMatchObject([[pushOffered, 'n1:alerts', { topic: 'alerts', message: 'b', file: attachment }]]);
  });
});
