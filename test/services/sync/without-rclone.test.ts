import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { sync } from '../../../services/sync/index.ts';
import { adminAuthorization, enginesFolder, openTestHost } from '../../support/host.ts';
import { lacksRclone, openSyncFixture, rclonePath, until, type SyncFixture } from './sync-fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'homeport-without-rclone-'));
afterEach(() => vi.unstubAllEnvs());

const missing = { RCLONE_PATH: join(scratch, 'nowhere') };

/** Creates two folders that differ in each way that a sync handles. */
function fill(fixture: SyncFixture): { readonly srcFs: string; readonly dstFs: string } {
  fixture.write({ 'a/same': 'same', 'a/changed': 'newer', 'a/sub/new': 'new', 'b/changed': 'old', 'b/gone/f': 'x' });
  cpSync(join(fixture.folder, 'a/same'), join(fixture.folder, 'b/same'), { preserveTimestamps: true });
  const past = new Date('2020-01-01T00:00:00Z');
  utimesSync(join(fixture.folder, 'b/changed'), past, past);
  return { srcFs: join(fixture.folder, 'a'), dstFs: join(fixture.folder, 'b') };
}

const counted = [
  ...['bytes', 'checks', 'deletedDirs', 'deletes', 'errors', 'listed', 'renames', 'totalBytes', 'totalChecks'],
  ...['totalTransfers', 'transfers'],
];

describe.skipIf(lacksRclone)('a sync without rclone', () => {
  it('keeps the same statistics as rclone', async () => {
    const results = [];
    for (const environment of [{}, missing]) {
      await using fixture = await openSyncFixture({ environment });
      const { jobid } = (await fixture.call('sync/sync', { ...fill(fixture), _async: true, _group: 'g' })).body;
      await until(
        () => fixture.call('job/status', { jobid }),
        ({ body }) => body.finished === true,
      );
      const ofGroup = (await fixture.call('core/stats', { group: 'g' })).body;
      const ofAll = (await fixture.call('core/stats')).body;
      const { transferred } = (await fixture.call('core/transferred', { group: 'g' })).body;
      const files = (transferred as Record<string, unknown>[])
        .map(({ name, size, bytes, checked, what, error, group }) => [name, size, bytes, checked, what, error, group])
        .map((row) => row.join(' '));
      const pick = (stats: Record<string, unknown>) => Object.fromEntries(counted.map((key) => [key, stats[key]]));
      results.push({
        group: pick(ofGroup),
        all: pick(ofAll),
        files: files.toSorted(),
        keys: Object.keys(ofGroup).sort(),
      });
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[0]?.group).toMatchObject({ transfers: 2, totalTransfers: 2, deletes: 1, deletedDirs: 1, checks: 3 });
  });
});

describe.skipIf(lacksRclone)('an empty data folder', () => {
  it('waits for an rclone that is being installed', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-fresh-'));
    const engines = join(dataDir, 'own-engines');
    const gate = join(dataDir, 'gate');
    // The package becomes available when the gate opens.
    const python = join(dataDir, 'bin', 'python3');
    mkdirSync(dirname(python), { recursive: true });
    const engineFolder = join(engines, 'rclone', '9.9.9-test');
    const pointer = `{"current":"9.9.9-test","previous":null}`;
    writeFileSync(
      python,
      `#!/bin/sh\nwhile [ ! -e '${gate}' ]; do sleep 0.1; done\nmkdir -p '${engineFolder}'\n` +
        `cp '${rclonePath ?? ''}' '${engineFolder}/rclone'\nprintf '%s' '${pointer}' > '${engines}/rclone/current'\nexit 1\n`,
    );
    chmodSync(python, 0o755);
    vi.stubEnv('PATH', `${dirname(python)}:/bin`);
    const engineSpecs = sync.engines?.map((spec) => ({ ...spec }));
    const service: ServiceDescriptor = { ...sync, ...(engineSpecs === undefined ? {} : { engines: engineSpecs }) };
    const environment = { HOMEPORT_ENGINES_DIR: engines, HOMEPORT_INSTALL_ENGINES: 'true' };
    await using host = await openTestHost({ services: [service, control], environment, dataDir });
    const call = fetch(`${host.url('sync')}/config/listremotes`, {
      method: 'POST',
      headers: { authorization: adminAuthorization },
    });
    const early = await Promise.race([call, new Promise((resolve) => setTimeout(() => resolve('waits'), 500))]);
    expect(early).toBe('waits');
    writeFileSync(gate, '');
    const reply = await call;
    expect([reply.status, await reply.json()]).toEqual([200, { remotes: [] }]);
    rmSync(dataDir, { recursive: true, force: true });
  });
});

describe('the engines folder of the settings', () => {
  it('is the folder itself, and engines of an earlier version are moved into it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-engines-'));
    mkdirSync(join(folder, 'engines'));
    cpSync(join(enginesFolder, 'rclone'), join(folder, 'engines', 'rclone'), { recursive: true });
    await using host = await openTestHost({ services: [sync, control], environment: { HOMEPORT_ENGINES_DIR: folder } });
    const reply = await fetch(`${host.url('control')}/api/engines`, { headers: { authorization: adminAuthorization } });
    const { engines } = (await reply.json()) as { engines: { name: string; path: string | null }[] };
    expect(engines.find(({ name }) => name === 'rclone')?.path).toMatch(new RegExp(`^${folder}/rclone/[^/]+/rclone$`));
    rmSync(folder, { recursive: true, force: true });
  });
});
