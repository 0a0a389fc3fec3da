import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('demo');
  const cwd = await fixture.work('demo');
  writeFileSync(join(cwd, 'large.bin'), randomBytes(24 * 1024 * 1024));
  await fixture.git(['add', '.'], { cwd });
  await fixture.git(['commit', '-qm', 'large'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Returns the services that were restarted for the change. */
const change = async (values: Record<string, unknown>): Promise<readonly string[]> => {
  const options = { method: 'PATCH', body: JSON.stringify(values) };
  return (await api<{ restarted: string[] }>(fixture.host.url('control'), '/api/settings/git', options)).restarted;
};

/** Proxy that forwards the first bytes of responses and holds back the rest until it is released. */
async function slowProxy(
  delayedBytes: number,
): Promise<{ readonly url: string; readonly reached: Promise<void>; release(): void } & Disposable> {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const target = new URL(fixture.url);
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    void (async () => {
      let passed = 0;
      for await (const chunk of upstream as AsyncIterable<Buffer>) {
        passed += chunk.length;
        client.write(chunk);
        if (passed < delayedBytes) continue;
        reached.resolve();
        await released.promise;
      }
      client.end();
    })().catch(() => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached: reached.promise,
    release: () => released.resolve(),
    [Symbol.dispose]: () => void server.close(),
  };
}

describe('a change of a setting', () => {
  it('does not interrupt a running clone', async () => {
    using proxy = await slowProxy(1024 * 1024);
    const host = new URL(fixture.url).host;
    const header = ['-c', `http.extraHeader=Host: ${host}`];
    const clone = fixture.git([...header, 'clone', '-q', `${proxy.url}/ada/demo.git`, 'survivor'], { mayFail: true });
    await proxy.reached;
    const restarted = await change({
      defaultBranch: 'trunk',
      requireSignIn: true,
      maxPushMegabytes: 1,
      lfsQuotaMegabytes: 5,
      noticeBranches: ['trunk'],
      createOnPush: true,
      sshHost: 'git.example',
      defaultPrivate: true,
      hooksToLocalNetwork: true,
      migrateFromLocalNetwork: true,
      publicUrl: 'https://git.example',
    });
    expect(restarted).toEqual([]);
    proxy.release();
    expect(await clone).toMatchObject({ code: 0 });
    const result = await fixture.git(['fsck'], { cwd: join(fixture.folder, 'survivor') });
    expect(result.code).toBe(0);
  });

  it('takes effect immediately', async () => {
    const anonymous = await fixture.api('GET', '/repos/ada/demo', undefined, '');
    expect(anonymous.status).toBe(404);
    const repository = (await fixture.create('later')) as Record<string, unknown>;
    expect(repository).toMatchObject({ default_branch: 'trunk', private: true });
    expect(repository['html_url']).toBe('https://git.example/ada/later');
    const cwd = join(fixture.folder, 'demo');
    const result = await fixture.git(['push', `${fixture.signedUrl}/ada/later.git`, 'main'], { cwd, mayFail: true });
    expect(result.code).not.toBe(0);
    await change({ maxPushMegabytes: 0, publicUrl: '', requireSignIn: false });
    expect((await fixture.git(['push', `${fixture.signedUrl}/ada/later.git`, 'main'], { cwd })).code).toBe(0);
    const reply = request(`${fixture.url}/api/v1/repos/ada/demo`, { headers: { authorization: adminAuthorization } });
    reply.end();
    const [response] = (await once(reply, 'response')) as [{ readonly statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it('waits for a running clone when it needs a restart', async () => {
    using proxy = await slowProxy(1024 * 1024);
    const header = ['-c', `http.extraHeader=Host: ${new URL(fixture.url).host}`];
    const signed = new URL(fixture.signedUrl);
    const remote = `http://${signed.username}:${signed.password}@${new URL(proxy.url).host}/ada/demo.git`;
    const clone = fixture.git([...header, 'clone', '-q', remote, 'before-restart'], { mayFail: true });
    await proxy.reached;
    const options = { method: 'PATCH', body: JSON.stringify({ metricsToken: 'a token of the metrics' }) };
    const changed = await api(fixture.host.url('control'), '/api/settings/git', options);
    expect(changed).toEqual({ restarted: [], pending: ['git'] });
    const readMetrics = async (): Promise<number> =>
      (
        await fetch(`${fixture.host.url('git')}/metrics`, {
          headers: { authorization: 'Bearer a token of the metrics' },
        })
      ).status;
    proxy.release();
    expect(await clone).toMatchObject({ code: 0 });
    expect((await fixture.git(['fsck'], { cwd: join(fixture.folder, 'before-restart') })).code).toBe(0);
    await vi.waitFor(async () => {
      const { services } = await api<{ services: { id: string; pendingRestart?: unknown }[] }>(
        fixture.host.url('control'),
        '/api/services',
      );
      expect(services.find(({ id }) => id === 'git')).not.toHaveProperty('pendingRestart');
      expect(await readMetrics()).toBe(200);
    });
    expect((await fetch(`${fixture.host.url('git')}/metrics`)).status).toBe(401);
  });
});
