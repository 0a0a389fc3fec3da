import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitRoom, type GitRoom } from './git-fixture.ts';

let room: GitRoom;
let bob = '';
let at = '';
beforeAll(async () => {
  room = await openGitRoom();
  bob = await room.account('bob', [{ service: 'git', resource: 'ada/other', permission: 'read' }]);
  await room.create('Lamp', { private: true });
  const cwd = await room.work('Lamp', { 'README.md': '# Lamp\n', 'deep.txt': 'deep\n' });
  await room.git(['tag', 'v1/first'], { cwd });
  await room.git(['push', '-q', `${room.signedUrl}/ada/Lamp.git`, 'main', '--tags'], { cwd });
  const made = await room.api('POST', '/repos/ada/Lamp/releases', { tag_name: 'v1/first', name: 'One' });
  const { id } = (await made.json()) as { id: number };
  at = `${room.host.url('control')}/api/git/repositories/ada/Lamp/releases/${String(id)}/source`;
});
afterAll(() => room[Symbol.asyncDispose]());

it('the history says of what was pushed whether it is a branch or a tag', async () => {
  const reply = await fetch(`${room.host.url('control')}/api/git/history`, {
    headers: { authorization: adminAuthorization },
  });
  const { events } = (await reply.json()) as { events: { kind: string; what: string; tag: boolean }[] };
  const pushed = events.filter(({ kind }) => kind === 'created').map(({ what, tag }) => [what, tag]);
  expect(pushed).toEqual(
    expect.arrayContaining([
      ['v1/first', true],
      ['main', false],
    ]),
  );
});

it('the source of a release is one file, in the kinds that people unpack', async () => {
  for (const [kind, list] of [
    ['zip', ['python3', '-m', 'zipfile', '-l']],
    ['tar.gz', ['tar', '-tzf']],
  ] as const) {
    const reply = await fetch(`${at}/${kind}`, { headers: { authorization: adminAuthorization } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-disposition')).toContain(`Lamp-v1-first.${kind}`);
    const file = join(room.folder, `source.${kind}`);
    writeFileSync(file, Buffer.from(await reply.arrayBuffer()));
    const [program, ...args] = list;
    expect((await room.run(program, [...args, file])).stdout).toMatch(/lamp\/README\.md[^]*lamp\/deep\.txt/);
  }
});

it('the source of a release is made once for many who ask at once', async () => {
  const ask = async (): Promise<number> => {
    const reply = await fetch(`${at}/tar`, { headers: { authorization: adminAuthorization } });
    return (await reply.arrayBuffer()).byteLength;
  };
  const sizes = await Promise.all(Array.from({ length: 12 }, ask));
  expect(new Set(sizes).size).toBe(1);
  expect(sizes[0]).toBeGreaterThan(1000);
  expect(readdirSync(join(room.host.dataDir, 'git', 'portable'))).toHaveLength(1);
});

it('the source of a release is nothing for another kind, and for who may not read the repository', async () => {
  for (const kind of ['exe', 'toString', 'tar.gz%2F..', '-o']) {
    const reply = await fetch(`${at}/${kind}`, { headers: { authorization: adminAuthorization } });
    expect([kind, reply.status]).toEqual([kind, 404]);
  }
  const reply = await fetch(`${at}/zip`, { headers: { authorization: bob } });
  expect(reply.status).toBe(404);
});
