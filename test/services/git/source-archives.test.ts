import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { lacksProgram } from '../../support/requirements.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let bob = '';
let address = '';
beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob', [{ service: 'git', resource: 'ada/other', permission: 'read' }]);
  await fixture.create('Lamp', { private: true });
  const cwd = await fixture.work('Lamp', { 'README.md': '# Lamp\n', 'deep.txt': 'deep\n' });
  await fixture.git(['tag', 'v1/first'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/Lamp.git`, 'main', '--tags'], { cwd });
  const response = await fixture.api('POST', '/repos/ada/Lamp/releases', { tag_name: 'v1/first', name: 'One' });
  const { id } = (await response.json()) as { id: number };
  address = `${fixture.host.url('control')}/api/git/repositories/ada/Lamp/releases/${String(id)}/source`;
});
afterAll(() => fixture[Symbol.asyncDispose]());

it('distinguishes branches and tags in the history', async () => {
  const reply = await fetch(`${fixture.host.url('control')}/api/git/history`, {
    headers: { authorization: adminAuthorization },
  });
  const { events } = (await reply.json()) as { events: { kind: string; what: string; tag: boolean }[] };
  const pushed = events.filter(({ kind }) => kind === 'created').map(({ what: refName, tag }) => [refName, tag]);
  expect(pushed).toEqual(
    expect.arrayContaining([
      ['v1/first', true],
      ['main', false],
    ]),
  );
});

for (const [kind, program, args] of [
  ['zip', 'python3', ['-m', 'zipfile', '-l']],
  ['tar.gz', 'tar', ['-tzf']],
] as const) {
  it.skipIf(lacksProgram(program))(`creates a source archive of a release as ${kind}`, async () => {
    const reply = await fetch(`${address}/${kind}`, { headers: { authorization: adminAuthorization } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-disposition')).toContain(`Lamp-v1-first.${kind}`);
    const file = join(fixture.folder, `source.${kind}`);
    writeFileSync(file, Buffer.from(await reply.arrayBuffer()));
    expect((await fixture.run(program, [...args, file])).stdout).toMatch(/lamp\/README\.md[^]*lamp\/deep\.txt/);
  });
}

it('creates a source archive once for concurrent requests', async () => {
  const sendRequest = async (): Promise<number> => {
    const reply = await fetch(`${address}/tar`, { headers: { authorization: adminAuthorization } });
    return (await reply.arrayBuffer()).byteLength;
  };
  const sizes = await Promise.all(Array.from({ length: 12 }, sendRequest));
  expect(new Set(sizes).size).toBe(1);
  expect(sizes[0]).toBeGreaterThan(1000);
  expect(readdirSync(join(fixture.host.dataDir, 'git', 'portable'))).toHaveLength(1);
});

it('rejects other formats and callers without read access', async () => {
  for (const kind of ['exe', 'toString', 'tar.gz%2F..', '-o']) {
    const reply = await fetch(`${address}/${kind}`, { headers: { authorization: adminAuthorization } });
    expect([kind, reply.status]).toEqual([kind, 404]);
  }
  const reply = await fetch(`${address}/zip`, { headers: { authorization: bob } });
  expect(reply.status).toBe(404);
});
