import type { Context } from '../../contracts/service.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import { urlsIn } from '../keys/read-key.ts';
import type { Settings } from '../settings.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import type { NotifyStores } from '../store/stores.ts';

const hourMs = 3_600_000;

/** Deletes expired history every hour, with files and URLs that are no longer used. */
export function startRetention(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  settings: Readonly<Pick<Settings, 'historyDays'>>,
  stores: NotifyStores,
  engine: EngineDestinations,
): Disposable {
  const removeOld = async (): Promise<void> => {
    const before = clock.now() - settings.historyDays * 24 * hourMs;
    await stores.notifications.deleteOld(before);
    await stores.health.deleteOld(before);
    await stores.folder.removeOrphans(await stores.attachments.listRetained());
    await engine.deleteUnused(await listUsedUrls(stores.configurations));
  };
  return clock.every(
    hourMs,
    () => void removeOld().catch((error: unknown) => log.warn('history cleanup failed', { error })),
  );
}

/** Returns the URLs of all configurations. */
async function listUsedUrls(configurations: ConfigurationStore): Promise<readonly string[]> {
  const keys = await configurations.keys();
  const configurationList = await Promise.all(keys.map((key) => configurations.find(key)));
  return configurationList.flatMap((configuration) => (configuration === undefined ? [] : urlsIn(configuration)));
}
