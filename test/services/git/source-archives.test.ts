import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitRoom, type GitRoom } from './git-fixture.ts';

let room: GitRoom;
let bob = '';
let address = '';
beforeAll(async () => {
  room = await openGitRoom();
  bob = await room.account('bob', [{ service: 'git', resource: 'ada/other', permission: 'read' }]);
  await room.create('Lamp', { private: true });
  const cwd = await room.work('Lamp', { 'README.md': '# Lamp\n', 'deep.txt': 'deep\n' });
  await room.git(['tag', 'v1/first'], { cwd });
  await room.git(['push', '-q', `${room.signedUrl}/ada/Lamp.git`, 'main', '--tags'], { cwd });
  const response = await room.api('POST', '/repos/ada/Lamp/releases', { tag_name: 'v1/first', name: 'One' });
  const { id } = (await response.json()) as { id: number };
  address = `${room.host.url('control')}/api/git/repositories/ada/Lamp/releases/${String(id)}/source`;
});
afterAll(() => room[Symbol.asyncDispose]());

it('distinguishes branches and tags in the history', async () => {
  const reply = await fetch(`${room.host.url('control')}/api/git/history`, {
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

it('creates source archives of a release in common formats', async () => {
  for (const [kind, list] of [
    ['zip', ['python3', '-m', 'zipfile', '-l']],
    ['tar.gz', ['tar', '-tzf']],
  ] as const) {
    const reply = await fetch(`${address}/${kind}`, { headers: { authorization: adminAuthorization } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-disposition')).toContain(`Lamp-v1-first.${kind}`);
    const file = join(room.folder, `source.${kind}`);
    writeFileSync(file, Buffer.from(await reply.arrayBuffer()));
    const [program, ...args] = list;
    expect((await room.run(program, [...args, file])).stdout).toMatch(/lamp\/README\.md[^]*lamp\/deep\.txt/);
  }
});

it('creates a source archive once for concurrent requests', async () => {
  const ask = async (): Promise<number> => {
    const reply = await fetch(`${address}/tar`, { headers: { authorization: adminAuthorization } });
    return (await reply.arrayBuffer()).byteLength;
  };
  const sizes = await Promise.all(Array.from({ length: 12 }, ask));
  expect(new Set(sizes).size).toBe(1);
  expect(sizes[0]).toBeGreaterThan(1000);
  expect(readdirSync(join(room.host.dataDir, 'git', 'portable'))).toHaveLength(1);
});

it('rejects other formats and callers without read access', async () => {
  for (const kind of ['exe', 'toString', 'tar.gz%2F..', '-o']) {
    const reply = await fetch(`${address}/${kind}`, { headers: { authorization: adminAuthorization } });
    expect([kind, reply.status]).toEqual([kind, 404]);
  }
  const reply = await fetch(`${address}/zip`, { headers: { authorization: bob } });
  expect(reply.status).toBe(404);
});
