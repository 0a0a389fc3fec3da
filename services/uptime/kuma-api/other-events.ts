import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { NewDockerHost, UptimeOptions, type ApiKey } from '../../contracts/uptime/views.ts';
import { PageNote, publicConfig, PublicGroup } from '../../contracts/uptime/status-pages.ts';
import { peerTime } from '../domain/time-format.ts';
import { databaseSize, shrinkDatabase } from '../store/tables.ts';
import type { KnownPage } from '../store/status-pages.ts';
import { numberOf, recordOf, said, textOf, type SocketEvents, type SocketParts } from './events.ts';

/** Returns the calls for container engines, API keys and settings. */
export function otherEvents({ checker, dockerHosts, keys, options, context }: SocketParts): SocketEvents {
  const keyList = async () => (await keys.list()).map((key) => peerKey(key, context.clock.now()));
  return {
    addDockerHost: {
      needs: 'write',
      async run(_session, given, id) {
        const host = read(NewDockerHost, given);
        const { id: number } = await dockerHosts.put(host, id === null || id === undefined ? undefined : numberOf(id));
        return { msg: 'Saved.', msgi18n: true, id: number };
      },
    },
    deleteDockerHost: {
      needs: 'write',
      async run(_session, id) {
        await dockerHosts.remove(numberOf(id));
        return said('successDeleted');
      },
    },
    testDockerHost: {
      needs: 'write',
      async run(_session, given) {
        const { length } = await checker.containers({
          id: 0,
          ...read(NewDockerHost, { name: '-', ...recordOf(given) }),
        });
        return { msg: `Connected Successfully. Amount of containers: ${String(length)}` };
      },
    },
    addAPIKey: {
      needs: 'write',
      async run(_session, given) {
        const { name, expires, active } = recordOf(given);
        const until = Date.parse(`${textOf(expires).replace(' ', 'T')}Z`);
        const { id, key } = await keys.add(textOf(name) || 'key', Number.isNaN(until) ? null : until, active !== false);
        return said('successAdded', { key, keyID: id });
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
        await keys.setActive(numberOf(id), true);
        return said('successEnabled');
      },
    },
    disableAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.setActive(numberOf(id), false);
        return said('successDisabled');
      },
    },
    deleteAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.remove(numberOf(id));
        return said('successDeleted');
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
      async run(_session, given) {
        const { tlsExpiryNotifyDays, keepDataPeriodDays, primaryBaseURL } = recordOf(given);
        const known = { tlsExpiryNotifyDays, keepDataPeriodDays, publicUrl: primaryBaseURL ?? undefined };
        const named = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
        const change = read(UptimeOptions.partial(), named);
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
export function pageEvents({ pages }: SocketParts): SocketEvents {
  const note = async (slug: unknown, id: unknown, change: Parameters<typeof pages.changeNote>[2]) => ({
    incident: await pages.changeNote(pages.get(textOf(slug)), numberOf(id), change),
  });
  return {
    addStatusPage: {
      needs: 'write',
      async run(_session, title, slug) {
        const page = await pages.add(textOf(slug), textOf(title));
        return said('successAdded', { slug: page.config.slug });
      },
    },
    getStatusPage: {
      needs: 'read',
      run(_session, slug) {
        const page = pages.get(textOf(slug));
        return { config: peerPage(page) };
      },
    },
    saveStatusPage: {
      needs: 'write',
      async run(_session, slug, config, _picture, groups) {
        const { id: _id, logo, ...fields } = recordOf(config);
        const list = read(z.array(PublicGroup), groups ?? []);
        const icon = typeof logo === 'string' ? { icon: logo } : {};
        const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
        const saved = await pages.change(textOf(slug), { ...known, ...icon }, list);
        return { publicGroupList: saved.groups };
      },
    },
    deleteStatusPage: {
      needs: 'write',
      async run(_session, slug) {
        await pages.remove(textOf(slug));
        return {};
      },
    },
    postIncident: {
      needs: 'write',
      async run(_session, slug, given) {
        const fields = read(PageNote, given);
        const id = numberOf(recordOf(given)['id']);
        if (id > 0) return note(slug, id, { ...fields, pin: true });
        return { incident: await pages.addNote(pages.get(textOf(slug)), fields) };
      },
    },
    editIncident: { needs: 'write', run: (_session, slug, id, given) => note(slug, id, read(PageNote, given)) },
    resolveIncident: {
      needs: 'write',
      run: (_session, slug, id) => note(slug, id, { active: false, pin: false }),
    },
    unpinIncident: {
      needs: 'write',
      async run(_session, slug) {
        await pages.unpin(pages.get(textOf(slug)));
        return {};
      },
    },
    deleteIncident: {
      needs: 'write',
      async run(_session, slug, id) {
        await pages.removeNote(pages.get(textOf(slug)), numberOf(id));
        return said('successDeleted');
      },
    },
    getIncidentHistory: {
      needs: 'nobody',
      async run(session, slug, cursor) {
        const page = pages.get(textOf(slug));
        if (!page.config.published && !session.signedIn)
          throw new Problem('uptime.unknown_page', 404, 'Status Page Not Found');
        const before = textOf(cursor) === '' ? {} : { before: textOf(cursor) };
        const found = await pages.notes(page, { ...before, limit: 11 });
        const incidents = found.slice(0, 10);
        const hasMore = found.length > incidents.length;
        const nextCursor = hasMore ? (incidents.at(-1)?.createdDate ?? null) : null;
        return { incidents, total: await pages.countNotes(page), nextCursor, hasMore };
      },
    },
  };
}

/** Returns all status pages by ID. */
export function statusPageList(all: readonly KnownPage[]): Record<string, unknown> {
  return Object.fromEntries(all.map((page) => [String(page.id), peerPage(page)]));
}

function peerPage({ id, config }: KnownPage) {
  return { id, ...publicConfig(config), domainNameList: config.domainNameList };
}

export function peerKey({ id, name, createdAt, expires, active }: ApiKey, now: number): Record<string, unknown> {
  const isOver = expires !== null && expires <= now;
  return {
    id,
    name,
    userID: 1,
    createdDate: peerTime(createdAt).slice(0, 19),
    active,
    expires: expires === null ? null : peerTime(expires).slice(0, 19),
    status: isOver ? 'expired' : active ? 'active' : 'inactive',
  };
}

function read<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Problem('uptime.invalid', 400, z.prettifyError(parsed.error));
}
