import * as texts from '#messages/uptime-texts';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Monitor } from '../../../services/contracts/uptime/views.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openTarget, openUptime, type UptimeRig } from './rig.ts';
import { needs } from '../../support/requirements.ts';

needs('process tools');

const journal = ({ host }: UptimeRig): string => join(host.dataDir, 'uptime', 'running-checks.json');

/** Returns the PID of a host's checker process, which has the data folder as its only argument. */
function getCheckerPid({ host }: UptimeRig): number {
  const pids = execFileSync('pgrep', ['-f', `checker-process.* ${host.dataDir}`], { encoding: 'utf8' });
  return Number(pids.trim().split('\n')[0]);
}

const health = async ({ host }: UptimeRig): Promise<string> => {
  const reply = await fetch(`${host.url('control')}/api/services`, { headers: { authorization: adminAuthorization } });
  return await reply.text();
};

// The tests run together because each waits for the timers of its checker process.
describe.skipIf(process.platform === 'win32')('the checker process', { concurrent: true }, () => {
  it('quarantines the monitor that was being checked at the crash, and checks all others', async () => {
    await using rig = await openUptime();
    await using silent = await openTarget(() => undefined);
    await using well = await openTarget();
    const other = await rig.add({ type: 'http', name: 'well', url: well.url, interval: 5 });
    await rig.until(other.id, 1);
    const poison = await rig.add({ type: 'http', name: 'poison', url: silent.url, interval: 3600, timeout: 600 });
    await vi.waitUntil(() => silent.requests.length > 0);
    process.kill(getCheckerPid(rig), 'SIGKILL');
    const paused = await vi.waitUntil(async () => {
      const monitor = await rig.call<Monitor>('GET', `/api/monitors/${String(poison.id)}`);
      return monitor.active ? undefined : monitor;
    }, 20_000);
    expect(paused.state.problems?.[0]).toBe(texts.quarantined());
    const before = well.requests.length;
    await vi.waitUntil(() => well.requests.length > before + 1, 20_000);
    const monitors = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
    expect(monitors.items.filter(({ active }) => !active).map(({ name }) => name)).toEqual(['poison']);
    const requests = silent.requests.length;
    await rig.call('POST', `/api/monitors/${String(poison.id)}/resume`);
    await vi.waitUntil(() => silent.requests.length > requests, 20_000);
    const resumed = await rig.call<Monitor>('GET', `/api/monitors/${String(poison.id)}`);
    expect([resumed.active, resumed.state.problems]).toEqual([true, undefined]);
  });

  it('quarantines monitors at the start after Homeport ended during a check', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-quarantine-'));
    const saved = join(dataDir, 'saved.json');
    await using silent = await openTarget(() => undefined);
    try {
      let id = 0;
      {
        await using rig = await openUptime({ dataDir });
        ({ id } = await rig.add({ type: 'http', name: 'poison', url: silent.url, interval: 3600, timeout: 600 }));
        await vi.waitUntil(() => silent.requests.length > 0);
        copyFileSync(journal(rig), saved);
      }
      {
        // After a regular end, no monitor is quarantined.
        await using rig = await openUptime({ dataDir });
        expect(await rig.call<Monitor>('GET', `/api/monitors/${String(id)}`)).toMatchObject({ active: true });
      }
      copyFileSync(saved, join(dataDir, 'uptime', 'running-checks.json'));
      await using rig = await openUptime({ dataDir });
      const monitor = await rig.call<Monitor>('GET', `/api/monitors/${String(id)}`);
      expect(monitor).toMatchObject({ active: false, state: { problems: [expect.stringContaining('was paused')] } });
      expect(rig.host.log.join('\n')).toContain('running checks found in the journal of the previous process');
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('is restarted and reported when it stops answering', async () => {
    await using rig = await openUptime();
    await using well = await openTarget();
    const monitor = await rig.add({ type: 'http', name: 'well', url: well.url, interval: 10 });
    const pid = getCheckerPid(rig);
    await rig.until(monitor.id, 1);
    // Stopped between two checks, because a monitor that is being checked would be quarantined.
    process.kill(pid, 'SIGSTOP');
    await vi.waitUntil(() => rig.host.log.join('\n').includes('checker process unresponsive, restarting'));
    const before = well.requests.length;
    await vi.waitUntil(() => well.requests.length > before + 1);
    expect(await health(rig)).toContain('stopped and was restarted');
  });
});
