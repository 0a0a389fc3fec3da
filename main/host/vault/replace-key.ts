import { readText } from '../../../services/contracts/text.ts';
import * as m from '#messages/host-problems';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { replaceFileSync } from '../../../services/kit/platform/file-replacement.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, ServiceDescriptor } from '../../../services/contracts/service.ts';

/** Beginning of the last part of the name of a former key. */
export const replacedKeyPart = 'replaced-';

/**
 * Sets a stored key of a service aside, so that the service creates a new one at its next start. Only on request,
 * since everything created with the key becomes invalid. The former key remains beside it, in case the vault's key is
 * recovered.
 * @throws Problem `host.unknown_key` (404).
 */
export async function setKeyAside(
  { id, title, keys }: Pick<ServiceDescriptor, 'id' | 'title' | 'keys'>,
  name: string,
  { commit, files, clock }: Pick<Context, 'commit' | 'files' | 'clock'>,
): Promise<void> {
  const backupName = `${replacedKeyPart}${String(clock.now())}`;
  let count = 0;
  if (keys?.table !== undefined) {
    const { table, column = 'name', rows = {} } = keys;
    const row = Object.hasOwn(rows, name) ? rows[name] : name;
    const result = await commit((transaction: Kysely<any>) =>
      transaction
        .updateTable(table)
        .set({ [column]: `${String(row)}.${backupName}` })
        .where(column, '=', row)
        .executeTakeFirst(),
    );
    count += Number(result.numUpdatedRows);
  }
  const own = keys?.files !== undefined && Object.hasOwn(keys.files, name) ? (keys.files[name] ?? []) : [];
  for (const file of own.map((each) => join(files, each)).filter((path) => existsSync(path))) {
    replaceFileSync(file, `${file}.${backupName}`);
    count += 1;
  }
  if (count === 0)
    throw new Problem('host.unknown_key', 404, () => m.storedKeyNotFound({ service: readText(title), id, name }));
}
