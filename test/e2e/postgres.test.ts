import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { inbox } from '../support/api.ts';
import { adminAuthorization, openTestHost } from '../support/host.ts';
import { openPostgresDatabase } from '../support/postgres.ts';
import { SmtpDialogue } from '../support/smtp.ts';

it('runs the whole chain on PostgreSQL with one schema per service and survives a restart', async () => {
  await using server = await openPostgresDatabase();
  const environment = { HOMEPORT_DATABASE_URL: server.url };
  // The key of the vault is in the data folder; hosts with another one cannot read the keys in the database.
  const dataDir = mkdtempSync(join(tmpdir(), 'postgres-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  for (const subject of ['first', 'second']) {
    await using host = await openTestHost({ environment, dataDir });
    expect(host.host.failures()).toEqual({});
    using smtp = await SmtpDialogue.open(host.port('mail'));
    expect(await smtp.send('alerts@homeport.local', subject, 'text')).toMatch(/^250 /);
    await vi.waitFor(
      async () => expect((await inbox(host.url('control'))).map(({ title }) => title).at(0)).toContain(subject),
      { timeout: 20_000, interval: 50 },
    );
    const published = async (): Promise<readonly string[]> => {
      const headers = { Authorization: adminAuthorization };
      const poll = await fetch(`${host.url('push')}/homeport/json?poll=1`, { headers });
      return (await poll.text()).trim().split('\n');
    };
    // The inbox and the topic are two destinations: neither waits for the other.
    await vi.waitFor(async () => expect(await published()).toHaveLength(subject === 'first' ? 1 : 2), {
      timeout: 20_000,
    });
  }
});
