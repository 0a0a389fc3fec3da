import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../../services/contracts/service.ts';

const idPattern = /^[A-Za-z0-9_-]{8,64}$/;

/**
 * Returns the id of the host on a data folder, which it keeps across restarts. Without `create`, a new id is not stored.
 */
export function readHostId(dataDir: string, random: Random, { create }: { readonly create: boolean }): string {
  const file = join(dataDir, 'host', 'host-id');
  try {
    const stored = readFileSync(file, 'utf8').trim();
    if (idPattern.test(stored)) return stored;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const id = random.text(12);
  if (create) writeFileSync(file, `${id}\n`, { mode: 0o600 });
  return id;
}
