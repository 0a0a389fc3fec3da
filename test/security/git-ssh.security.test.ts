import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { levelOf, levelsOfKeys, openSshRoom, repositories, type SshRoom } from './git-ssh-matrix.ts';

describe('access over SSH', () => {
  let ssh: SshRoom;
  beforeAll(async () => {
    ssh = await openSshRoom();
  });
  afterAll(() => ssh[Symbol.asyncDispose]());

  it.each(Object.entries(levelsOfKeys))('is by repository for: %s', async (key, expected) => {
    await using client = await ssh.connect(key);
    const levels: string[] = [];
    for (const repository of repositories) levels.push(await levelOf(client, repository));
    expect(levels).toEqual(expected);
  });
});
