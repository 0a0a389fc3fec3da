import * as m from '#messages/downloads-problems';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DownloadLimits } from '../../contracts/downloads/limits.ts';
import { Problem } from '../../contracts/problem.ts';
import { createRefusedProblem } from '../domain/failure.ts';
import type { Context, Service } from '../../contracts/service.ts';
import { Addresses, loginPurpose, secretsPurpose } from '../store/addresses.ts';
import { parseAddress } from '../domain/address.ts';
import { splitFolder } from '../domain/template.ts';
import { readLimits, writeLimits } from '../limits/store.ts';
import type { Settings } from '../settings.ts';
import type { StoredSubscription } from '../domain/subscription.ts';
import { SubscriptionStore } from '../subscriptions/store.ts';
import { parseTitleExpression } from '../domain/title-expression.ts';
import { readPortable, toPortable, type PortableSubscription } from '../wire/subscription.ts';

/**
 * Content of an export: the limits, and subscriptions as bodies of `POST /subscribe`. Omitted fields remain unchanged
 * by an import.
 */
const Portable = z.object({
  limits: DownloadLimits.optional(),
  subscriptions: z.array(z.record(z.string(), z.unknown())).max(10_000).optional(),
});

type PortableContext = Pick<Context, 'clock' | 'commit' | 'db' | 'vault'>;

/**
 * Exports and imports the limits and subscriptions. The login in an address is a secret. The seen entries are not
 * exported: the first check after an import marks everything present as seen, unless the address was subscribed before.
 */
export function createPortable(context: PortableContext, settings: Settings): NonNullable<Service['portable']> {
  const { clock, commit, db } = context;
  const form = new PortableForm(context.vault, settings);
  return {
    export: async ({ secrets }) => ({
      limits: await readLimits(db),
      subscriptions: (await new SubscriptionStore(db).list()).map((each) => form.write(each, secrets)),
    }),
    async import(data) {
      const parsed = Portable.safeParse(data);
      if (!parsed.success) {
        const fields = Object.fromEntries(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
        throw createImportProblem(fields);
      }
      const { limits, subscriptions } = parsed.data;
      const imported = subscriptions?.map((body, index) => {
        try {
          return form.read(body);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          throw createImportProblem({ [`subscriptions.${index}`]: error.detail });
        }
      });
      const now = clock.now();
      await commit(async (transaction) => {
        if (limits !== undefined) await writeLimits(transaction, limits);
        if (imported !== undefined) await replaceAll(new SubscriptionStore(transaction), imported, now);
      });
    },
  };
}

/** Converts subscriptions to the form of an export and back. */
class PortableForm {
  readonly #vault: Context['vault'];
  readonly #settings: Settings;
  readonly #addresses: Addresses;

  constructor(vault: Context['vault'], settings: Settings) {
    this.#vault = vault;
    this.#settings = settings;
    this.#addresses = new Addresses(vault);
  }

  write(subscription: StoredSubscription, secrets: boolean): Record<string, unknown> {
    const { login, secrets: querySecrets } = subscription.order;
    const body = toPortable(subscription);
    if (secrets) return { ...body, url: this.#addresses.join(subscription.url, subscription.order) };
    return {
      ...body,
      ...(login === null ? {} : { sealed_login: login }),
      ...(querySecrets === null ? {} : { sealed_secrets: querySecrets }),
    };
  }

  /** @throws Problem for an invalid subscription, and for a value that another host sealed. */
  read(body: Readonly<Record<string, unknown>>): PortableSubscription {
    const subscription = readPortable(body, this.#settings);
    const address = parseAddress(subscription.url);
    if ('msg' in address) throw createRefusedProblem(400, address);
    if (splitFolder(subscription.order.folder ?? '') === undefined) {
      throw new Problem('downloads.bad_folder', 400, m.folderOutside());
    }
    parseTitleExpression(subscription.titleRegex);
    const { displayUrl, login, secrets } = this.#addresses.split(address.href);
    const sealedAddress = {
      login: this.#reseal(body['sealed_login'], login, loginPurpose),
      secrets: this.#reseal(body['sealed_secrets'], secrets, secretsPurpose),
    };
    return {
      ...subscription,
      url: displayUrl,
      name: subscription.name || displayUrl,
      order: { ...subscription.order, ...sealedAddress },
    };
  }

  #reseal(sealed: unknown, current: string | null, purpose: string): string | null {
    // A value sealed by another host is refused.
    return typeof sealed === 'string' ? this.#vault.seal(this.#vault.open(sealed, purpose), purpose) : current;
  }
}

/**
 * Replaces all subscriptions. An existing subscription keeps its seen entries; a subscription that is not in the import
 * is removed.
 */
async function replaceAll(
  store: SubscriptionStore,
  imported: readonly PortableSubscription[],
  now: number,
): Promise<void> {
  const existing = new Map((await store.list()).map((each) => [each.url, each]));
  // The last of several subscriptions with the same address is used.
  const distinct = [...new Map(imported.map((each) => [each.url, each])).values()];
  for (const [index, { url, ...fields }] of distinct.entries()) {
    const before = existing.get(url);
    existing.delete(url);
    if (before !== undefined) await store.change(before.id, { ...fields, nextCheck: now });
    else {
      const initial = {
        lastChecked: null,
        lastFound: null,
        found: 0,
        error: null,
        failure: null,
        failures: 0,
        picture: null,
        nextCheck: now,
      };
      // Subscriptions are listed by age.
      await store.insert({ id: randomUUID(), url, createdAt: now + index, ...fields, ...initial });
    }
  }
  if (existing.size > 0)
    await store.remove(
      [...existing.values()].map(({ id }) => id),
      now,
    );
}

function createImportProblem(fields: Readonly<Record<string, string>>): Problem {
  return new Problem('downloads.bad_import', 400, m.importInvalid(), {
    fields,
  });
}
