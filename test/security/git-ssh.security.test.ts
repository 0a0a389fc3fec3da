import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLevel, keyLevels, openSshRoom, repositories, type SshRoom } from './git-ssh-matrix.ts';

describe('access over SSH', () => {
  let ssh: SshRoom;
  beforeAll(async () => {
    ssh = await openSshRoom();
  });
  afterAll(() => ssh[Symbol.asyncDispose]());

  it.each(Object.entries(keyLevels))('is by repository for: %s', async (key, expected) => {
    await using client = await ssh.connect(key);
    const levels: string[] = [];
    for (const repository of repositories) levels.push(await readLevel(client, repository));
    expect(levels).toEqual(expected);
  });
});
