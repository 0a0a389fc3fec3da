import { z } from 'zod';
import { DownloadLimits } from '../../contracts/downloads.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context, Service } from '../../contracts/service.ts';
import { readLimits, writeLimits } from './store.ts';

const Portable = z.object({ limits: DownloadLimits.optional() });

/** Export and import of what the page sets beside the settings: the limits. Nothing of it is secret. */
export function createPortable({ db, commit }: Pick<Context, 'db' | 'commit'>): NonNullable<Service['portable']> {
  return {
    export: async () => ({ limits: await readLimits(db) }),
    async import(data) {
      const parsed = Portable.safeParse(data);
      if (!parsed.success) {
        const fields = Object.fromEntries(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
        throw new Problem('downloads.bad_import', 400, 'The limits of downloads do not have the form of an export.', {
          fields,
        });
      }
      const { limits } = parsed.data;
      if (limits !== undefined) await commit(async (transaction) => await writeLimits(transaction, limits));
    },
  };
}
