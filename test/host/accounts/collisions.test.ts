import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost } from '../../support/host.ts';

interface Services {
  readonly configProblems: readonly { readonly path: string; readonly message: string }[];
}

it('reports names of an older data folder that differ only in case', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'collisions-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  {
    await using host = await openTestHost({ services: [control], dataDir });
    expect((await api<Services>(host.url('control'), '/api/services')).configProblems).toEqual([]);
  }
  const file = readdirSync(join(dataDir, 'host')).find((name) => name.endsWith('.sqlite')) ?? '';
  const database = new Database(join(dataDir, 'host', file));
  const row = "'person', role, 1, '', NULL, created_at FROM accounts WHERE name = 'ada'";
  const columns = 'name, kind, role, enabled, description, password_hash, created_at';
  database.exec(`INSERT INTO accounts (${columns}) SELECT 'Ada', ${row}`);
  database.close();
  await using host = await openTestHost({ services: [control], dataDir });
  const { configProblems } = await api<Services>(host.url('control'), '/api/services');
  expect(configProblems.map(({ message }) => message)).toEqual([expect.stringContaining('Ada, ada')]);
});
