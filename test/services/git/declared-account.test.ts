import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bcrypt from 'bcryptjs';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { openGitFixture } from './git-fixture.ts';

it('retains the data of an account that homeport.yaml declares', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-git-declared-'));
  try {
    const authUsers = [{ name: 'bob', passwordHash: bcrypt.hashSync('secret of bob', 4) }];
    writeFileSync(join(dataDir, 'homeport.yaml'), stringify({ version: 1, host: { authUsers } }));
    await using fixture = await openGitFixture({ dataDir });
    const bob = `Basic ${Buffer.from('bob:secret of bob').toString('base64')}`;
    expect((await fixture.api('POST', '/user/repos', { name: 'his', auto_init: true }, bob)).status).toBe(201);
    expect((await fixture.api('DELETE', '/admin/users/bob?purge=true')).status).toBe(409);
    expect((await fixture.api('GET', '/repos/bob/his/contents/README.md', undefined, bob)).status).toBe(200);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
