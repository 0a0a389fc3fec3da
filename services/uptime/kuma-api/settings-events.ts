import { UptimeOptions } from '../../contracts/uptime/views.ts';
import { databaseSize, shrinkDatabase } from '../store/tables.ts';
import { parseInput, type SocketEvents, type SocketDependencies } from './events.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** Returns the calls for the settings, the database and features that only Uptime Kuma has. */
export function settingsEvents({ options, context }: SocketDependencies): SocketEvents {
  return {
    getSettings: {
      needs: 'read',
      run() {
        const { tlsExpiryNotifyDays, timezone, keepDataPeriodDays, publicUrl } = options.current;
        return {
          data: {
            tlsExpiryNotifyDays,
            serverTimezone: timezone,
            keepDataPeriodDays,
            primaryBaseURL: publicUrl,
            entryPage: 'dashboard',
            searchEngineIndex: false,
            checkUpdate: false,
            disableAuth: false,
            trustProxy: false,
          },
        };
      },
    },
    setSettings: {
      needs: 'write',
      async run(_session, input) {
        const { tlsExpiryNotifyDays, keepDataPeriodDays, primaryBaseURL } = toRecord(input);
        const definedFields = { tlsExpiryNotifyDays, keepDataPeriodDays, publicUrl: primaryBaseURL ?? undefined };
        const named = Object.fromEntries(Object.entries(definedFields).filter(([, value]) => value !== undefined));
        const change = parseInput(UptimeOptions.partial(), named);
        await options.set(change as Partial<UptimeOptions>);
        return { msg: 'Saved.', msgi18n: true };
      },
    },
    twoFAStatus: { needs: 'read', run: () => ({ status: false }) },
    checkApprise: { needs: 'read', run: () => true },
    getGameList: { needs: 'read', run: () => ({ gameList: [] }) },
    getDatabaseSize: { needs: 'read', run: async () => ({ size: await databaseSize(context.db) }) },
    shrinkDatabase: {
      needs: 'write',
      async run() {
        await shrinkDatabase(context.db);
        return {};
      },
    },
  };
}
