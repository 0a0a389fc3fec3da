import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { SmtpDialogue } from '../support/smtp.ts';

interface Posted {
  readonly title: string;
  readonly attachments: readonly { readonly filename: string; readonly base64: string }[];
}

let dataDir: string;
let destination: Server | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-mail-files-'));
});
afterEach(() => {
  destination?.close();
  destination = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

async function listen(port: number, into: Posted[]): Promise<void> {
  destination = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      into.push(JSON.parse(Buffer.concat(chunks).toString()) as Posted);
      response.end('{}');
    });
  }).listen(port, '127.0.0.1');
  await once(destination, 'listening');
}

/** Sends all mails of this host to one web address. */
async function deliverTo(host: HostProcess, port: number): Promise<void> {
  const reply = await fetch(`${host.url('notify')}/add/aggregator`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ format: 'text', config: `json://127.0.0.1:${port}/?rto=30` }),
  });
  expect(reply.status).toBe(200);
}

function mailWith(subject: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
  return [
    `Subject: ${subject}`,
    'Content-Type: multipart/mixed; boundary=b',
    ...['', '--b', 'Content-Type: text/plain', '', 'see the file'],
    ...['--b', 'Content-Type: application/octet-stream; name=data.bin', 'Content-Transfer-Encoding: base64', ''],
    ...[lines, '--b--', '.'],
  ].join('\r\n');
}

async function send(host: HostProcess, source: string): Promise<string> {
  using smtp = await SmtpDialogue.open(host.port('mail'));
  for (const line of ['EHLO test', 'MAIL FROM:<nas@example.org>', 'RCPT TO:<alerts@nas>', 'DATA']) {
    await smtp.command(line);
  }
  return await smtp.command(source);
}

it('delivers each mail once with its complete attachment after kill -9 between reply 250 and delivery', async () => {
  const port = await freePort();
  const files = Array.from({ length: 6 }, (_, index) => Buffer.alloc(1000 + index * 40_000, `${String(index)} file `));
  {
    await using host = await startHostProcess(dataDir);
    await deliverTo(host, port);
    for (const [mailIndex, bytes] of files.entries()) {
      expect(await send(host, mailWith(`mail ${String(mailIndex)}`, bytes))).toMatch(/^250 /);
    }
    await host.kill();
  }
  const posted: Posted[] = [];
  await listen(port, posted);
  await using second = await startHostProcess(dataDir);
  expect(second.url('mail')).toBeDefined();
  await vi.waitFor(() => expect(posted).toHaveLength(files.length), { timeout: 60_000, interval: 100 });
  expect(posted.map(({ title }) => title.slice(0, 6))).toEqual(
    files.map((_, mailIndex) => `mail ${String(mailIndex)}`),
  );
  for (const [position, { attachments }] of posted.entries()) {
    expect(attachments.map(({ filename }) => filename)).toEqual(['data.bin']);
    expect(Buffer.from(attachments[0]?.base64 ?? '', 'base64').equals(files[position] ?? Buffer.of())).toBe(true);
  }
});

it('delivers each mail answered with 250 once after kill -9 under load', async () => {
  const port = await freePort();
  const accepted: string[] = [];
  {
    await using host = await startHostProcess(dataDir);
    await deliverTo(host, port);
    const allReceived = Promise.withResolvers<void>();
    const sendOn = async (sender: number): Promise<void> => {
      for (let position = 0; position < 200; position += 1) {
        const subject = `mail ${String(sender)}-${String(position)}`;
        // The kill ends the connection in the middle of a line.
        const reply = await send(host, `Subject: ${subject}\r\n\r\nwords\r\n.`).catch(() => '');
        if (!reply.startsWith('250')) return;
        accepted.push(subject);
        if (accepted.length === 60) allReceived.resolve();
      }
    };
    const sending = Promise.all(Array.from({ length: 6 }, (_, sender) => sendOn(sender)));
    await allReceived.promise;
    await host.kill();
    await sending;
  }
  const posted: Posted[] = [];
  await listen(port, posted);
  await using second = await startHostProcess(dataDir);
  expect(second.url('mail')).toBeDefined();
  const titles = (): readonly string[] => posted.map(({ title }) => title.replace(/ \(.*$/, ''));
  await vi.waitFor(() => expect(titles()).toEqual(expect.arrayContaining(accepted)), {
    timeout: 60_000,
    interval: 100,
  });
  expect(new Set(titles()).size).toBe(posted.length);
});

it('bounds memory while three mails of 30 MB arrive at the same time', async () => {
  const port = await freePort();
  const posted: Posted[] = [];
  await listen(port, posted);
  await using host = await startHostProcess(dataDir);
  await deliverTo(host, port);
  const peak = (): number => {
    const status = readFileSync(`/proc/${String(host.child.pid)}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  };
  const before = peak();
  const large = mailWith('large', Buffer.alloc(22 * 1024 * 1024, 'bytes of a file '));
  expect(await Promise.all([1, 2, 3].map(() => send(host, large)))).toEqual(
    [1, 2, 3].map(() => expect.stringMatching(/^250 /) as string),
  );
  await vi.waitFor(() => expect(posted).toHaveLength(3), { timeout: 90_000, interval: 100 });
  expect(peak() - before).toBeLessThan(600);
});
