import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DownloadLimits } from '../../contracts/downloads/limits.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context, Service } from '../../contracts/service.ts';
import { Addresses, loginPurpose, secretsPurpose } from '../store/addresses.ts';
import { parseAddress } from '../domain/address.ts';
import { folderParts } from '../domain/template.ts';
import { readLimits, writeLimits } from '../limits/store.ts';
import type { Settings } from '../settings.ts';
import { SubscriptionStore, type StoredSubscription } from '../subscriptions/store.ts';
import { titleExpression } from '../subscriptions/title-expression.ts';
import { readPortable, toPortable, type PortableSubscription } from '../wire/subscription.ts';

/** What an export holds: the limits, and subscriptions as bodies of `POST /subscribe`. What is left out stays as it is. */
const Portable = z.object({
  limits: DownloadLimits.optional(),
  subscriptions: z.array(z.record(z.string(), z.unknown())).max(10_000).optional(),
});

/**
 * Export and import of what the page sets beside the settings. The login in an address is a secret. What subscriptions
 * have seen stays behind: the first look after an import takes what is there for seen, unless it was subscribed before.
 */
export function createPortable(
  { clock, commit, db, vault }: Pick<Context, 'clock' | 'commit' | 'db' | 'vault'>,
  settings: Settings,
): NonNullable<Service['portable']> {
  const addresses = new Addresses(vault);
  const exported = (subscription: StoredSubscription, secrets: boolean): Record<string, unknown> => {
    const { login, secrets: ofQuery } = subscription.order;
    const body = toPortable(subscription);
    if (secrets) return { ...body, url: addresses.join(subscription.url, subscription.order) };
    return {
      ...body,
      ...(login === null ? {} : { sealed_login: login }),
      ...(ofQuery === null ? {} : { sealed_secrets: ofQuery }),
    };
  };

  const imported = (body: Readonly<Record<string, unknown>>): PortableSubscription => {
    const given = readPortable(body, settings);
    const address = parseAddress(given.url);
    if ('msg' in address) throw new Problem('downloads.refused', 400, address.msg);
    if (folderParts(given.order.folder ?? '') === undefined) {
      throw new Problem('downloads.bad_folder', 400, 'The folder is not inside the download folder.');
    }
    titleExpression(given.titleRegex);
    const { shown, login, secrets } = addresses.split(address.href);
    const again = (sealed: unknown, own: string | null, purpose: string): string | null =>
      // What cannot be opened here is refused.
      typeof sealed === 'string' ? vault.seal(vault.open(sealed, purpose), purpose) : own;
    const kept = {
      login: again(body['sealed_login'], login, loginPurpose),
      secrets: again(body['sealed_secrets'], secrets, secretsPurpose),
    };
    return { ...given, url: shown, name: given.name || shown, order: { ...given.order, ...kept } };
  };

  return {
    export: async ({ secrets }) => ({
      limits: await readLimits(db),
      subscriptions: (await new SubscriptionStore(db).list()).map((each) => exported(each, secrets)),
    }),
    async import(data) {
      const parsed = Portable.safeParse(data);
      if (!parsed.success) {
        const fields = Object.fromEntries(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
        throw badImport(fields);
      }
      const { limits, subscriptions } = parsed.data;
      const wanted = subscriptions?.map((body, index) => {
        try {
          return imported(body);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          throw badImport({ [`subscriptions.${index}`]: error.detail });
        }
      });
      const now = clock.now();
      await commit(async (transaction) => {
        if (limits !== undefined) await writeLimits(transaction, limits);
        if (wanted !== undefined) await replaceAll(new SubscriptionStore(transaction), wanted, now);
      });
    },
  };
}

/** One that is there already keeps what it has seen; one that is not named goes. */
async function replaceAll(
  store: SubscriptionStore,
  wanted: readonly PortableSubscription[],
  now: number,
): Promise<void> {
  const there = new Map((await store.list()).map((each) => [each.url, each]));
  // Of two with one address the last one holds.
  const distinct = [...new Map(wanted.map((each) => [each.url, each])).values()];
  for (const [index, { url, ...given }] of distinct.entries()) {
    const before = there.get(url);
    there.delete(url);
    if (before !== undefined) await store.change(before.id, { ...given, nextCheck: now });
    else {
      const fresh = {
        lastChecked: null,
        lastFound: null,
        found: 0,
        error: null,
        failures: 0,
        picture: null,
        nextCheck: now,
      };
      // They are listed by their age.
      await store.insert({ id: randomUUID(), url, createdAt: now + index, ...given, ...fresh });
    }
  }
  if (there.size > 0)
    await store.remove(
      [...there.values()].map(({ id }) => id),
      now,
    );
}

function badImport(fields: Readonly<Record<string, string>>): Problem {
  return new Problem('downloads.bad_import', 400, 'The limits and subscriptions do not have the form of an export.', {
    fields,
  });
}
