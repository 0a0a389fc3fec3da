import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { api, inbox } from '../support/api.ts';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';
import { SmtpDialogue } from '../support/smtp.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-kill-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe('kill -9 of the host', () => {
  it('loses no mail answered with 250 and shows each exactly once, whenever the process is killed', async () => {
    const accepted: string[] = [];
    let mail = 0;
    for (let round = 0; round < 4; round += 1) {
      await using host = await startHostProcess(dataDir);
      // Four concurrent senders; the kill follows a different number of acceptances in each round.
      const blow = 1 + round * 7;
      let acceptedInRound = 0;
      const sender = async (): Promise<void> => {
        while (host.child.exitCode === null && host.child.signalCode === null) {
          const subject = `mail ${(mail += 1)}`;
          using smtp = await SmtpDialogue.open(host.port('mail')).catch(() => ({
            send: async () => '',
            [Symbol.dispose]() {},
          }));
          if (!(await smtp.send('alerts@homeport.local', subject, 'text')).startsWith('250')) return;
          accepted.push(subject);
          acceptedInRound += 1;
          if (acceptedInRound === blow) await host.kill();
        }
      };
      await Promise.all([sender(), sender(), sender(), sender()]);
    }
    expect(accepted.length).toBeGreaterThan(20);

    await using host = await startHostProcess(dataDir);
    await vi.waitFor(
      async () => {
        const titles = (await inbox(host.url('control'))).map(({ title }) => title.replace(/ \(.*$/, ''));
        expect(titles).toEqual(expect.arrayContaining(accepted));
      },
      { timeout: 20_000, interval: 100 },
    );
    const titles = (await inbox(host.url('control'))).map(({ title }) => title);
    expect(titles.length).toBe(new Set(titles).size);

    // Copies for subscribers take a separate path.
    const pushed = async (): Promise<readonly string[]> => {
      const poll = await fetch(`${host.url('push')}/homeport/json?poll=1`, {
        headers: { Authorization: adminAuthorization },
      });
      const lines = (await poll.text()).trim().split('\n');
      return lines.map((line) => (JSON.parse(line) as { title: string }).title.replace(/ \(.*$/, ''));
    };
    await vi.waitFor(async () => expect(await pushed()).toEqual(expect.arrayContaining(accepted)), {
      timeout: 20_000,
      interval: 100,
    });
    const messages = await pushed();
    expect(messages.length).toBe(new Set(messages).size);
  });

  it('delivers a notification once to the healthy destination and later to the recovered one', async () => {
    const received = { healthy: [] as string[], late: [] as string[] };
    const destination = (into: string[]) =>
      createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => (body += String(chunk)));
        request.on('end', () => {
          into.push((JSON.parse(body) as { title: string }).title);
          response.end('{}');
        });
      });
    const healthy = destination(received.healthy).listen(0, '127.0.0.1');
    const late = destination(received.late).listen(0, '127.0.0.1');
    await Promise.all([once(healthy, 'listening'), once(late, 'listening')]);
    const healthyPort = (healthy.address() as AddressInfo).port;
    const latePort = (late.address() as AddressInfo).port;
    late.close();
    await once(late, 'close');
    try {
      {
        await using host = await startHostProcess(dataDir);
        const urls = `json://127.0.0.1:${healthyPort}/, json://127.0.0.1:${latePort}/`;
        await fetch(`${host.url('notify')}/add/fan`, {
          method: 'POST',
          body: JSON.stringify({ urls }),
          headers: { 'Content-Type': 'application/json' },
        });
        const reply = await fetch(`${host.url('notify')}/notify/fan`, {
          method: 'POST',
          body: JSON.stringify({ title: 'disk', body: 'full' }),
          headers: { 'Content-Type': 'application/json' },
        });
        expect(reply.status).toBe(200);
        await vi.waitFor(() => expect(received.healthy).toEqual(['disk']), { timeout: 10_000 });
        await host.kill();
      }
      const back = destination(received.late).listen(latePort, '127.0.0.1');
      await once(back, 'listening');
      await using _again = await startHostProcess(dataDir);
      await vi.waitFor(() => expect(received.late).toEqual(['disk']), { timeout: 40_000, interval: 100 });
      expect(received.healthy).toEqual(['disk']);
      back.close();
    } finally {
      healthy.close();
    }
  });

  it('keeps an account, a token and settings that were changed just before', async () => {
    let token: string;
    {
      await using host = await startHostProcess(dataDir);
      const control = host.url('control');
      await api(control, '/api/accounts', {
        method: 'POST',
        body: JSON.stringify({
          name: 'grace',
          password: 'hopper hopper',
          grants: [{ service: 'push', resource: 'ships', permission: 'write' }],
        }),
      });
      token = (
        await api<{ text: string }>(control, '/api/accounts/grace/tokens', {
          method: 'POST',
          body: JSON.stringify({ label: 'phone' }),
        })
      ).text;
      await api(control, '/api/settings/inbox', { method: 'PATCH', body: JSON.stringify({ keepDays: 30 }) });
      await host.kill();
    }
    await using host = await startHostProcess(dataDir);
    const publish = await fetch(`${host.url('push')}/ships`, {
      method: 'POST',
      body: 'ahoy',
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(publish.status).toBe(200);
    const { sections } = await api<{ sections: { id: string; fields: { name: string; value: unknown }[] }[] }>(
      host.url('control'),
      '/api/settings',
    );
    expect(sections.find(({ id }) => id === 'inbox')?.fields.find(({ name }) => name === 'keepDays')?.value).toBe(30);
  });
});
