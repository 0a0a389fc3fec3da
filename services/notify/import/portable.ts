import * as m from '#messages/notify-problems';
import { z } from 'zod';
import { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Service } from '../../contracts/service.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import { Key } from '../wire/notify.ts';

/** Format of an export: the configurations of all keys, readable or sealed for this installation. */
const Portable = z.object({
  keys: z.array(
    z.object({
      key: Key,
      format: z.enum(['text', 'yaml']).default('text'),
      config: z.string().optional(),
      sealed: z.string().optional(),
      secret: z.string().optional(),
      sealedSecret: z.string().optional(),
      options: NotifyKeyOptions.default(() => NotifyKeyOptions.parse({})),
    }),
  ),
});

/**
 * Exports and imports keys. Every URL may contain a secret, so without `secrets` complete configurations are sealed.
 */
export function createPortable(store: ConfigurationStore, clock: Clock): NonNullable<Service['portable']> {
  return {
    async export({ secrets }) {
      const keys = [];
      for (const key of await store.keys()) {
        const configuration = await store.find(key);
        if (configuration === undefined) continue;
        const { format, options, secret, text } = configuration;
        const signing = secret === undefined ? {} : secrets ? { secret } : { sealedSecret: store.seal(secret) };
        const written = secrets ? { config: text } : { sealed: store.seal(text) };
        keys.push({ key, format, options, ...written, ...signing });
      }
      return { keys };
    },
    async import(data) {
      const parsed = Portable.safeParse(data);
      if (!parsed.success) {
        const fields = Object.fromEntries(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
        throw new Problem('notify.bad_import', 400, m.exportInvalid(), {
          fields,
        });
      }
      const configurations = parsed.data.keys.map(({ key, format, config, sealed, options, ...signing }, index) => {
        const text = config ?? (sealed === undefined ? undefined : store.unseal(sealed));
        const { sealedSecret } = signing;
        const secret = signing.secret ?? (sealedSecret === undefined ? undefined : store.unseal(sealedSecret));
        if (text !== undefined) return { key, format, text, options, secret };
        throw new Problem('notify.bad_import', 400, m.exportWithoutConfiguration({ key }), {
          fields: { [`keys.${index}.config`]: m.exportConfigurationMissing() },
        });
      });
      await store.replaceAll(configurations, clock.now());
    },
  };
}
