import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { SettingsView } from '../../services/contracts/control/settings.ts';
import { inboxOffered } from '../../services/contracts/inbox/api.ts';
import { defineService, type Context } from '../../services/contracts/service.ts';
import { registry } from '../../main/host/services/registry.ts';
import { api, inbox } from '../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

let context: Context;
const probe = defineService({
  id: 'probe',
  title: 'Probe',
  summary: 'Gives the test a context.',
  settings: z.object({}),
  environment: {},
  migrations: [],
  create(argument) {
    context = argument;
    return {
      start: async () => undefined,
      health: async () => ({ state: 'up', detail: '' }),
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
});

const authorization = { Authorization: adminAuthorization };

describe('live setting without interruption:', () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await openTestHost({ services: [...registry, probe] });
  });
  afterAll(() => host[Symbol.asyncDispose]());

  /** Returns the services that were restarted for the change. */
  const change = async (service: string, settings: object): Promise<readonly string[]> => {
    const body = JSON.stringify(settings);
    const options = { method: 'PATCH', body };
    return (await api<{ restarted: string[] }>(host.url('control'), `/api/settings/${service}`, options)).restarted;
  };

  it('applies limits and retention of push with open JSON, SSE and WebSocket streams', async () => {
    const url = host.url('push');
    const leaving = new AbortController();
    const received: string[] = [];
    const ended: string[] = [];
    const follow = async (format: string): Promise<void> => {
      const { body } = await fetch(`${url}/steady/${format}`, { headers: authorization, signal: leaving.signal });
      if (body === null) throw new Error('no stream');
      void (async () => {
        try {
          for await (const part of body) received.push(`${format} ${Buffer.from(part).toString()}`);
        } catch {
          return; // The test ends here.
        }
        ended.push(format);
      })();
    };
    await follow('json');
    await follow('sse');
    const socket = new WebSocket(`${url.replace('http', 'ws')}/steady/ws`, { headers: authorization });
    socket.on('message', (data: Buffer) => received.push(`ws ${data.toString()}`));
    socket.on('close', () => ended.push('ws'));
    await once(socket, 'open');
    const publish = async (
      text: string,
    ): Promise<{ id: string; time: number; expires: number; attachment?: object }> => {
      const reply = await fetch(`${url}/steady`, { method: 'POST', body: text, headers: authorization });
      expect(reply.status).toBe(200);
      return (await reply.json()) as { id: string; time: number; expires: number };
    };
    const before = await publish('x'.repeat(300));
    expect(before.expires - before.time).toBe(12 * 3600);
    expect(before.attachment).toBeUndefined();

    expect(await change('push', { cacheDuration: '2h', messageSizeLimit: 256, maxTopics: 1 })).toEqual([]);

    const short = await publish('after the change');
    expect(short.expires - short.time).toBe(2 * 3600);
    // A text longer than a message becomes a file.
    expect((await publish('x'.repeat(300))).attachment).toBeDefined();
    expect((await fetch(`${url}/steady,other/json?poll=1`, { headers: authorization })).status).toBe(400);
    await vi.waitFor(() => {
      for (const way of ['json', 'sse', 'ws']) {
        expect(
          received.some((line) => line.startsWith(way) && line.includes('after the change')),
          way,
        ).toBe(true);
      }
    });
    expect(ended).toEqual([]);

    leaving.abort();
    socket.terminate();
  });

  it('applies web push with a stream open', async () => {
    const url = host.url('push');
    const leaving = new AbortController();
    const { body } = await fetch(`${url}/steady/raw`, { headers: authorization, signal: leaving.signal });
    const reader = body?.getReader();
    const key = async (): Promise<string> => {
      const reply = await fetch(`${url}/v1/config`, { headers: authorization });
      return ((await reply.json()) as { web_push_public_key: string }).web_push_public_key;
    };
    const subscribe = async (): Promise<number> => {
      const order = JSON.stringify({ endpoint: 'https://evil.example/', auth: 'a', p256dh: 'b', topics: ['steady'] });
      return (await fetch(`${url}/v1/webpush`, { method: 'POST', body: order, headers: authorization })).status;
    };
    const first = await key();
    expect(first).not.toBe('');
    expect(await subscribe()).toBe(400);
    expect(await change('push', { webPush: false })).toEqual([]);
    expect(await key()).toBe('');
    expect(await subscribe()).toBe(404);
    expect(await change('push', { webPush: true })).toEqual([]);
    expect(await key()).toBe(first);
    expect(await subscribe()).toBe(400);

    await fetch(`${url}/steady`, { method: 'POST', body: 'still open', headers: authorization });
    let received = '';
    while (!received.includes('still open')) {
      const part = await reader?.read();
      if (part?.value === undefined) throw new Error('the stream has ended');
      received += Buffer.from(part.value).toString();
    }
    leaving.abort();
  });

  /** Opens a conversation with the mail service, past EHLO and MAIL FROM. */
  async function converse() {
    const socket = connect(host.port('mail'), '127.0.0.1');
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const sendMail = async (text: string): Promise<string> => {
      if (text !== '') socket.write(`${text}\r\n`);
      for (;;) {
        const line = (await lines.next()).value;
        if (line === undefined) throw new Error('the connection has ended');
        if (!/^\d{3}-/.test(line)) return line;
      }
    };
    await sendMail('');
    await sendMail('EHLO test');
    await sendMail('MAIL FROM:<someone@example.org>');
    return { socket, lines, sendMail };
  }

  it('applies recipients and limits of mail within a conversation', async () => {
    const { sendMail, socket } = await converse();
    expect(await sendMail('RCPT TO:<newcomer@example.org>')).toMatch(/^5/);
    const { sections } = await api<SettingsView>(host.url('control'), '/api/settings');
    const storedRecipients = sections
      .find(({ id }) => id === 'mail')
      ?.fields.find(({ name }) => name === 'recipients')?.value;
    const newRecipient = { address: 'newcomer', to: 'inbox://' };
    const settings = {
      recipients: [...(storedRecipients as object[]), newRecipient],
      maxRecipients: 1,
      maxMegabytes: 1,
      spoolDays: 9,
    };
    expect(await change('mail', settings)).toEqual([]);
    expect(await sendMail('RCPT TO:<newcomer@example.org>')).toMatch(/^250/);
    expect(await sendMail('RCPT TO:<newcomer@elsewhere.example>')).toMatch(/^452/);
    await sendMail('DATA');
    expect(await sendMail('Subject: Within\r\n\r\nStill the same conversation.\r\n.')).toMatch(/^250/);
    await vi.waitFor(async () =>
      expect((await inbox(host.url('control'))).map(({ title }) => title)).toContain('Within ([no sender])'),
    );
    socket.destroy();
  });

  it('applies the sign-in of mail to the next command of a conversation', async () => {
    const { sendMail, socket } = await converse();
    expect(await sendMail('EHLO test')).not.toContain('AUTH');
    const login = { name: 'printer', password: 'correct horse' };
    expect(await change('mail', { signIn: 'required', logins: [login], topicPrefix: 'ntfy-' })).toEqual([]);
    expect(await sendMail('MAIL FROM:<someone@example.org>')).toMatch(/^530/);
    const credentials = Buffer.from('\0printer\0correct horse').toString('base64');
    expect(await sendMail(`AUTH PLAIN ${credentials}`)).toMatch(/^235/);
    expect(await sendMail('MAIL FROM:<someone@example.org>')).toMatch(/^250/);
    expect(await change('mail', { signIn: 'off', logins: [] })).toEqual([]);
    expect(await sendMail('RCPT TO:<alerts@example.org>')).toMatch(/^250/);
    socket.destroy();
  });

  it('applies networks and the number of connections of mail to the next connection', async () => {
    const { socket } = await converse();
    const greeting = async (): Promise<string> => {
      const next = connect(host.port('mail'), '127.0.0.1');
      const [line] = (await once(createInterface({ input: next }), 'line')) as [string];
      next.destroy();
      return line;
    };
    expect(await change('mail', { clients: ['192.0.2.0/24'] })).toEqual([]);
    expect(await greeting()).toMatch(/^554/);
    expect(await change('mail', { clients: [], maxClients: 1 })).toEqual([]);
    expect(await greeting()).toMatch(/^421/);
    expect(await change('mail', { maxClients: 50 })).toEqual([]);
    expect(await greeting()).toMatch(/^220/);
    socket.destroy();
  });

  it('applies the idle time of mail to open connections, and restarts for another host name', async () => {
    const { lines, socket } = await converse();
    expect(await change('mail', { idleSeconds: 5 })).toEqual([]);
    const ended = once(socket, 'close');
    expect((await lines.next()).value).toMatch(/^421/);
    await ended;
    expect(await change('mail', { hostName: 'mail.example.org' })).toEqual(['mail']);
  });

  it('applies the retention of the inbox with an open live stream', async () => {
    const leaving = new AbortController();
    const { body } = await fetch(`${host.url('control')}/api/events`, {
      headers: authorization,
      signal: leaving.signal,
    });
    if (body === null) throw new Error('no stream');
    let received = '';
    let ended = false;
    void (async () => {
      try {
        for await (const part of body) received += Buffer.from(part).toString();
      } catch {
        return; // The test ends here.
      }
      ended = true;
    })();
    const offer = { title: 'Old', body: 'x', source: 'test', time: Date.now() - 3 * 86_400_000 };
    await context.handovers.pass(inboxOffered, 'live-settings-1', z.parse(inboxOffered.schema, offer));
    expect((await inbox(host.url('control'))).map(({ title }) => title)).toContain('Old');
    expect(await change('inbox', { keepDays: 2 })).toEqual([]);
    await vi.waitFor(async () => {
      expect((await inbox(host.url('control'))).map(({ title }) => title)).not.toContain('Old');
      expect(received).toContain('inbox.changed');
    });
    expect(ended).toBe(false);
    leaving.abort();
  });

  it('applies texts, limits and locks of notify', async () => {
    const url = host.url('notify');
    const keys = (): Promise<number> => fetch(`${url}/cfg`).then(({ status }) => status);
    expect(await keys()).toBe(403);
    expect(await change('notify', { listKeys: true, historyDays: 3, maxWaiting: 5, keptFilesBytes: 0 })).toEqual([]);
    expect(await keys()).toBe(200);
    expect(await change('notify', { redirects: false })).toEqual([]);
  });

  it('applies texts and intervals of downloads with an open socket', async () => {
    const url = host.url('downloads');
    const socket = io(url, { transports: ['websocket'], reconnection: false });
    let hasLeft = false;
    socket.on('disconnect', () => (hasLeft = true));
    await new Promise((resolve) => socket.once('all', resolve));
    const robots = join(host.dataDir, 'robots.txt');
    writeFileSync(robots, 'User-agent: nobody\n');
    expect(await change('downloads', { robotsFile: robots, clearAfter: 5, subscriptionInterval: 7 })).toEqual([]);
    expect(await (await fetch(`${url}/robots.txt`)).text()).toBe('User-agent: nobody\n');
    expect(hasLeft).toBe(false);
    expect(socket.connected).toBe(true);
    expect(await change('downloads', { publicUrl: 'https://media.example.org' })).toEqual(['downloads']);
    await vi.waitFor(() => expect(hasLeft).toBe(true));
    socket.close();
  });

  it('is published with the setting', async () => {
    const { sections } = await api<SettingsView>(host.url('control'), '/api/settings');
    const live = (service: string, name: string): boolean | undefined =>
      sections.find(({ id }) => id === service)?.fields.find((field) => field.name === name)?.live;
    expect([live('push', 'cacheDuration'), live('mail', 'hostName'), live('push', 'port')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
