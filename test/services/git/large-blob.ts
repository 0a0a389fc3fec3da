import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { residentMegabytes } from '../../bench/measure.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { startHostProcess, type HostProcess } from '../../support/host-process.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

/** Maximum additional memory of a host that streams a file of any size, MB. */
const maxMegabytes = 256;
/** Timeout in ms; a gigabyte takes minutes on a busy computer. */
const timeoutMs = 30 * 60_000;
const disabledServices = Object.fromEntries(
  ['DOWNLOADS', 'NOTIFY', 'PUSH', 'MAIL', 'INBOX', 'UPTIME', 'SYNC', 'DATA', 'ADDONS'].map((id) => [
    `HOMEPORT_ENABLED_${id}`,
    'false',
  ]),
);
/** Disables compression and delta search in the client, which are not under test. */
const gitOptions = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=1m'];

/** Tests that a file of this size is pushed and cloned over HTTP and SSH with little memory in the host. */
export function describeLargeBlob(megabytes: number): void {
  describe(`a file of ${megabytes} MB`, () => {
    let dataDir = '';
    let fixture: GitFixture;
    let host: HostProcess;
    beforeAll(async () => {
      dataDir = mkdtempSync(join(tmpdir(), 'homeport-git-data-'));
      // Only clients run in this fixture.
      fixture = await openGitFixture();
      host = await startHostProcess(dataDir, { environment: disabledServices });
    });
    afterAll(async () => {
      await fixture[Symbol.asyncDispose]();
      await host.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    it.each([
      ['HTTP', 'SSH'],
      ['SSH', 'HTTP'],
    ])(
      'is pushed over %s and cloned over %s through the host',
      async (into, out) => {
        let maxResident = 0;
        const pid = host.child.pid ?? 0;
        const timer = setInterval(() => (maxResident = Math.max(maxResident, residentMegabytes(pid))), 100);
        try {
          const api = async (path: string, body: unknown): Promise<any> => {
            const init = { method: 'POST', headers: { authorization: adminAuthorization }, body: JSON.stringify(body) };
            const reply = await fetch(`${host.url('git')}/api/v1${path}`, init);
            expect(reply.status).toBe(201);
            return reply.json();
          };
          const name = `large-${into}`;
          const key = await makeKey(fixture, `id_${into}`);
          await api('/user/keys', { title: name, key: key.text });
          const repository = await api('/user/repos', { name, private: true });
          const addresses: Record<string, string> = {
            HTTP: `${host.url('git').replace('://', `://${admin.name}:${encodeURIComponent(admin.password)}@`)}/ada/${name}.git`,
            SSH: String(repository.ssh_url),
          };
          const environment = { GIT_SSH_COMMAND: key.command };
          const cwd = await fixture.work(name);
          await fixture.run('sh', ['-c', `head -c ${megabytes * 1_000_000} /dev/urandom > big`], { cwd });
          await fixture.git([...gitOptions, 'add', '.'], { cwd });
          await fixture.git([...gitOptions, 'commit', '-qm', 'large'], { cwd });
          const before = residentMegabytes(pid);
          await fixture.git([...gitOptions, 'push', '-q', addresses[into] ?? '', 'main'], { cwd, environment });
          await fixture.git([...gitOptions, 'clone', '-q', addresses[out] ?? '', `${name}-copy`], { environment });
          await fixture.run('cmp', [join(cwd, 'big'), join(fixture.folder, `${name}-copy`, 'big')]);
          expect(maxResident - before).toBeLessThan(maxMegabytes);
        } finally {
          clearInterval(timer);
        }
      },
      timeoutMs,
    );
  });
}
