import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { api, inbox } from '../support/api.ts';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { SmtpDialogue } from '../support/smtp.ts';

let dataDir: string;
let mounted = false;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-full-'));
  mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', dataDir]).status === 0;
});
afterEach(() => {
  if (mounted) spawnSync('umount', ['-l', dataDir]);
  rmSync(dataDir, { recursive: true, force: true });
});

/** Writes until nothing fits any more. */
function fill(file: string): void {
  const handle = openSync(file, 'a');
  try {
    for (const size of [1 << 20, 4096, 1]) {
      const block = Buffer.alloc(size, 'x');
      while (writes(handle, block));
    }
  } finally {
    closeSync(handle);
  }
}

function writes(handle: number, block: Buffer): boolean {
  try {
    return writeSync(handle, block) === block.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

async function mail(host: HostProcess, subject: string, bytes = 20_000): Promise<string> {
  using smtp = await SmtpDialogue.open(host.port('mail'));
  return await smtp.send('alerts@homeport.local', subject, 'x'.repeat(bytes));
}

function publish(host: HostProcess, message: string): Promise<Response> {
  return fetch(`${host.url('push')}/disk`, {
    method: 'POST',
    body: message,
    headers: { Authorization: adminAuthorization },
  });
}

function isIntact(file: string): boolean {
  const database = new Database(file, { readonly: true });
  try {
    return database.pragma('integrity_check', { simple: true }) === 'ok';
  } finally {
    database.close();
  }
}

it('answers senders with temporary errors on a full disk, corrupts nothing and recovers when space returns', async ({
  skip,
}) => {
  if (!mounted) {
    if (process.env['CI']) throw new Error('a small tmpfs could not be mounted; this test needs root');
    skip();
  }
  await using host = await startHostProcess(dataDir);
  await mail(host, 'before');
  await expect.poll(() => inbox(host.url('control'))).toHaveLength(1);

  const filler = join(dataDir, 'filler');
  fill(filler);
  const accepted = ['before'];
  // A half-filled page of the database may still accept one; eventually none is accepted.
  let refusal = '';
  for (let turn = 0; turn < 50 && !refusal.startsWith('4'); turn += 1) {
    refusal = await mail(host, `full ${turn}`);
    if (refusal.startsWith('250')) accepted.push(`full ${turn}`);
  }
  expect(refusal).toMatch(/^452 4\.3\.1 /);
  // A message that needs a separate file.
  expect(await mail(host, 'large', 200_000)).toMatch(/^452 4\.3\.1 /);
  let published: Response;
  let messages = 0;
  do {
    published = await publish(host, 'x'.repeat(4000));
    messages += 1;
  } while (published.ok && messages < 200);
  expect([published.status, await published.json()]).toMatchObject([507, { http: 507 }]);
  const status = await fetch(`${host.url('notify')}/status`, { headers: { accept: 'application/json' } });
  expect([status.status, await status.json()]).toMatchObject([
    417,
    { status: { can_write_attach: false, details: expect.arrayContaining(['ATTACH_PERMISSION_ISSUE']) } },
  ]);
  const change = api(host.url('control'), '/api/settings/inbox', {
    method: 'PATCH',
    body: JSON.stringify({ keepDays: 99 }),
  });
  await expect(change).rejects.toThrow(/507/);
  expect((await fetch(host.url('control'))).status).toBe(200);

  rmSync(filler);
  await expect.poll(() => mail(host, 'after')).toMatch(/^250 /);
  accepted.push('after');
  await expect.poll(async () => (await fetch(`${host.url('notify')}/status`)).ok).toBe(true);
  expect((await publish(host, 'after')).status).toBe(200);
  const listTitles = async () => (await inbox(host.url('control'))).map(({ title }) => title.replace(/ \(.*$/, ''));
  await expect
    .poll(async () => (await listTitles()).filter((title) => accepted.includes(title)).toSorted())
    .toEqual(accepted.toSorted());
  expect(await host.stop()).toBe(0);
  const services = ['host', 'mail', 'notify', 'push', 'inbox', 'downloads'];
  expect(services.filter((service) => !isIntact(join(dataDir, service, 'db.sqlite')))).toEqual([]);
});
