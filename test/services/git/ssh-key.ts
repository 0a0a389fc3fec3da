import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { needs } from '../../support/requirements.ts';
import type { GitFixture } from './git-fixture.ts';

needs('ssh client');

/** SSH key pair; `command` is the SSH command for git. */
export async function makeKey(
  fixture: GitFixture,
  name: string,
  type = 'ed25519',
): Promise<{ readonly text: string; readonly command: string }> {
  const path = join(fixture.folder, name);
  await fixture.run('ssh-keygen', [
    '-q',
    '-t',
    type,
    ...(type === 'rsa' ? ['-b', '3072'] : []),
    '-N',
    '',
    '-C',
    name,
    '-f',
    path,
  ]);
  chmodSync(path, 0o600);
  const { stdout } = await fixture.run('cat', [`${path}.pub`]);
  const options = `-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes`;
  return { text: stdout.trim(), command: `ssh -F /dev/null ${options} -i ${path}` };
}

/** Returns the Ed25519 host key that a server of Git over SSH shows, as `ssh-ed25519 AAAA…`. */
export async function scanHostKey(fixture: GitFixture, sshUrl: string): Promise<string> {
  const { hostname, port } = new URL(sshUrl);
  const { stdout } = await fixture.run('ssh-keyscan', ['-t', 'ed25519', '-p', port, hostname]);
  return /ssh-ed25519 \S+/.exec(stdout)?.[0] ?? '';
}
