import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import { buildUnreadableKeyProblem } from '../../kit/stored-key.ts';

/** Old clients do not support Ed25519. */
const keyTypes = [
  ['ed25519', undefined],
  ['rsa', { bits: 3072 }],
] as const;

/** Reads the host keys of this server. They are generated at the first start. */
export async function readHostKeys(folder: string): Promise<readonly string[]> {
  return Promise.all(
    keyTypes.map(async ([kind, options]) => {
      const path = join(folder, `ssh_host_${kind}_key`);
      const stored = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      // The file is truncated or was changed. Clients verify the server by this key, so it is never replaced
      // automatically.
      if (stored !== undefined && ssh2.utils.parseKey(stored) instanceof Error)
        throw buildUnreadableKeyProblem('git', `ssh-${kind}`);
      if (stored !== undefined) return stored;
      const generated = await generateKey(kind, options);
      await writeFile(`${path}.new`, generated, { mode: 0o600 });
      await replaceFile(`${path}.new`, path);
      return generated;
    }),
  );
}

async function generateKey(kind: 'ed25519' | 'rsa', options: { readonly bits: number } | undefined): Promise<string> {
  for (;;) {
    const text = await new Promise<string>((resolve, reject) => {
      const callback = (error: Error | null, keys: { readonly private: string }): void => {
        if (error === null) resolve(keys.private);
        else reject(error);
      };
      if (kind === 'rsa') ssh2.utils.generateKeyPair('rsa', { bits: options?.bits ?? 3072 }, callback);
      else ssh2.utils.generateKeyPair('ed25519', callback);
    });
    // The library sometimes writes an Ed25519 key that it cannot read.
    if (!(ssh2.utils.parseKey(text) instanceof Error)) return text;
  }
}
