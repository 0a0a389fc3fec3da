import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Context, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { hasRows } from '../../../services/kit/has-rows.ts';

/** Returns whether a service has created any of the keys that its manifest declares. */
export async function hasStoredKeys(
  { keys }: Pick<ServiceDescriptor, 'keys'>,
  { db, files }: Pick<Context, 'db' | 'files'>,
): Promise<boolean> {
  const fileNames = Object.values(keys?.files ?? {}).flat();
  if (fileNames.some((name) => existsSync(join(files, name)))) return true;
  return keys?.table !== undefined && (await hasRows(db, [keys.table]));
}
