import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { buildUnreadableKeyProblem } from '../../kit/stored-key.ts';

/** Old clients do not support Ed25519. */
const kinds = [
  ['ed25519', undefined],
  ['rsa', { bits: 3072 }],
] as const;

/** Reads the host keys of this server. They are generated at the first start. */
export async function hostKeys(folder: string): Promise<readonly string[]> {
  return Promise.all(
    kinds.map(async ([kind, options]) => {
      const path = join(folder, `ssh_host_${kind}_key`);
      const known = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      // The file is truncated or was changed. Clients verify the server by this key, so it is never replaced
      // automatically.
      if (known !== undefined && ssh2.utils.parseKey(known) instanceof Error)
        throw buildUnreadableKeyProblem('git', `ssh-${kind}`);
      if (known !== undefined) return known;
      const made = await make(kind, options);
      await writeFile(`${path}.new`, made, { mode: 0o600 });
      await rename(`${path}.new`, path);
      return made;
    }),
  );
}

async function make(kind: 'ed25519' | 'rsa', options: { readonly bits: number } | undefined): Promise<string> {
  for (;;) {
    const text = await new Promise<string>((resolve, reject) => {
      const done = (error: Error | null, keys: { readonly private: string }): void => {
        if (error === null) resolve(keys.private);
        else reject(error);
      };
      if (kind === 'rsa') ssh2.utils.generateKeyPair('rsa', { bits: options?.bits ?? 3072 }, done);
      else ssh2.utils.generateKeyPair('ed25519', done);
    });
    // The library sometimes writes an Ed25519 key that it cannot read.
    if (!(ssh2.utils.parseKey(text) instanceof Error)) return text;
  }
}
