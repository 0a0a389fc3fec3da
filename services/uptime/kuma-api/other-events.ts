import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { NewDockerHost, UptimeOptions, type ApiKey } from '../../contracts/uptime/views.ts';
import { PageNote, publicConfig, PublicGroup } from '../../contracts/uptime/status-pages.ts';
import { formatKumaTime } from '../domain/time-format.ts';
import { databaseSize, shrinkDatabase } from '../store/tables.ts';
import type { StoredPage } from '../store/status-pages.ts';
import {
  toNumber,
  toRecord,
  toTranslatedMessage,
  toText,
  type SocketEvents,
  type SocketDependencies,
} from './events.ts';

/** Returns the calls for container engines, API keys and settings. */
export function otherEvents({ checker, dockerHosts, keys, options, context }: SocketDependencies): SocketEvents {
  const keyList = async () => (await keys.list()).map((key) => toKumaApiKey(key, context.clock.now()));
  return {
    addDockerHost: {
      needs: 'write',
      async run(_session, input, id) {
        const host = parseInput(NewDockerHost, input);
        const { id: number } = await dockerHosts.put(host, id === null || id === undefined ? undefined : toNumber(id));
        return { msg: 'Saved.', msgi18n: true, id: number };
      },
    },
    deleteDockerHost: {
      needs: 'write',
      async run(_session, id) {
        await dockerHosts.remove(toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
    testDockerHost: {
      needs: 'write',
      async run(_session, input) {
        const { length } = await checker.listContainers({
          id: 0,
          ...parseInput(NewDockerHost, { name: '-', ...toRecord(input) }),
        });
        return { msg: `Connected Successfully. Amount of containers: ${String(length)}` };
      },
    },
    addAPIKey: {
      needs: 'write',
      async run(_session, input) {
        const { name, expires, active } = toRecord(input);
        const until = Date.parse(`${toText(expires).replace(' ', 'T')}Z`);
        const { id, key } = await keys.add(toText(name) || 'key', Number.isNaN(until) ? null : until, active !== false);
        return toTranslatedMessage('successAdded', { key, keyID: id });
      },
    },
    getAPIKeyList: {
      needs: 'write',
      async run(session) {
        session.emit('apiKeyList', await keyList());
        return {};
      },
    },
    enableAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.setActive(toNumber(id), true);
        return toTranslatedMessage('successEnabled');
      },
    },
    disableAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.setActive(toNumber(id), false);
        return toTranslatedMessage('successDisabled');
      },
    },
    deleteAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.remove(toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
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

/** Returns the calls for status pages and notes. */
export function pageEvents({ pages }: SocketDependencies): SocketEvents {
  const note = async (slug: unknown, id: unknown, change: Parameters<typeof pages.changeNote>[2]) => ({
    incident: await pages.changeNote(pages.get(toText(slug)), toNumber(id), change),
  });
  return {
    addStatusPage: {
      needs: 'write',
      async run(_session, title, slug) {
        const page = await pages.add(toText(slug), toText(title));
        return toTranslatedMessage('successAdded', { slug: page.config.slug });
      },
    },
    getStatusPage: {
      needs: 'read',
      run(_session, slug) {
        const page = pages.get(toText(slug));
        return { config: toKumaPage(page) };
      },
    },
    saveStatusPage: {
      needs: 'write',
      async run(_session, slug, config, _picture, groups) {
        const { id: _id, logo, ...fields } = toRecord(config);
        const list = parseInput(z.array(PublicGroup), groups ?? []);
        const icon = typeof logo === 'string' ? { icon: logo } : {};
        const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
        const saved = await pages.change(toText(slug), { ...changes, ...icon }, list);
        return { publicGroupList: saved.groups };
      },
    },
    deleteStatusPage: {
      needs: 'write',
      async run(_session, slug) {
        await pages.remove(toText(slug));
        return {};
      },
    },
    postIncident: {
      needs: 'write',
      async run(_session, slug, input) {
        const fields = parseInput(PageNote, input);
        const id = toNumber(toRecord(input)['id']);
        if (id > 0) return note(slug, id, { ...fields, pin: true });
        return { incident: await pages.addNote(pages.get(toText(slug)), fields) };
      },
    },
    editIncident: { needs: 'write', run: (_session, slug, id, input) => note(slug, id, parseInput(PageNote, input)) },
    resolveIncident: {
      needs: 'write',
      run: (_session, slug, id) => note(slug, id, { active: false, pin: false }),
    },
    unpinIncident: {
      needs: 'write',
      async run(_session, slug) {
        await pages.unpin(pages.get(toText(slug)));
        return {};
      },
    },
    deleteIncident: {
      needs: 'write',
      async run(_session, slug, id) {
        await pages.removeNote(pages.get(toText(slug)), toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
    getIncidentHistory: {
      needs: 'nobody',
      async run(session, slug, cursor) {
        const page = pages.get(toText(slug));
        if (!page.config.published && !session.signedIn)
          throw new Problem('uptime.unknown_page', 404, 'Status Page Not Found');
        const before = toText(cursor) === '' ? {} : { before: toText(cursor) };
        const pageNotes = await pages.notes(page, { ...before, limit: 11 });
        const incidents = pageNotes.slice(0, 10);
        const hasMore = pageNotes.length > incidents.length;
        const nextCursor = hasMore ? (incidents.at(-1)?.createdDate ?? null) : null;
        return { incidents, total: await pages.countNotes(page), nextCursor, hasMore };
      },
    },
  };
}

/** Returns all status pages by ID. */
export function statusPageList(all: readonly StoredPage[]): Record<string, unknown> {
  return Object.fromEntries(all.map((page) => [String(page.id), toKumaPage(page)]));
}

function toKumaPage({ id, config }: StoredPage) {
  return { id, ...publicConfig(config), domainNameList: config.domainNameList };
}

export function toKumaApiKey({ id, name, createdAt, expires, active }: ApiKey, now: number): Record<string, unknown> {
  const isExpired = expires !== null && expires <= now;
  return {
    id,
    name,
    userID: 1,
    createdDate: formatKumaTime(createdAt).slice(0, 19),
    active,
    expires: expires === null ? null : formatKumaTime(expires).slice(0, 19),
    status: isExpired ? 'expired' : active ? 'active' : 'inactive',
  };
}

function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new Problem('uptime.invalid', 400, z.prettifyError(parsed.error));
}
