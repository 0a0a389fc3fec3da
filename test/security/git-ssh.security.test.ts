import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLevel, keyLevels, openSshFixture, repositories, type SshFixture } from './git-ssh-matrix.ts';

describe('access over SSH', () => {
  let ssh: SshFixture;
  beforeAll(async () => {
    ssh = await openSshFixture();
  });
  afterAll(() => ssh[Symbol.asyncDispose]());

  it.each(Object.entries(keyLevels))('is by repository for: %s', async (key, expected) => {
    await using client = await ssh.connect(key);
    const levels: string[] = [];
    for (const repository of repositories) levels.push(await readLevel(client, repository));
    expect(levels).toEqual(expected);
  });
});
