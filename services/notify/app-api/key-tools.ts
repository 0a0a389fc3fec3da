import * as m from '#messages/notify-problems';
import type { NotifyDestination, NotifyKey } from '../../contracts/notify/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { readDelivery } from '../keys/delivery-arguments.ts';
import { withRules } from '../domain/delivery-rules.ts';
import { deliveryIds, readKey, removeDisallowed, type Entry } from '../keys/read-key.ts';
import type { StoredConfiguration, WrittenConfiguration } from '../store/configurations.ts';
import { findWorstHealth } from '../store/health.ts';
import type { ApiDependencies } from './dependencies.ts';

/** Functions that the routes for keys share. */
export interface KeyTools {
  /** @throws Problem `notify.unknown_key` (404) */
  readonly getConfiguration: (key: string) => Promise<StoredConfiguration>;
  /** @throws Problem `notify.locked` (403) if a setting locks all keys. */
  readonly requireUnlocked: () => void;
  readonly toKey: (configuration: StoredConfiguration) => Promise<NotifyKey>;
  readonly save: (key: string, written: WrittenConfiguration) => Promise<NotifyKey>;
}

export function createKeyTools(dependencies: ApiDependencies): KeyTools {
  const { context, engine, settings } = dependencies;
  const { configurations, health } = dependencies.stores;
  const getConfiguration = async (key: string): Promise<StoredConfiguration> => {
    const configuration = await configurations.find(key);
    if (configuration === undefined) throw new Problem('notify.unknown_key', 404, m.keyUnknown({ key }));
    return configuration;
  };
  const requireUnlocked = (): void => {
    if (!settings.configurationLock) return;
    throw new Problem('notify.locked', 403, m.keysLocked());
  };
  const configurableBy = ({ closed }: NotifyKey['options']): NotifyKey['configurableBy'] => {
    if (settings.configurationLock || settings.statefulMode === 'disabled') return 'nobody';
    const { closeKeys, requireSignIn, trustLocalPrograms } = settings;
    return closed || closeKeys || requireSignIn || !trustLocalPrograms ? 'administrators' : 'programs';
  };
  const toKey = async (configuration: StoredConfiguration): Promise<NotifyKey> => {
    const { key, format, options, secret } = configuration;
    const { entries, skipped } = removeDisallowed(await readKey(configuration, engine), dependencies.isAllowed);
    const hasEngine = entries.some(({ destination }) => destination.engine) && (await engine.isInstalled());
    const healthById = await health.findAll(entries.flatMap(deliveryIds));
    const destinations = entries.map((entry): NotifyDestination => ({
      line: entry.line,
      id: entry.id,
      service: entry.destination.service,
      url: formatMaskedUrl(entry),
      tags: [...entry.ownTags],
      effectiveTags: entry.tags.map(({ name }) => name),
      delivery: readDelivery(entry.typedUrl),
      health: findWorstHealth(deliveryIds(entry), healthById),
      ignored: [...(entry.destination.ignored ?? [])],
      needsEngine: entry.destination.engine === true && !hasEngine,
    }));
    return {
      key,
      format,
      options,
      signed: secret !== undefined,
      configurableBy: configurableBy(options),
      destinations,
      skipped,
    };
  };
  const save = async (key: string, written: WrittenConfiguration): Promise<NotifyKey> => {
    await configurations.save(key, written, context.clock.now());
    context.log.info('configuration saved', { event: 'destinations_saved', key });
    dependencies.activity.touch();
    return toKey(await getConfiguration(key));
  };
  return { getConfiguration, requireUnlocked, toKey, save };
}

export function formatMaskedUrl({ destination, ruleArguments }: Entry): string {
  return withRules(destination.url(true), ruleArguments);
}
