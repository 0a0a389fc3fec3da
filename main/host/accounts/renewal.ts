import type { Log } from '../../../services/contracts/service.ts';
import type { Changes } from './changes.ts';
import type { Passwords } from './passwords.ts';

export interface RenewalDependencies {
  readonly changes: Changes;
  readonly passwords: Passwords;
  readonly log: Log;
}

/**
 * Replaces a hash of another program or of a lower cost. The sign-in succeeds even if that fails: it is retried at
 * the next sign-in.
 */
export function renewHash({ changes, passwords, log }: RenewalDependencies) {
  return async (name: string, password: string, foreign: string): Promise<string | undefined> => {
    try {
      const hash = await passwords.hash(password);
      await changes.create([name], async (db) => {
        await db
          .updateTable('accounts')
          .set({ password_hash: hash })
          .where('name', '=', name)
          .where('password_hash', '=', foreign)
          .execute();
      });
      return hash;
    } catch (error) {
      log.warn('password hash renewal failed', { account: name, error });
      return undefined;
    }
  };
}
